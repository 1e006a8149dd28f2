"""A candidate: one fact that an extractor proposes, before redaction and the confidence threshold.

Extractors only propose.  What becomes a statement is decided by the pipeline.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from codesynapse.domain.turns import Speaker

__all__ = ["Candidate"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One proposed fact. ``predicate`` is UPPER_SNAKE_CASE; a denial is carried in it.

    ``speaker`` is who vouches for it: a person who confirms an agent's claim becomes its speaker.
    ``replace`` says that it takes the place of every other value of (subject, predicate);
    ``ended`` names the one value that is no longer so, where a subject has many at a time.
    ``adds`` says that it was given beside what holds already ("we also use X"), and ends nothing.
    ``anew`` says that it is so now and was otherwise before ("X owns it now", "correction: X").
    ``close`` says that this very fact no longer holds.
    """

    subject: str
    predicate: str
    object: str
    confidence: float
    replace: bool
    said_at: datetime | None
    speaker: Speaker
    turn_id: str | None
    subject_type: str | None = None
    object_type: str | None = None
    ended: str | None = None
    adds: bool = False
    anew: bool = False
    close: bool = False

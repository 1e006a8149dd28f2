"""What a caller says, and what may be said.

Refused: names that are empty, predicates that are not UPPER_SNAKE_CASE, confidence outside 0 to 1,
times without a zone.  Times are kept in UTC to the millisecond.  A time more than five minutes
after the moment of storing is a clock gone wrong: it becomes the moment of storing, or it would
win over everything said until then.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from codesynapse.domain.graph import SAME_AS, Source
from codesynapse.domain.names import check_predicate, clean_name, clean_type
from codesynapse.domain.turns import Speaker
from codesynapse.errors import Invalid

__all__ = ["Statement", "checked", "checked_source"]

_AHEAD = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing to say. ``source`` takes the place of its batch's, ``speaker`` of its source's.

    ``replace`` closes every other open value of (subject, predicate); ``close`` ends the fact.
    """

    subject: str
    predicate: str
    object: str
    said_at: datetime
    confidence: float = 0.8
    replace: bool = False
    close: bool = False
    subject_type: str | None = None
    object_type: str | None = None
    speaker: Speaker | None = None
    source: Source | None = None


def checked(said: Statement, batch_source: Source) -> Statement:
    """The statement with clean names, a time that can be compared, and its own source.

    Raises Invalid.  Checking what is checked changes nothing.
    """
    source = checked_source(said.source) if said.source else batch_source
    if said.speaker:
        source = replace(source, speaker=said.speaker)
    predicate = check_predicate(said.predicate)
    if said.close and (said.replace or predicate == SAME_AS):
        raise Invalid(
            "a statement that closes cannot replace, and SAME_AS cannot be closed",
            "delete the entity to take an alias back",
        )
    if not 0 <= said.confidence <= 1:  # not a number is neither
        raise Invalid(f"confidence {said.confidence} is not between 0 and 1")
    said_at = _moment(said.said_at)
    return replace(
        said,
        subject=clean_name(said.subject),
        object=clean_name(said.object),
        said_at=source.stored_at if said_at - source.stored_at > _AHEAD else said_at,
        confidence=float(said.confidence),
        replace=said.replace and predicate != SAME_AS,  # an alias has no other value to close
        subject_type=clean_type(said.subject_type),
        object_type=clean_type(said.object_type),
        source=source,
    )


def checked_source(source: Source) -> Source:
    """The source with its time in UTC. Raises Invalid when it names no client."""
    if not source.client:
        raise Invalid("a source names its client", "say which program this comes from")
    return replace(source, stored_at=_moment(source.stored_at))


def _moment(value: datetime) -> datetime:
    if value.utcoffset() is None:
        raise Invalid(f"{value.isoformat()} has no time zone", "add Z or an offset")
    try:
        moment = value.astimezone(UTC)
    except OverflowError:
        raise Invalid(f"{value.isoformat()} is out of range") from None
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)

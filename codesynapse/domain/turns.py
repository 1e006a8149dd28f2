"""A turn: one message of a conversation. Turns live in memory only and are never stored."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

__all__ = ["Speaker", "Turn"]


class Speaker(StrEnum):
    """Who said it. What a person says is trusted more than what an agent claims."""

    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class Turn:
    """One message. ``id`` is the transcript record's uuid where there is one; ``at`` is UTC.

    The text is left out of ``repr``, so that no message or trace can show it by accident.
    """

    role: Speaker
    text: str = field(repr=False)
    at: datetime | None = None
    id: str | None = None

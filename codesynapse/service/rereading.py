"""Reading a job's turns again from its transcript, at a retry or after a restart."""

from __future__ import annotations

from dataclasses import dataclass, field

from codesynapse.domain.sessions import Job
from codesynapse.domain.turns import Turn

__all__ = ["Reread", "reread"]


@dataclass(frozen=True, slots=True)
class Reread:
    """The turns of a range, and how far it was read; figures of what was passed over."""

    turns: tuple[Turn, ...] = field(repr=False)
    end: int
    last_turn_id: str | None = None
    skipped: int = 0


def reread(job: Job) -> Reread:
    """stub"""
    raise NotImplementedError

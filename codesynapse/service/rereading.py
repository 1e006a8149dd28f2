"""Reading a job's turns again from its transcript, at a retry or after a restart."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from codesynapse.domain.sessions import Job
from codesynapse.domain.turns import Turn
from codesynapse.errors import Unavailable
from codesynapse.transcripts.reader import Reading, read_exchanges

__all__ = ["Reread", "reread"]

_CHARACTERS = 8 * 1024 * 1024  # of one job; the next offload goes on where this stops


@dataclass(frozen=True, slots=True)
class Reread:
    """The turns of a range, and how far it was read; how many records were passed over."""

    turns: tuple[Turn, ...] = field(repr=False)
    end: int
    skipped: int = 0

    @property
    def last_turn_id(self) -> str | None:
        """The last turn that has an id."""
        return next((turn.id for turn in reversed(self.turns) if turn.id), None)


def reread(job: Job) -> Reread:
    """The turns of this job's range. Raises Unavailable when the file cannot be read any more."""
    turns: list[Turn] = []
    reading = Reading()
    failed = False
    try:
        size = 0
        for exchange in read_exchanges(
            Path(job.transcript or ""), job.start, reading, until=job.end
        ):
            turns += exchange.turns
            size += sum(len(turn.text) for turn in exchange.turns)
            if size > _CHARACTERS:
                break
    except OSError:
        failed = True
    if failed:
        raise Unavailable("the transcript cannot be read any more")
    end = job.end if reading.complete else reading.offset
    return Reread(tuple(turns), end, sum(reading.skipped.values()))

"""Read a transcript as a stream, from a byte offset, in flat memory.

A line is read in pieces and dropped when it is too long; a last line without its end is left for
the next time. Nothing is held but the exchanges that may have to stay behind.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

from codesynapse.domain.turns import Speaker, Turn
from codesynapse.transcripts.records import Part, Skipped, read_record

__all__ = ["Exchange", "Reading", "read_exchanges"]

MAX_LINE = 4 * 1024 * 1024  # bytes; a longer line is a tool's output or an image, never a prompt
PIECE = 256 * 1024


@dataclass(slots=True)
class Exchange:
    """A person's prompt and all that followed. ``end`` is the offset behind its last record."""

    turns: list[Turn] = field(default_factory=list)
    end: int = 0

    @property
    def finished(self) -> bool:
        """Whether the agent has answered."""
        return bool(self.turns) and self.turns[-1].role is Speaker.ASSISTANT


@dataclass(slots=True)
class Reading:
    """What became of the reading: where it stands, whether at the end, and what was skipped."""

    offset: int = 0
    complete: bool = False
    skipped: Counter[str] = field(default_factory=Counter)


def read_exchanges(
    path: Path, offset: int, reading: Reading, *, keep: int = 0,
    stop: Callable[[], bool] = lambda: False, until: int | None = None,
) -> Iterator[Exchange]:  # fmt: skip
    """Yield exchanges from ``offset`` on, oldest first.

    The last ``keep`` stay behind, if there are more than that; else every finished one is given.
    With ``keep`` 0 everything is. A file shorter than ``offset`` was replaced and is read from its
    start. ``stop`` is asked between lines; reading goes on at ``reading.offset`` the next time.
    ``until`` is an offset that counts as the end of the file. Raises OSError when the file cannot
    be read.
    """
    held: deque[Exchange] = deque()
    passed = 0
    with path.open("rb") as file:
        size = file.seek(0, 2)
        reading.offset = file.seek(offset if offset <= size else 0)
        lines = _lines(file, reading, stop, until)
        for exchange in _exchanges(lines, reading):
            held.append(exchange)
            if len(held) > keep:
                passed += 1
                yield _given(held.popleft(), reading)
    if not reading.complete:
        return
    for exchange in _left(held, keep, passed):
        yield _given(exchange, reading)


def _left(held: deque[Exchange], keep: int, passed: int) -> Iterator[Exchange]:
    """Which of the held ones go too, once the end is reached."""
    if not passed and len(held) <= keep:
        yield from (exchange for exchange in held if exchange.finished)


def _given(exchange: Exchange, reading: Reading) -> Exchange:
    reading.offset = max(reading.offset, exchange.end)
    return exchange


def _exchanges(lines: Iterator[tuple[bytes, int]], reading: Reading) -> Iterator[Exchange]:
    current = Exchange()
    group: str | None = None
    for line, end in lines:
        part = read_record(line)
        if isinstance(part, Skipped):
            reading.skipped[part.reason] += 1
        else:
            if part.role is Speaker.USER and current.finished:
                yield current
                current = Exchange()
            group = _add(current, part, group)
            current.end = end
    if current.turns and reading.complete:  # else it may go on behind the place of the stop
        yield current


def _add(exchange: Exchange, part: Part, group: str | None) -> str | None:
    """Add a part; returns the message that the exchange now ends with."""
    if part.group is not None and part.group == group and exchange.turns:
        last = exchange.turns[-1]
        exchange.turns[-1] = replace(last, text=f"{last.text}\n\n{part.text}")
    else:
        exchange.turns.append(Turn(part.role, part.text, part.at, part.id))
    return part.group


def _lines(
    file: BinaryIO, reading: Reading, stop: Callable[[], bool], until: int | None
) -> Iterator[tuple[bytes, int]]:
    """Whole lines with the offset behind each. Too long ones are counted and passed over."""
    position = file.tell()
    while not stop():
        if until is not None and position >= until:
            reading.complete = True
            return
        line, size = _line(file)
        if line is None:  # the end, or a last line that is still being written
            reading.complete = True
            return
        position += size
        if line:
            yield line, position
        else:
            reading.skipped["too_long"] += 1


def _line(file: BinaryIO) -> tuple[bytes | None, int]:
    """The next line and its length: None without an end, empty when too long to be of use."""
    pieces: list[bytes] = []
    size = 0
    while piece := file.readline(PIECE):
        size += len(piece)
        if size <= MAX_LINE:
            pieces.append(piece)
        if piece.endswith(b"\n"):
            return (b"".join(pieces) if size <= MAX_LINE else b""), size
    return None, size

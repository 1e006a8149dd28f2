"""Read a transcript as a stream, from a byte offset, in flat memory.

A line is read in pieces and dropped when it is too long; a last line without its end is left for
the next time. A long exchange comes in pieces, and of those that may have to stay behind only as
many are held as memory allows: the rest is read again when its turn comes.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

from codesynapse.domain.turns import Speaker, Turn
from codesynapse.transcripts.records import MAX_TEXT, Part, Skipped, read_record

__all__ = ["Exchange", "Reading", "read_exchanges"]

MAX_LINE = 4 * 1024 * 1024  # bytes; a longer line is a tool's output or an image, never a prompt
MAX_PIECE = 400_000  # characters of an exchange that are given at once, and room for the last turn
MAX_HELD = 2_000_000  # characters of the exchanges that may have to stay behind
MUCH = 64 * 1024 * 1024  # bytes in which no exchange ended that may go
BLOCK = 256 * 1024
TURN_COST = 100  # what a turn takes beside its text, in characters


@dataclass(slots=True)
class Exchange:
    """A person's prompt and all that followed, or a piece of that when it is long.

    ``start`` and ``end`` are the offsets before its first and behind its last record.
    """

    turns: list[Turn] = field(default_factory=list)
    start: int = 0
    end: int = 0
    begins: bool = False  # with its prompt, so that it is no later piece
    finished: bool = False  # the agent has answered
    size: int = 0

    def add(self, part: Part, *, joined: bool) -> None:
        """Take one more part, ``joined`` to the turn before."""
        if joined:
            last = self.turns[-1]
            self.turns[-1] = replace(last, text=f"{last.text}\n\n{part.text}")
        else:
            self.turns.append(Turn(part.role, part.text, part.at, part.id))
            self.size += TURN_COST
        self.size += len(part.text)
        self.finished = part.role is Speaker.ASSISTANT


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
    """Yield exchanges from ``offset`` on, oldest first, long ones in pieces that follow each other.

    The last ``keep`` of the file stay behind, if it has more than that; else every finished one is
    given. With ``keep`` 0 everything is. A file shorter than ``offset`` was replaced and is read
    from its start. ``stop`` is asked between lines; reading goes on at ``reading.offset`` the next
    time. So that it does go on, what was read until then is given where that is so much that the
    next time could come no further. ``until`` is an offset that counts as the end of the file.
    Raises OSError when the file cannot be read.
    """
    held = _Held(path, keep)
    with path.open("rb") as file:
        size = file.seek(0, 2)
        reading.offset = file.seek(offset if offset <= size else 0)
        lines = _lines(file, reading, stop, until)
        for piece in _pieces(lines, reading):
            held.add(piece)
            for ripe in held.ripe():
                yield _given(ripe, reading)
    for left in held.left(reading.complete, stop):
        yield _given(left, reading)


def _has_more_than(count: int, path: Path, end: int, stop: Callable[[], bool]) -> bool:
    """Whether more than ``count`` exchanges stand before ``end``; taken for so if time is up."""
    reading = Reading()
    with path.open("rb") as file:
        for piece in _pieces(_lines(file, reading, stop, end), reading):
            count -= piece.begins
            if count < 0:
                return True
    return not reading.complete


def _given(exchange: Exchange, reading: Reading) -> Exchange:
    reading.offset = max(reading.offset, exchange.end)
    return exchange


class _Held:
    """What was read and may have to stay behind: the last ``keep`` exchanges, in pieces."""

    def __init__(self, path: Path, keep: int) -> None:
        self._path = path
        self._keep = keep
        self._pieces: deque[Exchange] = deque()
        self._size = 0
        self._count = 0  # exchanges, not pieces
        self._given = False

    def add(self, piece: Exchange) -> None:
        """Hold a piece; without its turns where there is no room for more."""
        if self._keep and self._size + piece.size > MAX_HELD:
            piece.turns = []
        else:
            self._size += piece.size
        self._pieces.append(piece)
        self._count += piece.begins

    def ripe(self) -> Iterator[Exchange]:
        """Those that are older than the last ``keep``, and later pieces of what was given."""
        while self._pieces and (self._count > self._keep or not self._pieces[0].begins):
            yield self._next()

    def left(self, complete: bool, stop: Callable[[], bool]) -> Iterator[Exchange]:
        """What goes too, once the end of the file or of the time is reached."""
        if not self._pieces or not (self._is_all(stop) if complete else self._is_much()):
            return
        if complete and not self._pieces[-1].finished:  # it has no answer yet
            while self._pieces and not self._pieces.pop().begins:
                continue
        while self._pieces:
            yield self._next()

    def _is_all(self, stop: Callable[[], bool]) -> bool:
        """Whether the file has no more exchanges than may stay."""
        start = self._pieces[0].start
        return not _has_more_than(self._keep - self._count, self._path, start, stop)

    def _is_much(self) -> bool:
        return not self._given and self._pieces[-1].end - self._pieces[0].start > MUCH

    def _next(self) -> Exchange:
        piece = self._pieces.popleft()
        self._given = True
        self._count -= piece.begins
        if piece.turns:
            self._size -= piece.size
        else:
            piece.turns = _turns_again(self._path, piece)
        return piece


def _turns_again(path: Path, piece: Exchange) -> list[Turn]:
    turns: list[Turn] = []
    reading = Reading()
    with path.open("rb") as file:
        file.seek(piece.start)
        for again in _pieces(_lines(file, reading, lambda: False, piece.end), reading):
            turns += again.turns
    return turns


def _pieces(lines: Iterator[tuple[bytes, int]], reading: Reading) -> Iterator[Exchange]:
    current = Exchange(start=reading.offset)
    group: str | None = None
    for line, end in lines:
        part = read_record(line)
        if isinstance(part, Skipped):
            reading.skipped[part.reason] += 1
            continue
        joined = _joins(current, part, group)
        is_next = part.role is Speaker.USER and current.finished
        if is_next or (current.size >= MAX_PIECE and not joined):
            yield current
            current = Exchange(start=current.end, begins=is_next)
        elif not current.turns:
            current.begins = part.role is Speaker.USER
        current.add(part, joined=joined)
        current.end = end
        group = part.group
    if current.turns and reading.complete:  # else it may go on behind the place of the stop
        yield current


def _joins(current: Exchange, part: Part, group: str | None) -> bool:
    """Whether it is one turn with the part before: one message, of a bounded size together."""
    if part.group is None or part.group != group or not current.turns:
        return False
    return len(current.turns[-1].text) + len(part.text) < MAX_TEXT


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
    blocks: list[bytes] = []
    size = 0
    while block := file.readline(BLOCK):
        size += len(block)
        if size <= MAX_LINE:
            blocks.append(block)
        else:
            blocks.clear()
        if block.endswith(b"\n"):
            return (b"".join(blocks) if size <= MAX_LINE else b""), size
    return None, size

"""The client's two pipes: lines in, lines out, and nothing else on standard output."""

from __future__ import annotations

import os
import select
import sys
import threading

TYPE_CHECKING = False  # so that the bridge need not import typing
if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["MAX_LINE", "Output", "lines"]

MAX_LINE = 8 * 1024 * 1024
_LOOK_SECONDS = 5.0  # how often a parent that went away without closing its pipe is looked for
_CHUNK = 65_536


def lines(source: int) -> Iterator[bytes]:
    """Each line without its end; stops at the end of input or when the parent is gone.

    A line over ``MAX_LINE`` bytes comes out cut to one byte more, so that it is refused by whoever
    reads it, and is not held in memory.
    """
    parent = os.getppid()
    held = bytearray()
    while True:
        if not _ready(source):
            if os.getppid() != parent:
                return
            continue
        data = os.read(source, _CHUNK)
        if not data:
            if held:
                yield bytes(held)
            return
        *whole, rest = data.split(b"\n")
        for part in whole:
            held += part
            yield bytes(held[: MAX_LINE + 1])
            held.clear()
        if len(held) <= MAX_LINE:
            held += rest


def _ready(source: int) -> bool:
    if sys.platform == "win32":  # select knows sockets only there; a read sees a closed pipe
        return True
    return bool(select.select([source], [], [], _LOOK_SECONDS)[0])


class Output:
    """The only way to the client. Standard output itself goes to standard error from here on."""

    def __init__(self) -> None:
        self._handle = os.dup(1)
        os.dup2(2, 1)
        self._lock = threading.Lock()

    def send(self, line: bytes) -> None:
        """Write one line whole; a client that is gone is not told."""
        data = memoryview(line.replace(b"\n", b" ") + b"\n")
        with self._lock:
            try:
                while data:
                    data = data[os.write(self._handle, data) :]
            except OSError:
                return

"""Marks that a session has ended: a small file each, for when the sidecar could not be told.

A hook writes one before it calls the sidecar and takes it away once the end was accepted.  What
stays is settled by the sidecar: it reads the rest of the transcript itself.  A mark says which
session and where its transcript is, never what was said.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from time import time
from typing import Any

__all__ = ["MOST_MARKS", "RIPE_SECONDS", "EndMark", "leave_mark", "read_marks", "take_mark"]

MOST_MARKS = 500  # who leaves one more takes the oldest away
RIPE_SECONDS = 1.0  # no hook of an ended session lives longer; before that it may still succeed
_MOST_BYTES = 32 * 1024
_NAME = ".json"
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)


@dataclass(frozen=True, slots=True)
class EndMark:
    """One session's end. ``transcript`` is None where there was none to read."""

    client: str
    session: str
    transcript: str | None = None
    cwd: str | None = None
    path: str = ""  # of the mark itself
    left_at: float = 0.0  # seconds since 1970, by the file's own time

    def age(self, now: float | None = None) -> float:
        """Seconds since it was left; negative where the clock was set back since."""
        return (time() if now is None else now) - self.left_at

    def is_ripe(self, now: float | None = None) -> bool:
        """Whether the hook that left it is gone."""
        return not 0 <= self.age(now) < RIPE_SECONDS


def leave_mark(folder: str, mark: EndMark) -> tuple[str, int]:
    """Write it into ``folder``, which is there; returns its path and how many had to go for it.

    A later one of the same session takes the place of the first. Raises OSError.
    """
    key = f"{mark.client}\0{mark.session}".encode("utf-8", "replace")
    path = os.path.join(folder, blake2b(key, digest_size=16).hexdigest() + _NAME)
    partial = f"{path}.{os.getpid()}"
    said = {name: getattr(mark, name) for name in ("client", "session", "transcript", "cwd")}
    handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _NOFOLLOW, 0o600)
    try:
        os.write(handle, json.dumps(said).encode())
    finally:
        os.close(handle)
    os.replace(partial, path)
    return path, _make_room(folder)


def read_marks(folder: str) -> list[EndMark]:
    """Every mark, oldest first. What is no mark is taken away; a missing folder has none."""
    found = []
    for path, left_at in _files(folder):
        mark = _read(path, left_at) if path.endswith(_NAME) else None
        if mark is not None:
            found.append(mark)
        elif path.endswith(_NAME) or time() - left_at > 3600:  # else it is being written
            take_mark(path)
    return found


def take_mark(path: str, left_at: float | None = None) -> None:
    """Take a mark away, unless another was left in its place since ``left_at``. Raises OSError."""
    with suppress(FileNotFoundError):
        if left_at is None or os.stat(path).st_mtime == left_at:
            os.unlink(path)


def _make_room(folder: str) -> int:
    files = [path for path, _ in _files(folder) if path.endswith(_NAME)]
    for path in files[:-MOST_MARKS]:
        take_mark(path)
    return max(0, len(files) - MOST_MARKS)


def _files(folder: str) -> list[tuple[str, float]]:
    """Paths with the time each was written, oldest first."""
    found = []
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):  # settled meanwhile
                if entry.is_file(follow_symlinks=False):
                    found.append((entry.path, entry.stat(follow_symlinks=False).st_mtime))
    return sorted(found, key=lambda one: (one[1], one[0]))


def _read(path: str, left_at: float) -> EndMark | None:
    try:
        handle = os.open(path, os.O_RDONLY | _NOFOLLOW)
        try:
            said = json.loads(os.read(handle, _MOST_BYTES))
        finally:
            os.close(handle)
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(said, dict):
        return None
    client, session = _text(said, "client"), _text(said, "session")
    if client is None or session is None:
        return None
    transcript, cwd = _text(said, "transcript"), _text(said, "cwd")
    return EndMark(client, session, transcript, cwd, path, left_at)


def _text(said: dict[str, Any], name: str) -> str | None:
    value = said.get(name)
    return value if isinstance(value, str) and value and "\0" not in value else None

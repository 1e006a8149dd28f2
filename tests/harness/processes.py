"""Find and end the processes that were started in one home, however they were started."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

__all__ = ["end_all", "lives", "pids_of"]


def pids_of(home: str) -> list[int]:
    """Every living process whose CODESYNAPSE_HOME this is; none where there is no /proc."""
    mark = f"CODESYNAPSE_HOME={home}".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if mark in (folder / "environ").read_bytes().split(b"\0") and _lives(folder):
                found.append(int(folder.name))
    return found


def lives(pid: int) -> bool:
    """Whether it runs; one that has ended and was not waited for does not."""
    return _lives(Path(f"/proc/{pid}"))


def _lives(folder: Path) -> bool:
    with suppress(OSError):
        return (folder / "stat").read_bytes().rsplit(b") ", 1)[1][:1] not in b"ZX"
    return False


def end_all(home: str) -> None:
    """Kill what was started in this home."""
    for pid in pids_of(home):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

"""One installer at a time in one repository, whoever runs it, without leaving a trace there."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from codesynapse.errors import InstallRefused
from codesynapse.paths import Paths, private_folder

__all__ = ["locked"]

_WAIT_SECONDS = 15.0
_RETRY_SECONDS = 0.02


@contextlib.contextmanager
def locked(folder: Path, paths: Paths, wait_seconds: float = _WAIT_SECONDS) -> Iterator[None]:
    """Hold the lock of ``folder``. Raises InstallRefused when another holds it too long."""
    descriptor = _open(folder, paths)
    try:
        _wait(descriptor, folder, wait_seconds)
        try:
            yield
        finally:
            _unlock(descriptor)
    finally:
        os.close(descriptor)


def _wait(descriptor: int, folder: Path, wait_seconds: float) -> None:
    end = time.monotonic() + wait_seconds
    while not _try_lock(descriptor):
        if time.monotonic() >= end:
            raise InstallRefused(
                f"another installer is at work in {folder}", "wait until it is done, then try again"
            )
        time.sleep(_RETRY_SECONDS)


_try_lock: Callable[[int], bool]
_unlock: Callable[[int], None]

if sys.platform == "win32":
    import msvcrt

    def _open(folder: Path, paths: Paths) -> int:
        # Folders cannot be locked here, so a file in the person's own state folder stands for it.
        name = hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]
        locks = os.path.join(private_folder(paths.state), f"install-{name}.lock")
        return os.open(locks, os.O_RDWR | os.O_CREAT, 0o600)

    def _try_lock(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(descriptor: int) -> None:
        os.lseek(descriptor, 0, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _open(folder: Path, paths: Paths) -> int:
        # The folder itself is locked: seen by every user and every CODESYNAPSE_HOME, and no file
        # of ours appears in the repository.
        try:
            return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise InstallRefused(f"{folder} cannot be opened: {error.strerror}") from error

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            # A file system without locks on folders (some network mounts): the comparison right
            # before each write is then what keeps two installers from losing each other's work.
            return True
        return True

    def _unlock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)

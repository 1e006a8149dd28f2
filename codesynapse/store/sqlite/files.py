"""The data file before SQLite opens it: who may read it, and whether it can be ours and whole.

``inspect_file`` only reads.  It refuses, by name, what is damaged, cut off, foreign or newer, so
that such a file is left as it was found.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from codesynapse.errors import StoreDamaged, StoreNewer
from codesynapse.paths import private_folder

__all__ = [
    "APPLICATION_ID",
    "Header",
    "inspect_file",
    "newer",
    "private_file",
    "publish",
    "state_of",
    "tighten",
]

APPLICATION_ID = 0x43535921  # "CSY!"

_MAGIC = b"SQLite format 3\0"
_RESTORE = "restore a copy from the backups folder, or move the file away to start empty"


@dataclass(frozen=True, slots=True)
class Header:
    """What the first page says, as of the last checkpoint."""

    page_size: int
    pages: int
    schema: int
    application: int


def inspect_file(path: Path, known_schema: int) -> Header | None:
    """The header of a file that may be opened; None when there is nothing there yet.

    Raises StoreDamaged or StoreNewer.
    """
    log = path.with_name(path.name + "-wal")
    size = _size(path)
    if size == 0 and _size(log) == 0:
        return None
    with open(path, "rb") as file:
        start = file.read(100)
    if len(start) < 100 or not start.startswith(_MAGIC):
        raise StoreDamaged(f"{path} is not a SQLite file, or its header is damaged", _RESTORE)
    header = _parse(start)
    if header.page_size < 512 or header.page_size & (header.page_size - 1):
        raise StoreDamaged(f"{path} has a damaged header", _RESTORE)
    blank = header.application == 0 and header.schema == 0 and header.pages <= 1
    if header.application != APPLICATION_ID and not blank and _size(log) == 0:
        raise StoreDamaged(
            f"{path} was not made by CodeSynapse", "set CODESYNAPSE_DB to another path"
        )
    if header.schema > known_schema:
        raise newer(path, header.schema, known_schema)
    _check_length(path, log, size, header)
    return header


def newer(path: Path, schema: int, known_schema: int) -> StoreNewer:
    """The refusal of a file that a newer version of this program has written."""
    return StoreNewer(
        f"{path} has schema {schema}, this program knows {known_schema} at most",
        "install the newer version of CodeSynapse, or restore a backup of the older file",
    )


def private_file(path: Path) -> None:
    """Make an empty file, for its owner only whatever the umask; its folder as well, if missing.

    Raises FileExistsError.
    """
    if not path.parent.is_dir():
        private_folder(str(path.parent))
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))


def publish(made: Path, path: Path) -> None:
    """Give a finished file its name, unless another process was first; ``made`` is gone then."""
    try:
        os.link(made, path)
    except FileExistsError:
        pass
    except OSError:  # no hard links here
        if not path.exists():
            os.rename(made, path)
            return
    made.unlink()


def state_of(path: Path) -> tuple[tuple[int, int], ...]:
    """What changes when somebody writes to the file or its log."""
    found = []
    for file in (path, path.with_name(path.name + "-wal")):
        try:
            stat = file.stat()
        except FileNotFoundError:
            found.append((0, 0))
        else:
            found.append((stat.st_size, stat.st_mtime_ns))
    return tuple(found)


def tighten(path: Path) -> None:
    """Take other people's access from the file and what SQLite keeps beside it."""
    if os.name != "posix":  # elsewhere the folder's access list is what counts
        return
    for name in (path.name, path.name + "-wal", path.name + "-shm"):
        file = path.with_name(name)
        try:
            if file.stat().st_mode & 0o077:
                file.chmod(0o600)
        except FileNotFoundError:
            continue


def _parse(start: bytes) -> Header:
    page_size = int(struct.unpack_from(">H", start, 16)[0])
    (pages,) = struct.unpack_from(">I", start, 28)
    (schema,) = struct.unpack_from(">I", start, 60)
    (application,) = struct.unpack_from(">I", start, 68)
    return Header(65536 if page_size == 1 else page_size, pages, schema, application)


def _check_length(path: Path, log: Path, size: int, header: Header) -> None:
    """Every page must be in the file, or in the log that a killed process left beside it."""
    whole = size // header.page_size
    missing = set(range(whole + 1, header.pages + 1))
    if missing:
        missing.difference_update(_logged(log, header.page_size))
    if missing:
        raise StoreDamaged(
            f"{path} is cut off: {header.pages} pages of {header.page_size} bytes announced,"
            f" {size} bytes found",
            _RESTORE,
        )


def _logged(log: Path, page_size: int) -> Iterator[int]:
    """The page numbers in a write-ahead log."""
    if not log.exists():
        return
    with open(log, "rb") as file:
        head = file.read(32)
        while len(head) == 32:
            frame = file.read(24)
            if len(frame) < 24 or frame[8:16] != head[16:24]:  # left over from an earlier round
                return
            yield int.from_bytes(frame[:4], "big")
            file.seek(page_size, os.SEEK_CUR)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0

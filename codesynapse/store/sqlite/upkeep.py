"""Opening marks, copies, and clearing what deletions leave in the index. No rule about facts."""

from __future__ import annotations

import os
import sqlite3
import uuid
from contextlib import closing
from datetime import datetime
from pathlib import Path

from codesynapse.errors import Invalid
from codesynapse.store.sqlite.connection import Atomic, connect, index_errors
from codesynapse.store.sqlite.files import private_file, publish
from codesynapse.store.sqlite.rows import to_ms

__all__ = ["copy_store", "leave_mark", "sweep_index", "take_mark", "tidy"]

_PAGES = 256  # of the index that one step of sweeping works on


def take_mark(connection: sqlite3.Connection, token: str, now: datetime) -> bool:
    """Note that we have the file open; whether somebody before us ended without closing it.

    A mark whose process lives may be of a process that shares the file, or of another one with
    the same number: it counts as unclean, which costs one check, and stays.
    """
    marks = connection.execute("SELECT token, pid FROM openers").fetchall()
    for other, pid in marks:
        if not _alive(pid):
            connection.execute("DELETE FROM openers WHERE token = ?", (other,))
    connection.execute(
        "INSERT INTO openers (token, pid, opened_at) VALUES (?, ?, ?)",
        (token, os.getpid(), to_ms(now)),
    )
    return bool(marks)


def leave_mark(connection: sqlite3.Connection, token: str) -> None:
    """Note that we closed the file as it should be."""
    connection.execute("DELETE FROM openers WHERE token = ?", (token,))


def _alive(pid: int) -> bool:
    if os.name != "posix":  # elsewhere signal 0 would end the process
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def tidy(connection: sqlite3.Connection) -> bool:
    """One step of what is done while nobody waits; whether more is left."""
    with Atomic(connection):
        left, swept = sweep_index(connection)
    if swept and not left:
        # What was deleted is in the log still. Whoever reads just now only delays this.
        (patience,) = connection.execute("PRAGMA busy_timeout").fetchone()
        connection.execute("PRAGMA busy_timeout = 100")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        connection.execute(f"PRAGMA busy_timeout = {int(patience)}")
    return left


def sweep_index(connection: sqlite3.Connection) -> tuple[bool, bool]:
    """Merge some of the index, so that deleted words leave it; (more is left, was asked to).

    FTS5 only marks words as deleted until the segments that hold them are merged.
    """
    asked = connection.execute("SELECT 1 FROM settings WHERE name = 'residue'").fetchone()
    if asked is None:
        return False, False
    before = connection.total_changes
    for statement in (
        "INSERT INTO entity_words (entity_words, rank) VALUES ('merge', ?)",
        "INSERT INTO fact_words (fact_words, rank) VALUES ('merge', ?)",
    ):
        with index_errors():
            connection.execute(statement, (-_PAGES,))
    # Each statement counts as one change even where nothing was left to merge.
    left = connection.total_changes - before > 2
    if not left:
        connection.execute("DELETE FROM settings WHERE name = 'residue'")
    return left, True


def copy_store(source: Path, destination: Path) -> None:
    """A consistent copy in one file, for its owner only. Refuses to replace anything."""
    if destination.exists():
        raise Invalid(f"{destination} exists already", "give a path where nothing is yet")
    partial = destination.with_name(f"{destination.name}.{uuid.uuid4().hex}")
    private_file(partial)
    try:
        _copy(source, partial)
        publish(partial, destination)
    finally:
        partial.unlink(missing_ok=True)  # half a copy, when something went wrong


def _copy(source: Path, destination: Path) -> None:
    with (
        closing(connect(source.absolute().as_uri())) as reading,
        closing(connect(destination.absolute().as_uri(), writer=True)) as writing,
    ):
        reading.backup(writing)
        writing.execute("PRAGMA journal_mode = DELETE").fetchall()
        if writing.execute("SELECT 1 FROM sqlite_schema WHERE name = 'openers'").fetchone():
            writing.execute("DELETE FROM openers")  # nobody has the copy open

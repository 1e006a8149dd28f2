"""Opening the data file: look first, refuse by name, back up, migrate. In that order."""

from __future__ import annotations

import errno
import os
import sqlite3
import uuid
from contextlib import closing
from datetime import datetime
from pathlib import Path

from codesynapse.errors import StoreDamaged, StoreNewer, Unavailable
from codesynapse.store.sqlite.connection import connect, sqlite_errors
from codesynapse.store.sqlite.files import (
    APPLICATION_ID,
    inspect_file,
    newer,
    private_file,
    publish,
    state_of,
    tighten,
)
from codesynapse.store.sqlite.migrations import LATEST, migrate, schema_of
from codesynapse.store.sqlite.search import is_of_index
from codesynapse.store.sqlite.upkeep import copy_store

__all__ = ["prepare"]

_LOOKS = 10


def prepare(path: Path, backups: Path, now: datetime) -> None:
    """Leave a file of the latest schema at ``path``, or raise and leave it as it was."""
    try:
        _prepare(path, backups, now)
    except OSError as error:
        what = f"{path} cannot be opened or made: {error.strerror or error}"
        raise Unavailable(what, "check the owner and mode of the file and of its folder") from error


def _prepare(path: Path, backups: Path, now: datetime) -> None:
    if not path.exists():
        _create(path)
    _check(path)
    # Asked before SQLite, which would leave a log of its own beside a file it cannot write.
    if not os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        raise PermissionError(errno.EACCES, "it cannot be written")
    tighten(path)
    with sqlite_errors(path), closing(connect(path.absolute().as_uri(), writer=True)) as connection:
        connection.execute("PRAGMA journal_mode = WAL").fetchall()
        schema = schema_of(connection)
        if 0 < schema < LATEST:
            name = f"{path.stem}-schema-{schema}-{now:%Y%m%dT%H%M%S%f}{path.suffix}"
            copy_store(path, backups / name)
        migrate(connection)
    tighten(path)


def _create(path: Path) -> None:
    """Make a store under another name first, so that nobody ever meets half of one."""
    made = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
    private_file(made)
    with sqlite_errors(path), closing(connect(made.absolute().as_uri(), writer=True)) as connection:
        connection.execute("PRAGMA journal_mode = WAL").fetchall()
        migrate(connection)
    publish(made, path)


def _check(path: Path) -> None:
    """Refuse what cannot be served. What looks damaged while somebody writes is looked at again."""
    for _ in range(_LOOKS):
        before = state_of(path)
        try:
            if inspect_file(path, LATEST) is not None:
                _look(path)
            return
        except StoreNewer:
            raise
        except StoreDamaged:
            if state_of(path) == before:
                raise
    raise Unavailable(f"{path} is being written to", "try again in a moment")


def _look(path: Path) -> None:
    """Check what the header cannot tell, without writing: log, schema and the root of each table.

    The cost does not grow with the store; ``verify`` looks at every page.
    """
    log = path.with_name(path.name + "-wal")
    # Without a log nobody has the file open, and SQLite need not leave anything beside it.
    how = "mode=ro" if log.exists() else "immutable=1"
    with sqlite_errors(path), closing(connect(f"{path.absolute().as_uri()}?{how}")) as connection:
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        schema = schema_of(connection)
        tables = set(_tables(connection))
        if application != APPLICATION_ID and (tables or schema):
            raise StoreDamaged(
                f"{path} was not made by CodeSynapse", "set CODESYNAPSE_DB to another path"
            )
        if schema > LATEST:
            raise newer(path, schema, LATEST)
        # The full-text index can be made anew: damage of it is met, and mended, when it is used.
        tables = {table for table in tables if not is_of_index(table)}
        missing = {table for table in _expected(schema) if not is_of_index(table)} - tables
        if missing:
            raise StoreDamaged(
                f"{path} lacks {', '.join(sorted(missing))}",
                "restore a copy from the backups folder",
            )
        for table in sorted(tables):
            quoted = table.replace('"', '""')
            connection.execute(" ".join(["SELECT 1 FROM", f'"{quoted}"', "LIMIT 1"])).fetchall()


def _tables(connection: sqlite3.Connection) -> list[str]:
    rows = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
    return [name for (name,) in rows]


def _expected(schema: int) -> set[str]:
    with closing(connect("file::memory:", writer=True)) as connection:
        migrate(connection, schema)
        return set(_tables(connection))

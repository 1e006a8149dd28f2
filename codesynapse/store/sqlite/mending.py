"""Making the full-text index anew from the rows, also where its own pages cannot be read.

Nothing but the index is touched, and what is written is whole or not there at all.
"""

from __future__ import annotations

import sqlite3
from datetime import datetime

from codesynapse.domain.text import ANALYSIS
from codesynapse.errors import IndexDamaged
from codesynapse.store.sqlite import search
from codesynapse.store.sqlite.connection import Atomic, index_errors
from codesynapse.store.sqlite.rows import to_ms

__all__ = ["index_again", "mend"]

_INDEXES = (search.ENTITIES, search.FACTS)
_AUDIT = """
    INSERT INTO audit (at, user, client, action, scope, target, detail)
    VALUES (?, 'codesynapse', NULL, 'index.rebuild', NULL, NULL, ?)"""


def index_again(connection: sqlite3.Connection, *, force: bool = False) -> None:
    """Rebuild the index when it was made by another analysis than ours."""
    made_by = connection.execute("SELECT value FROM settings WHERE name = 'analysis'").fetchone()
    if not force and made_by == (ANALYSIS,):
        return
    for index in _INDEXES:
        with index_errors():
            connection.execute(index.drop)
    _fill(connection)


def mend(connection: sqlite3.Connection, now: datetime) -> None:
    """Make a damaged index anew and leave a line in the trail. Outside a transaction."""
    try:
        with Atomic(connection):
            index_again(connection, force=True)
            connection.execute(_AUDIT, (to_ms(now), "the full-text index was damaged"))
        return
    except IndexDamaged:
        pass  # its pages cannot be read, so they cannot be given back one by one
    with Atomic(connection):
        _forget(connection)
        _fill(connection)
        connection.execute(_AUDIT, (to_ms(now), "pages of the full-text index were damaged"))
    try:
        connection.execute("VACUUM")  # leaves behind the pages that belong to nobody now
    except sqlite3.OperationalError:
        return  # no space to do so, say: they only take up room


def _forget(connection: sqlite3.Connection) -> None:
    """Take the tables of the index out of the schema without looking at their pages."""
    tables = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    (version,) = connection.execute("PRAGMA schema_version").fetchone()
    connection.execute("PRAGMA writable_schema = ON")
    try:
        for (table,) in tables:
            if search.is_of_index(table):
                connection.execute("DELETE FROM sqlite_schema WHERE tbl_name = ?", (table,))
        connection.execute(f"PRAGMA schema_version = {int(version) + 1}")
    finally:
        connection.execute("PRAGMA writable_schema = RESET")  # and reads the schema again


def _fill(connection: sqlite3.Connection) -> None:
    """Index everything, with the analysis of today."""
    for index in _INDEXES:
        connection.execute(index.made)
    connection.execute("UPDATE scopes SET entity_words = 0, fact_words = 0")
    for (scope,) in connection.execute("SELECT number FROM scopes ORDER BY number").fetchall():
        found = connection.execute("SELECT id FROM entities WHERE scope = ?", (scope,))
        search.index_entities(connection, scope, [id_ for (id_,) in found])
        found = connection.execute("SELECT id FROM facts WHERE scope = ? AND current = 1", (scope,))
        search.index_facts(connection, scope, [id_ for (id_,) in found])
    for index in _INDEXES:
        connection.execute(index.optimise)
    connection.execute(
        "INSERT OR REPLACE INTO settings (name, value) VALUES ('analysis', ?)", (ANALYSIS,)
    )

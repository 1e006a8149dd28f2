"""Checking a whole store: pages, the full-text index, and whether the tables agree."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from typing import NamedTuple

from codesynapse.errors import IndexDamaged
from codesynapse.store.sqlite import search
from codesynapse.store.sqlite.connection import index_errors

__all__ = ["check_index", "check_rows"]

_DISAGREEMENTS: tuple[tuple[str, str], ...] = (
    (
        "rows of a scope that is gone",
        """SELECT count(*) FROM (
            SELECT scope FROM names UNION ALL SELECT scope FROM entities
            UNION ALL SELECT scope FROM facts UNION ALL SELECT scope FROM statements
            UNION ALL SELECT scope FROM batches)
        WHERE scope NOT IN (SELECT number FROM scopes)""",
    ),
    (
        "names without their entity",
        """SELECT count(*) FROM names AS n LEFT JOIN entities AS e
        ON e.scope = n.scope AND e.id = n.entity_id WHERE e.id IS NULL""",
    ),
    (
        "facts without one of their entities",
        """SELECT count(*) FROM facts AS f
        LEFT JOIN entities AS s ON s.scope = f.scope AND s.id = f.subject_id
        LEFT JOIN entities AS o ON o.scope = f.scope AND o.id = f.object_id
        WHERE s.id IS NULL OR o.id IS NULL""",
    ),
    (
        "statements without their fact",
        """SELECT count(*) FROM statements AS s LEFT JOIN facts AS f
        ON f.scope = s.scope AND f.id = s.fact_id
        WHERE s.fact_id IS NOT NULL AND f.id IS NULL""",
    ),
    (
        "scopes whose counts are wrong",
        """SELECT count(*) FROM scopes AS c WHERE
            c.entities <> (SELECT count(*) FROM entities WHERE scope = c.number)
            OR c.facts <> (SELECT count(*) FROM facts WHERE scope = c.number)
            OR c.current_facts
                <> (SELECT count(*) FROM facts WHERE scope = c.number AND current = 1)""",
    ),
)


class _Owners(NamedTuple):
    """The rows whose words an index holds."""

    name: str
    ids: str
    texts: Callable[[sqlite3.Connection, int, list[str]], dict[int, str]]
    total: str
    gone: str
    words_of_gone: str


_ENTITIES = _Owners(
    "entities",
    "SELECT id FROM entities WHERE scope = ?",
    search.entity_texts,
    "SELECT entity_words FROM scopes WHERE number = ?",
    "SELECT count(*) FROM entity_words WHERE rowid NOT IN (SELECT number FROM entities)",
    "entities that are gone",
)
_FACTS = _Owners(
    "facts",
    "SELECT id FROM facts WHERE scope = ? AND current = 1",
    search.fact_texts,
    "SELECT fact_words FROM scopes WHERE number = ?",
    """SELECT count(*) FROM fact_words
        WHERE rowid NOT IN (SELECT number FROM facts WHERE current = 1)""",
    "facts that are gone or closed",
)


def check_rows(connection: sqlite3.Connection) -> list[str]:
    """Faults of the tables that hold what was said, as one moment of the store shows them."""
    faults = _pages(connection)
    for what, statement in _DISAGREEMENTS:
        (count,) = connection.execute(statement).fetchone()
        if count:
            faults.append(f"{count} {what}")
    return faults


def check_index(connection: sqlite3.Connection) -> list[str]:
    """Faults of the full-text index, which can be made anew. Needs the writer."""
    rows = _pages(connection)
    faults = [line for line in _integrity(connection, "") if line not in rows]
    for index, owners in ((search.ENTITIES, _ENTITIES), (search.FACTS, _FACTS)):
        try:
            with index_errors():
                faults += _of_index(connection, index, owners)
        except IndexDamaged as damage:
            faults.append(f"{index.table}: {damage.message}")
    return faults


def _integrity(connection: sqlite3.Connection, table: str) -> list[str]:
    check = f"PRAGMA integrity_check({table})" if table else "PRAGMA integrity_check"
    try:
        lines = [line for (line,) in connection.execute(check) if line != "ok"]
    except sqlite3.DatabaseError as error:  # a root page cannot even be looked at
        if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_CORRUPT:
            raise
        return [str(error)]
    # Pages that nobody uses only take up room; a damaged page has a line of its own.
    return [line for line in lines if not line.endswith("never used")]


def _pages(connection: sqlite3.Connection) -> list[str]:
    """Faults of pages, unless they are of the index alone."""
    if not (faults := _integrity(connection, "")):
        return []
    tables = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    for (table,) in tables:
        if not search.is_of_index(table) and _integrity(connection, f"'{table}'"):
            return faults
    return []


def _of_index(
    connection: sqlite3.Connection, index: search.Index, owners: _Owners
) -> Iterator[str]:
    try:
        connection.execute(index.check)
    except sqlite3.DatabaseError as error:
        yield f"the index {index.table} does not match its words: {error}"
    (gone,) = connection.execute(owners.gone).fetchone()
    if gone:
        yield f"{gone} words of {owners.words_of_gone}"
    yield from _stale_words(connection, index, owners)


def _stale_words(
    connection: sqlite3.Connection, index: search.Index, owners: _Owners
) -> Iterator[str]:
    """Words that differ from what the rows say, and totals that differ from the words."""
    stale = wrong = 0
    for (scope,) in connection.execute("SELECT number FROM scopes").fetchall():
        ids = [id_ for (id_,) in connection.execute(owners.ids, (scope,))]
        texts = owners.texts(connection, scope, ids)
        stored = search.stored_texts(connection, index, texts)
        stale += sum(stored.get(number, "") != text for number, text in texts.items())
        words = sum(len(text.split()) for text in stored.values())
        wrong += words != connection.execute(owners.total, (scope,)).fetchone()[0]
    if stale:
        yield f"{stale} {owners.name} whose words are not those indexed"
    if wrong:
        yield f"{wrong} scopes whose count of indexed words of {owners.name} is wrong"

"""Checking a whole store: pages, the full-text index, and whether the tables agree."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator

from codesynapse.store.sqlite import search

__all__ = ["check_index", "check_rows", "rebuild"]

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
    (
        "words of entities that are gone",
        """SELECT count(*) FROM entity_words
        WHERE rowid NOT IN (SELECT number FROM entities)""",
    ),
    (
        "words of facts that are gone or closed",
        """SELECT count(*) FROM fact_words
        WHERE rowid NOT IN (SELECT number FROM facts WHERE current = 1)""",
    ),
)


def check_rows(connection: sqlite3.Connection) -> list[str]:
    """Faults of pages and rows, as one moment of the store shows them."""
    faults = [line for (line,) in connection.execute("PRAGMA integrity_check") if line != "ok"]
    for what, statement in _DISAGREEMENTS:
        (count,) = connection.execute(statement).fetchone()
        if count:
            faults.append(f"{count} {what}")
    return [*faults, *_stale_words(connection)]


def check_index(connection: sqlite3.Connection) -> list[str]:
    """Faults between the full-text index and the words it was made of. Needs the writer."""
    faults = []
    for table, check in (
        ("entity_words", "INSERT INTO entity_words (entity_words) VALUES ('integrity-check')"),
        ("fact_words", "INSERT INTO fact_words (fact_words) VALUES ('integrity-check')"),
    ):
        try:
            connection.execute(check)
        except sqlite3.DatabaseError as error:
            faults.append(f"the index {table} does not match its words: {error}")
    return faults


def rebuild(connection: sqlite3.Connection) -> None:
    """Index everything anew, with the analysis of today."""
    for statement in (
        "DELETE FROM entity_words",
        "DELETE FROM fact_words",
        "UPDATE scopes SET entity_words = 0, fact_words = 0",
    ):
        connection.execute(statement)
    scopes = connection.execute("SELECT number FROM scopes ORDER BY number").fetchall()
    for (scope,) in scopes:
        search.index_entities(connection, scope, _ids(connection, _ENTITY_IDS, scope))
        search.index_facts(connection, scope, _ids(connection, _FACT_IDS, scope))
    connection.execute("INSERT INTO entity_words (entity_words) VALUES ('optimize')")
    connection.execute("INSERT INTO fact_words (fact_words) VALUES ('optimize')")


_ENTITY_IDS = "SELECT id FROM entities WHERE scope = ?"
_FACT_IDS = "SELECT id FROM facts WHERE scope = ? AND current = 1"
_Expected = Callable[[sqlite3.Connection, int, list[str]], dict[int, str]]


def _ids(connection: sqlite3.Connection, statement: str, scope: int) -> list[str]:
    return [id_ for (id_,) in connection.execute(statement, (scope,))]


def _stale_words(connection: sqlite3.Connection) -> Iterator[str]:
    """Words that differ from what the rows say, and totals that differ from the words."""
    kinds: tuple[tuple[search.Index, str, _Expected, str, str], ...] = (
        (search.ENTITIES, _ENTITY_IDS, search.entity_texts, "entities", _ENTITY_TOTAL),
        (search.FACTS, _FACT_IDS, search.fact_texts, "facts", _FACT_TOTAL),
    )
    scopes = connection.execute("SELECT number FROM scopes").fetchall()
    for index, ids, expected, what, total in kinds:
        stale = wrong = 0
        for (scope,) in scopes:
            texts = expected(connection, scope, _ids(connection, ids, scope))
            stored = search.stored_texts(connection, index, texts)
            stale += sum(stored.get(number, "") != text for number, text in texts.items())
            words = sum(len(text.split()) for text in stored.values())
            wrong += words != connection.execute(total, (scope,)).fetchone()[0]
        if stale:
            yield f"{stale} {what} whose words are not those indexed"
        if wrong:
            yield f"{wrong} scopes whose count of indexed words of {what} is wrong"


_ENTITY_TOTAL = "SELECT entity_words FROM scopes WHERE number = ?"
_FACT_TOTAL = "SELECT fact_words FROM scopes WHERE number = ?"

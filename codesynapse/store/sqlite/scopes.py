"""The row of a scope: its number, revision and counts."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from codesynapse.domain.scope import Scope

__all__ = ["ScopeRow", "add_scope", "remove_scope", "scope_row"]


class ScopeRow(NamedTuple):
    """A scope that holds something. Its number is never given to another one."""

    number: int
    revision: int
    entities: int
    facts: int
    current_facts: int
    entity_words: int
    fact_words: int


def scope_row(connection: sqlite3.Connection, scope: Scope) -> ScopeRow | None:
    """The row of a scope, or None while nothing was written there."""
    row = connection.execute(
        """SELECT number, revision, entities, facts, current_facts, entity_words, fact_words
        FROM scopes WHERE key = ?""",
        (scope.key,),
    ).fetchone()
    return ScopeRow(*row) if row else None


def add_scope(connection: sqlite3.Connection, scope: Scope) -> int:
    """Make the row; its next revision is one that no reader of a deleted namesake has seen."""
    found = connection.execute("SELECT value FROM settings WHERE name = 'deleted_revision'")
    (revision,) = found.fetchone() or (0,)
    added = connection.execute(
        "INSERT INTO scopes (key, revision) VALUES (?, ?)", (scope.key, revision)
    )
    return added.lastrowid or 0


def remove_scope(connection: sqlite3.Connection, row: ScopeRow) -> None:
    """Take the row away, remembering how far its revision had come."""
    connection.execute("DELETE FROM scopes WHERE number = ?", (row.number,))
    connection.execute(
        """INSERT INTO settings (name, value) VALUES ('deleted_revision', ?)
        ON CONFLICT (name) DO UPDATE SET value = max(value, excluded.value)""",
        (row.revision,),
    )

"""Reading the fact graph. Every statement starts from the number of one scope."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from codesynapse.domain.graph import (
    EntityRow,
    FactRow,
    NameRow,
    Plan,
    Slice,
    StatementRow,
    Touches,
)
from codesynapse.domain.scope import Scope
from codesynapse.domain.text import Term
from codesynapse.store.base import Counts, FactFilter, Hit, Page
from codesynapse.store.sqlite import plans, search
from codesynapse.store.sqlite.connection import Database
from codesynapse.store.sqlite.listing import facts_page
from codesynapse.store.sqlite.rows import (
    decode_cursor,
    encode_cursor,
    entity_from,
    fact_from,
    json_list,
    name_from,
    statement_from,
)
from codesynapse.store.sqlite.scopes import ScopeRow, scope_row
from codesynapse.store.sqlite.slices import read_slice

__all__ = ["SqliteFacts"]

_NAMES = """
    SELECT n.key, n.entity_id, n.display, n.display_said_at, n.display_batch, n.display_place,
        n.type, n.type_said_at, n.type_batch, n.type_place
    FROM json_each(?2) AS wanted
    CROSS JOIN names AS n ON n.scope = ?1 AND n.key = wanted.value"""

_ENTITIES = """
    SELECT e.id, e.name, e.type, e.aliases FROM json_each(?2) AS wanted
    CROSS JOIN entities AS e ON e.scope = ?1 AND e.id = wanted.value"""

_LIST_ENTITIES = """
    SELECT id, name, type, aliases FROM entities
    WHERE scope = ? AND id > ? ORDER BY id LIMIT ?"""

_BEST_OF_SUBJECT = """
    SELECT id, subject_id, predicate, object_id, confidence, confirmations, intervals, current,
        last_start, said_by, first_stored_at, client, stored_at, session, user, model, speaker,
        origin
    FROM facts INDEXED BY best_of_subject
    WHERE scope = ? AND subject_id = ? AND current = 1
    ORDER BY confidence DESC, confirmations DESC, last_start DESC, id LIMIT ?"""

_BEST_OF_OBJECT = """
    SELECT id, subject_id, predicate, object_id, confidence, confirmations, intervals, current,
        last_start, said_by, first_stored_at, client, stored_at, session, user, model, speaker,
        origin
    FROM facts INDEXED BY best_of_object
    WHERE scope = ? AND object_id = ? AND current = 1
    ORDER BY confidence DESC, confirmations DESC, last_start DESC, id LIMIT ?"""

_BEST_OF_SCOPE = """
    SELECT id, subject_id, predicate, object_id, confidence, confirmations, intervals, current,
        last_start, said_by, first_stored_at, client, stored_at, session, user, model, speaker,
        origin
    FROM facts INDEXED BY best_of_scope
    WHERE scope = ? AND current = 1
    ORDER BY confidence DESC, confirmations DESC, last_start DESC, id LIMIT ?"""

_STATEMENTS = """
    SELECT s.said_at, s.batch_id, s.place, s.subject, s.predicate, s.object, s.subject_as,
        s.object_as, s.subject_type, s.object_type, s.confidence, s.replaces, s.closes, s.fact_id,
        s.client, s.stored_at, s.session, s.user, s.model, s.speaker, s.origin
    FROM json_each(?2) AS wanted
    CROSS JOIN statements AS s INDEXED BY statements_of_fact
        ON s.scope = ?1 AND s.fact_id = wanted.value
    ORDER BY s.said_at, s.batch_id, s.place"""

_OF_ORIGIN = """
    SELECT DISTINCT fact_id FROM statements
    WHERE scope = ? AND origin = ? AND fact_id IS NOT NULL ORDER BY fact_id"""


class SqliteFacts:
    """The fact graph in SQLite; see ``store.base.FactStore`` for what each call promises."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def slice(self, scope: Scope, touches: Touches) -> Slice:
        with self._database.read() as connection:
            return read_slice(connection, scope_row(connection, scope), touches)

    def apply(self, plan: Plan, scope: Scope, revision: int) -> None:
        self._database.write(lambda c: plans.apply_plan(c, plan, scope, revision))
        if plan.removed_statements:
            self._database.tidy_later()

    def change(self, scope: Scope, touches: Touches, plan: Callable[[Slice], Plan]) -> Plan:
        def step(connection: sqlite3.Connection) -> Plan:
            slice_ = read_slice(connection, scope_row(connection, scope), touches)
            planned = Plan(touches.batch_id) if slice_.applied else plan(slice_)
            if not planned.empty:
                plans.apply_plan(connection, planned, scope, slice_.revision)
            return planned

        written = self._database.write(step)
        if written.removed_statements:
            self._database.tidy_later()
        return written

    def counts(self, scope: Scope) -> Counts:
        with self._database.read() as connection:
            row = scope_row(connection, scope)
        if row is None:
            return Counts(0, 0, 0, 0)
        return Counts(row.entities, row.facts, row.current_facts, row.revision)

    def find_entities(self, scope: Scope, terms: Sequence[Term], limit: int) -> list[Hit]:
        with self._database.read() as connection:
            row = scope_row(connection, scope)
            if row is None:
                return []
            size = search.Size(row.entities, row.entity_words)
            return search.find(connection, search.ENTITIES, row.number, size, terms, limit)

    def find_facts(self, scope: Scope, terms: Sequence[Term], limit: int) -> list[Hit]:
        with self._database.read() as connection:
            row = scope_row(connection, scope)
            if row is None:
                return []
            size = search.Size(row.current_facts, row.fact_words)
            return search.find(connection, search.FACTS, row.number, size, terms, limit)

    def names(self, scope: Scope, keys: Iterable[str]) -> dict[str, NameRow]:
        rows = self._wanted(_NAMES, scope, set(keys))
        return {row[0]: name_from(row) for row in rows}

    def entities(self, scope: Scope, ids: Iterable[str]) -> dict[str, EntityRow]:
        rows = self._wanted(_ENTITIES, scope, set(ids))
        return {row[0]: entity_from(row) for row in rows}

    def list_entities(self, scope: Scope, page: Page) -> tuple[list[EntityRow], str | None]:
        (after,) = decode_cursor(page.cursor, str) if page.cursor else ("",)
        limit = max(page.limit, 1)
        with self._database.read() as connection:
            row = scope_row(connection, scope)
            if row is None:
                return [], None
            found = connection.execute(_LIST_ENTITIES, (row.number, after, limit + 1)).fetchall()
        entities = [entity_from(row) for row in found[:limit]]
        return entities, encode_cursor(entities[-1].id) if len(found) > limit else None

    def facts(
        self, scope: Scope, which: FactFilter, page: Page
    ) -> tuple[list[FactRow], str | None]:
        with self._database.read() as connection:
            row = scope_row(connection, scope)
            return facts_page(connection, row.number, which, page) if row else ([], None)

    def neighbours(
        self, scope: Scope, entity_ids: Sequence[str], per_entity: int
    ) -> dict[str, list[FactRow]]:
        with self._database.read() as connection:
            row = scope_row(connection, scope)
            return {id_: _best_around(connection, row, id_, per_entity) for id_ in entity_ids}

    def strongest(self, scope: Scope, limit: int) -> list[FactRow]:
        with self._database.read() as connection:
            row = scope_row(connection, scope)
            if row is None:
                return []
            found = connection.execute(_BEST_OF_SCOPE, (row.number, max(limit, 0)))
            return [fact_from(fact) for fact in found]

    def statements(self, scope: Scope, fact_ids: Sequence[str]) -> list[StatementRow]:
        return [statement_from(row) for row in self._wanted(_STATEMENTS, scope, set(fact_ids))]

    def sessions_facts(self, scope: Scope, origin: str) -> list[str]:
        with self._database.read() as connection:
            row = scope_row(connection, scope)
            if row is None:
                return []
            return [id_ for (id_,) in connection.execute(_OF_ORIGIN, (row.number, origin))]

    def delete_scope(self, scope: Scope) -> int:
        gone = self._database.write(lambda c: plans.delete_scope(c, scope))
        self._database.tidy_later()
        return gone

    def _wanted(self, statement: str, scope: Scope, values: set[str]) -> list[tuple[Any, ...]]:
        with self._database.read() as connection:
            row = scope_row(connection, scope)
            if row is None or not values:
                return []
            return connection.execute(statement, (row.number, json_list(sorted(values)))).fetchall()


def _best_around(
    connection: sqlite3.Connection, scope: ScopeRow | None, entity_id: str, limit: int
) -> list[FactRow]:
    """The best of both sides. Each side is read in order, so a hub costs what is returned."""
    if scope is None or limit <= 0:
        return []
    found = {
        row[0]: row
        for statement in (_BEST_OF_SUBJECT, _BEST_OF_OBJECT)
        for row in connection.execute(statement, (scope.number, entity_id, limit))
    }
    best = sorted(found.values(), key=lambda row: (-row[4], -row[5], -row[8], row[0]))
    return [fact_from(row) for row in best[:limit]]

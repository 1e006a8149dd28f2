"""Writing: one plan, or the end of a scope, with the index and the counts kept in the same step.

These functions run inside a transaction of the writer and decide nothing about facts.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from codesynapse.domain.graph import Order, Plan
from codesynapse.domain.scope import Scope
from codesynapse.domain.text import analyse
from codesynapse.errors import StaleRevision
from codesynapse.store.sqlite import search
from codesynapse.store.sqlite.rows import (
    entity_to,
    fact_to,
    json_list,
    name_to,
    statement_to,
    to_ms,
)
from codesynapse.store.sqlite.scopes import add_scope, remove_scope, scope_row

__all__ = ["apply_plan", "delete_scope"]

_UPSERT_NAME = """
    INSERT INTO names (scope, key, entity_id, display, display_said_at, display_batch,
        display_place, type, type_said_at, type_batch, type_place)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (scope, key) DO UPDATE SET
        entity_id = excluded.entity_id, display = excluded.display,
        display_said_at = excluded.display_said_at, display_batch = excluded.display_batch,
        display_place = excluded.display_place, type = excluded.type,
        type_said_at = excluded.type_said_at, type_batch = excluded.type_batch,
        type_place = excluded.type_place"""

_UPSERT_ENTITY = """
    INSERT INTO entities (scope, id, name, type, aliases) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (scope, id) DO UPDATE SET
        name = excluded.name, type = excluded.type, aliases = excluded.aliases"""

_UPSERT_FACT = """
    INSERT INTO facts (scope, id, subject_id, predicate, object_id, confidence, confirmations,
        intervals, current, last_start, said_by, first_stored_at,
        client, stored_at, session, user, model, speaker, origin)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (scope, id) DO UPDATE SET
        subject_id = excluded.subject_id, predicate = excluded.predicate,
        object_id = excluded.object_id, confidence = excluded.confidence,
        confirmations = excluded.confirmations, intervals = excluded.intervals,
        current = excluded.current, last_start = excluded.last_start,
        said_by = excluded.said_by, first_stored_at = excluded.first_stored_at,
        client = excluded.client, stored_at = excluded.stored_at, session = excluded.session,
        user = excluded.user, model = excluded.model, speaker = excluded.speaker,
        origin = excluded.origin"""

_INSERT_STATEMENT = """
    INSERT INTO statements (scope, said_at, batch_id, place, subject, predicate, object,
        subject_as, object_as, subject_type, object_type, confidence, replaces, closes, fact_id,
        client, stored_at, session, user, model, speaker, origin)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (scope, said_at, batch_id, place) DO UPDATE SET fact_id = excluded.fact_id"""

_NUMBERS_OF_ENTITIES = """
    SELECT e.number FROM json_each(?2) AS wanted
    CROSS JOIN entities AS e ON e.scope = ?1 AND e.id = wanted.value"""

_NUMBERS_OF_FACTS = """
    SELECT f.number FROM json_each(?2) AS wanted
    CROSS JOIN facts AS f ON f.scope = ?1 AND f.id = wanted.value"""

_NAMES_OF_ENTITIES = """
    SELECT e.id, e.name FROM json_each(?2) AS wanted
    CROSS JOIN entities AS e ON e.scope = ?1 AND e.id = wanted.value"""

_TALLY = """
    SELECT
        (SELECT count(*) FROM json_each(?2) AS wanted
            CROSS JOIN entities AS e ON e.scope = ?1 AND e.id = wanted.value),
        count(f.number), count(nullif(f.current, 0))
    FROM json_each(?3) AS wanted
    CROSS JOIN facts AS f ON f.scope = ?1 AND f.id = wanted.value"""

_CURRENT_AROUND = """
    SELECT f.id FROM json_each(?2) AS wanted
    CROSS JOIN facts AS f ON f.scope = ?1 AND f.subject_id = wanted.value AND f.current = 1
    UNION
    SELECT f.id FROM json_each(?2) AS wanted
    CROSS JOIN facts AS f INDEXED BY facts_of_object
        ON f.scope = ?1 AND f.object_id = wanted.value AND f.current = 1"""

_COUNT = """
    UPDATE scopes SET revision = revision + 1, entities = entities + ?,
        facts = facts + ?, current_facts = current_facts + ?
    WHERE number = ?"""

_LEAVE_RESIDUE = "INSERT OR REPLACE INTO settings (name, value) VALUES ('residue', 1)"

_EVERYTHING = (
    "DELETE FROM facts WHERE scope = ?",
    "DELETE FROM entities WHERE scope = ?",
    "DELETE FROM names WHERE scope = ?",
    "DELETE FROM statements WHERE scope = ?",
    "DELETE FROM batches WHERE scope = ?",
)


def apply_plan(connection: sqlite3.Connection, plan: Plan, scope: Scope, revision: int) -> None:
    """Write the plan, unless its batch is recorded. Raises StaleRevision."""
    row = scope_row(connection, scope)
    if row and _applied(connection, row.number, plan.batch_id):
        return
    stands_at = row.revision if row else 0
    if stands_at != revision:
        raise StaleRevision(
            f"{scope.key} is at revision {stands_at}, the plan was made at {revision}",
            "read the scope again and plan again",
        )
    number = row.number if row else add_scope(connection, scope)
    _write(connection, number, plan)
    connection.execute("INSERT INTO batches (scope, id) VALUES (?, ?)", (number, plan.batch_id))
    if plan.removed_statements:
        connection.execute(_LEAVE_RESIDUE)


def _applied(connection: sqlite3.Connection, number: int, batch_id: str) -> bool:
    found = connection.execute(
        "SELECT 1 FROM batches WHERE scope = ? AND id = ?", (number, batch_id)
    )
    return found.fetchone() is not None


def _write(connection: sqlite3.Connection, number: int, plan: Plan) -> None:
    entities = json_list({e.id for e in plan.entities} | plan.removed_entities)
    facts = json_list({f.id for f in plan.facts} | plan.removed_facts)
    before = connection.execute(_TALLY, (number, entities, facts)).fetchone()
    named = dict(connection.execute(_NAMES_OF_ENTITIES, (number, entities)))
    _remove(connection, number, plan)
    _upsert(connection, number, plan)
    renamed = [e.id for e in plan.entities if _reads_otherwise(named.get(e.id), e.name)]
    around = connection.execute(_CURRENT_AROUND, (number, json_list(renamed))) if renamed else ()
    search.index_entities(connection, number, {e.id for e in plan.entities})
    search.index_facts(connection, number, {f.id for f in plan.facts} | {id_ for (id_,) in around})
    after = connection.execute(_TALLY, (number, entities, facts)).fetchone()
    more = [now - then for now, then in zip(after, before, strict=True)]
    connection.execute(_COUNT, (*more, number))


def _reads_otherwise(before: str | None, now: str) -> bool:
    """Whether facts that show this name have to be indexed again."""
    return before is not None and before != now and analyse(before) != analyse(now)


def _remove(connection: sqlite3.Connection, number: int, plan: Plan) -> None:
    run = connection.executemany
    if plan.removed_facts:
        ids = json_list(plan.removed_facts)
        rows = connection.execute(_NUMBERS_OF_FACTS, (number, ids))
        search.unindex(connection, search.FACTS, number, [row[0] for row in rows])
        run("DELETE FROM facts WHERE scope = ? AND id = ?", _each(number, plan.removed_facts))
    if plan.removed_entities:
        ids = json_list(plan.removed_entities)
        rows = connection.execute(_NUMBERS_OF_ENTITIES, (number, ids))
        search.unindex(connection, search.ENTITIES, number, [row[0] for row in rows])
        run("DELETE FROM entities WHERE scope = ? AND id = ?", _each(number, plan.removed_entities))
    run("DELETE FROM names WHERE scope = ? AND key = ?", _each(number, plan.removed_names))
    run(
        """DELETE FROM statements
        WHERE scope = ? AND said_at = ? AND batch_id = ? AND place = ?""",
        ((number, to_ms(said_at), batch, place) for said_at, batch, place in _sorted(plan)),
    )


def _each(number: int, ids: Iterable[str]) -> Iterable[tuple[int, str]]:
    return ((number, id_) for id_ in sorted(ids))


def _sorted(plan: Plan) -> list[Order]:
    return sorted(plan.removed_statements)


def _upsert(connection: sqlite3.Connection, number: int, plan: Plan) -> None:
    run = connection.executemany
    run(_UPSERT_NAME, ((number, *name_to(name)) for name in plan.names))
    run(_UPSERT_ENTITY, ((number, *entity_to(entity)) for entity in plan.entities))
    run(_UPSERT_FACT, ((number, *fact_to(fact)) for fact in plan.facts))
    run(_INSERT_STATEMENT, ((number, *statement_to(said)) for said in plan.statements))


def delete_scope(connection: sqlite3.Connection, scope: Scope) -> int:
    """Remove every row of a scope, its words and what waits to be carried into it."""
    connection.execute("DELETE FROM review_items WHERE scope_key = ?", (scope.key,))
    row = scope_row(connection, scope)
    if row is None:
        return 0
    for index, numbers in (
        (search.FACTS, "SELECT number FROM facts WHERE scope = ?"),
        (search.ENTITIES, "SELECT number FROM entities WHERE scope = ?"),
    ):
        found = connection.execute(numbers, (row.number,)).fetchall()
        search.unindex(connection, index, row.number, [n for (n,) in found])
    for statement in _EVERYTHING:
        connection.execute(statement, (row.number,))
    remove_scope(connection, row)
    connection.execute(_LEAVE_RESIDUE)
    return row.facts

"""Listing facts by filter, a page at a time, newest first."""

from __future__ import annotations

import sqlite3

from codesynapse.domain.graph import FactRow
from codesynapse.store.base import FactFilter, Page
from codesynapse.store.sqlite.rows import (
    decode_cursor,
    encode_cursor,
    fact_from,
    json_list,
    to_ms,
)

__all__ = ["facts_page"]

_SELECT = """
    SELECT id, subject_id, predicate, object_id, confidence, confirmations, intervals, current,
        last_start, said_by, first_stored_at, client, stored_at, session, user, model, speaker,
        origin
    FROM facts WHERE scope = :scope"""

_IDS = "AND id IN (SELECT value FROM json_each(:ids))"

_ENTITIES = """AND number IN (
    SELECT f.number FROM json_each(:entities) AS wanted
    CROSS JOIN facts AS f ON f.scope = :scope AND f.subject_id = wanted.value
    UNION
    SELECT f.number FROM json_each(:entities) AS wanted
    CROSS JOIN facts AS f INDEXED BY facts_of_object
        ON f.scope = :scope AND f.object_id = wanted.value)"""

_SUBJECTS = """AND number IN (
    SELECT f.number FROM json_each(:subjects) AS wanted
    CROSS JOIN facts AS f ON f.scope = :scope AND f.subject_id = wanted.value)"""

_HELD = """AND EXISTS (
    SELECT 1 FROM json_each(intervals) AS one
    WHERE json_extract(one.value, '$[0]') <= :moment
    AND coalesce(json_extract(one.value, '$[1]') > :moment, 1))"""

_AFTER = "AND (last_start < :start OR (last_start = :start AND id > :id))"

_ORDER = "ORDER BY last_start DESC, id LIMIT :limit"


def facts_page(
    connection: sqlite3.Connection, scope: int, which: FactFilter, page: Page
) -> tuple[list[FactRow], str | None]:
    """One page of the facts of a scope that pass the filter, and the next cursor."""
    limit = max(page.limit, 1)
    clauses = [_SELECT]
    values: dict[str, object] = {"scope": scope, "limit": limit + 1}
    for name, ids, clause in (
        ("ids", which.ids, _IDS),
        ("entities", which.entity_ids, _ENTITIES),
        ("subjects", which.subject_ids, _SUBJECTS),
    ):
        if ids:
            clauses.append(clause)
            values[name] = json_list(ids)
    if which.predicate is not None:
        clauses.append("AND predicate = :predicate")
        values["predicate"] = which.predicate
    if which.as_of is not None:
        clauses.append(_HELD)
        values["moment"] = to_ms(which.as_of)
    elif not which.history:
        clauses.append("AND current = 1")
    if page.cursor:
        clauses.append(_AFTER)
        values["start"], values["id"] = decode_cursor(page.cursor, int, str)
    rows = connection.execute(" ".join([*clauses, _ORDER]), values).fetchall()
    facts = [fact_from(row) for row in rows[:limit]]
    more = len(rows) > limit
    return facts, encode_cursor(rows[limit - 1][8], rows[limit - 1][0]) if more else None

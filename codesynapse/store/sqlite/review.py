"""What waits for a person's approval, and what a person does not want back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from codesynapse.domain.scope import Scope
from codesynapse.store.base import ReviewItem
from codesynapse.store.sqlite.connection import Database
from codesynapse.store.sqlite.rows import Row, from_ms, json_list, to_ms

__all__ = ["SqliteReview"]

_SELECT = """
    SELECT id, scope_key, session_id, subject, predicate, object, confidence, said_at, created_at
    FROM review_items"""

_ADD = """
    INSERT INTO review_items (id, scope_key, session_id, subject, predicate, object, confidence,
        said_at, created_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO NOTHING"""

_WAITING = "WHERE scope_key = ? ORDER BY created_at, id LIMIT ?"

_BLOCK = """
    INSERT INTO blocked_facts (scope_key, fact_id) VALUES (?, ?)
    ON CONFLICT (scope_key, fact_id) DO NOTHING"""

_BLOCKED = """
    SELECT b.fact_id FROM json_each(?2) AS wanted
    CROSS JOIN blocked_facts AS b ON b.scope_key = ?1 AND b.fact_id = wanted.value"""


class SqliteReview:
    """See ``store.base.ReviewStore``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, items: Iterable[ReviewItem]) -> None:
        rows = [_columns(item) for item in items]
        self._database.write(lambda connection: connection.executemany(_ADD, rows))

    def waiting(self, scope: Scope, limit: int = 200) -> list[ReviewItem]:
        with self._database.read() as connection:
            rows = connection.execute(f"{_SELECT} {_WAITING}", (scope.key, max(limit, 0)))
            return [_item(row) for row in rows]

    def get(self, item_id: str) -> ReviewItem | None:
        with self._database.read() as connection:
            row = connection.execute(f"{_SELECT} WHERE id = ?", (item_id,)).fetchone()
        return _item(row) if row else None

    def remove(self, item_id: str) -> None:
        self._database.write(
            lambda connection: connection.execute(
                "DELETE FROM review_items WHERE id = ?", (item_id,)
            )
        )

    def block(self, scope: Scope, fact_ids: Iterable[str]) -> None:
        rows = [(scope.key, id_) for id_ in fact_ids]
        self._database.write(lambda connection: connection.executemany(_BLOCK, rows))

    def blocked(self, scope: Scope, fact_ids: Iterable[str]) -> set[str]:
        with self._database.read() as connection:
            rows = connection.execute(_BLOCKED, (scope.key, json_list(fact_ids)))
            return {id_ for (id_,) in rows}


def _columns(item: ReviewItem) -> tuple[object, ...]:
    return (
        item.id,
        item.scope,
        item.session_id,
        item.subject,
        item.predicate,
        item.object,
        item.confidence,
        to_ms(item.said_at),
        to_ms(item.created_at),
    )


def _item(row: Row) -> ReviewItem:
    values: list[Any] = [*row[:7], from_ms(row[7]), from_ms(row[8])]
    return ReviewItem(*values)

"""The trail of who did what."""

from __future__ import annotations

from codesynapse.store.base import AuditEntry, Page
from codesynapse.store.sqlite.connection import Database
from codesynapse.store.sqlite.rows import decode_cursor, encode_cursor, from_ms, to_ms

__all__ = ["SqliteAudit"]

_ADD = """
    INSERT INTO audit (at, user, client, action, scope, target, detail)
    VALUES (?, ?, ?, ?, ?, ?, ?)"""

_RECENT = """
    SELECT number, at, user, client, action, scope, target, detail FROM audit
    WHERE ?1 IS NULL OR number < ?1 ORDER BY number DESC LIMIT ?2"""


class SqliteAudit:
    """See ``store.base.AuditStore``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, entry: AuditEntry) -> None:
        row = (
            to_ms(entry.at),
            entry.user,
            entry.client,
            entry.action,
            entry.scope,
            entry.target,
            entry.detail,
        )
        self._database.write(lambda connection: connection.execute(_ADD, row))

    def recent(self, page: Page) -> tuple[list[AuditEntry], str | None]:
        (before,) = decode_cursor(page.cursor, int) if page.cursor else (None,)
        limit = max(page.limit, 1)
        with self._database.read() as connection:
            rows = connection.execute(_RECENT, (before, limit + 1)).fetchall()
        entries = [AuditEntry(from_ms(at), *rest) for _, at, *rest in rows[:limit]]
        return entries, encode_cursor(rows[limit - 1][0]) if len(rows) > limit else None

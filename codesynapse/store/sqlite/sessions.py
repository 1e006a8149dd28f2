"""Sessions, watermarks and the ids of extracted turns."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from codesynapse.domain.sessions import Session, SessionState, Watermark
from codesynapse.store.base import Page
from codesynapse.store.sqlite.connection import Database
from codesynapse.store.sqlite.rows import (
    Row,
    decode_cursor,
    encode_cursor,
    from_ms,
    json_list,
    maybe_from_ms,
    maybe_to_ms,
    to_ms,
)

__all__ = ["SqliteSessions"]

_SELECT = """
    SELECT id, client, client_session, repo_id, user, state, registered_at, expires_at,
        last_seen_at, ended_at, carried_at, transcript, cwd
    FROM sessions"""

_ADD = """
    INSERT INTO sessions (id, client, client_session, repo_id, user, state, registered_at,
        expires_at, last_seen_at, ended_at, carried_at, transcript, cwd)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO NOTHING"""

_UPDATE = """
    UPDATE sessions SET client = ?2, client_session = ?3, repo_id = ?4, user = ?5, state = ?6,
        registered_at = ?7, expires_at = ?8, last_seen_at = ?9, ended_at = ?10, carried_at = ?11,
        transcript = ?12, cwd = ?13
    WHERE id = ?1"""

_BY_CLIENT = "WHERE client = ? AND client_session = ? ORDER BY registered_at DESC, id LIMIT 1"

_OF_REPO = """
    WHERE repo_id = :repo AND (:user IS NULL OR user = :user)
        AND (:at IS NULL OR (registered_at, id) < (:at, :id))
    ORDER BY registered_at DESC, id DESC LIMIT :limit"""

# Open sessions come from an index that holds no others. Closed ones are found from the scopes
# that are left, so that all those that were cleared long ago cost nothing.
_DUE = """
    WHERE (state = 'active' AND (last_seen_at < :idle OR expires_at <= :now))
        OR (state = 'ended' AND (carried_at IS NULL OR carried_at < ended_at
            OR expires_at <= :now))
    ORDER BY registered_at, id"""

_CLOSED = """
    WHERE state IN ('expired', 'revoked') AND id IN (
        SELECT substr(key, 9) FROM scopes WHERE key >= 'session:' AND key < 'session;')
    ORDER BY registered_at, id"""

_ADVANCE = """
    INSERT INTO watermarks (session_id, offset, turn_id) VALUES (?, ?, ?)
    ON CONFLICT (session_id) DO UPDATE SET offset = excluded.offset, turn_id = excluded.turn_id
    WHERE excluded.offset > offset OR (excluded.offset = offset AND excluded.turn_id IS NOT NULL)"""


class SqliteSessions:
    """See ``store.base.SessionStore``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, session_id: str) -> Session | None:
        with self._database.read() as connection:
            return _get(connection, session_id)

    def by_client(self, client: str, client_session: str) -> Session | None:
        with self._database.read() as connection:
            found = connection.execute(f"{_SELECT} {_BY_CLIENT}", (client, client_session))
            row = found.fetchone()
        return _session(row) if row else None

    def add(self, session: Session) -> Session:
        def step(connection: sqlite3.Connection) -> Session:
            connection.execute(_ADD, _columns(session))
            return _get(connection, session.id) or session

        return self._database.write(step)

    def update(self, session: Session) -> None:
        self._database.write(lambda connection: connection.execute(_UPDATE, _columns(session)))

    def of_repo(
        self, repo_id: str, user: str | None, page: Page
    ) -> tuple[list[Session], str | None]:
        at, id_ = decode_cursor(page.cursor, int, str) if page.cursor else (None, None)
        limit = max(page.limit, 1)
        values = {"repo": repo_id, "user": user, "at": at, "id": id_, "limit": limit + 1}
        with self._database.read() as connection:
            rows = connection.execute(f"{_SELECT} {_OF_REPO}", values).fetchall()
        sessions = [_session(row) for row in rows[:limit]]
        last = sessions[-1] if len(rows) > limit else None
        return sessions, encode_cursor(to_ms(last.registered_at), last.id) if last else None

    def due(self, now: datetime, idle_since: datetime) -> list[Session]:
        times = {"now": to_ms(now), "idle": to_ms(idle_since)}
        with self._database.read() as connection:
            rows = connection.execute(f"{_SELECT} {_DUE}", times).fetchall()
            rows += connection.execute(f"{_SELECT} {_CLOSED}").fetchall()
        return [_session(row) for row in rows]

    def watermark(self, session_id: str) -> Watermark | None:
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT session_id, offset, turn_id FROM watermarks WHERE session_id = ?",
                (session_id,),
            ).fetchone()
        return Watermark(*row) if row else None

    def advance(self, mark: Watermark, turn_ids: Iterable[str], *, durable: bool = True) -> None:
        turns = [(turn,) for turn in turn_ids]

        def step(connection: sqlite3.Connection) -> None:
            connection.execute(_ADVANCE, (mark.session_id, mark.offset, mark.turn_id))
            connection.executemany(
                "INSERT INTO extracted_turns (id) VALUES (?) ON CONFLICT (id) DO NOTHING", turns
            )

        self._database.write(step, durable=durable)

    def rewind(self, session_id: str) -> None:
        def step(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM watermarks WHERE session_id = ?", (session_id,))

        self._database.write(step)

    def extracted(self, turn_ids: Iterable[str]) -> set[str]:
        with self._database.read() as connection:
            rows = connection.execute(
                """SELECT t.id FROM json_each(?) AS wanted
                CROSS JOIN extracted_turns AS t ON t.id = wanted.value""",
                (json_list(turn_ids),),
            )
            return {id_ for (id_,) in rows}


def _get(connection: sqlite3.Connection, session_id: str) -> Session | None:
    row = connection.execute(f"{_SELECT} WHERE id = ?", (session_id,)).fetchone()
    return _session(row) if row else None


def _columns(session: Session) -> tuple[object, ...]:
    return (
        session.id,
        session.client,
        session.client_session,
        session.repo_id,
        session.user,
        session.state,
        to_ms(session.registered_at),
        to_ms(session.expires_at),
        to_ms(session.last_seen_at),
        maybe_to_ms(session.ended_at),
        maybe_to_ms(session.carried_at),
        session.transcript,
        session.cwd,
    )


def _session(row: Row) -> Session:
    values: list[Any] = [
        *row[:5],
        SessionState(row[5]),
        from_ms(row[6]),
        from_ms(row[7]),
        from_ms(row[8]),
        maybe_from_ms(row[9]),
        maybe_from_ms(row[10]),
        row[11],
        row[12],
    ]
    return Session(*values)

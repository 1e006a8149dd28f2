"""Repositories and the remotes they had."""

from __future__ import annotations

import sqlite3

from codesynapse.domain.sessions import Repository
from codesynapse.store.sqlite.connection import Database

__all__ = ["SqliteRepos"]

_GET = "SELECT id, name, root, remote FROM repositories WHERE id = ?"

_BY_REMOTE = """
    SELECT id, name, root, remote FROM repositories WHERE remote = ?
    ORDER BY number LIMIT 1"""

_BY_FORMER = """
    SELECT r.id, r.name, r.root, r.remote FROM former_remotes AS f
    JOIN repositories AS r ON r.id = f.repository
    WHERE f.remote = ? ORDER BY r.number LIMIT 1"""

_BY_ROOT = """
    SELECT id, name, root, remote FROM repositories
    WHERE root = ?1 AND (?2 IS NULL OR remote IS NULL)
    ORDER BY remote IS NOT NULL, number LIMIT 1"""

_SAVE = """
    INSERT INTO repositories (id, name, root, remote) VALUES (?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET
        name = excluded.name, root = excluded.root, remote = excluded.remote"""


class SqliteRepos:
    """See ``store.base.RepoStore``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, repo_id: str) -> Repository | None:
        with self._database.read() as connection:
            return _first(connection, _GET, repo_id)

    def match(self, remote: str | None, root: str | None) -> Repository | None:
        with self._database.read() as connection:
            found = None
            if remote is not None:
                found = _first(connection, _BY_REMOTE, remote)
                found = found or _first(connection, _BY_FORMER, remote)
            if found is None and root is not None:
                found = _first(connection, _BY_ROOT, root, remote)
            return found

    def save(self, repository: Repository) -> None:
        self._database.write(lambda connection: _save(connection, repository))

    def all(self) -> list[Repository]:
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT id, name, root, remote FROM repositories ORDER BY name, id"
            ).fetchall()
            return [_repository(connection, row) for row in rows]


def _save(connection: sqlite3.Connection, repository: Repository) -> None:
    values = (repository.id, repository.name, repository.root, repository.remote)
    connection.execute(_SAVE, values)
    connection.execute("DELETE FROM former_remotes WHERE repository = ?", (repository.id,))
    connection.executemany(
        "INSERT INTO former_remotes (repository, place, remote) VALUES (?, ?, ?)",
        ((repository.id, place, remote) for place, remote in enumerate(repository.former)),
    )


def _first(
    connection: sqlite3.Connection, statement: str, *values: str | None
) -> Repository | None:
    row = connection.execute(statement, values).fetchone()
    return _repository(connection, row) if row else None


def _repository(
    connection: sqlite3.Connection, row: tuple[str, str, str | None, str | None]
) -> Repository:
    former = connection.execute(
        "SELECT remote FROM former_remotes WHERE repository = ? ORDER BY place", (row[0],)
    )
    return Repository(*row, former=tuple(remote for (remote,) in former))

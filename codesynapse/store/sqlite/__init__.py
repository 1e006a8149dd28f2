"""The default engine: one SQLite file, WAL, full durability, full-text search inside.

Promises beside ``store.base``: files are for their owner only; a damaged, cut off, foreign or newer
file is refused by name and left as it was; an older one is copied before it is migrated.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from codesynapse.errors import StoreDamaged
from codesynapse.store.base import (
    AuditStore,
    FactStore,
    JobStore,
    RepoStore,
    ReviewStore,
    SessionStore,
)
from codesynapse.store.sqlite.audit import SqliteAudit
from codesynapse.store.sqlite.connection import Database, connect, sqlite_errors
from codesynapse.store.sqlite.facts import SqliteFacts
from codesynapse.store.sqlite.files import tighten
from codesynapse.store.sqlite.jobs import SqliteJobs
from codesynapse.store.sqlite.mending import index_again, mend
from codesynapse.store.sqlite.opening import prepare
from codesynapse.store.sqlite.repos import SqliteRepos
from codesynapse.store.sqlite.review import SqliteReview
from codesynapse.store.sqlite.sessions import SqliteSessions
from codesynapse.store.sqlite.upkeep import (
    copy_store,
    leave_mark,
    sweep_index,
    take_mark,
    tidy,
)
from codesynapse.store.sqlite.verify import check_index, check_rows

__all__ = ["SqliteStore", "open_store"]


def _now() -> datetime:
    return datetime.now(UTC)


def open_store(
    path: Path, *, backups: Path | None = None, clock: Callable[[], datetime] = _now
) -> SqliteStore:
    """Open the file, making it if there is none. Raises StoreDamaged, StoreNewer or Unavailable.

    ``backups`` is where copies go before a migration: by default beside the file.
    """
    prepare(path, backups or path.parent / "backups", clock())
    return SqliteStore(path, clock)


class SqliteStore:
    """An open file. ``unclean`` tells that the last process did not close it: run ``verify``."""

    facts: FactStore
    repos: RepoStore
    sessions: SessionStore
    jobs: JobStore
    review: ReviewStore
    audit: AuditStore

    def __init__(self, path: Path, clock: Callable[[], datetime]) -> None:
        self.path = path
        self._token = uuid.uuid4().hex
        with sqlite_errors(path):
            self._database = Database(path, tidy, lambda c: mend(c, clock()))
        self._database.write(index_again)
        self.unclean = self._database.write(lambda c: take_mark(c, self._token, clock()))
        tighten(path)
        self.facts = SqliteFacts(self._database)
        self.repos = SqliteRepos(self._database)
        self.sessions = SqliteSessions(self._database)
        self.jobs = SqliteJobs(self._database)
        self.review = SqliteReview(self._database)
        self.audit = SqliteAudit(self._database)

    def verify(self) -> list[str]:
        """Every page, the agreement of all tables, and the index against the tables."""
        rows = self._faults_of_rows()
        try:
            return rows + self._database.look(check_index)
        except StoreDamaged as damage:
            return rows or [damage.message]

    def recover(self) -> list[str]:
        """``verify`` after an unclean stop: the full-text index is mended where it is at fault.

        What is returned cannot be mended: the file must not be served.
        """
        if rows := self._faults_of_rows():
            return rows
        if self._database.look(check_index):
            self._database.mend()
            return self.verify()
        return []

    def _faults_of_rows(self) -> list[str]:
        try:
            with self._database.read() as connection:
                return check_rows(connection)
        except StoreDamaged as damage:
            return [damage.message]

    def backup(self, destination: Path) -> None:
        """A consistent copy in one file, 0600. Raises Invalid when something is there already."""
        with sqlite_errors(self.path):
            copy_store(self.path, destination)

    def reindex(self) -> None:
        """Make the whole full-text index anew."""
        self._database.mend()

    def compact(self) -> None:
        """Take the words of everything deleted off the disk now, instead of when it is quiet."""
        while self._database.write(sweep_index)[0]:
            continue
        with sqlite_errors(self.path), closing(connect(self.path.absolute().as_uri())) as own:
            own.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def close(self) -> None:
        """Finish what is in hand and close cleanly. Idempotent."""
        self._database.close(lambda connection: leave_mark(connection, self._token))

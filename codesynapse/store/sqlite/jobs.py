"""Offload jobs: rows without content, the last 200 finished ones kept."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

from codesynapse.domain.sessions import Job, JobState
from codesynapse.store.sqlite.connection import Database
from codesynapse.store.sqlite.rows import Row, from_ms, to_ms

__all__ = ["SqliteJobs"]

_SELECT = """
    SELECT id, session_id, repo_id, user, client, state, created_at, transcript, start, "end",
        last_turn_id, attempts, counts, duration_ms, model, error
    FROM jobs"""

_ADD = """
    INSERT INTO jobs (id, session_id, repo_id, user, client, state, created_at, transcript, start,
        "end", last_turn_id, attempts, counts, duration_ms, model, error)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO NOTHING"""

_UPDATE = """
    UPDATE jobs SET session_id = ?2, repo_id = ?3, user = ?4, client = ?5, state = ?6,
        created_at = ?7, transcript = ?8, start = ?9, "end" = ?10, last_turn_id = ?11,
        attempts = ?12, counts = ?13, duration_ms = ?14, model = ?15, error = ?16
    WHERE id = ?1"""

_PRUNE = """
    DELETE FROM jobs WHERE number IN (
        SELECT number FROM jobs WHERE state NOT IN ('queued', 'running')
        ORDER BY created_at DESC, number DESC LIMIT -1 OFFSET 200)"""

_RECENT = """
    WHERE ?1 IS NULL OR session_id = ?1
    ORDER BY created_at DESC, number DESC LIMIT ?2"""

_UNFINISHED = "WHERE state IN ('queued', 'running') ORDER BY created_at, number"


class SqliteJobs:
    """See ``store.base.JobStore``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, job: Job) -> None:
        self._write(_ADD, job)

    def update(self, job: Job, *, durable: bool = True) -> None:
        self._write(_UPDATE, job, durable)

    def get(self, job_id: str) -> Job | None:
        with self._database.read() as connection:
            row = connection.execute(f"{_SELECT} WHERE id = ?", (job_id,)).fetchone()
        return _job(row) if row else None

    def recent(self, session_id: str | None = None, limit: int = 200) -> list[Job]:
        with self._database.read() as connection:
            rows = connection.execute(f"{_SELECT} {_RECENT}", (session_id, max(limit, 0)))
            return [_job(row) for row in rows]

    def unfinished(self) -> list[Job]:
        with self._database.read() as connection:
            return [_job(row) for row in connection.execute(f"{_SELECT} {_UNFINISHED}")]

    def _write(self, statement: str, job: Job, durable: bool = True) -> None:
        def step(connection: sqlite3.Connection) -> None:
            connection.execute(statement, _columns(job))
            connection.execute(_PRUNE)

        self._database.write(step, durable=durable)


def _columns(job: Job) -> tuple[object, ...]:
    return (
        job.id,
        job.session_id,
        job.repo_id,
        job.user,
        job.client,
        job.state,
        to_ms(job.created_at),
        job.transcript,
        job.start,
        job.end,
        job.last_turn_id,
        job.attempts,
        json.dumps(job.counts),
        job.duration_ms,
        job.model,
        job.error,
    )


def _job(row: Row) -> Job:
    values: list[Any] = [
        *row[:5],
        JobState(row[5]),
        from_ms(row[6]),
        row[7],
        row[8],
        row[9],
        row[10],
        row[11],
        json.loads(row[12]),
        row[13],
        row[14],
        row[15],
    ]
    return Job(*values)

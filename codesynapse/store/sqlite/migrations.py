"""The schema, as the steps that lead to it. Append only; a step never imports live code.

Each step commits together with the number that records it.  What has to be computed by code that
changes (the words of the index) is not done here: opening a store does it when the analysis that
the index was made with is not the present one.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from codesynapse.store.sqlite.connection import Atomic
from codesynapse.store.sqlite.files import APPLICATION_ID

__all__ = ["LATEST", "MIGRATIONS", "migrate", "schema_of"]


def _graph(connection: sqlite3.Connection) -> None:
    """Scopes, and the rows of the fact graph in them."""
    for statement in (
        """CREATE TABLE scopes (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            key TEXT NOT NULL UNIQUE,
            revision INTEGER NOT NULL,
            entities INTEGER NOT NULL DEFAULT 0,
            facts INTEGER NOT NULL DEFAULT 0,
            current_facts INTEGER NOT NULL DEFAULT 0
        )""",
        """CREATE TABLE batches (
            scope INTEGER NOT NULL,
            id TEXT NOT NULL,
            PRIMARY KEY (scope, id)
        ) WITHOUT ROWID""",
        """CREATE TABLE names (
            scope INTEGER NOT NULL,
            key TEXT NOT NULL,
            entity_id TEXT NOT NULL,
            display TEXT NOT NULL,
            display_said_at INTEGER NOT NULL,
            display_batch TEXT NOT NULL,
            display_place INTEGER NOT NULL,
            type TEXT,
            type_said_at INTEGER,
            type_batch TEXT,
            type_place INTEGER,
            PRIMARY KEY (scope, key)
        ) WITHOUT ROWID""",
        "CREATE INDEX names_of_entity ON names (scope, entity_id)",
        """CREATE TABLE entities (
            number INTEGER PRIMARY KEY,
            scope INTEGER NOT NULL,
            id TEXT NOT NULL,
            name TEXT NOT NULL,
            type TEXT,
            aliases TEXT NOT NULL,
            UNIQUE (scope, id)
        )""",
        """CREATE TABLE facts (
            number INTEGER PRIMARY KEY,
            scope INTEGER NOT NULL,
            id TEXT NOT NULL,
            subject_id TEXT NOT NULL,
            predicate TEXT NOT NULL,
            object_id TEXT NOT NULL,
            confidence REAL NOT NULL,
            confirmations INTEGER NOT NULL,
            intervals TEXT NOT NULL,
            current INTEGER NOT NULL,
            last_start INTEGER NOT NULL,
            said_by TEXT,
            first_stored_at INTEGER NOT NULL,
            client TEXT NOT NULL,
            stored_at INTEGER NOT NULL,
            session TEXT,
            user TEXT,
            model TEXT,
            speaker TEXT,
            origin TEXT,
            UNIQUE (scope, id)
        )""",
        "CREATE INDEX facts_of_group ON facts (scope, subject_id, predicate)",
        "CREATE INDEX facts_of_object ON facts (scope, object_id)",
        """CREATE INDEX best_of_subject ON facts
            (scope, subject_id, confidence DESC, confirmations DESC, last_start DESC, id)
            WHERE current = 1""",
        """CREATE INDEX best_of_object ON facts
            (scope, object_id, confidence DESC, confirmations DESC, last_start DESC, id)
            WHERE current = 1""",
        """CREATE INDEX best_of_scope ON facts
            (scope, confidence DESC, confirmations DESC, last_start DESC, id)
            WHERE current = 1""",
        "CREATE INDEX facts_by_age ON facts (scope, last_start DESC, id)",
        """CREATE TABLE statements (
            scope INTEGER NOT NULL,
            said_at INTEGER NOT NULL,
            batch_id TEXT NOT NULL,
            place INTEGER NOT NULL,
            subject TEXT NOT NULL,
            predicate TEXT NOT NULL,
            object TEXT NOT NULL,
            subject_as TEXT NOT NULL,
            object_as TEXT NOT NULL,
            subject_type TEXT,
            object_type TEXT,
            confidence REAL NOT NULL,
            replaces INTEGER NOT NULL,
            closes INTEGER NOT NULL,
            fact_id TEXT,
            client TEXT NOT NULL,
            stored_at INTEGER NOT NULL,
            session TEXT,
            user TEXT,
            model TEXT,
            speaker TEXT,
            origin TEXT,
            PRIMARY KEY (scope, said_at, batch_id, place)
        ) WITHOUT ROWID""",
        "CREATE INDEX statements_of_fact ON statements (scope, fact_id)",
        """CREATE INDEX same_as_subject ON statements (scope, subject)
            WHERE predicate = 'SAME_AS'""",
        """CREATE INDEX statements_by_origin ON statements (scope, origin, fact_id)
            WHERE origin IS NOT NULL""",
    ):
        connection.execute(statement)


def _sessions(connection: sqlite3.Connection) -> None:
    """Repositories, sessions, jobs, what waits for a person, the trail, and the store's own."""
    for statement in (
        """CREATE TABLE repositories (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            name TEXT NOT NULL,
            root TEXT,
            remote TEXT
        )""",
        "CREATE INDEX repositories_by_remote ON repositories (remote)",
        "CREATE INDEX repositories_by_root ON repositories (root)",
        """CREATE TABLE former_remotes (
            repository TEXT NOT NULL,
            place INTEGER NOT NULL,
            remote TEXT NOT NULL,
            PRIMARY KEY (repository, place)
        ) WITHOUT ROWID""",
        "CREATE INDEX former_by_remote ON former_remotes (remote)",
        """CREATE TABLE sessions (
            id TEXT PRIMARY KEY,
            client TEXT NOT NULL,
            client_session TEXT NOT NULL,
            repo_id TEXT NOT NULL,
            user TEXT NOT NULL,
            state TEXT NOT NULL,
            registered_at INTEGER NOT NULL,
            expires_at INTEGER NOT NULL,
            last_seen_at INTEGER NOT NULL,
            ended_at INTEGER,
            carried_at INTEGER,
            transcript TEXT,
            cwd TEXT
        ) WITHOUT ROWID""",
        "CREATE INDEX sessions_by_client ON sessions (client, client_session)",
        "CREATE INDEX sessions_of_repo ON sessions (repo_id, registered_at DESC, id DESC)",
        """CREATE INDEX open_sessions ON sessions (expires_at)
            WHERE state IN ('active', 'ended')""",
        """CREATE TABLE watermarks (
            session_id TEXT PRIMARY KEY,
            offset INTEGER NOT NULL,
            turn_id TEXT
        ) WITHOUT ROWID""",
        "CREATE TABLE extracted_turns (id TEXT PRIMARY KEY) WITHOUT ROWID",
        """CREATE TABLE jobs (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            session_id TEXT NOT NULL,
            repo_id TEXT NOT NULL,
            user TEXT NOT NULL,
            client TEXT NOT NULL,
            state TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            transcript TEXT,
            start INTEGER NOT NULL,
            end INTEGER NOT NULL,
            last_turn_id TEXT,
            attempts INTEGER NOT NULL,
            counts TEXT NOT NULL,
            duration_ms INTEGER,
            model TEXT,
            error TEXT
        )""",
        "CREATE INDEX jobs_by_age ON jobs (created_at, number)",
        """CREATE TABLE review_items (
            id TEXT PRIMARY KEY,
            scope_key TEXT NOT NULL,
            session_id TEXT NOT NULL,
            subject TEXT NOT NULL,
            predicate TEXT NOT NULL,
            object TEXT NOT NULL,
            confidence REAL NOT NULL,
            said_at INTEGER NOT NULL,
            created_at INTEGER NOT NULL
        ) WITHOUT ROWID""",
        "CREATE INDEX review_by_age ON review_items (scope_key, created_at, id)",
        """CREATE TABLE blocked_facts (
            scope_key TEXT NOT NULL,
            fact_id TEXT NOT NULL,
            PRIMARY KEY (scope_key, fact_id)
        ) WITHOUT ROWID""",
        """CREATE TABLE audit (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            at INTEGER NOT NULL,
            user TEXT NOT NULL,
            client TEXT,
            action TEXT NOT NULL,
            scope TEXT,
            target TEXT,
            detail TEXT
        )""",
        """CREATE TABLE openers (
            token TEXT PRIMARY KEY,
            pid INTEGER NOT NULL,
            opened_at INTEGER NOT NULL
        ) WITHOUT ROWID""",
        "CREATE TABLE settings (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID",
    ):
        connection.execute(statement)


def _search(connection: sqlite3.Connection) -> None:
    """The words of entities and of current facts; opening the store fills them.

    The words are made before they come here, so ``ascii`` splits at spaces only. They hold no
    positions, since nothing asks for phrases, and no lengths, since the scope's own are used.
    """
    for statement in (
        """CREATE VIRTUAL TABLE entity_words
            USING fts5 (words, tokenize = 'ascii', detail = none, columnsize = 0)""",
        """CREATE VIRTUAL TABLE fact_words
            USING fts5 (words, tokenize = 'ascii', detail = none, columnsize = 0)""",
        "ALTER TABLE scopes ADD COLUMN entity_words INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE scopes ADD COLUMN fact_words INTEGER NOT NULL DEFAULT 0",
    ):
        connection.execute(statement)


def _values(connection: sqlite3.Connection) -> None:
    """One value of a group is found, and what replaces in it, without reading the others."""
    for statement in (
        "DROP INDEX facts_of_group",
        "CREATE INDEX facts_of_group ON facts (scope, subject_id, predicate, object_id)",
        """CREATE INDEX replacing ON statements (scope, subject, predicate, fact_id)
            WHERE replaces = 1""",
    ):
        connection.execute(statement)


MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = (
    _graph,
    _sessions,
    _search,
    _values,
)
LATEST = len(MIGRATIONS)


def schema_of(connection: sqlite3.Connection) -> int:
    """How many steps this file has behind it."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def migrate(connection: sqlite3.Connection, upto: int = LATEST) -> None:
    """Take the steps that are missing, each whole or not at all. Again: nothing happens."""
    while schema_of(connection) < upto:
        with Atomic(connection):
            done = schema_of(connection)  # another process may have been first
            if done < upto:
                MIGRATIONS[done](connection)
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {done + 1}")

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Event, Thread

import pytest

from codesynapse.errors import Invalid, Unavailable
from codesynapse.store.sqlite import open_store
from codesynapse.store.sqlite.connection import READERS, Atomic, Database, connect
from codesynapse.store.sqlite.files import private_file
from tests.store.planning import SCOPE, fact, plan, write


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    path = tmp_path / "a.db"
    private_file(path)
    with closing(connect(path.as_uri(), writer=True)) as connection:
        connection.execute("PRAGMA journal_mode = WAL").fetchall()
        connection.execute("CREATE TABLE words (word TEXT PRIMARY KEY)")
    database = Database(path, lambda _: False)
    yield database
    database.close(lambda _: None)


def _add(connection: sqlite3.Connection, word: str) -> None:
    connection.execute("INSERT INTO words VALUES (?)", (word,))


def _words(database: Database) -> list[str]:
    with database.read() as connection:
        return [word for (word,) in connection.execute("SELECT word FROM words ORDER BY word")]


def _at_once(database: Database, *words: str) -> tuple[list[str], dict[str, Exception]]:
    """Write these while the writer is held up; the statements that ran, and who failed."""
    ran: list[str] = []
    failed: dict[str, Exception] = {}
    held, go = Event(), Event()

    def hold(connection: sqlite3.Connection) -> None:
        held.set()
        assert go.wait(timeout=30)
        connection.set_trace_callback(ran.append)

    def add(word: str) -> None:
        try:
            database.write(lambda connection: _add(connection, word))
        except sqlite3.Error as error:
            failed[word] = error

    threads = [Thread(target=lambda: database.write(hold))]
    threads[0].start()
    assert held.wait(timeout=30)
    for word in words:
        threads.append(Thread(target=add, args=(word,)))
        threads[-1].start()
        while database.waiting < len(threads) - 1:
            threads[-1].join(timeout=0.001)
    go.set()
    for thread in threads:
        thread.join(timeout=30)
    return ran, failed


def test_writes_that_come_together_share_one_transaction(database: Database) -> None:
    ran, failed = _at_once(database, *(f"w{n}" for n in range(12)))
    assert not failed
    assert [line for line in ran if line.startswith(("BEGIN", "COMMIT"))][-2:] == [
        "BEGIN IMMEDIATE",
        "COMMIT",
    ]
    assert sum(line.startswith("BEGIN") for line in ran) == 1
    assert len(_words(database)) == 12


def test_a_write_that_need_not_be_durable_is_seen_at_once_and_waits_for_no_disk(
    database: Database,
) -> None:
    ran: list[str] = []
    database.write(lambda connection: connection.set_trace_callback(ran.append))
    database.write(lambda connection: _add(connection, "soon"), durable=False)
    assert _words(database) == ["soon"]
    database.write(lambda connection: _add(connection, "now"))
    levels = [line.split()[-1] for line in ran if line.startswith("PRAGMA synchronous")]
    assert levels == ["NORMAL", "FULL"]


def test_one_that_fails_in_a_shared_transaction_fails_alone(database: Database) -> None:
    database.write(lambda connection: _add(connection, "taken"))
    _, failed = _at_once(database, "a", "taken", "b")
    assert failed.keys() == {"taken"}
    assert _words(database) == ["a", "b", "taken"]


def test_an_error_of_a_step_reaches_its_caller_and_undoes_the_step(database: Database) -> None:
    def step(connection: sqlite3.Connection) -> None:
        _add(connection, "half")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        database.write(step)
    assert _words(database) == []


def test_a_nested_step_is_undone_without_the_outer_one(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "n.db", isolation_level=None)) as connection:
        connection.execute("CREATE TABLE words (word TEXT PRIMARY KEY)")

        def inner() -> None:
            with Atomic(connection):
                _add(connection, "inner")
                raise ZeroDivisionError

        with Atomic(connection):
            _add(connection, "outer")
            with pytest.raises(ZeroDivisionError):
                inner()
        assert connection.execute("SELECT word FROM words").fetchall() == [("outer",)]


def test_a_full_disk_is_told_and_loses_nothing_else(tmp_path: Path) -> None:
    with closing(open_store(tmp_path / "a.db")) as store:
        write(store, plan("b1", fact("a", "USES", "b")))
        database = store._database

        def limit(pages: int) -> int:
            def step(connection: sqlite3.Connection) -> int:
                statement = f"PRAGMA max_page_count = {pages}"
                return int(connection.execute(statement).fetchone()[0])

            return database.write(step)

        limit(limit(1) + 2)  # a page or two more than there are
        big = plan("b2", *(fact("a", "USES", f"thing {n} " + "x" * 90) for n in range(400)))
        with pytest.raises(Unavailable, match="no space"):
            write(store, big)
        limit(1_000_000)
        assert store.facts.counts(SCOPE).facts == 1
        write(store, big)
        assert store.facts.counts(SCOPE).facts == 401
        assert store.verify() == []


def test_more_threads_than_readers_all_get_their_turn(database: Database) -> None:
    inside, go, done = [], Event(), []

    def look() -> None:
        with database.read():
            inside.append(1)
            assert go.wait(timeout=30)
        done.append(1)

    threads = [Thread(target=look) for _ in range(3 * READERS)]
    for thread in threads:
        thread.start()
    while len(inside) < READERS:
        threads[0].join(timeout=0.001)
    assert len(inside) == READERS
    go.set()
    for thread in threads:
        thread.join(timeout=30)
    assert len(done) == 3 * READERS


def test_a_closed_store_says_so(database: Database) -> None:
    database.close(lambda _: None)
    with pytest.raises(Unavailable, match="closed"):
        database.write(lambda _: None)
    with pytest.raises(Unavailable, match="closed"), database.read():
        pass


def test_closing_finishes_what_is_in_hand(database: Database) -> None:
    held, go = Event(), Event()

    def slow(connection: sqlite3.Connection) -> None:
        held.set()
        assert go.wait(timeout=30)
        _add(connection, "slow")

    writing = Thread(target=lambda: database.write(slow))
    writing.start()
    assert held.wait(timeout=30)
    closing_ = Thread(target=lambda: database.close(lambda connection: _add(connection, "last")))
    closing_.start()
    go.set()
    writing.join(timeout=30)
    closing_.join(timeout=30)
    with closing(sqlite3.connect(database.path)) as connection:
        assert connection.execute("SELECT word FROM words ORDER BY word").fetchall() == [
            ("last",),
            ("slow",),
        ]


def test_readers_cannot_write(database: Database) -> None:
    with pytest.raises(Unavailable), database.read() as connection:
        _add(connection, "x")


def test_durability_is_full_and_nothing_goes_to_temporary_files(database: Database) -> None:
    def settings(connection: sqlite3.Connection) -> dict[str, object]:
        names = ("journal_mode", "synchronous", "temp_store", "secure_delete", "trusted_schema")
        return {name: connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names}

    with database.read() as connection:
        reading = settings(connection)
    assert (
        database.write(settings)
        == reading
        == {
            "journal_mode": "wal",
            "synchronous": 2,
            "temp_store": 2,
            "secure_delete": 1,
            "trusted_schema": 0,
        }
    )


def test_half_a_character_is_refused_as_invalid(tmp_path: Path) -> None:
    with closing(open_store(tmp_path / "a.db")) as store:
        write(store, plan("b1", fact("a", "USES", "b")))
        with pytest.raises(Invalid):
            store.sessions.get("\ud800")
        with pytest.raises(Invalid):
            store.review.remove("\ud800")
        assert store.facts.names(SCOPE, ["\ud800", "a\0"]) == {}

"""A broken full-text index: the rows are served on, and the index is made anew."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from codesynapse.domain.text import query_terms
from codesynapse.errors import IndexDamaged, StoreDamaged
from codesynapse.store.base import Page
from codesynapse.store.sqlite import SqliteStore, open_store
from tests.store.planning import SCOPE, fact, plan, write

INDEX = ("entity_words", "fact_words")
PARTS = ("data", "idx", "content", "config")
Damage = Callable[[Path], None]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store whose index has pages of every kind."""
    path = tmp_path / "store.db"
    with closing(open_store(path)) as store:
        for batch in range(6):
            rows = (fact(f"module {batch}", "USES", f"tool {batch} {n}") for n in range(60))
            write(store, plan(f"b{batch}", *rows))
    return path


def _pages(path: Path, *tables: str) -> list[int]:
    """The pages of tables, without a table that tells: by walking from their roots."""
    data = path.read_bytes()
    with closing(sqlite3.connect(f"{path.as_uri()}?immutable=1", uri=True)) as connection:
        roots = [
            root
            for table in tables
            for (root,) in connection.execute(
                "SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)
            )
        ]
    found: list[int] = []
    while roots:
        page = roots.pop()
        found.append(page)
        start = (page - 1) * 4096
        kind = data[start]
        if kind not in (2, 5):  # a leaf
            continue
        cells = int.from_bytes(data[start + 3 : start + 5], "big")
        roots.append(int.from_bytes(data[start + 8 : start + 12], "big"))
        for cell in range(cells):
            at = int.from_bytes(data[start + 12 + 2 * cell : start + 14 + 2 * cell], "big")
            roots.append(int.from_bytes(data[start + at : start + at + 4], "big"))
    return found


def _overwrite(path: Path, *pages: int) -> None:
    with open(path, "r+b") as file:
        for page in pages:
            file.seek((page - 1) * 4096)
            file.write(b"\xa5" * 4096)


def _run(statement: str) -> Damage:
    def damage(path: Path) -> None:
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(statement)

    return damage


def _whole(part: str) -> Damage:
    def damage(path: Path) -> None:
        _overwrite(path, *_pages(path, *(f"{table}_{part}" for table in INDEX)))

    return damage


DAMAGES: dict[str, Damage] = {
    **{f"pages of {part}": _whole(part) for part in PARTS},
    "blocks": _run("UPDATE fact_words_data SET block = zeroblob(40) WHERE id > 10"),
    "structure": _run("UPDATE fact_words_data SET block = x'ff' WHERE id = 10"),
    "no blocks": _run("DELETE FROM fact_words_data"),
}


def _sound(store: SqliteStore) -> None:
    hits = store.facts.find_facts(SCOPE, query_terms("tool 3 44"), 5)
    assert hits[0].id == "module 3|USES|tool 3 44"
    assert store.verify() == []
    assert store.facts.counts(SCOPE).facts == 360
    trail, _ = store.audit.recent(Page(50))
    assert [entry.action for entry in trail] == ["index.rebuild"]


def _met(store: SqliteStore) -> bool:
    """Whether a search finds that the index is damaged."""
    try:
        store.facts.find_facts(SCOPE, query_terms("tool 3 44"), 5)
        store.facts.find_entities(SCOPE, query_terms("tool 3 44"), 5)
    except IndexDamaged:
        return True
    return False


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_search_says_so_while_rows_are_served_and_the_index_is_mended(
    path: Path, damage: Damage
) -> None:
    damage(path)
    with closing(open_store(path)) as store:
        met = _met(store)
        assert store.facts.counts(SCOPE).facts == 360
        assert len(store.facts.strongest(SCOPE, 400)) == 360
        if met:
            store._database.write(lambda _: None)  # the writer mends before anything else
        else:  # what is damaged was not needed for this: a check finds it
            assert store.verify() != []
            assert store.recover() == []
        _sound(store)


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_write_meets_it_and_is_kept(path: Path, damage: Damage) -> None:
    damage(path)
    with closing(open_store(path)) as store:
        rows = (fact("app", "NEEDS", f"part {n}") for n in range(200))
        write(store, plan("new", *rows))
        assert store.facts.counts(SCOPE).facts == 560
        assert store.recover() == []
        found = store.facts.find_facts(SCOPE, query_terms("part 77"), 1)
        assert found[0].id == "app|NEEDS|part 77"
        assert store.verify() == []


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_after_an_unclean_stop_recovering_mends_it(path: Path, damage: Damage) -> None:
    damage(path)
    with closing(open_store(path)) as store:
        assert store.recover() == []
        _sound(store)


def test_reindexing_mends_it_and_the_schema_stays(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        schema = set(connection.execute("SELECT name, sql FROM sqlite_schema"))
    for part in PARTS:
        _whole(part)(path)
    with closing(open_store(path)) as store:
        store.reindex()
        _sound(store)
    with closing(sqlite3.connect(path)) as connection:
        assert set(connection.execute("SELECT name, sql FROM sqlite_schema")) == schema
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_a_damaged_page_of_a_table_is_no_damage_of_the_index(path: Path) -> None:
    for table in ("facts", "entities", "statements", "scopes"):
        whole = path.read_bytes()
        _overwrite(path, *_pages(path, table)[-1:])
        damaged = path.read_bytes()
        try:
            store = open_store(path)
        except StoreDamaged:
            continue
        finally:
            assert path.read_bytes()[4096:] == damaged[4096:]
        with closing(store):
            assert store.recover() != []
            with pytest.raises(StoreDamaged):
                _read_all(store)
        path.write_bytes(whole)


def _read_all(store: SqliteStore) -> None:
    store.facts.strongest(SCOPE, 1_000)
    ids = [f"module {batch}|USES|tool {batch} {n}" for batch in range(6) for n in range(60)]
    store.facts.statements(SCOPE, ids)
    store.facts.list_entities(SCOPE, Page(1_000))

from __future__ import annotations

import ast
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from codesynapse.domain.scope import Scope
from codesynapse.domain.sessions import Repository, Watermark
from codesynapse.domain.text import query_terms
from codesynapse.store.base import Counts, FactFilter, Page
from codesynapse.store.sqlite import migrations, open_store
from codesynapse.store.sqlite.connection import connect
from codesynapse.store.sqlite.migrations import LATEST, MIGRATIONS, migrate, schema_of
from tests.store.planning import SCOPE, at, fact, plan, touching, write

OLD = sorted((Path(__file__).parent / "old").glob("schema-*.sql"))


def _schema(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    return connection.execute(
        "SELECT name, coalesce(sql, '') FROM sqlite_schema ORDER BY name"
    ).fetchall()


def _old_store(folder: Path, dump: Path) -> Path:
    path = folder / "store.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(dump.read_text())
    return path


def test_there_is_a_dump_of_every_schema_before_the_latest() -> None:
    assert [dump.stem for dump in OLD] == [f"schema-{n}" for n in range(1, LATEST)]


def test_from_blank_twice_is_the_same_as_once() -> None:
    with closing(connect("file::memory:", writer=True)) as connection:
        migrate(connection)
        once = _schema(connection)
        migrate(connection)
        assert schema_of(connection) == LATEST
        assert _schema(connection) == once


@pytest.mark.parametrize("dump", OLD, ids=lambda dump: dump.stem)
def test_an_old_schema_becomes_the_present_one(tmp_path: Path, dump: Path) -> None:
    path = _old_store(tmp_path, dump)
    with closing(connect(path.as_uri(), writer=True)) as old:
        migrate(old)
        migrated = _schema(old)
    with closing(connect("file::memory:", writer=True)) as blank:
        migrate(blank)
        assert migrated == _schema(blank)


@pytest.mark.parametrize("dump", OLD, ids=lambda dump: dump.stem)
def test_an_old_store_opens_with_everything_in_it_and_is_searchable(
    tmp_path: Path, dump: Path
) -> None:
    path = _old_store(tmp_path, dump)
    with closing(open_store(path)) as store:
        assert store.verify() == []
        assert store.facts.counts(SCOPE) == Counts(4, 2, 1, 2)
        history, _ = store.facts.facts(SCOPE, FactFilter(history=True), Page())
        assert {row.id for row in history} == {"app|USES|数据库", "app|USES|mysql"}
        assert store.facts.find_facts(SCOPE, query_terms("数据"), 5)[0].id == "app|USES|数据库"
        assert store.facts.find_entities(SCOPE, query_terms("kubernetes"), 5)[0].id == "e-k8s"
        assert store.facts.counts(Scope.personal("me", "r1")).facts == 1
        assert store.facts.slice(SCOPE, touching(batch="b2")).applied
        write(store, plan("b3", fact("app", "USES", "redis")))
        assert store.verify() == []
        if dump.stem != "schema-1":
            former = Repository("r1", "app", "/app", "h/o/app", ("h/o/old",))
            assert store.repos.match("h/o/old", None) == former
            assert store.sessions.watermark("s1") == Watermark("s1", 10, "t1")
            assert [job.id for job in store.jobs.recent()] == ["j1"]


@pytest.mark.parametrize("folder", [None, "elsewhere/deep"])
def test_a_private_copy_is_made_before_an_older_file_changes(
    tmp_path: Path, folder: str | None
) -> None:
    path = _old_store(tmp_path, OLD[0])
    before = path.read_bytes()
    backups = tmp_path / folder if folder else tmp_path / "backups"
    open_store(path, backups=tmp_path / folder if folder else None, clock=lambda: at(0)).close()
    (copy,) = backups.iterdir()
    assert copy.name.startswith("store-schema-1-20250301T120000")
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert stat.S_IMODE(backups.stat().st_mode) == 0o700
    with closing(sqlite3.connect(copy)) as copied, closing(sqlite3.connect(":memory:")) as was:
        was.deserialize(before)
        assert list(copied.iterdump()) == list(was.iterdump())
    open_store(path, backups=backups).close()
    assert list(backups.iterdir()) == [copy]


def test_a_new_store_makes_no_copy(tmp_path: Path) -> None:
    open_store(tmp_path / "store.db").close()
    assert [file.name for file in tmp_path.iterdir()] == ["store.db"]


def test_a_step_that_fails_leaves_the_file_at_the_step_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(connection: sqlite3.Connection) -> None:
        connection.execute("CREATE TABLE half (x)")
        raise ZeroDivisionError

    path = _old_store(tmp_path, OLD[0])
    monkeypatch.setattr(migrations, "MIGRATIONS", (*MIGRATIONS[:2], broken))
    with closing(connect(path.as_uri(), writer=True)) as connection:
        with pytest.raises(ZeroDivisionError):
            migrate(connection)
        assert schema_of(connection) == 2
        assert "half" not in dict(_schema(connection))
    monkeypatch.undo()
    open_store(path).close()


def test_steps_import_nothing_that_changes() -> None:
    assert migrations.__file__
    tree = ast.parse(Path(migrations.__file__).read_text())
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    ours = {name for name in modules if name and name.startswith("codesynapse")}
    assert ours == {"codesynapse.store.sqlite.connection", "codesynapse.store.sqlite.files"}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("_"):
            names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
            assert names <= {"connection", "sqlite3", "statement"}


def test_another_analysis_than_ours_has_the_index_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with closing(open_store(path)) as store:
        write(store, plan("b1", fact("app", "USES", "mysql")))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE settings SET value = 0 WHERE name = 'analysis'")
        connection.execute("DELETE FROM fact_words")
    with closing(open_store(path)) as store:
        assert len(store.facts.find_facts(SCOPE, query_terms("mysql"), 5)) == 1
        assert store.verify() == []

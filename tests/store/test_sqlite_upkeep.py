from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from codesynapse.domain.graph import Plan
from codesynapse.store.sqlite import open_store
from tests.store.planning import SCOPE, fact, plan, write

MARKER = "zebrafinch"


def _on_disk(path: Path, word: str) -> bool:
    return any(word.encode() in file.read_bytes() for file in path.parent.glob(path.name + "*"))


@pytest.mark.parametrize("way", ["scope", "fact"])
def test_what_was_deleted_is_nowhere_on_the_disk(tmp_path: Path, way: str) -> None:
    path = tmp_path / "store.db"
    with closing(open_store(path)) as store:
        write(store, plan("b0", *(fact("app", "USES", f"tool {n}") for n in range(40))))
        doomed = plan("b1", fact(MARKER, "USES", f"{MARKER} case"))
        write(store, doomed)
        write(store, plan("b2", *(fact("app", "HAS", f"part {n}") for n in range(40))))
        assert _on_disk(path, MARKER)
        if way == "scope":
            store.facts.delete_scope(SCOPE)
        else:
            removal = Plan(
                "b3",
                removed_facts=frozenset(row.id for row in doomed.facts),
                removed_entities=frozenset(row.id for row in doomed.entities),
                removed_names=frozenset(row.key for row in doomed.names),
                removed_statements=frozenset(row.order for row in doomed.statements),
            )
            write(store, removal)
        store.compact()
        assert not _on_disk(path, MARKER[3:])  # the index shares the beginnings of words
        assert store.verify() == []
    assert not _on_disk(path, MARKER[3:])


def test_a_deletion_is_swept_without_being_asked_once_the_writer_is_idle(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with closing(open_store(path)) as store:
        for n in range(5):
            write(store, plan(f"b{n}", fact(MARKER, "USES", f"{MARKER} {n}")))
        store.facts.delete_scope(SCOPE)

        def residue() -> bool:
            with store._database.read() as connection:
                query = "SELECT 1 FROM settings WHERE name = 'residue'"
                return connection.execute(query).fetchone() is not None

        while residue():  # ends with the writer's next idle steps, or by the suite's timeout
            os.sched_yield()
        assert store.verify() == []


def test_a_store_that_was_closed_opens_clean_and_one_that_was_not_does_not(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with closing(open_store(path)) as store:
        assert not store.unclean
    with closing(open_store(path)) as store:
        assert not store.unclean
    code = (
        "import os, sys; from pathlib import Path; from codesynapse.store.sqlite import open_store;"
        "open_store(Path(sys.argv[1])); os._exit(1)"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=False, timeout=60)
    with closing(open_store(path)) as store:
        assert store.unclean
        assert store.verify() == []
    with closing(open_store(path)) as store:
        assert not store.unclean


def test_the_index_can_be_made_anew(tmp_path: Path) -> None:
    with closing(open_store(tmp_path / "store.db")) as store:
        write(store, plan("b1", fact("app", "USES", "mysql"), fact("app", "HAD", "x", end=4)))
        store.reindex()
        assert store.verify() == []


@pytest.mark.parametrize(
    ("statement", "fault"),
    [
        ("DELETE FROM fact_words", "facts whose words are not those indexed"),
        ("UPDATE fact_words SET words = '1zoracle'", "facts whose words are not those indexed"),
        ("INSERT INTO fact_words (rowid, words) VALUES (99, 'x')", "words of facts that are gone"),
        ("DELETE FROM entity_words WHERE rowid = 1", "entities whose words are not those indexed"),
        ("UPDATE fact_words_content SET c0 = '1zapp'", "does not match its words"),
        ("UPDATE facts SET current = 0", "words of facts that are gone or closed"),
        ("UPDATE scopes SET facts = 7", "scopes whose counts are wrong"),
        ("UPDATE scopes SET fact_words = 7", "count of indexed words of facts is wrong"),
        ("DELETE FROM facts", "statements without their fact"),
        ("DELETE FROM entities", "names without their entity"),
        ("DELETE FROM entities WHERE id = 'e-app'", "facts without one of their entities"),
        ("DELETE FROM scopes", "rows of a scope that is gone"),
    ],
)
def test_verify_names_what_disagrees(tmp_path: Path, statement: str, fault: str) -> None:
    path = tmp_path / "store.db"
    with closing(open_store(path)) as store:
        write(store, plan("b1", fact("app", "USES", "mysql"), fact("app", "HAS", "tests")))
        assert store.verify() == []
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(statement)
        assert any(fault in line for line in store.verify())

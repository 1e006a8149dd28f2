from __future__ import annotations

import os
import shutil
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from codesynapse.errors import StoreDamaged, StoreNewer
from codesynapse.store.sqlite import open_store
from codesynapse.store.sqlite.migrations import LATEST
from tests.store.planning import SCOPE, fact, plan, write

Damage = Callable[[bytes], bytes]

DAMAGES: dict[str, Damage] = {
    "header": lambda data: b"\0" * 16 + data[16:],
    "page size": lambda data: data[:16] + b"\x00\x03" + data[18:],
    "half a file": lambda data: data[: len(data) // 2],
    "half a page": lambda data: data[:-100],
    "less than a header": lambda data: data[:50],
    "text": lambda _: b"this is a letter\n" * 300,
    "schema": lambda data: data[:100] + b"\xa5" * 3996 + data[4096:],
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "store.db"
    with closing(open_store(path)) as store:
        write(store, plan("b1", *(fact("app", "USES", f"tool {n}") for n in range(50))))
    return path


def _everything(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def _left_open(path: Path, statement: str) -> Path:
    """A copy of a store as a killed process leaves it, with ``statement`` in the log only."""
    folder = path.parent / "killed"
    folder.mkdir()
    with closing(sqlite3.connect(path)) as connection:
        with connection:
            connection.execute(statement)
        for file in path.parent.glob("store.db*"):
            shutil.copy(file, folder)
    assert (folder / "store.db-wal").stat().st_size > 0
    return folder / "store.db"


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_file_is_refused_by_name_and_untouched(path: Path, damage: Damage) -> None:
    path.write_bytes(damage(path.read_bytes()))
    before = _everything(path.parent)
    with pytest.raises(StoreDamaged) as refused:
        open_store(path)
    assert str(path) in refused.value.message
    assert refused.value.hint
    assert _everything(path.parent) == before


def test_a_newer_schema_is_refused_with_both_numbers_and_untouched(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {LATEST + 3}")
    before = _everything(path.parent)
    with pytest.raises(StoreNewer) as refused:
        open_store(path)
    assert f"schema {LATEST + 3}, this program knows {LATEST}" in refused.value.message
    assert _everything(path.parent) == before


def test_a_newer_schema_that_only_the_log_tells_of_is_refused(path: Path) -> None:
    killed = _left_open(path, f"PRAGMA user_version = {LATEST + 1}")
    before = _everything(killed.parent)
    with pytest.raises(StoreNewer):
        open_store(killed)
    after = _everything(killed.parent)
    assert {name: after[name] for name in before if name != "store.db-shm"} == {
        name: before[name] for name in before if name != "store.db-shm"
    }


def test_a_cut_file_beside_a_log_that_does_not_make_it_whole_is_refused(path: Path) -> None:
    killed = _left_open(path, "UPDATE scopes SET revision = revision + 1")
    killed.write_bytes(killed.read_bytes()[: 4096 * 20])
    with pytest.raises(StoreDamaged, match="cut off"):
        open_store(killed)


def test_a_log_that_a_killed_process_left_is_used(path: Path) -> None:
    killed = _left_open(path, "UPDATE scopes SET revision = 77")
    with closing(open_store(killed)) as store:
        assert store.facts.counts(SCOPE).revision == 77
        assert store.verify() == []


def test_the_database_of_another_program_is_refused_and_untouched(tmp_path: Path) -> None:
    path = tmp_path / "theirs.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE bookmarks (url)")
    before = _everything(tmp_path)
    with pytest.raises(StoreDamaged, match="not made by CodeSynapse"):
        open_store(path)
    assert _everything(tmp_path) == before


def test_a_store_without_one_of_its_tables_is_refused(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE statements")
    with pytest.raises(StoreDamaged, match="lacks statements"):
        open_store(path)


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    (tmp_path / "store.db").touch(0o644)
    with closing(open_store(tmp_path / "store.db")) as store:
        assert store.verify() == []


def test_no_damaged_page_is_overlooked(path: Path) -> None:
    data = path.read_bytes()
    for page in range(1, len(data) // 4096):
        path.write_bytes(data[: page * 4096] + b"\xa5" * 4096 + data[(page + 1) * 4096 :])
        try:
            store = open_store(path)
        except StoreDamaged:
            continue
        with closing(store):
            assert store.verify() != [], f"page {page + 1}"


def test_once_damage_is_met_nothing_is_served(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        (root,) = connection.execute(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'best_of_scope'"
        ).fetchone()
    data = path.read_bytes()
    path.write_bytes(data[: (root - 1) * 4096] + b"\xa5" * 4096 + data[root * 4096 :])
    with closing(open_store(path)) as store:  # no table begins there, so it opens
        with pytest.raises(StoreDamaged):
            store.facts.strongest(SCOPE, 5)
        with pytest.raises(StoreDamaged):
            store.facts.counts(SCOPE)
        with pytest.raises(StoreDamaged):
            write(store, plan("b2", fact("a", "USES", "b")))
        assert store.verify() != []


@pytest.fixture
def open_mask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.mark.skipif(os.name != "posix", reason="modes are access lists elsewhere")
@pytest.mark.usefixtures("open_mask")
def test_files_are_for_their_owner_only_whatever_the_umask(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "store.db"
    with closing(open_store(path)) as store:
        write(store, plan("b1", fact("a", "USES", "b")))
        store.backup(tmp_path / "copies" / "copy.db")
        modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
        assert modes == {"store.db": 0o600, "store.db-wal": 0o600, "store.db-shm": 0o600}
        assert stat.S_IMODE((tmp_path / "copies" / "copy.db").stat().st_mode) == 0o600
        assert [file.name for file in (tmp_path / "copies").iterdir()] == ["copy.db"]
    for folder in (path.parent, tmp_path / "copies"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.skipif(os.name != "posix", reason="modes are access lists elsewhere")
@pytest.mark.usefixtures("open_mask")
def test_a_file_that_others_could_read_is_tightened_and_its_folder_left(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    folder.mkdir(0o755)
    path = folder / "store.db"
    open_store(path).close()
    path.chmod(0o644)
    with closing(open_store(path)):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(folder.stat().st_mode) == 0o755

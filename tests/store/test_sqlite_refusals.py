"""Places where a store cannot be opened or written: told by name, and nothing is lost of it."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from codesynapse.errors import StoreDamaged, Unavailable
from codesynapse.store.sqlite import open_store
from tests.store.planning import SCOPE, fact, plan, write

ROOT = Path(__file__).resolve().parents[2]
NOBODY = 65534

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes and limits are posix")


@pytest.fixture
def path() -> Iterator[Path]:
    """A store in a folder of its own; as root, of somebody whom modes keep out."""
    folder = Path(tempfile.mkdtemp())
    path = folder / "store.db"
    with closing(open_store(path)) as store:
        write(store, plan("b1", *(fact("app", "USES", f"tool {n}") for n in range(50))))
    if os.geteuid() == 0:
        for file in (path, folder):
            os.chown(file, NOBODY, NOBODY)
    yield path
    folder.chmod(0o700)
    shutil.rmtree(folder)


@contextmanager
def _kept_out() -> Iterator[None]:
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def _everything(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.mark.parametrize("file_mode", [0o400, 0o000])
def test_a_file_that_cannot_be_written_is_refused_by_name_and_untouched(
    path: Path, file_mode: int
) -> None:
    before = _everything(path.parent)
    path.chmod(file_mode)
    with _kept_out(), pytest.raises(Unavailable) as refused:
        open_store(path)
    assert str(path) in refused.value.message
    assert "mode" in refused.value.hint
    path.chmod(0o600)
    assert _everything(path.parent) == before


def test_a_folder_that_cannot_be_written_is_refused_by_name_and_untouched(path: Path) -> None:
    before = _everything(path.parent)
    path.parent.chmod(0o500)
    for name in (path.name, "new.db"):
        with _kept_out(), pytest.raises(Unavailable) as refused:
            open_store(path.parent / name)
        assert str(path.parent / name) in refused.value.message
    path.parent.chmod(0o700)
    assert _everything(path.parent) == before


def test_a_folder_in_the_place_of_the_file_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "store.db").mkdir()
    with pytest.raises(Unavailable, match=r"store\.db"):
        open_store(tmp_path / "store.db")


def test_a_log_that_was_cut_off_gives_what_was_whole_in_it(path: Path, tmp_path: Path) -> None:
    killed = tmp_path / "killed"
    killed.mkdir()
    with closing(open_store(path)) as store:
        for number in range(8):
            write(store, plan(f"late {number}", fact("late", "USES", f"tool {number}")))
        for file in path.parent.glob("store.db*"):
            shutil.copy(file, killed)
    log = killed / "store.db-wal"
    whole, held = log.read_bytes(), []
    assert whole
    for part in range(9):
        log.write_bytes(whole[: len(whole) * part // 8 + 7 * (part % 3)][: len(whole)])
        copy = tmp_path / f"cut-{part}"
        shutil.copytree(killed, copy)
        (copy / "store.db-shm").unlink(missing_ok=True)
        with closing(open_store(copy / "store.db")) as store:
            assert store.verify() == []
            held.append(store.facts.counts(SCOPE).facts)
    assert held[0] == 50  # what was in the file before
    assert held == sorted(held)
    assert held[-1] == 58


def test_a_log_with_a_damaged_frame_ends_there(path: Path, tmp_path: Path) -> None:
    killed = tmp_path / "killed"
    killed.mkdir()
    with closing(open_store(path)) as store:
        for number in range(8):
            write(store, plan(f"late {number}", fact("late", "USES", f"tool {number}")))
        for file in path.parent.glob("store.db*"):
            shutil.copy(file, killed)
    (killed / "store.db-shm").unlink()
    data = bytearray((killed / "store.db-wal").read_bytes())
    data[len(data) // 2] ^= 0xFF
    (killed / "store.db-wal").write_bytes(data)
    with closing(open_store(killed / "store.db")) as store:
        assert store.verify() == []
        assert 50 <= store.facts.counts(SCOPE).facts < 58


FILL = """
import resource, sys
from pathlib import Path
from codesynapse.errors import Unavailable
from codesynapse.store.sqlite import open_store
from tests.store.planning import fact, plan, write
path, limit = Path(sys.argv[1]), int(sys.argv[2])
store = open_store(path)
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
for number in range(10_000):
    try:
        write(store, plan(f"b{number}", *(fact("app", "USES", f"{number} {n}") for n in range(9))))
    except Unavailable as full:
        print("refused:", full.message, flush=True)
        break
    print(number, flush=True)
"""


@pytest.mark.timeout(120)
def test_where_no_file_may_grow_a_write_is_refused_and_the_rest_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(
        [sys.executable, "-c", FILL, str(path), str(600_000)],
        env=environment,
        cwd=ROOT,
        text=True,
        capture_output=True,
        timeout=100,
        check=False,
    )
    *acknowledged, last = ran.stdout.splitlines()
    assert last.startswith("refused:"), ran.stderr
    assert len(acknowledged) > 3
    with closing(open_store(path)) as store:
        assert store.verify() == []
        assert store.facts.counts(SCOPE).facts == 9 * len(acknowledged)
        write(store, plan("after", fact("app", "USES", "room again")))


def test_what_looks_like_a_database_and_is_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA application_id = 7")
        connection.execute("CREATE TABLE t (x)")
    before = path.read_bytes()
    with pytest.raises(StoreDamaged, match="not made by CodeSynapse"):
        open_store(path)
    assert path.read_bytes() == before

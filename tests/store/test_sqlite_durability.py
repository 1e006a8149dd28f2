from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from codesynapse.domain.text import query_terms
from codesynapse.store.base import Counts
from codesynapse.store.sqlite import SqliteStore, open_store
from tests.store.planning import SCOPE
from tests.store.writing import SAID_IN_A_BATCH

ROOT = Path(__file__).resolve().parents[2]


def _writer(path: Path, name: str, count: int, threads: int = 0) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "tests.store.writing"]
    command += [str(path), name, str(count), str(threads)]
    return subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )


def _go(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    assert process.stdin is not None
    assert process.stdout.readline() == "ready\n"
    process.stdin.write("go\n")
    process.stdin.flush()


@pytest.mark.timeout(180)
def test_what_was_acknowledged_survives_twenty_kills_at_any_moment(tmp_path: Path) -> None:
    path, random = tmp_path / "store.db", Random(20)
    acknowledged: list[str] = []
    for round_ in range(20):
        acknowledged += _killed(path, f"w{round_}", after=random.randrange(25))
        with closing(open_store(path)) as store:
            assert store.unclean
            assert store.verify() == []
            _assert_whole(store, acknowledged)
    assert len(acknowledged) >= 20 * 5
    with closing(open_store(path)) as store:
        assert not store.unclean
        for batch in acknowledged[::7]:
            _assert_findable(store, batch)


def _killed(path: Path, name: str, *, after: int) -> list[str]:
    """What four threads of a process acknowledged before it was killed, soon after so many."""
    with _writer(path, name, 100_000, threads=4) as process:
        try:
            _go(process)
            assert process.stdout is not None
            said = [process.stdout.readline().strip() for _ in range(after)]
        finally:
            process.kill()
        # A line that the kill cut off was not said.
        return said + process.stdout.read().rpartition("\n")[0].split()


def _assert_whole(store: SqliteStore, acknowledged: list[str]) -> None:
    """All that was acknowledged is there, and of anything else all of a batch or nothing."""
    with store._database.read() as connection:
        known = {id_ for (id_,) in connection.execute("SELECT id FROM batches")}
        said = dict(connection.execute("SELECT batch_id, count(*) FROM statements GROUP BY 1"))
    assert known >= set(acknowledged)
    assert said == dict.fromkeys(known, SAID_IN_A_BATCH)


def _assert_findable(store: SqliteStore, batch: str) -> None:
    name, number = batch.rsplit("-", 1)
    hits = store.facts.find_facts(SCOPE, query_terms(f"{name} wrote {name} {number}"), 5)
    ids = [hit.id for hit in hits]
    wanted = store.facts.sessions_facts(SCOPE, batch)
    assert len(wanted) == SAID_IN_A_BATCH - 1  # a name that unites two is no fact
    assert set(ids) & set(wanted)


@pytest.mark.timeout(120)
def test_two_processes_that_write_at_once_keep_everything(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with _writer(path, "one", 60) as one, _writer(path, "two", 60) as two:
        _go(one)
        _go(two)
        said = [process.communicate(timeout=90)[0].split() for process in (one, two)]
        assert [process.returncode for process in (one, two)] == [0, 0]
    assert [len(lines) for lines in said] == [60, 60]
    with closing(open_store(path)) as store:
        assert store.facts.counts(SCOPE) == Counts(122, 120, 120, 120)
        assert store.verify() == []
        for name in ("one", "two"):
            assert store.facts.find_facts(SCOPE, query_terms(f"{name} wrote 59"), 1)[0].id == (
                f"{name}|WROTE|{name} 59"
            )


@pytest.mark.timeout(120)
def test_processes_that_make_the_store_at_once_share_it(tmp_path: Path) -> None:
    path = tmp_path / "new" / "store.db"
    for round_ in range(3):
        with _writer(path, f"a{round_}", 3) as one, _writer(path, f"b{round_}", 3) as two:
            for process in (one, two):
                _go(process)
                process.communicate(timeout=60)
                assert process.returncode == 0
        with closing(open_store(path)) as store:
            assert store.facts.counts(SCOPE).facts == 6
        assert [file.name for file in path.parent.iterdir()] == ["store.db"]
        path.unlink()

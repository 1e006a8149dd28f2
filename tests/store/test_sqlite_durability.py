from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from codesynapse.domain.text import query_terms
from codesynapse.store.base import Counts
from codesynapse.store.sqlite import open_store
from tests.store.planning import SCOPE, touching

ROOT = Path(__file__).resolve().parents[2]


def _writer(path: Path, name: str, count: int) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "tests.store.writing", str(path), name, str(count)]
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


@pytest.mark.timeout(120)
def test_what_was_acknowledged_survives_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    acknowledged: list[str] = []
    for round_ in range(5):
        with _writer(path, f"w{round_}", 100_000) as process:
            try:
                _go(process)
                assert process.stdout is not None
                for _ in range(3 + 11 * round_):
                    acknowledged.append(process.stdout.readline().strip())
            finally:
                process.kill()
            acknowledged += process.stdout.read().split()
    with closing(open_store(path)) as store:
        assert store.unclean
        assert store.verify() == []
        for batch in acknowledged:
            assert store.facts.slice(SCOPE, touching(batch=batch)).applied
            found = store.facts.find_facts(SCOPE, query_terms(batch.replace("-", " ")), 5)
            assert f"{batch.split('-')[0]}|WROTE|{batch.replace('-', ' ')}" in {
                hit.id for hit in found
            }
        assert len(acknowledged) >= 125
    with closing(open_store(path)) as store:
        assert not store.unclean


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

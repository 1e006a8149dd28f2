"""The demo is the main job, so what it prints is what a newcomer judges us by."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from codesynapse.demo.sample import conversation, write_transcript
from codesynapse.transcripts.reader import Reading, read_exchanges

KNOWN = (
    "PostgreSQL 16",
    "integer cents",
    "pnpm",
    "make lint",
    "Marta",
    "Python version is 3.12",
    "optimistic locking",
    "RQ",
)
FALSE = ("SQLite is", "Celery", "npm run")


@pytest.mark.processes
def test_the_demo_prints_what_a_fresh_session_knows_and_leaves_nothing(tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-m", "codesynapse", "demo"], capture_output=True,
                          text=True, encoding="utf-8", env=environment, check=False,
                          timeout=110)  # fmt: skip
    assert done.returncode == 0, done.stderr
    for expected in KNOWN:
        assert expected in done.stdout
    for wrong in FALSE:
        assert wrong not in done.stdout
    assert "6. A fresh session starts" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_sample_is_long_enough_to_be_real() -> None:
    said = conversation()
    assert len(said) >= 70
    assert [role for role, _ in said] == ["user", "assistant"] * (len(said) // 2)


def test_its_transcript_reads_back_as_what_was_said(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    ended = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
    assert write_transcript(path, "s", tmp_path, ended) == len(conversation())
    exchanges = list(read_exchanges(path, 0, Reading()))
    turns = [turn for exchange in exchanges for turn in exchange.turns]
    assert [(turn.role.value, turn.text) for turn in turns] == conversation()
    assert max(turn.at for turn in turns if turn.at) <= ended

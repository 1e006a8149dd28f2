"""Ends that the sidecar could not be told of: what was said reaches the next session anyway."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from codesynapse.transcripts.ends import read_marks
from tests.sidecar.home import wait_until
from tests.sidecar.life import Life
from tests.sidecar.load import transcript
from tests.transcripts.writing import assistant, user

pytestmark = pytest.mark.processes

SAID = user("The billing service uses PostgreSQL 16.", 0) + assistant("Noted.", 0)


def end(life: Life, session: str, path: Path) -> None:
    stdin = life.payload(session, "SessionEnd", transcript_path=str(path))
    life.hook("offload", "--end", stdin=stdin)


def begin(life: Life, session: str) -> bytes:
    return life.hook("recall", stdin=life.payload(session, source="startup")).out


def knows(life: Life, session: str) -> bool:
    return b"PostgreSQL 16" in begin(life, session)


@contextmanager
def stopped(pid: int) -> Iterator[None]:
    """A process that hangs for a while."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def test_an_end_that_met_a_hung_sidecar_is_known_to_the_next_session(life: Life) -> None:
    begin(life, "one")
    pid = life.wait_for_one()
    path = transcript(life.root, "one", SAID)
    with stopped(pid):
        end(life, "one", path)
        assert [mark.session for mark in read_marks(life.paths.ends)] == ["one"]
    assert knows(life, "two"), "the very next one waits for it"
    assert read_marks(life.paths.ends) == []


def test_an_end_that_met_no_sidecar_is_known_to_the_next_session(life: Life) -> None:
    """The hook starts one and has no time to wait for it."""
    path = transcript(life.root, "one", SAID)
    end(life, "one", path)
    life.wait_for_one()
    wait_until(lambda: knows(life, "two"), what="what was said")
    assert read_marks(life.paths.ends) == []


def test_an_end_whose_sidecar_was_killed_is_settled_by_the_next_start(life: Life) -> None:
    begin(life, "one")
    pid = life.wait_for_one()
    path = transcript(life.root, "one", SAID)
    with stopped(pid):
        end(life, "one", path)
        os.kill(pid, signal.SIGKILL)
    life.wait_for_end(pid)
    begin(life, "elsewhere")
    assert life.wait_for_one() != pid
    wait_until(lambda: knows(life, "two"), what="what was said")
    assert read_marks(life.paths.ends) == []


def test_an_end_that_met_a_full_queue_is_settled_when_there_is_room(life: Life) -> None:
    life.configure("queue_size = 1\n")
    begin(life, "one")
    life.wait_for_one()
    path = transcript(life.root, "one", *(SAID.replace(b'"u0"', b'"u%d"' % n) for n in range(20)))
    for number in range(6):
        other = transcript(life.root, f"other{number}", SAID)
        end(life, f"other{number}", other)
    end(life, "one", path)
    wait_until(lambda: begin(life, "two") and not read_marks(life.paths.ends), what="the end")
    sessions = life.ask("GET", f"/v1/repos/{life.repository()}/sessions").json["sessions"]
    states = {row["session"]: row["state"] for row in sessions}
    assert {states[name] for name in states if name != "two"} == {"ended"}
    assert knows(life, "two")


def test_a_client_that_died_is_known_once_it_counts_as_over(life: Life) -> None:
    life.configure("session_idle_seconds = 1\n")
    path = transcript(life.root, "one", SAID)
    life.hook("recall", stdin=life.payload("one", source="startup", transcript_path=str(path)))
    life.wait_for_one()
    wait_until(lambda: knows(life, "two"), what="what was said")

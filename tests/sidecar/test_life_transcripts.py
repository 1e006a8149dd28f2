"""What Claude Code does to transcripts: resumed, forked, cleared, moved, not named at all."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.sidecar.home import wait_until
from tests.sidecar.life import Life
from tests.sidecar.load import transcript
from tests.transcripts.writing import assistant, user

pytestmark = pytest.mark.processes


def said(first: int, last: int) -> bytes:
    """Exchanges with these numbers; their ids are the same wherever they stand."""
    return b"".join(
        user(f"The part {n} service uses Redis {n}.", n) + assistant("Noted.", n)
        for n in range(first, last)
    )


@pytest.fixture
def running(life: Life) -> Life:
    life.hook("recall")
    life.wait_for_one()
    return life


def offload(life: Life, session: str, path: str | None, *words: str) -> None:
    more: dict[str, Any] = {} if path is None else {"transcript_path": path}
    ran = life.hook("offload", *words, stdin=life.payload(session, "PreCompact", **more))
    assert (ran.out, ran.err) == (b"", "")


def taken(life: Life, count: int) -> list[tuple[int, int]]:
    """The turns and the known turns of each job, oldest first, once ``count`` are done."""

    def done() -> list[dict[str, Any]]:
        jobs: list[dict[str, Any]] = life.ask("GET", "/v1/memory/jobs").json["jobs"]
        states = [job["state"] for job in jobs]
        assert "failed" not in states
        return jobs if states == ["done"] * count else []

    jobs = wait_until(done, what=f"the end of {count} jobs")
    return [(job["counts"].get("turns", 0), job["counts"].get("turns_known", 0))
            for job in reversed(jobs)]  # fmt: skip


def projects(life: Life) -> Path:
    """Where Claude Code keeps this project's transcripts."""
    folder = re.sub(r"[^A-Za-z0-9]", "-", str(life.root / "project"))
    return life.root / ".claude" / "projects" / folder


def test_a_resumed_session_sends_only_what_is_new(running: Life) -> None:
    path = transcript(projects(running), "s1", said(0, 12))
    offload(running, "s1", str(path))
    assert taken(running, 1) == [(4, 0)]
    offload(running, "s1", str(path))
    assert taken(running, 1) == [(4, 0)], "there is nothing older than the last ten"
    running.hook("recall", stdin=running.payload("s1", source="resume", transcript_path=str(path)))
    with path.open("ab") as file:
        file.write(said(12, 15))
    offload(running, "s1", str(path))
    assert taken(running, 2) == [(4, 0), (6, 0)]


def test_a_fork_s_copy_of_what_was_said_is_not_taken_twice(running: Life) -> None:
    first = transcript(projects(running), "s1", said(0, 12))
    offload(running, "s1", str(first))
    taken(running, 1)
    fork = transcript(projects(running), "s2", said(0, 12), said(20, 22))
    running.hook("recall", stdin=running.payload("s2", source="fork", transcript_path=str(fork)))
    offload(running, "s2", str(fork))
    assert taken(running, 2) == [(4, 0), (8, 4)]


def test_clear_ends_one_session_and_begins_another(running: Life) -> None:
    first = transcript(projects(running), "s1", said(0, 3))
    offload(running, "s1", str(first), "--end")
    assert taken(running, 1) == [(6, 0)]
    second = transcript(projects(running), "s2", said(30, 31))
    running.hook("recall", stdin=running.payload("s2", source="clear", transcript_path=str(second)))
    offload(running, "s2", str(second), "--end")
    assert taken(running, 2) == [(6, 0), (2, 0)]
    repo = running.repository()
    rows = running.ask("GET", f"/v1/repos/{repo}/sessions").json["sessions"]
    states = {row["session"]: row["state"] for row in rows}
    assert (states["s1"], states["s2"]) == ("ended", "ended")


@pytest.mark.parametrize("named", [None, "", "/gone/s1.jsonl", "/dev/null", "\0", "relative.jsonl"])
def test_a_transcript_that_is_not_named_is_found_by_its_session(
    running: Life, named: str | None
) -> None:
    transcript(projects(running), "s1", said(0, 12))
    offload(running, "s1", named)
    assert taken(running, 1) == [(4, 0)]


def test_a_transcript_of_nowhere_is_no_fault(running: Life) -> None:
    offload(running, "nowhere", None)
    offload(running, "nowhere", "", "--end")
    assert running.ask("GET", "/v1/memory/jobs").json["jobs"] == []


def test_a_transcript_that_became_another_is_read_from_its_start(running: Life) -> None:
    path = transcript(projects(running), "s1", said(0, 40))
    offload(running, "s1", str(path))
    taken(running, 1)
    path.write_bytes(said(50, 62))
    offload(running, "s1", str(path))
    assert taken(running, 2)[1] == (4, 0)


def test_tool_results_and_injected_blocks_are_never_handed_over(running: Life) -> None:
    secret = "The zanzibarquux service uses MySQL 5."
    block = [{"type": "tool_result", "tool_use_id": "t", "content": secret + "x" * 2_000_000}]
    fence = f"<codesynapse-memory>\n{secret}\n</codesynapse-memory>"
    path = transcript(
        projects(running), "s1",
        user(block, 900), user(fence, 901), user(secret, 902, isMeta=True),
        user(secret, 903, isCompactSummary=True), user(secret, 904, isSidechain=True), said(0, 12),
    )  # fmt: skip
    offload(running, "s1", str(path))
    assert taken(running, 1) == [(4, 0)]
    repo = running.repository()
    answer = running.ask("GET", f"/v1/repos/{repo}/memory/facts?memory_scope=session", session="s1")
    assert "zanzibarquux" not in answer.body.decode()
    assert "Redis" in answer.body.decode()

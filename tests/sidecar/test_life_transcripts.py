"""What Claude Code does to transcripts: resumed, forked, cleared, moved, not named at all."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.sidecar.home import wait_until
from tests.sidecar.life import Life
from tests.sidecar.load import transcript
from tests.transcripts.writing import assistant, user

pytestmark = pytest.mark.processes


_numbers = itertools.count(1)


@dataclass(frozen=True)
class Talk:
    """One test's sessions in a sidecar that all share; nobody else has its ids."""

    life: Life
    base: int

    def said(self, first: int, last: int) -> bytes:
        """Exchanges with these numbers; their ids are the same wherever they stand."""
        return b"".join(
            user(f"The part {n} service uses Redis {n}.", n) + assistant("Noted.", n)
            for n in range(self.base + first, self.base + last)
        )

    def name(self, session: str) -> str:
        return f"{session}-{self.base}"

    @property
    def projects(self) -> Path:
        """Where Claude Code keeps this project's transcripts."""
        folder = re.sub(r"[^A-Za-z0-9]", "-", str(self.life.root / "project"))
        return self.life.root / ".claude" / "projects" / folder

    def write(self, session: str, *parts: bytes) -> Path:
        return transcript(self.projects, self.name(session), *parts)

    def recall(self, session: str, source: str, path: Path) -> None:
        stdin = self.life.payload(self.name(session), source=source, transcript_path=str(path))
        self.life.hook("recall", stdin=stdin)

    def offload(self, session: str, path: str | None, *words: str) -> None:
        more: dict[str, Any] = {} if path is None else {"transcript_path": path}
        stdin = self.life.payload(self.name(session), "PreCompact", **more)
        ran = self.life.hook("offload", *words, stdin=stdin)
        assert (ran.out, ran.err) == (b"", "")

    def sessions(self) -> dict[str, dict[str, Any]]:
        repo = self.life.repository()
        rows = self.life.ask("GET", f"/v1/repos/{repo}/sessions?limit=500").json["sessions"]
        return {row["id"]: row for row in rows if row["session"].endswith(f"-{self.base}")}

    def taken(self, count: int) -> list[tuple[int, int]]:
        """The turns and the known turns of each job, oldest first, once ``count`` are done."""

        def done() -> tuple[list[dict[str, Any]]] | None:
            every = self.life.ask("GET", "/v1/memory/jobs").json["jobs"]
            jobs = [job for job in every if job["session"] in self.sessions()]
            states = [job["state"] for job in jobs]
            assert "failed" not in states
            return (jobs,) if states == ["done"] * count else None

        (jobs,) = wait_until(done, what=f"the end of {count} jobs")
        return [(job["counts"].get("turns", 0), job["counts"].get("turns_known", 0))
                for job in reversed(jobs)]  # fmt: skip


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Life]:
    if not Path("/proc/self/environ").exists():
        pytest.skip("processes are found by /proc")
    life = Life(tmp_path_factory.mktemp("transcripts"))
    life.hook("recall")
    life.wait_for_one()
    yield life
    life.close()


@pytest.fixture
def talk(running: Life) -> Talk:
    return Talk(running, 1000 * next(_numbers))


def test_a_resumed_session_sends_only_what_is_new(talk: Talk) -> None:
    path = talk.write("s1", talk.said(0, 12))
    talk.offload("s1", str(path))
    assert talk.taken(1) == [(4, 0)]
    talk.offload("s1", str(path))
    assert talk.taken(1) == [(4, 0)], "there is nothing older than the last ten"
    talk.recall("s1", "resume", path)
    with path.open("ab") as file:
        file.write(talk.said(12, 15))
    talk.offload("s1", str(path))
    assert talk.taken(2) == [(4, 0), (6, 0)]


def test_a_fork_s_copy_of_what_was_said_is_not_taken_twice(talk: Talk) -> None:
    first = talk.write("s1", talk.said(0, 12))
    talk.offload("s1", str(first))
    talk.taken(1)
    fork = talk.write("s2", talk.said(0, 12), talk.said(20, 22))
    talk.recall("s2", "fork", fork)
    talk.offload("s2", str(fork))
    assert talk.taken(2) == [(4, 0), (8, 4)]


def test_clear_ends_one_session_and_begins_another(talk: Talk) -> None:
    first = talk.write("s1", talk.said(0, 3))
    talk.offload("s1", str(first), "--end")
    assert talk.taken(1) == [(6, 0)]
    second = talk.write("s2", talk.said(30, 31))
    talk.recall("s2", "clear", second)
    talk.offload("s2", str(second), "--end")
    assert talk.taken(2) == [(6, 0), (2, 0)]
    assert {row["state"] for row in talk.sessions().values()} == {"ended"}


@pytest.mark.parametrize("named", [None, "", "/gone/s1.jsonl", "/dev/null", "\0", "relative.jsonl"])
def test_a_transcript_that_is_not_named_is_found_by_its_session(
    talk: Talk, named: str | None
) -> None:
    talk.write("s1", talk.said(0, 12))
    talk.offload("s1", named)
    assert talk.taken(1) == [(4, 0)]


def test_a_transcript_of_nowhere_is_no_fault(talk: Talk) -> None:
    talk.offload("nowhere", None)
    talk.offload("nowhere", "", "--end")
    assert talk.taken(0) == []


def test_a_transcript_that_became_another_is_read_from_its_start(talk: Talk) -> None:
    path = talk.write("s1", talk.said(0, 40))
    talk.offload("s1", str(path))
    talk.taken(1)
    path.write_bytes(talk.said(50, 62))
    talk.offload("s1", str(path))
    assert talk.taken(2)[1] == (4, 0)


def test_tool_results_and_injected_blocks_are_never_handed_over(talk: Talk) -> None:
    secret = "The zanzibarquux service uses MySQL 5."
    block = [{"type": "tool_result", "tool_use_id": "t", "content": secret + "x" * 2_000_000}]
    fence = f"<codesynapse-memory>\n{secret}\n</codesynapse-memory>"
    path = talk.write(
        "s1",
        user(block, 90_000), user(fence, 90_001), user(secret, 90_002, isMeta=True),
        user(secret, 90_003, isCompactSummary=True), user(secret, 90_004, isSidechain=True),
        talk.said(0, 12),
    )  # fmt: skip
    talk.offload("s1", str(path))
    assert talk.taken(1) == [(4, 0)]
    path_ = f"/v1/repos/{talk.life.repository()}/memory/facts?memory_scope=session"
    answer = talk.life.ask("GET", path_, session=talk.name("s1"))
    assert "zanzibarquux" not in answer.body.decode()
    assert "Redis" in answer.body.decode()

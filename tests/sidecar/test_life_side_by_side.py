"""Ten sessions at once, many hooks each: every one answered in time or accounted for."""

from __future__ import annotations

import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.sidecar.home import wait_until
from tests.sidecar.life import ALLOWED, Life, Ran
from tests.sidecar.load import transcript
from tests.transcripts.writing import assistant, user

pytestmark = pytest.mark.processes

SESSIONS = 10
HOOKS = 30
_ANSWERED = re.compile(r" POST /v1/hooks/\{client\}/(recall|offload|bind) (\d+) ")


def one_session(life: Life, number: int) -> list[Ran]:
    """A session from its start to its end, with many tool calls and a compaction or two."""
    name = f"session-{number}"
    said = b"".join(user(f"The part {number}-{n} service uses Redis {n}.", 1000 * number + n)
                    + assistant("Noted.", 1000 * number + n) for n in range(12))  # fmt: skip
    path = transcript(life.root / "transcripts", name, said)
    common = {"session": name, "transcript_path": str(path)}
    ran = [life.hook("recall", stdin=life.payload(**common, source="startup"))]
    for count in range(HOOKS - 4):
        if count == HOOKS // 2:
            stdin = life.payload(**common, event="PreCompact", trigger="auto")
            ran.append(life.hook("offload", stdin=stdin))
            stdin = life.payload(**common, source="compact")
            ran.append(life.hook("recall", stdin=stdin))
        stdin = life.payload(**common, event="PreToolUse", tool_use_id=f"{name}-{count}")
        ran.append(life.hook("bind", stdin=stdin))
    stdin = life.payload(**common, event="SessionEnd", reason="other")
    ran.append(life.hook("offload", "--end", stdin=stdin))
    return ran


def test_ten_sessions_side_by_side_lose_nothing(life: Life) -> None:
    life.hook("recall", stdin=life.payload("first"))
    life.wait_for_one()
    before = answered(life)
    with ThreadPoolExecutor(SESSIONS) as pool:
        every = list(pool.map(lambda n: one_session(life, n), range(SESSIONS)))
    ran = [one for session in every for one in session]
    assert len(ran) == SESSIONS * HOOKS
    assert max(one.seconds for one in ran) < max(ALLOWED.values())
    assert {one.err for one in ran} == {""}
    assert not Path(life.paths.hook_log_file).exists(), "no hook had anything to complain of"
    came = answered(life) - before
    assert came == {"recall": 2 * SESSIONS, "offload": 2 * SESSIONS, "bind": (HOOKS - 4) * SESSIONS}
    wait_until(lambda: jobs_by_session(life)[1], what="the end of every job")
    counts, _ = jobs_by_session(life)
    assert counts == {f"session-{n}": 24 for n in range(SESSIONS)}


def answered(life: Life) -> Counter[str]:
    """How many requests of each hook were answered well, by the sidecar's own log."""
    found: Counter[str] = Counter()
    for suffix in ("", ".1"):
        path = Path(life.paths.log_file + suffix)
        if path.exists():
            lines = _ANSWERED.findall(path.read_text(encoding="utf-8"))
            found.update(verb for verb, status in lines if status.startswith("2"))
    return found


def jobs_by_session(life: Life) -> tuple[dict[str, int], bool]:
    """How many new turns each session's jobs took, and whether all of them are done."""
    repo = life.repository()
    names = {row["id"]: row["session"]
             for row in life.ask("GET", f"/v1/repos/{repo}/sessions").json["sessions"]}  # fmt: skip
    turns: Counter[str] = Counter()
    jobs = life.ask("GET", "/v1/memory/jobs").json["jobs"]
    for job in jobs:
        counts = job["counts"]
        turns[names[job["session"]]] += counts.get("turns", 0) - counts.get("turns_known", 0)
    return dict(turns), {job["state"] for job in jobs} == {"done"}

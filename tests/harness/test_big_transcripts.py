"""The offload hook over transcripts of any size and shape: bounded memory, bounded requests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from codesynapse import harness
from codesynapse.environment import Environment
from codesynapse.paths import Paths
from tests.harness.server import StandIn, stand_in
from tests.transcripts.writing import assistant, user

pytestmark = pytest.mark.processes

HOOK = Path(harness.__file__).with_name("hook.py")
LIMIT = 4 * 1024 * 1024
# A small process between the test and the hook: a child's peak begins with its parent's.
MEASURE = (
    "import os, sys\n"
    "pid = os.spawnve(os.P_NOWAIT, sys.argv[1], sys.argv[1:], dict(os.environ))\n"
    "_, status, used = os.wait4(pid, 0)\n"
    "sys.stderr.write(f'{status} {used.ru_maxrss}')\n"
)


@pytest.fixture
def server() -> Iterator[StandIn]:
    with stand_in() as found:
        yield found


def offload(server: StandIn, home: Path, transcript: Path, **plan: object) -> int:
    """Run the hook to its end; returns its peak memory in KB."""
    answer = {"session": "s", "transcript": str(transcript), "offset": 0, "keep_exchanges": 10}
    server.answers["/v1/hooks/claude-code/offload"] = lambda _: (
        200, json.dumps({**answer, **plan}).encode())  # fmt: skip
    server.answers["/v1/memory/offload"] = lambda _: (202, b'{"id":"j"}')
    server.register(Paths(Environment({"CODESYNAPSE_HOME": str(home)})), os.getpid())
    done = subprocess.run(
        [sys.executable, "-S", "-c", MEASURE, sys.executable, "-I", "-S", str(HOOK), "offload"],
        input=b'{"session_id":"s"}', capture_output=True, timeout=30, check=True,
        env={"HOME": str(home), "CODESYNAPSE_HOME": str(home), "PATH": os.defpath},
    )  # fmt: skip
    assert not done.stdout
    status, peak = map(int, done.stderr.split())
    assert status == 0
    return peak


def sent(server: StandIn) -> list[dict[str, object]]:
    asked = [one for one in server.asked if one.path == "/v1/memory/offload"]
    assert all(len(one.body) < LIMIT for one in asked)
    return [one.json for one in asked]


def texts(parts: list[dict[str, object]]) -> list[str]:
    return [turn["text"] for part in parts for turn in part["turns"]]  # type: ignore[attr-defined]


def follow(parts: list[dict[str, object]]) -> bool:
    return [part["start"] for part in parts] == [0, *(part["end"] for part in parts[:-1])]


def test_300_megabytes_are_read_in_flat_memory(server: StandIn, tmp_path: Path) -> None:
    path = tmp_path / "big.jsonl"
    noise = user([{"tool_use_id": "t", "type": "tool_result", "content": "x" * 2_000_000}])
    with path.open("wb") as file:
        file.write(user("x" * 50_000_000))
        file.write(user("Work on it.", 0))
        for number in range(125):
            file.write(noise + assistant(f"step {number} " + "y" * 30_000, number))
        for number in range(200, 211):
            file.write(user(f"p{number}", number) + assistant("ok", number))
    home = tmp_path / "home"
    peak = offload(server, home, path)
    for _ in range(10):  # a slow machine reads it in several runs, each going on where one ended
        before = sent(server)
        peak = max(peak, offload(server, home, path, offset=before[-1]["end"]))
        if sent(server) == before:
            break
    path.unlink()
    parts = sent(server)
    assert peak < 60_000
    assert follow(parts)
    assert len(parts) > 2
    said = texts(parts)
    assert said[0] == "Work on it."
    assert [text.split()[1] for text in said[1:126]] == [str(n) for n in range(125)]
    assert said[126:] == ["p200", "ok"]


@pytest.mark.parametrize("character", ["\0", "\x01", "你", "🧠"])
def test_one_exchange_without_measure_goes_in_requests_that_are_taken(
    server: StandIn, tmp_path: Path, character: str
) -> None:
    path = tmp_path / "t.jsonl"
    said = b"".join(assistant(character * 50_000, number) for number in range(50))
    path.write_bytes(user("go", 0) + said)
    offload(server, tmp_path / "home", path)
    parts = sent(server)
    assert follow(parts)
    assert parts[-1]["end"] == path.stat().st_size
    assert len(texts(parts)) == 51


def test_thirty_thousand_short_turns_go_in_requests_that_are_taken(
    server: StandIn, tmp_path: Path
) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(user("go", 0) + b"".join(assistant("k", n) for n in range(30_000)))
    offload(server, tmp_path / "home", path)
    parts = sent(server)
    assert all(len(part["turns"]) < 20_000 for part in parts)  # type: ignore[arg-type]
    assert len(texts(parts)) == 30_001


def test_half_a_line_and_bad_utf8_cost_only_themselves(server: StandIn, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    bad = user("Use XX tabs", 1).replace(b"XX", b"\xff\xfe")
    whole = bad + assistant("ok", 1) + b"\xff\x00garbage\n" + user("more", 2) + assistant("yes", 2)
    path.write_bytes(whole + user("half", 3)[:-9])
    offload(server, tmp_path / "home", path)
    (part,) = sent(server)
    assert texts([part]) == ["Use \ufffd\ufffd tabs", "ok", "more", "yes"]
    assert part["end"] == len(whole)


def test_a_lone_surrogate_in_a_transcript_is_sent_as_text(server: StandIn, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(user("a XX b", 1).replace(b"XX", b"\\ud83d") + assistant("ok", 1))
    offload(server, tmp_path / "home", path)
    assert texts(sent(server)) == ["a ? b", "ok"]

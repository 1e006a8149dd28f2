"""What the hook of a session's end leaves behind, as a process, whatever the sidecar does."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from codesynapse import harness
from codesynapse.environment import Environment
from codesynapse.paths import Paths
from codesynapse.transcripts.ends import EndMark, read_marks
from tests.harness.processes import end_all
from tests.harness.server import Asked, StandIn, stand_in
from tests.transcripts.writing import assistant, user

pytestmark = pytest.mark.processes

HOOK = Path(harness.__file__).with_name("hook.py")
PLAN, TURNS, END = "/v1/hooks/claude-code/offload", "/v1/memory/offload", "/v1/sessions/s-1/end"
PROMISED, SLACK = 1.0, 0.6


@dataclass(frozen=True, slots=True)
class Ending:
    """One session that ends, in a home whose state file points at ``server``."""

    root: Path
    server: StandIn

    @property
    def paths(self) -> Paths:
        return Paths(Environment({"CODESYNAPSE_HOME": str(self.root)}))

    @property
    def transcript(self) -> Path:
        return self.root / "s-1.jsonl"

    def answers(self, plan: int = 200, turns: int = 202, end: int = 200) -> None:
        said = {"session": "s-1", "transcript": str(self.transcript), "offset": 0,
                "keep_exchanges": 0}  # fmt: skip
        self.server.answers[PLAN] = lambda _: (plan, json.dumps(said).encode())
        self.server.answers[TURNS] = lambda _: (turns, b'{"id":"j"}')
        self.server.answers[END] = lambda _: (end, b"{}")

    def hook(self, *words: str, stdin: dict[str, object] | None = None, **more: str) -> None:
        """Run it; it ends in time and without a word on standard output."""
        given = {"session_id": "s-1", "transcript_path": str(self.transcript), "cwd": "/somewhere"}
        started = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-I", "-S", str(HOOK), *(words or ("offload", "--end"))],
            input=json.dumps(given if stdin is None else stdin).encode(), capture_output=True,
            check=False, timeout=30, env={"HOME": str(self.root), "PATH": os.defpath,
                                          "CODESYNAPSE_HOME": str(self.root), **more},
        )  # fmt: skip
        assert (done.returncode, done.stdout) == (0, b"")
        if not words:
            assert time.monotonic() - started < PROMISED + SLACK

    def marks(self) -> list[EndMark]:
        return read_marks(self.paths.ends)

    def asked(self) -> list[str]:
        return [one.path.split("?")[0] for one in self.server.asked]


@pytest.fixture
def ending(tmp_path: Path) -> Iterator[Ending]:
    with stand_in() as server:
        found = Ending(tmp_path / "a home's [place]", server)
        server.register(found.paths, os.getpid())
        said = "".join(f"secret plan {n} " for n in range(3))
        found.transcript.write_bytes(user(said, 0) + assistant("ok", 0))
        yield found
        end_all(str(found.root))


def test_an_end_that_was_accepted_leaves_no_mark(ending: Ending) -> None:
    seen: list[int] = []

    def end(_: Asked) -> tuple[int, bytes]:
        seen.append(len(ending.marks()))
        return 200, b"{}"

    ending.answers()
    ending.server.answers[END] = end
    ending.hook()
    assert seen == [1], "while the sidecar is told, the mark is there"
    assert ending.marks() == []


def test_a_sidecar_that_never_answers_leaves_the_mark(ending: Ending) -> None:
    ending.hook()
    (mark,) = ending.marks()
    assert (mark.client, mark.session, mark.cwd) == ("claude-code", "s-1", "/somewhere")
    assert mark.transcript == str(ending.transcript)
    folder = Path(ending.paths.ends)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(Path(mark.path).stat().st_mode) == 0o600
    assert "secret plan" not in Path(mark.path).read_text()


@pytest.mark.parametrize(
    ("answers", "asked"),
    [
        ({"plan": 503}, [PLAN]),
        ({"plan": 401}, [PLAN]),
        ({"turns": 429}, [PLAN, TURNS]),
        ({"turns": 500}, [PLAN, TURNS]),
        ({"end": 503}, [PLAN, TURNS, END]),
    ],
)
def test_what_was_not_taken_leaves_the_mark(
    ending: Ending, answers: dict[str, int], asked: list[str]
) -> None:
    """A session that could not hand all over is not ended: who reads the mark ends it."""
    ending.answers(**answers)
    ending.hook()
    assert len(ending.marks()) == 1
    assert ending.asked() == asked


@pytest.mark.parametrize("answers", [{"plan": 204}, {"plan": 410}, {"plan": 403}, {"end": 410}])
def test_a_refusal_for_good_takes_the_mark_along(ending: Ending, answers: dict[str, int]) -> None:
    ending.answers(**answers)
    ending.hook()
    assert ending.marks() == []


def test_a_token_of_others_or_no_sidecar_at_all_leaves_the_mark(ending: Ending) -> None:
    Path(ending.paths.state_file).unlink()
    Path(ending.paths.token_file).chmod(0o644)
    ending.hook()
    assert len(ending.marks()) == 1


def test_a_session_without_a_transcript_leaves_a_mark_that_names_none(ending: Ending) -> None:
    ending.transcript.unlink()
    ending.hook()
    assert [mark.transcript for mark in ending.marks()] == [None]


def test_a_transcript_that_is_not_named_is_found_for_the_mark(ending: Ending) -> None:
    folder = ending.root / ".claude" / "projects" / "-somewhere"
    folder.mkdir(parents=True)
    (folder / "s-1.jsonl").write_bytes(b"")
    ending.hook(stdin={"session_id": "s-1", "cwd": "/somewhere"})
    assert [mark.transcript for mark in ending.marks()] == [str(folder / "s-1.jsonl")]


def test_only_the_end_of_a_known_session_on_this_machine_leaves_a_mark(ending: Ending) -> None:
    ending.hook("offload")
    ending.hook("recall", "--prompt")
    ending.hook(stdin={})
    ending.hook(CODESYNAPSE_API_URL="http://127.0.0.1:9")
    ending.hook(CODESYNAPSE_EXTRACTING="1")
    assert ending.marks() == []


def test_memory_that_is_off_for_this_hook_alone_is_silence(ending: Ending) -> None:
    ending.answers()
    for words in (("recall",), ("offload",), ("bind",), ()):
        ending.hook(*words, CODESYNAPSE_ALLOW_MEMORY="false")
    assert ending.server.asked == []
    assert ending.marks() == []


def test_where_no_mark_can_be_left_the_session_is_ended_with_what_was_taken(
    ending: Ending,
) -> None:
    Path(ending.paths.ends).write_text("a file")
    ending.answers(turns=429)
    ending.hook()
    assert ending.asked() == [PLAN, TURNS, END]

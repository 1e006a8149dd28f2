"""The hooks as processes, started as an installed command starts them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from codesynapse import harness
from codesynapse.environment import Environment
from codesynapse.link.state import Endpoint, write_state
from codesynapse.paths import Paths
from tests.harness.processes import end_all
from tests.harness.server import TOKEN, Asked, StandIn, silent_port, stand_in
from tests.transcripts.writing import assistant, user

pytestmark = pytest.mark.processes

HOOK = Path(harness.__file__).with_name("hook.py")
REPLY = b'{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"x"}}\n'
RECALL, OFFLOAD = "/v1/hooks/claude-code/recall", "/v1/hooks/claude-code/offload"
ALLOWED = {"recall": 2.0, "prompt": 1.0, "offload": 5.0, "end": 1.0}
SLACK = 0.6  # a busy machine's own delays


@dataclass(frozen=True, slots=True)
class Ran:
    out: bytes
    err: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Place:
    """A home whose state file points at ``server``."""

    root: Path
    server: StandIn

    @property
    def paths(self) -> Paths:
        return Paths(Environment({"CODESYNAPSE_HOME": str(self.root)}))

    def run(self, *verb: str, stdin: bytes = b"{}", **more: str) -> Ran:
        environment = {
            "HOME": str(self.root),
            "PATH": os.defpath,
            "CODESYNAPSE_HOME": str(self.root),
            **more,
        }
        started = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-I", "-S", str(HOOK), *verb],
            input=stdin, env=environment, capture_output=True, check=False, timeout=30,
        )  # fmt: skip
        assert done.returncode == 0
        return Ran(done.stdout, done.stderr.decode(), time.monotonic() - started)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with stand_in() as server:
        found = Place(tmp_path / "a home's [place]", server)
        server.register(found.paths, os.getpid())
        yield found
        end_all(str(found.root))  # a hook that finds no sidecar starts a real one


def test_recall_forwards_its_input_as_it_came_and_prints_the_answer(place: Place) -> None:
    place.server.answers[RECALL] = lambda _: (200, REPLY)
    payload = '{"session_id":"s","note":"Đ \\ud800"}'.encode()
    ran = place.run("recall", stdin=payload)
    assert ran.out == REPLY
    assert not ran.err
    asked = place.server.asked[0]
    assert asked.body == payload
    assert asked.headers["authorization"] == f"Bearer {TOKEN}"
    assert 0 < int(asked.headers["x-codesynapse-deadline-ms"]) < 2000


def test_recall_prints_nothing_when_there_is_nothing(place: Place) -> None:
    place.server.answers[RECALL] = lambda _: (204, b"")
    ran = place.run("recall")
    assert (ran.out, ran.err) == (b"", "")


def test_memory_that_is_off_is_silence(place: Place) -> None:
    for route in (RECALL, OFFLOAD, "/v1/hooks/claude-code/bind"):
        place.server.answers[route] = lambda _: (204, b"")
    for verb in (
        ("recall",),
        ("recall", "--prompt"),
        ("offload",),
        ("offload", "--end"),
        ("bind",),
    ):
        ran = place.run(*verb)
        assert (ran.out, ran.err) == (b"", "")


def test_a_refusal_is_one_line_on_stderr(place: Place) -> None:
    body = json.dumps({"error": {"code": "closed", "message": "session s is\nrevoked"}}).encode()
    place.server.answers[RECALL] = lambda _: (410, body)
    ran = place.run("recall")
    assert (ran.out, ran.err) == (b"", "codesynapse: session s is revoked\n")


@pytest.mark.parametrize("junk", [b"<html>", b"{}" * 3, b'{"a":1', b"\n\n", b"null\n", b"[1]\n"])
def test_what_is_no_whole_object_is_never_printed(place: Place, junk: bytes) -> None:
    place.server.answers[RECALL] = lambda _: (200, junk)
    assert place.run("recall").out == b""


def test_the_last_whole_line_in_hand_is_printed_when_the_answer_breaks_off(place: Place) -> None:
    place.server.answers[RECALL] = lambda _: (200, REPLY + b'{"half<cut>')
    ran = place.run("recall")
    assert ran.out == REPLY
    assert ran.seconds < ALLOWED["recall"] + SLACK


@pytest.mark.parametrize(
    ("verb", "name"),
    [
        (("recall",), "recall"),
        (("recall", "--prompt"), "prompt"),
        (("offload",), "offload"),
        (("offload", "--end"), "end"),
        (("bind",), "end"),
    ],
)
def test_a_sidecar_that_never_answers_costs_no_more_than_the_deadline(
    place: Place, verb: tuple[str, ...], name: str
) -> None:
    ran = place.run(*verb)
    assert ran.out == b""
    assert ran.seconds < ALLOWED[name] + SLACK


def test_a_port_that_accepts_and_stays_silent_costs_no_more_than_the_deadline(
    place: Place,
) -> None:
    with silent_port() as port:
        write_state(place.paths, Endpoint("127.0.0.1", port, os.getpid()))
        ran = place.run("recall", "--prompt")
    assert ran.out == b""
    assert ran.seconds < ALLOWED["prompt"] + SLACK


def test_a_foreign_server_is_sent_a_question_and_nothing_else(place: Place) -> None:
    place.server.knows_token = False
    place.run("bind", stdin=b'{"tool_use_id":"t"}')
    assert place.server.asked == []


def test_a_token_that_others_can_read_is_not_used(place: Place) -> None:
    os.chmod(place.paths.token_file, 0o644)
    assert place.run("recall", "--prompt").out == b""
    assert place.server.asked == []
    assert "can be read by others" in Path(place.paths.hook_log_file).read_text()


@pytest.mark.parametrize("verb", [("recall",), ("offload",), ("offload", "--end"), ("bind",)])
def test_an_agent_of_our_own_extraction_triggers_nothing(
    place: Place, verb: tuple[str, ...]
) -> None:
    ran = place.run(*verb, CODESYNAPSE_EXTRACTING="1")
    assert (ran.out, ran.err, place.server.asked) == (b"", "", [])


def offload_place(place: Place, tmp_path: Path, content: bytes, **plan: object) -> Path:
    path = tmp_path / "session.jsonl"
    path.write_bytes(content)
    answer = {"session": "s-1", "transcript": str(path), "offset": 0, "keep_exchanges": 10, **plan}
    place.server.answers[OFFLOAD] = lambda _: (200, json.dumps(answer).encode())
    place.server.answers["/v1/memory/offload"] = lambda _: (202, b'{"id":"j"}')
    place.server.answers["/v1/sessions/s-1/end"] = lambda _: (200, b"{}")
    return path


def sent(place: Place) -> list[Asked]:
    return [asked for asked in place.server.asked if asked.path == "/v1/memory/offload"]


def test_offload_sends_the_older_exchanges_redacted_and_prints_nothing(
    place: Place, tmp_path: Path
) -> None:
    key = "AKIA" + "Z7" * 8
    first = user(f"The key is {key}.", 0) + assistant("Noted.", 0)
    later = b"".join(user(f"p{n}", n) + assistant("ok", n) for n in range(1, 11))
    path = offload_place(place, tmp_path, first + later)
    ran = place.run("offload", stdin=b'{"session_id":"s-1"}')
    assert (ran.out, ran.err) == (b"", "")
    (only,) = sent(place)
    assert only.headers["x-codesynapse-client"] == "claude-code"
    assert only.headers["x-codesynapse-session"] == "s-1"
    body = only.json
    who = [(turn["role"], turn["id"]) for turn in body["turns"]]
    assert who == [("user", "u0"), ("assistant", "a0")]
    assert key not in only.body.decode()
    assert "[redacted:aws-access-key]" in body["turns"][0]["text"]
    assert (body["transcript"], body["start"], body["end"]) == (str(path), 0, len(first))


def test_the_end_sends_everything_and_then_ends_the_session(place: Place, tmp_path: Path) -> None:
    transcript = b"".join(user(f"p{n}", n) + assistant("ok", n) for n in range(3))
    offload_place(place, tmp_path, transcript, keep_exchanges=0)
    place.run("offload", "--end", stdin=b"{}")
    assert [asked.path for asked in place.server.asked] == [
        OFFLOAD + "?end=1", "/v1/memory/offload", "/v1/sessions/s-1/end"]  # fmt: skip
    assert sent(place)[0].json["end"] == len(transcript)


def test_a_long_transcript_is_sent_in_parts_that_follow_each_other(
    place: Place, tmp_path: Path
) -> None:
    said = "x" * 60_000
    transcript = b"".join(user(f"{n} {said}", n) + assistant("ok", n) for n in range(40))
    offload_place(place, tmp_path, transcript)
    place.run("offload")
    bodies = [asked.json for asked in sent(place)]
    assert len(bodies) > 1
    assert all(len(asked.body) < 3 * 1024 * 1024 for asked in sent(place))
    assert [body["start"] for body in bodies] == [0, *(body["end"] for body in bodies[:-1])]


def test_offload_goes_on_from_where_the_sidecar_says(place: Place, tmp_path: Path) -> None:
    first = user("p0", 0) + assistant("ok", 0)
    rest = user("p1", 1) + assistant("ok", 1)
    offload_place(place, tmp_path, first + rest, offset=len(first))
    place.run("offload")
    assert [turn["text"] for turn in sent(place)[0].json["turns"]] == ["p1", "ok"]


def test_a_transcript_that_became_shorter_is_sent_from_its_start(
    place: Place, tmp_path: Path
) -> None:
    whole = user("p0", 0) + assistant("ok", 0)
    offload_place(place, tmp_path, whole, offset=100_000)
    place.run("offload")
    (only,) = sent(place)
    assert (only.json["start"], only.json["end"]) == (0, len(whole))


def test_a_missing_transcript_ends_the_session_all_the_same(place: Place, tmp_path: Path) -> None:
    path = offload_place(place, tmp_path, b"", transcript=None)
    path.unlink()
    ran = place.run("offload", "--end")
    assert (ran.out, ran.err, sent(place)) == (b"", "", [])
    assert place.server.asked[-1].path == "/v1/sessions/s-1/end"


def test_an_unknown_verb_says_so_and_breaks_nothing(place: Place) -> None:
    ran = place.run("recal")
    assert (ran.out, ran.err) == (b"", "codesynapse: a hook is one of recall, offload, bind\n")


def test_the_log_of_hooks_says_why_and_never_what(place: Place) -> None:
    place.run("recall", "--prompt", stdin=b'{"prompt":"zanzibarquux"}')
    log = Path(place.paths.hook_log_file)
    assert "recall: the answer did not come in time" in log.read_text()
    assert "zanzibarquux" not in log.read_text()
    assert log.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("module", ["recall", "bind"])
def test_the_hooks_that_run_often_import_nothing_that_is_slow(module: str) -> None:
    code = (
        "import sys\n"
        f"sys.path.insert(0, {str(HOOK.parents[2])!r})\n"
        f"import codesynapse.harness.main, codesynapse.harness.{module}\n"
        "print(sorted({'json', 're', 'socket', 'typing', 'enum', 'pathlib'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True,
                          text=True, check=True, timeout=30)  # fmt: skip
    assert done.stdout == "[]\n"

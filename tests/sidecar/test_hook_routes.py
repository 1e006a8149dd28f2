from __future__ import annotations

import http.client
import json
import time
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from codesynapse.sidecar.shown import shown_since
from tests.sidecar.home import Answer, Home

_numbers = count()
DECISION = "The billing service uses PostgreSQL 16."


class Talk:
    """One session of Claude Code, as its hooks see it."""

    def __init__(self, home: Home, folder: Path | None = None) -> None:
        self.home = home
        number = next(_numbers)
        self.folder = folder or home.root / f"talk-{number}"
        self.folder.mkdir(exist_ok=True)
        self.id = f"talk-session-{number}"
        self.transcript = self.folder / f"{self.id}.jsonl"

    def payload(self, event: str, **more: Any) -> dict[str, Any]:
        return {
            "session_id": self.id,
            "transcript_path": str(self.transcript),
            "cwd": str(self.folder),
            "hook_event_name": event,
            **more,
        }

    def hook(self, verb: str, event: str, *, query: str = "", ms: int = 5_000, **more: Any
             ) -> Answer:  # fmt: skip
        return self.home.ask(
            "POST", f"/v1/hooks/claude-code/{verb}{query}", self.payload(event, **more),
            client=None, X_CodeSynapse_Deadline_Ms=str(ms),
        )  # fmt: skip

    def start(self, source: str = "startup", ms: int = 5_000) -> str:
        """What the hook would print, as the model gets it."""
        return context(self.hook("recall", "SessionStart", source=source, ms=ms))

    def offload(self, *texts: str) -> None:
        turns = [{"role": "user", "text": text, "id": f"{self.id}{text}"} for text in texts]
        answer = self.home.ask("POST", "/v1/memory/offload", {"turns": turns}, session=self.id)
        assert answer.status == 202, answer

    def end(self) -> None:
        answer = self.home.ask("POST", f"/v1/sessions/{self.id}/end", {}, session=self.id)
        assert answer.status == 200, answer


def context(answer: Answer) -> str:
    if answer.status == 204:
        assert answer.body == b""
        return ""
    assert answer.status == 200, answer
    lines = answer.body.splitlines()
    if not lines:
        return ""
    output = json.loads(lines[-1])["hookSpecificOutput"]
    assert output["hookEventName"] in {"SessionStart", "UserPromptSubmit"}
    return str(output["additionalContext"])


def test_a_new_repository_gives_nothing_at_all(served: Home) -> None:
    talk = Talk(served)
    for source in ("startup", "resume", "clear", "compact", "fork", "another"):
        assert talk.start(source) == ""


def test_a_compacted_session_is_given_back_what_it_offloaded(served: Home) -> None:
    talk = Talk(served)
    talk.start()
    talk.offload(DECISION)
    assert "PostgreSQL 16" in talk.start("compact")


def test_the_next_session_knows_what_the_person_said(served: Home) -> None:
    talk = Talk(served)
    talk.start()
    talk.offload(DECISION)
    talk.end()
    assert "PostgreSQL 16" in Talk(served, talk.folder).start()


def test_a_running_session_does_not_see_another_one_s(served: Home) -> None:
    talk = Talk(served)
    talk.start()
    talk.offload(DECISION)
    assert Talk(served, talk.folder).start() == ""


def test_an_answer_that_has_to_wait_comes_in_lines(served: Home) -> None:
    """The first line is there at once; a client that leaves then has a complete output."""
    talk = Talk(served)
    repo = served.repository(talk.folder)
    body = {"triples": [{"subject": "deploys", "predicate": "HAPPEN_ON", "object": "Tuesdays"}]}
    served.ask("POST", f"/v1/repos/{repo}/memory/triples", body)
    talk.start()
    talk.offload(*(f"{DECISION} Step {n}." for n in range(150)))
    answer = talk.hook("recall", "SessionStart", source="compact")
    lines = answer.body.splitlines()
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    assert len(lines) == 2
    assert all("Tuesdays" in line.decode() for line in lines)
    assert "PostgreSQL" in lines[-1].decode()


def test_the_deadline_ends_the_waiting(served: Home) -> None:
    talk = Talk(served)
    talk.start()
    talk.offload(*(f"{DECISION} Stage {n}." for n in range(200)))
    started = time.monotonic()
    answer = talk.hook("recall", "SessionStart", source="compact", ms=50)
    assert answer.status in (200, 204)
    assert time.monotonic() - started < 2.0


def test_a_prompt_is_answered_from_what_fits_it_and_only_once(served: Home) -> None:
    talk = Talk(served)
    repo = served.repository(talk.folder)
    body = {
        "triples": [
            {"subject": "billing service", "predicate": "USES", "object": "PostgreSQL 16"},
            {"subject": "deploys", "predicate": "HAPPEN_ON", "object": "Tuesdays"},
        ]
    }
    talk.hook("recall", "UserPromptSubmit", query="?prompt=1", prompt="hello there")
    served.ask("POST", f"/v1/repos/{repo}/memory/triples", body)
    prompt = "Which database does the billing service use?"
    first = context(talk.hook("recall", "UserPromptSubmit", query="?prompt=1", prompt=prompt))
    again = context(talk.hook("recall", "UserPromptSubmit", query="?prompt=1", prompt=prompt))
    assert "PostgreSQL 16" in first
    assert "Tuesdays" not in first
    assert again == ""
    assert "PostgreSQL 16" in talk.start("compact")


def test_a_payload_without_a_session_is_declined_in_words(served: Home) -> None:
    for body in (b"", b"{}", b"[]", b"{", b"\xff", b'{"session_id": 5}', b"[" * 100_000):
        answer = served.ask("POST", "/v1/hooks/claude-code/recall", body)
        assert (answer.status, answer.code) == (400, "identity_missing")


def test_a_payload_of_bad_utf_8_is_used_as_far_as_it_goes(served: Home) -> None:
    talk = Talk(served)
    raw = json.dumps(talk.payload("SessionStart", source="startup")).encode()
    broken = raw[:-1] + b', "prompt": "\xff \\ud800 \xc4\x90"}'
    assert served.ask("POST", "/v1/hooks/claude-code/recall", broken).status == 204


def test_offload_says_where_to_go_on_and_what_to_keep(served: Home) -> None:
    talk = Talk(served)
    first = talk.hook("offload", "PreCompact", trigger="auto").json
    assert (first["session"], first["offset"], first["keep_exchanges"]) == (talk.id, 0, 10)
    assert first["transcript"] == str(talk.transcript)
    talk.transcript.write_text("{}\n")
    body = {
        "turns": [{"role": "user", "text": DECISION, "id": "t1"}],
        "transcript": str(talk.transcript), "start": 0, "end": 3,
    }  # fmt: skip
    assert served.ask("POST", "/v1/memory/offload", body, session=talk.id).status == 202
    second = talk.hook("offload", "SessionEnd", query="?end=1").json
    assert (second["offset"], second["turn_id"], second["keep_exchanges"]) == (3, "t1", 0)


def test_a_session_keeps_its_repository_when_its_folder_is_gone(served: Home) -> None:
    talk = Talk(served)
    talk.start()
    talk.offload(DECISION)
    talk.folder.rename(talk.folder.with_name(talk.folder.name + "-moved"))
    assert "PostgreSQL 16" in talk.start("compact")


def test_a_closed_session_is_told_so_and_still_gets_the_repository_s(served: Home) -> None:
    talk = Talk(served)
    talk.start()
    repo = served.repository(talk.folder)
    body = {"triples": [{"subject": "deploys", "predicate": "HAPPEN_ON", "object": "Tuesdays"}]}
    served.ask("POST", f"/v1/repos/{repo}/memory/triples", body)
    assert served.ask("DELETE", f"/v1/sessions/{talk.id}", session=talk.id).status == 200
    assert "Tuesdays" in talk.start("resume")
    answer = talk.hook("offload", "PreCompact", trigger="auto")
    assert (answer.status, answer.code) == (410, "closed")


def test_a_client_that_leaves_early_does_no_harm(served: Home) -> None:
    talk = Talk(served)
    talk.start()
    talk.offload(*(f"{DECISION} Round {n}." for n in range(100)))
    found = served.endpoint
    connection = http.client.HTTPConnection(found.host, found.port, timeout=20)
    connection.request(
        "POST", "/v1/hooks/claude-code/recall",
        json.dumps(talk.payload("SessionStart", source="compact")),
        {"Authorization": f"Bearer {served.token}", "Content-Type": "application/json"},
    )  # fmt: skip
    connection.close()
    assert "PostgreSQL 16" in talk.start("compact")


def boundary(at: datetime, kind: str = "system") -> str:
    stamp = at.isoformat().replace("+00:00", "Z")
    return json.dumps({"type": kind, "subtype": "compact_boundary", "timestamp": stamp}) + "\n"


NOW = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)


def test_the_last_compaction_of_a_transcript_is_found(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    old = NOW - timedelta(days=1)
    filler = json.dumps({"type": "user", "text": 'says "compact_boundary" itself' * 400}) + "\n"
    path.write_text(boundary(old) + filler + boundary(NOW) + filler * 300)
    assert path.stat().st_size > 2 << 20
    assert shown_since(str(path)) == NOW


@pytest.mark.parametrize("shift", range(0, 24, 3))
def test_a_mark_across_the_edge_of_a_piece_is_found(tmp_path: Path, shift: int) -> None:
    path = tmp_path / "t.jsonl"
    line = boundary(NOW)
    behind = (1 << 20) - (len(line) - line.index('"compact_boundary"')) + 3 + shift
    path.write_text(line + "x" * (behind - 1) + "\n")
    assert shown_since(str(path)) == NOW


def test_a_transcript_without_a_compaction_shows_all(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(boundary(NOW, kind="user") + '{"compact_boundary"\n"compact_boundary"')
    found = shown_since(str(path))
    assert found is not None
    assert found.year == 1
    assert shown_since(str(tmp_path / "missing")) is None
    assert shown_since(None) is None

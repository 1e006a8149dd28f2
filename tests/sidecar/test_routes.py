from __future__ import annotations

from itertools import count
from typing import Any

import pytest

from codesynapse.sdk import models
from codesynapse.sidecar.app import ROUTES
from tests.sidecar.home import Home, wait_until

_numbers = count()


class Place:
    """A repository and a session of their own in the shared sidecar."""

    def __init__(self, home: Home) -> None:
        self.home = home
        number = next(_numbers)
        self.folder = home.root / f"repo-{number}"
        self.repo = home.repository(self.folder)
        self.session = f"session-{number}"
        self.memory = f"/v1/repos/{self.repo}/memory"
        answer = self.ask("POST", f"/v1/repos/{self.repo}/sessions", {"cwd": str(self.folder)})
        assert answer["session"] == self.session

    def ask(self, method: str, path: str, body: Any = None, status: int = 200) -> Any:
        answer = self.home.ask(method, path, body, session=self.session)
        assert answer.status == status, answer
        return answer.json if answer.body else None

    def keep(self, *triples: tuple[str, str, str], scope: str = "repository", **more: Any) -> Any:
        said = [dict(zip(("subject", "predicate", "object"), one, strict=True)) for one in triples]
        body = {"triples": [{**one, **more} for one in said], "memory_scope": scope}
        return self.ask("POST", self.memory + "/triples", body)

    def offload(self, *texts: str) -> Any:
        turns = [{"role": "user", "text": text, "id": f"{self.session}-{text}"} for text in texts]
        return self.ask("POST", "/v1/memory/offload", {"turns": turns, "wait": True}, 202)


@pytest.fixture
def place(served: Home) -> Place:
    return Place(served)


def objects(answer: Any) -> set[str]:
    return {fact["object"] for fact in answer["facts"]}


def test_what_is_kept_is_recalled_with_its_age_source_and_notice(place: Place) -> None:
    written = place.keep(("checkout", "RUNS_ON", "port 8443"))
    assert written["applied"]
    body = {"query": "which port does checkout use", "memory_scope": "repository"}
    answer = place.ask("POST", place.memory + "/recall", body)
    assert objects(answer) == {"port 8443"}
    assert "not instructions" in answer["notice"]
    fact = models.Fact(**answer["facts"][0])
    assert (fact.age_days, fact.confirmations, fact.source.client) == (0, 1, "claude-code")


def test_a_batch_sent_twice_is_written_once(place: Place) -> None:
    body = {
        "triples": [{"subject": "a", "predicate": "IS", "object": "b"}],
        "batch_id": f"once-{place.session}",
    }
    one = place.ask("POST", place.memory + "/triples", body)
    two = place.ask("POST", place.memory + "/triples", body)
    assert (one["applied"], two["applied"]) == (True, False)


def test_a_predicate_of_another_shape_is_refused_with_the_nearest(place: Place) -> None:
    body = {"triples": [{"subject": "a", "predicate": "runs on", "object": "b"}]}
    answer = place.home.ask("POST", place.memory + "/triples", body)
    assert (answer.status, answer.code) == (422, "invalid_predicate")
    assert "RUNS_ON" in answer.json["error"]["hint"]


def test_a_replaced_value_is_history(place: Place) -> None:
    place.keep(("api", "LISTENS_ON", "8000"))
    place.keep(("api", "LISTENS_ON", "9000"), replace=True)
    assert objects(place.ask("GET", place.memory + "/facts")) == {"9000"}
    with_history = place.ask("GET", place.memory + "/facts?history=true")
    assert objects(with_history) == {"8000", "9000"}
    old = next(fact["id"] for fact in with_history["facts"] if fact["object"] == "8000")
    story = place.ask("GET", f"{place.memory}/facts/{old}/history")
    assert len(story["statements"]) == 1
    assert story["fact"]["intervals"][0]["to"] is not None


def test_a_moment_of_the_past_is_answered_as_it_was(place: Place) -> None:
    place.keep(("api", "LISTENS_ON", "8000"), said_at="2026-01-01T00:00:00Z")
    place.keep(("api", "LISTENS_ON", "9000"), said_at="2026-02-01T00:00:00Z", replace=True)
    asked = place.ask("GET", place.memory + "/facts?as_of=2026-01-15T00:00:00")
    assert objects(asked) == {"8000"}


def test_a_graph_is_read_by_name_and_by_pages(place: Place) -> None:
    place.keep(*((f"part {n}", "BELONGS_TO", "machine") for n in range(5)))
    around = place.ask("GET", place.memory + "/subgraph?name=machine&limit=3")
    assert (len(around["facts"]), around["more"]) == (3, True)
    seen, cursor = [], None
    while True:
        more = f"&cursor={cursor}" if cursor else ""
        page = place.ask("GET", f"{place.memory}/nodes?limit=2{more}")
        seen += [node["name"] for node in page["nodes"]]
        if (cursor := page["cursor"]) is None:
            break
    assert len(seen) == len(set(seen)) == 6
    found = place.ask("GET", place.memory + "/nodes?query=machine")
    assert [node["name"] for node in found["nodes"]] == ["machine"]


def test_a_person_closes_reopens_merges_and_deletes(place: Place) -> None:
    made = place.keep(("api", "USES", "redis"))
    fact = f"{place.memory}/facts/{made['fact_ids'][0]}"
    assert place.ask("PATCH", fact, {"action": "close"})["current"] is False
    assert place.ask("PATCH", fact, {"action": "reopen"})["current"] is True
    place.keep(("backend", "USES", "kafka"))
    nodes = place.ask("GET", place.memory + "/nodes")["nodes"]
    ids = {node["name"]: node["id"] for node in nodes}
    merged = place.ask("PATCH", f"{place.memory}/entities/{ids['api']}", {"merge": ids["backend"]})
    assert merged["aliases"] == ["backend"]
    listed = place.ask("GET", place.memory + "/facts")["facts"]
    target = next(one["id"] for one in listed if one["object"] == "redis")
    assert place.ask("DELETE", f"{place.memory}/facts/{target}") == {"deleted": 1}
    place.ask("DELETE", f"{place.memory}/facts/{target}", status=404)
    assert place.ask("DELETE", f"{place.memory}/entities/{ids['api']}") == {"deleted": 1}
    assert place.ask("GET", place.memory + "/facts")["facts"] == []


def test_index_says_what_there_is(place: Place) -> None:
    place.keep(("a", "IS", "b"))
    assert place.ask("POST", place.memory + "/index") == {"facts": 1, "entities": 2}


def test_turns_become_facts_of_the_session_alone(place: Place) -> None:
    job = place.offload("The billing service uses PostgreSQL 16.")
    assert (job["state"], job["counts"]["turns"]) == ("done", 1)
    body = {"query": "which database does billing use?"}
    own = place.ask("POST", place.memory + "/recall", body)
    assert own["facts"]
    other = Place(place.home)
    assert other.ask("POST", other.memory + "/recall", body)["facts"] == []
    shared = place.ask("POST", place.memory + "/recall", {**body, "memory_scope": "repository"})
    assert shared["facts"] == []
    jobs = place.ask("GET", "/v1/memory/jobs")["jobs"]
    assert jobs[0]["id"] == job["id"]


def test_a_session_is_listed_promoted_ended_and_revoked(place: Place) -> None:
    place.offload("The billing service uses PostgreSQL 16.")
    own = place.ask("GET", place.memory + "/facts?memory_scope=session")["facts"]
    path = f"/v1/sessions/{place.session}"
    place.ask("POST", path + "/promote", {"facts": [own[0]["id"]]})
    assert len(place.ask("GET", place.memory + "/facts")["facts"]) == 1
    assert place.ask("POST", path + "/end", {})["state"] == "ended"
    carried = place.ask("GET", place.memory + "/facts?memory_scope=personal")["facts"]
    assert carried
    listed = place.ask("GET", f"/v1/repos/{place.repo}/sessions")["sessions"]
    assert [one["session"] for one in listed] == [place.session]
    assert place.ask("DELETE", path)["state"] == "revoked"
    assert place.ask("GET", place.memory + "/facts?memory_scope=personal")["facts"] == []
    answer = place.home.ask(
        "POST", "/v1/memory/offload", {"turns": [{"role": "user", "text": "x"}]},
        session=place.session,
    )  # fmt: skip
    assert (answer.status, answer.code) == (410, "closed")


def test_session_calls_need_both_headers_and_a_known_session(place: Place) -> None:
    body = {"turns": [{"role": "user", "text": "x"}]}
    missing = place.home.ask("POST", "/v1/memory/offload", body)
    unknown = place.home.ask("POST", "/v1/memory/offload", body, session="nobody")
    assert (missing.status, missing.code) == (400, "identity_missing")
    assert unknown.status == 404


def test_identity_is_never_taken_from_the_body(place: Place) -> None:
    body = {"turns": [{"role": "user", "text": "x"}], "session": place.session}
    assert place.home.ask("POST", "/v1/memory/offload", body).status == 422


def test_another_repository_than_the_session_s_is_refused(place: Place) -> None:
    other = Place(place.home)
    body = {"turns": [{"role": "user", "text": "x"}]}
    place.ask("POST", other.memory + "/offload", body, status=403)
    place.ask("POST", place.memory + "/offload", body, status=202)


def test_the_context_is_silent_when_empty_and_the_same_bytes_when_not(place: Place) -> None:
    asked = f"/v1/context?repo={place.repo}&moment=startup"
    assert place.ask("GET", asked) == {"text": "", "items": 0, "left_out": 0}
    place.keep(("deploys", "HAPPEN_ON", "Tuesdays"))
    one, two = place.ask("GET", asked), place.ask("GET", asked)
    assert "Tuesdays" in one["text"]
    assert one == two


def test_what_was_done_is_in_the_trail_without_content(place: Place) -> None:
    place.keep(("plover", "LAYS", "eggs"))
    trail = place.ask("GET", "/v1/audit?limit=5")
    assert trail["entries"][0]["action"] == "facts.add"
    assert "plover" not in str(trail)


def test_stats_tell_how_it_is(place: Place) -> None:
    stats = models.Stats(**place.ask("GET", "/v1/stats"))
    assert stats.pid == place.home.endpoint.pid
    assert stats.store.endswith("codesynapse.db")
    assert (stats.memory, stats.faults, stats.config_error) == (True, [], None)


def test_a_tool_call_s_session_is_told_once_the_hook_has_said_it(place: Place) -> None:
    path = f"/v1/hooks/claude-code/bind/call-{place.session}"
    place.ask("GET", path, status=404)
    payload = {
        "hook_event_name": "PreToolUse",
        "session_id": place.session,
        "tool_use_id": f"call-{place.session}",
    }
    place.ask("POST", "/v1/hooks/claude-code/bind", payload, status=204)
    assert place.ask("GET", path)["session"] == place.session


@pytest.mark.parametrize(
    "query",
    [
        '"',
        "pre-edit",
        "a:b",
        "AND",
        "(x",
        "don't",
        "*",
        "\0",
        "x" * 10_000,
        "🙂",
        "'; DROP",
        "NEAR(",
    ],
)
def test_any_words_may_be_asked(place: Place, query: str) -> None:
    place.keep(("pre-edit", "IS", "a hook"))
    body = {"query": query, "memory_scope": "repository"}
    assert "facts" in place.ask("POST", place.memory + "/recall", body)


def test_every_route_is_described_with_its_body_reply_and_error(served: Home) -> None:
    schema = served.ask("GET", "/openapi.json").json
    assert len({f"{route.method} {route.path}" for route in ROUTES}) == len(ROUTES)
    assert not any(path.startswith("/api") for path in schema["paths"])
    for route in ROUTES:
        described = schema["paths"][route.path][route.method.lower()]
        assert described["description"]
        if route.method == "POST" and not route.path.endswith(("/index", "/stop")):
            assert described["requestBody"]["content"]["application/json"]["schema"]
        if route.reply is not None:
            reply = described["responses"][str(route.status)]["content"]["application/json"]
            assert reply["schema"]["$ref"].endswith("/" + route.reply.__name__)
        error = described["responses"]["4XX"]["content"]["application/json"]["schema"]
        assert error["$ref"].endswith("/ErrorReply")
        assert ("security" in described) is (route.path != "/healthz")


def test_a_session_s_own_memory_waits_for_no_other(place: Place) -> None:
    """A job of one session is done while another one's is; nothing is lost in between."""
    others = [Place(place.home) for _ in range(3)]
    for one in others:
        turns = [{"role": "user", "text": "We always run make check before a push."}]
        one.ask("POST", "/v1/memory/offload", {"turns": turns}, 202)
    for one in others:
        wait_until(
            lambda one=one: one.ask("GET", one.memory + "/facts?memory_scope=session")["facts"]
        )

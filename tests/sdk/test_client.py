from __future__ import annotations

import asyncio
import http.server
import inspect
import threading
from collections.abc import Iterator
from itertools import count

import pytest

from codesynapse.environment import Environment
from codesynapse.errors import (
    Closed,
    CodeSynapseError,
    IdentityMissing,
    InvalidPredicate,
    NotFound,
    QueueFull,
    Unavailable,
)
from codesynapse.sdk import AsyncCodeSynapseClient, CodeSynapseClient, requests
from codesynapse.sdk.finding import find_sidecar, is_newer
from codesynapse.sidecar.app import ROUTES
from tests.sidecar.home import Home

_numbers = count()


def client(home: Home, session: str | None = None, **variables: str) -> CodeSynapseClient:
    environment = Environment(home.environment.child(**variables))
    return CodeSynapseClient(
        client="claude-code", session=session, start=False, environment=environment
    )


@pytest.fixture
def sidecar(served: Home) -> Iterator[CodeSynapseClient]:
    with client(served, f"sdk-{next(_numbers)}") as made:
        yield made


@pytest.fixture
def repo(served: Home, sidecar: CodeSynapseClient) -> str:
    folder = served.root / f"sdk-repo-{next(_numbers)}"
    folder.mkdir()
    return sidecar.resolve(str(folder)).id


def test_the_whole_life_of_a_session_goes_through_it(sidecar: CodeSynapseClient, repo: str) -> None:
    session = sidecar.register(repo)
    job = sidecar.offload(
        [{"role": "user", "text": "The billing service uses PostgreSQL 16."}], wait=True
    )
    assert (job.state, job.counts["kept"]) == ("done", 1)
    found = sidecar.recall(repo, "which database does the billing service use")
    assert [fact.object for fact in found.facts] == ["PostgreSQL 16"]
    assert sidecar.promote(session.session, [found.facts[0].id]).applied
    assert [one.id for one in sidecar.sessions(repo).sessions] == [session.id]
    assert sidecar.end_session(session.session).state == "ended"
    assert sidecar.facts(repo, memory_scope="personal").facts
    assert sidecar.revoke(session.session).state == "revoked"
    with pytest.raises(Closed):
        sidecar.offload([{"role": "user", "text": "x"}])


def test_the_graph_is_written_read_and_curated(sidecar: CodeSynapseClient, repo: str) -> None:
    made = sidecar.add_triples(
        repo, [{"subject": "api", "predicate": "USES", "object": "redis"}], batch_id="b"
    )
    fact = made.fact_ids[0]
    assert sidecar.subgraph(repo, ["api"]).facts[0].sentence == "api uses redis"
    assert {node.name for node in sidecar.nodes(repo).nodes} == {"api", "redis"}
    assert sidecar.index(repo).facts == 1
    assert sidecar.change_fact(repo, fact, "close").current is False
    assert sidecar.change_fact(repo, fact, "reopen").current is True
    story = sidecar.history(repo, fact)
    assert len(story.statements) == 3
    assert story.fact.intervals[-1].to is None
    with pytest.raises(NotFound, match="session"):
        sidecar.context(repo)
    sidecar.register(repo)
    assert "redis" in sidecar.context(repo).text
    assert sidecar.audit(limit=1).entries
    assert sidecar.delete_fact(repo, fact).deleted == 1
    assert sidecar.jobs().jobs is not None
    assert repo in {one.id for one in sidecar.repositories().repositories}


def test_entities_are_merged_and_deleted(sidecar: CodeSynapseClient, repo: str) -> None:
    triples = [
        {"subject": "api", "predicate": "USES", "object": "redis"},
        {"subject": "backend", "predicate": "USES", "object": "kafka"},
    ]
    sidecar.add_triples(repo, triples)
    ids = {node.name: node.id for node in sidecar.nodes(repo).nodes}
    assert sidecar.change_entity(repo, ids["api"], ids["backend"]).aliases == ["backend"]
    assert sidecar.delete_entity(repo, ids["api"]).deleted == 2


def test_what_waits_is_reviewed(home: Home) -> None:
    home.configure('carry_over = "review"\n')
    home.start()
    repo = home.repository()
    with client(home, "s") as sidecar:
        sidecar.register(repo)
        texts = ("The billing service uses PostgreSQL 16.", "The API listens on port 9000.")
        sidecar.offload([{"role": "user", "text": text} for text in texts], wait=True)
        sidecar.end_session("s")
        first, second = sidecar.review(repo).items
        assert sidecar.review_decision(first.id, "approve") is None
        sidecar.review_decision(second.id, "reject")
        assert sidecar.review(repo).items == []
        assert len(sidecar.facts(repo, memory_scope="personal").facts) == 1


def test_errors_arrive_as_what_they_were(sidecar: CodeSynapseClient, repo: str) -> None:
    with pytest.raises(InvalidPredicate) as refused:
        sidecar.add_triples(repo, [{"subject": "a", "predicate": "uses it", "object": "b"}])
    assert "USES_IT" in refused.value.hint
    with pytest.raises(NotFound):
        sidecar.facts("nobody")
    with pytest.raises(NotFound):
        sidecar.session_of_call("claude-code", "nothing")
    with pytest.raises(CodeSynapseError) as odd:
        sidecar.facts(repo, limit=0)
    assert odd.value.http_status == 422


def test_a_session_call_without_a_session_is_refused(served: Home, repo: str) -> None:
    with client(served) as nobody, pytest.raises(IdentityMissing):
        nobody.offload([{"role": "user", "text": "x"}])


def test_the_token_is_in_no_repr(sidecar: CodeSynapseClient, served: Home) -> None:
    assert sidecar.connected()
    assert served.token not in repr(vars(sidecar))


def test_asyncio_has_the_same_calls(served: Home, repo: str) -> None:
    names = {name for name, value in vars(CodeSynapseClient).items() if callable(value)}
    assert names == {name for name, value in vars(AsyncCodeSynapseClient).items()
                     if inspect.iscoroutinefunction(value)}  # fmt: skip
    assert names == set(requests.__all__) - {"Request"}

    async def ask() -> list[int]:
        async with AsyncCodeSynapseClient(
            client="claude-code", start=False, environment=served.environment
        ) as sidecar:
            await sidecar.add_triples(repo, [{"subject": "a", "predicate": "IS", "object": "b"}])
            pages = await asyncio.gather(*(sidecar.facts(repo) for _ in range(8)))
            with pytest.raises(NotFound):
                await sidecar.facts("nobody")
            return [len(page.facts) for page in pages]

    assert asyncio.run(ask()) == [1] * 8


def test_every_route_has_a_call() -> None:
    """Hooks and health are asked by hooks; one offload route stands for both."""
    asked = {name for name in requests.__all__ if name != "Request"}
    routes = [r for r in ROUTES if "/hooks/" not in r.path and r.path != "/healthz"]
    bound = 1  # the one hook route that programs ask
    assert len(asked) == len(routes) - 1 + bound


def test_without_a_sidecar_it_says_so_and_starts_none(home: Home) -> None:
    with client(home) as sidecar:
        assert not sidecar.connected()
        with pytest.raises(Unavailable):
            sidecar.stats()


def test_a_client_outlives_its_sidecar(home: Home) -> None:
    process = home.start()
    with client(home) as sidecar:
        first = sidecar.stats().pid
        home.stop(process)
        with pytest.raises(Unavailable):
            sidecar.stats()
        home.start()
        assert sidecar.stats().pid != first


def test_a_named_sidecar_is_asked_instead_once_it_proved_itself(served: Home, home: Home) -> None:
    variables = {"CODESYNAPSE_API_URL": served.endpoint.url, "CODESYNAPSE_API_TOKEN": served.token}
    with client(home, **variables) as sidecar:
        assert sidecar.stats().pid == served.endpoint.pid
    variables["CODESYNAPSE_API_TOKEN"] = "x" * 64
    with client(home, **variables) as sidecar, pytest.raises(Unavailable, match="not a sidecar"):
        sidecar.stats()


class Stub(http.server.BaseHTTPRequestHandler):
    """A server that is not ours, or a proxy in front of one."""

    seen: str = ""

    def do_GET(self) -> None:
        type(self).seen += str(self.headers)
        self.send_response(429)
        self.send_header("Retry-After", "7")
        self.end_headers()
        self.wfile.write(b'{"error": {"code": "queue_full", "message": "full", "hint": ""}}')

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def stub() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Stub)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join(10)


def test_a_foreign_server_is_sent_no_token(home: Home, stub: str) -> None:
    environment = Environment({"CODESYNAPSE_API_URL": stub, "CODESYNAPSE_API_TOKEN": "t" * 40})
    with pytest.raises(Unavailable):
        find_sidecar(environment)
    assert Stub.seen
    assert "tttt" not in Stub.seen


def test_a_full_queue_says_when_to_come_back(stub: str) -> None:
    import httpx

    from codesynapse.sdk.client import _refusal

    error = _refusal(httpx.get(stub))
    assert isinstance(error, QueueFull)
    assert error.retry_after == 7


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("0.2.0", "0.1.9", True),
        ("0.10", "0.9", True),
        ("1.0", "1.0", False),
        ("1.0", "", True),
        ("", "1.0", False),
        ("1.0.dev1", "1.0", False),
    ],
)
def test_versions_are_compared_by_number(one: str, other: str, expected: bool) -> None:
    assert is_newer(one, other) is expected

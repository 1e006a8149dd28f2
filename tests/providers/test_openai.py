from __future__ import annotations

import gzip
import json
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from codesynapse.errors import CodeSynapseError, ProviderFailed, RouteRefused, Unavailable
from codesynapse.providers.base import Endpoint, Message
from codesynapse.providers.meter import CapReached, Meter
from codesynapse.providers.openai import OpenAIModel
from codesynapse.providers.wire import ANSWER_CAP
from tests.providers.server import (
    ModelServer,
    Reply,
    breaks_off,
    drips,
    hangs,
    model_server,
    only_with,
    pours,
    raw,
    says,
    speaks_no_http,
    status,
)

MARKER = "zanzibar-marker"
PROMPT = [Message("system", "list facts"), Message("user", f"we use {MARKER}")]
SCHEMA = {"type": "object"}
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Clock:
    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as running:
        yield running


def model_of(server: ModelServer, *, seconds: float = 5, **endpoint: str) -> OpenAIModel:
    return OpenAIModel(
        Endpoint(**{"base_url": server.url, "model": "tiny", "seconds": seconds} | endpoint),  # type: ignore[arg-type]
        lambda host, port: [host],
        Meter(lambda: NOON, 100),
    )


def texts(error: BaseException) -> str:
    """Everything that a report of this error could show."""
    seen: list[str] = []
    todo: list[BaseException | None] = [error]
    while todo:
        current = todo.pop()
        if current is not None:
            seen.append(f"{current!r} {current} {vars(current)} {current.args}")
            for part in vars(current).values():
                seen.append(repr(part))
            todo += [current.__cause__, current.__context__]
    return "\n".join(seen)


def test_the_answer_is_the_content_of_the_first_choice(server: ModelServer) -> None:
    server.script(says("hello"))

    assert model_of(server, api_key="k-1").complete(PROMPT, SCHEMA) == "hello"
    assert server.requests[0].path == "/v1/chat/completions"
    assert server.requests[0].headers["Authorization"] == "Bearer k-1"
    assert server.requests[0].headers["Host"] == f"127.0.0.1:{server.port}"
    assert server.requests[0].json["model"] == "tiny"


def test_content_in_parts_is_joined_and_missing_content_is_empty(server: ModelServer) -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "image"}, 3, {"type": "text", "text": "b"}]
    server.script(says(parts), says(None))
    model = model_of(server)

    assert model.complete(PROMPT, SCHEMA) == "ab"
    assert model.complete(PROMPT, SCHEMA) == ""


@pytest.mark.parametrize("code", [400, 422, 500, 501])
@pytest.mark.parametrize(
    ("taken", "tried"),
    [
        ("json_schema", ["json_schema"]),
        ("json_object", ["json_schema", "json_object"]),
        ("prompt", ["json_schema", "json_object", "prompt"]),
    ],
)
def test_the_strongest_way_of_asking_for_json_that_a_server_takes_is_found_and_remembered(
    server: ModelServer, taken: str, tried: list[str], code: int
) -> None:
    server.script(only_with(taken, says("ok"), refusal=code))
    model = model_of(server)

    assert [model.complete(PROMPT, SCHEMA) for _ in range(3)] == ["ok"] * 3
    assert [request.style for request in server.requests] == [*tried, taken, taken]


def test_the_schema_goes_along_in_both_ways(server: ModelServer) -> None:
    server.script(only_with("json_object", says("ok")))

    model_of(server).complete(PROMPT, SCHEMA)

    first, second = (request.json["response_format"] for request in server.requests)
    assert first["json_schema"]["schema"] == SCHEMA
    assert second == {"type": "json_object", "schema": SCHEMA}


def test_a_server_that_stops_taking_what_it_took_is_asked_in_a_weaker_way(
    server: ModelServer,
) -> None:
    server.script(says("ok"))
    model = model_of(server)
    model.complete(PROMPT, SCHEMA)
    server.script(only_with("prompt", says("still")))

    assert model.complete(PROMPT, SCHEMA) == "still"
    assert model.style == "prompt"


@pytest.mark.parametrize("code", [401, 403, 404, 408, 429, 502, 503])
def test_other_refusals_are_not_asked_again(server: ModelServer, code: int) -> None:
    server.script(status(code))

    with pytest.raises(ProviderFailed, match=str(code)):
        model_of(server).complete(PROMPT, SCHEMA)
    assert len(server.requests) == 1


BAD: dict[str, Reply] = {
    "no json": raw(f"I like {MARKER}".encode()),
    "bad utf-8": raw(b"\xff\xfe\x00"),
    "other json": raw(b'{"choices": []}'),
    "a list": raw(b"[]"),
    "deep json": raw(b"[" * 200_000),
    "content of a wrong type": says({"a": MARKER}),
    "empty": raw(b""),
    "server error that repeats the request": status(500),
    "cut": breaks_off,
    "no http": speaks_no_http,
    "endless garbage": pours,
    "over the cap": says(MARKER + "x" * ANSWER_CAP),
    "a compression bomb": raw(gzip.compress(b" " * 9_000_000), Content_Encoding="gzip"),
    "redirect": raw(b"", 307, Location="http://127.0.0.1:9/v1/chat/completions"),
}


@pytest.mark.parametrize("reply", BAD.values(), ids=BAD.keys())
def test_a_bad_answer_is_an_error_that_shows_nothing_of_what_was_said(
    server: ModelServer, reply: Reply
) -> None:
    server.script(reply)

    with pytest.raises(ProviderFailed) as caught:
        model_of(server).complete(PROMPT, SCHEMA)

    assert MARKER not in texts(caught.value)
    assert len(server.requests) <= 3


@pytest.mark.parametrize("reply", [hangs, drips])
def test_a_server_that_never_finishes_is_left_after_its_time(
    server: ModelServer, reply: Reply
) -> None:
    server.script(reply)
    start = time.monotonic()

    with pytest.raises(Unavailable, match=r"within 0\.3 s") as caught:
        model_of(server, seconds=0.3).complete(PROMPT, SCHEMA)

    assert time.monotonic() - start < 3
    assert MARKER not in texts(caught.value)


def test_a_running_call_can_be_cut_from_another_thread(server: ModelServer) -> None:
    server.script(hangs)
    model = model_of(server, seconds=60)
    raised: list[CodeSynapseError] = []

    def ask() -> None:
        try:
            model.complete(PROMPT, SCHEMA)
        except CodeSynapseError as error:
            raised.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    assert server.asked.acquire(timeout=10)
    model.interrupt()
    thread.join(10)

    assert not thread.is_alive()
    assert isinstance(raised[0], Unavailable)


def test_nobody_listening_is_unavailable() -> None:
    with model_server() as gone:
        model = model_of(gone)

    with pytest.raises(Unavailable, match="cannot be reached") as caught:
        model.complete(PROMPT, SCHEMA)
    assert MARKER not in texts(caught.value)


def test_the_next_address_is_tried_when_the_first_does_not_listen(server: ModelServer) -> None:
    server.script(says("ok"))
    model = OpenAIModel(
        Endpoint(f"http://localhost:{server.port}/v1", "tiny"),
        lambda host, port: ["127.0.0.2", "127.0.0.1"],
        Meter(lambda: NOON, 100),
    )

    assert model.complete(PROMPT, SCHEMA) == "ok"
    assert server.requests[0].headers["Host"] == f"localhost:{server.port}"


def test_proxies_of_the_environment_are_not_used(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.script(says("direct"))
    with model_server() as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")

        assert model_of(server).complete(PROMPT, SCHEMA) == "direct"
        assert not proxy.requests


def test_lone_surrogates_in_a_turn_can_be_sent(server: ModelServer) -> None:
    server.script(says("ok"))

    assert model_of(server).complete([Message("user", "broken \ud800 text")], SCHEMA) == "ok"
    assert json.loads(server.requests[0].body)["messages"][0]["content"] == "broken \ud800 text"


@pytest.mark.parametrize(
    "url",
    ["", "localhost:11434", "ftp://127.0.0.1/v1", "http://", "http://127.0.0.1@example.com/v1"],
)
def test_a_base_url_that_is_not_plain_http_is_refused(url: str) -> None:
    model = OpenAIModel(Endpoint(url, "m"), lambda host, port: [host], Meter(lambda: NOON, 9))

    with pytest.raises(RouteRefused):
        model.complete(PROMPT, SCHEMA)


def test_the_cap_of_a_day_holds_and_is_new_the_next_day(server: ModelServer) -> None:
    server.script(says("ok"))
    clock = Clock()
    meter = Meter(clock, 3)
    model = OpenAIModel(Endpoint(server.url, "m"), lambda host, port: [host], meter)
    for _ in range(3):
        model.complete(PROMPT, SCHEMA)

    with pytest.raises(CapReached, match="3 model calls"):
        model.complete(PROMPT, SCHEMA)
    assert len(server.requests) == 3
    assert meter.read().calls_today == 3

    clock.now += timedelta(hours=12)
    assert model.complete(PROMPT, SCHEMA) == "ok"
    assert meter.read().calls_today == 1


def test_a_server_that_is_down_is_left_alone_for_a_moment_and_then_tried_again() -> None:
    clock = Clock()
    meter = Meter(clock, 1_000)
    with model_server() as gone:
        model = OpenAIModel(Endpoint(gone.url, "m"), lambda host, port: [host], meter)
    for _ in range(8):
        with pytest.raises(Unavailable):
            model.complete(PROMPT, SCHEMA)
    assert meter.read().calls_today == 5
    assert meter.read().open_until is not None

    clock.now += timedelta(seconds=31)
    with pytest.raises(Unavailable, match="cannot be reached"):
        model.complete(PROMPT, SCHEMA)
    meter.answered()
    assert meter.read().open_until is None

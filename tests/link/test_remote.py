"""The server that CODESYNAPSE_API_URL names: used instead of any other, and never started."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from codesynapse.environment import Environment
from codesynapse.link.http import Deadline, LinkError
from codesynapse.link.remote import Address
from codesynapse.link.start import connect, find
from codesynapse.link.state import Endpoint, write_state
from codesynapse.paths import Paths
from tests.harness.server import TOKEN, StandIn, silent_port, stand_in


@pytest.fixture
def server() -> Iterator[StandIn]:
    with stand_in() as found:
        yield found


def environment(tmp_path: Path, url: str, **more: str) -> Environment:
    return Environment(
        {
            "CODESYNAPSE_HOME": str(tmp_path / "home"),
            "CODESYNAPSE_API_URL": url,
            "CODESYNAPSE_API_TOKEN": TOKEN,
            **more,
        }
    )


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_it_is_used_and_not_what_the_state_file_speaks_of(
    server: StandIn, tmp_path: Path, host: str
) -> None:
    server.answers["/base/v1/x"] = lambda _: (200, b"here")
    given = environment(tmp_path, f"http://{host}:{server.port}/base/")
    write_state(Paths(given), Endpoint("127.0.0.1", 1, os.getpid()))
    for reach in (connect, find):
        link = reach(given, Paths(given), Deadline(5))
        assert link is not None
        answer = link.connection.request("POST", "/v1/x", link.headers())
        link.connection.close()
        assert answer.body == b"here"
    assert server.asked[0].headers["authorization"] == f"Bearer {TOKEN}"


def test_one_that_does_not_know_the_token_is_not_sent_it(server: StandIn, tmp_path: Path) -> None:
    server.knows_token = False
    given = environment(tmp_path, f"http://127.0.0.1:{server.port}")
    with pytest.raises(LinkError, match="does not know this token"):
        connect(given, Paths(given), Deadline(5))
    assert server.asked == []
    assert not (tmp_path / "home").exists()


def test_where_nobody_answers_nothing_is_started(tmp_path: Path) -> None:
    given = environment(tmp_path, "http://127.0.0.1:1")
    with pytest.raises(LinkError, match="named by CODESYNAPSE_API_URL does not answer"):
        connect(given, Paths(given), Deadline(5))
    assert not (tmp_path / "home").exists()


def test_one_that_stays_silent_costs_the_deadline_and_no_more(tmp_path: Path) -> None:
    with silent_port() as port:
        given = environment(tmp_path, f"http://127.0.0.1:{port}")
        with pytest.raises(LinkError):
            connect(given, Paths(given), Deadline(0.2))


def test_a_certificate_that_nobody_signed_is_refused_before_anything_is_sent(
    server: StandIn, tmp_path: Path
) -> None:
    given = environment(tmp_path, f"https://127.0.0.1:{server.port}")
    with pytest.raises(LinkError):
        connect(given, Paths(given), Deadline(5))
    assert server.asked == []


def test_without_a_token_nothing_is_asked(server: StandIn, tmp_path: Path) -> None:
    given = environment(tmp_path, f"http://127.0.0.1:{server.port}", CODESYNAPSE_API_TOKEN="")
    with pytest.raises(LinkError, match="no token"):
        find(given, Paths(given), Deadline(5))


@pytest.mark.parametrize(
    ("url", "host", "port", "prefix", "secure"),
    [
        ("http://127.0.0.1:8787", "127.0.0.1", 8787, "", False),
        ("HTTPS://memory.example/team/", "memory.example", 443, "/team", True),
        ("http://[::1]:9", "::1", 9, "", False),
        ("http://host", "host", 80, "", False),
    ],
)
def test_a_url_says_where_the_server_is(
    url: str, host: str, port: int, prefix: str, secure: bool
) -> None:
    found = Address(url)
    assert (found.host, found.port, found.prefix, found.secure) == (host, port, prefix, secure)


@pytest.mark.parametrize(
    "url",
    ["", "127.0.0.1:80", "ftp://h", "http://", "http://h:x", "http://u:p@h", "http://h/a b",
     "http://h/?q", "http://h/#f", "http://h/\r\nX: y", "http://hôte"],
)  # fmt: skip
def test_what_is_no_url_of_a_server_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(LinkError) as refused:
        Address(url)
    assert not url or url not in str(refused.value)

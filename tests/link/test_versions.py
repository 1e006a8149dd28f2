"""Which of two versions gives way, and what is done with one that cannot be replaced."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codesynapse import __version__
from codesynapse.environment import Environment
from codesynapse.link import versions
from codesynapse.link.http import Deadline, LinkError
from codesynapse.link.start import Starting, connect
from codesynapse.link.state import Endpoint, write_state
from codesynapse.link.versions import RENEW_SECONDS, is_newer
from codesynapse.paths import Paths
from tests.harness.server import StandIn, stand_in

numbers = st.lists(st.integers(0, 999), min_size=1, max_size=4)


@given(numbers, numbers)
def test_versions_are_ordered_as_their_numbers_are(one: list[int], other: list[int]) -> None:
    left, right = (".".join(map(str, each)) for each in (one, other))
    assert is_newer(left, right) == (one > other)


@given(st.text(max_size=20), st.text(max_size=20))
def test_of_two_texts_at_most_one_is_newer(one: str, other: str) -> None:
    assert not (is_newer(one, other) and is_newer(other, one))
    assert not is_newer(one, one)


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    return Environment({"CODESYNAPSE_HOME": str(tmp_path / "home")})


@pytest.fixture
def server(environment: Environment) -> Iterator[StandIn]:
    with stand_in() as found:
        found.register(Paths(environment))
        yield found


def serves(environment: Environment, server: StandIn, version: str, protocol: str = "1") -> None:
    endpoint = Endpoint("127.0.0.1", server.port, os.getpid(), version, protocol=protocol)
    write_state(Paths(environment), endpoint)


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each start that was wanted was allowed; none is made, as if its child had failed."""
    seen: list[bool] = []

    def begin(_: object, paths: Paths, wanted: object) -> Starting:
        seen.append(wanted())  # type: ignore[operator]
        reader, writer = os.pipe()
        os.close(writer)
        os.set_blocking(reader, False)
        if seen[-1]:
            return Starting(reader)
        os.close(reader)
        return Starting(None, begun=False)

    monkeypatch.setattr(versions, "begin", begin)
    return seen


def test_an_older_one_is_asked_once_to_make_room_and_then_used(
    environment: Environment, server: StandIn, starts: list[bool]
) -> None:
    serves(environment, server, "0.0.9")
    for _ in range(3):
        link = connect(environment, Paths(environment), Deadline(5))
        assert link.endpoint.version == "0.0.9"
        link.connection.close()
    assert starts == [True, False, False]


def test_another_older_one_is_asked_anew(
    environment: Environment, server: StandIn, starts: list[bool]
) -> None:
    for version in ("0.0.8", "0.0.9"):
        serves(environment, server, version)
        write_state(
            Paths(environment),
            Endpoint("127.0.0.1", server.port, os.getpid(), version, started=float(version[-1])),
        )
        connect(environment, Paths(environment), Deadline(5)).connection.close()
    assert starts == [True, True]


@pytest.mark.parametrize("version", [__version__, "99.0"])
def test_one_of_this_version_or_a_newer_one_is_used_as_it_is(
    environment: Environment, server: StandIn, starts: list[bool], version: str
) -> None:
    serves(environment, server, version)
    link = connect(environment, Paths(environment), Deadline(5))
    assert link.endpoint.version == version
    link.connection.close()
    assert starts == []


def test_who_has_no_time_uses_the_older_one(
    environment: Environment, server: StandIn, starts: list[bool]
) -> None:
    serves(environment, server, "0.0.9")
    connect(environment, Paths(environment), Deadline(RENEW_SECONDS - 0.1)).connection.close()
    assert starts == []


@pytest.mark.parametrize(
    ("version", "said"), [("99.0", "update codesynapse here"), ("0.0.1", "another will start")]
)
def test_one_of_another_protocol_is_named_and_sent_nothing(
    environment: Environment, server: StandIn, starts: list[bool], version: str, said: str
) -> None:
    serves(environment, server, version, protocol="2")
    with pytest.raises(LinkError, match=said):
        connect(environment, Paths(environment), Deadline(5))
    assert server.asked == []

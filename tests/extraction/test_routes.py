from __future__ import annotations

import ipaddress
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codesynapse.config import RouteSettings, Settings
from codesynapse.errors import RouteRefused
from codesynapse.extraction.routes import MemoryRoute, local_addresses, lookup
from codesynapse.providers.base import Message
from tests.providers.server import model_server, says

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
PROMPT = [Message("user", "we use uv")]


def knows(**names: Sequence[str]) -> Callable[[str, int], Sequence[str]]:
    return lambda host, port: names[host.replace(".", "_")]


def settings(route: RouteSettings, *local_hosts: str) -> Settings:
    return Settings(Path("unused"), memory_route=route, local_hosts=local_hosts)


def openai(url: str, **more: object) -> RouteSettings:
    return RouteSettings("openai", url, "tiny", **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.8.9.10"])
def test_this_machine_is_local(host: str) -> None:
    found = local_addresses(host, 80, ())

    assert found
    assert all(ipaddress.ip_address(address).is_loopback for address in found)


@pytest.mark.parametrize(
    "address",
    [
        "93.184.216.34",
        "10.1.2.3",
        "172.16.0.9",
        "192.168.1.5",
        "169.254.169.254",
        "0.0.0.0",
        "100.64.0.1",
        "255.255.255.255",
        "224.0.0.1",
        "2606:4700::1111",
        "fd00::5",
        "fe80::1",
        "fe80::1%eth0",
        "::",
        "::ffff:8.8.8.8",
        "64:ff9b::7f00:1",
        "not an address",
    ],
)
def test_every_other_address_is_refused_unless_listed(address: str) -> None:
    with pytest.raises(RouteRefused):
        local_addresses("model.example", 80, (), lambda host, port: [address])


@pytest.mark.parametrize("address", ["10.1.2.3", "172.31.0.9", "192.168.1.5", "fd00::5"])
@pytest.mark.parametrize("listed", ["GPU.lan", "gpu.lan.", "the address"])
def test_a_private_address_is_local_once_its_host_is_listed(address: str, listed: str) -> None:
    entry = address if listed == "the address" else listed

    assert local_addresses("gpu.lan", 80, (entry,), lambda host, port: [address]) == [address]


@pytest.mark.parametrize(
    "address",
    ["93.184.216.34", "169.254.169.254", "0.0.0.0", "100.64.0.1", "fe80::1", "172.32.0.1"],
)
def test_listing_a_host_never_makes_a_public_or_link_local_address_local(address: str) -> None:
    with pytest.raises(RouteRefused):
        local_addresses("gpu.lan", 80, ("gpu.lan", address), lambda host, port: [address])


@pytest.mark.parametrize(
    "addresses",
    [["127.0.0.1", "93.184.216.34"], ["93.184.216.34", "::1"], ["127.0.0.1", "10.0.0.1"]],
)
def test_a_name_with_one_address_that_is_not_local_is_refused(addresses: list[str]) -> None:
    with pytest.raises(RouteRefused):
        local_addresses("both.example", 80, (), lambda host, port: addresses)


def test_a_mapped_loopback_address_is_loopback() -> None:
    assert local_addresses("m", 80, (), lambda host, port: ["::ffff:127.0.0.1"])


def test_a_name_that_does_not_resolve_is_refused() -> None:
    with pytest.raises(RouteRefused, match="does not resolve"):
        local_addresses("no-such-host.invalid", 80, ())
    with pytest.raises(RouteRefused):
        local_addresses("a" * 70 + ".example", 80, ())
    with pytest.raises(RouteRefused):
        local_addresses("empty.example", 80, (), lambda host, port: [])


@given(st.lists(st.ip_addresses().map(str), min_size=1, max_size=4))
def test_only_loopback_passes_without_a_list(addresses: list[str]) -> None:
    unwrapped = [
        getattr(ipaddress.ip_address(text), "ipv4_mapped", None) or ipaddress.ip_address(text)
        for text in addresses
    ]
    try:
        passed = bool(local_addresses("m", 80, (), lambda host, port: addresses))
    except RouteRefused:
        passed = False

    assert passed == all(address.is_loopback for address in unwrapped)


def test_the_system_resolves_numbers_written_oddly_before_they_are_judged() -> None:
    assert lookup("127.1", 80) == ["127.0.0.1"]


def test_builtin_needs_no_model_and_resolves_no_name() -> None:
    def never(host: str, port: int) -> Sequence[str]:
        raise AssertionError(host)

    route = MemoryRoute(lambda: settings(RouteSettings()), lambda: NOON, never)

    assert route.model() is None
    route.interrupt()


def test_a_route_without_a_server_is_refused() -> None:
    with pytest.raises(RouteRefused, match="no server"):
        MemoryRoute(lambda: settings(RouteSettings("openai")), lambda: NOON).model()


def test_the_name_is_judged_at_every_call_and_not_once() -> None:
    with model_server() as server:
        server.script(says("ok"))
        where = ["127.0.0.1"]
        asked: list[tuple[str, int]] = []

        def find(host: str, port: int) -> Sequence[str]:
            asked.append((host, port))
            return list(where)

        url = f"http://model.example:{server.port}/v1"
        route = MemoryRoute(lambda: settings(openai(url)), lambda: NOON, find)
        model = route.model()
        assert model is not None
        assert model.complete(PROMPT, {}) == "ok"

        where[:] = ["93.184.216.34"]
        with pytest.raises(RouteRefused):
            model.complete(PROMPT, {})

        assert asked == [("model.example", server.port)] * 2
        assert len(server.requests) == 1


def test_the_connection_goes_to_the_address_that_was_judged() -> None:
    with model_server() as server:
        server.script(says("ok"))
        # A second look-up by the HTTP library would fail: nobody else knows this name.
        url = f"http://only-known-here.invalid:{server.port}/v1"
        route = MemoryRoute(
            lambda: settings(openai(url)), lambda: NOON, lambda host, port: ["127.0.0.1"]
        )
        model = route.model()

        assert model is not None
        assert model.complete(PROMPT, {}) == "ok"


def test_a_listed_host_counts_as_the_settings_are_now() -> None:
    current = settings(openai("http://gpu.lan:9/v1"), "gpu.lan")
    route = MemoryRoute(lambda: current, lambda: NOON, lambda host, port: ["10.255.255.1"])
    model = route.model()
    assert model is not None
    current = replace(current, local_hosts=())

    with pytest.raises(RouteRefused):
        model.complete(PROMPT, {})


def test_the_model_is_kept_while_its_settings_stand() -> None:
    current = settings(openai("http://127.0.0.1:9/v1"))
    route = MemoryRoute(lambda: current, lambda: NOON)
    first = route.model()
    current = replace(current, carry_over="off")
    assert route.model() is first

    current = settings(openai("http://127.0.0.1:9/v1", daily_calls=7))
    assert route.model() is first
    assert route.meter().cap == 7

    current = settings(openai("http://127.0.0.1:10/v1"))
    assert route.model() is not first

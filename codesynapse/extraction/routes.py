"""The ``memory`` route: which extractor serves it, and that it stays on this machine.

A conversation goes to no other machine unless a person listed that host.  What is judged is the
address that a name has at the moment of the call, and the connection goes to that very address, so
a name cannot mean one thing when it is judged and another when it is used.  Only the settings of
the sidecar name a server: no header, argument or tool reaches this.
"""

from __future__ import annotations

import ipaddress
import socket
import threading
from collections.abc import Callable, Sequence
from datetime import datetime

from codesynapse.config import RouteSettings, Settings
from codesynapse.errors import RouteRefused
from codesynapse.providers.base import ChatModel, Endpoint
from codesynapse.providers.meter import Meter, Reading
from codesynapse.providers.openai import OpenAIModel

__all__ = ["MemoryRoute", "local_addresses", "lookup"]

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Lookup = Callable[[str, int], Sequence[str]]

# Named here, for what Python calls private holds link-local (cloud metadata), test and other nets.
_PRIVATE = tuple(
    ipaddress.ip_network(net)
    for net in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")
)
_HINT = (
    "use a server on this machine, or list a host of your own network in local_hosts "
    "of the config file"
)


def lookup(host: str, port: int) -> list[str]:
    """Every address that the system gives for a name now, in its order."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def local_addresses(
    host: str, port: int, local_hosts: Sequence[str], find: Lookup = lookup
) -> list[str]:
    """The addresses of ``host``, every one of them local, or RouteRefused.

    Local is loopback, or a private address when the host (as the URL spells it, or the address
    itself) is listed. One address that is neither refuses the name as a whole.
    """
    try:
        addresses = list(find(host, port))
    except (OSError, UnicodeError):
        addresses = []
    if not addresses:
        raise RouteRefused("the memory route's server has a name that does not resolve", _HINT)
    listed = {_plain(name) for name in local_hosts}
    for text in addresses:
        if not _allowed(text, host, listed):
            raise RouteRefused("the memory route's server is not on this machine", _HINT)
    return addresses


def _allowed(text: str, host: str, listed: set[str]) -> bool:
    try:
        address = _unwrap(ipaddress.ip_address(text))
    except ValueError:
        return False  # an address with a zone, or nonsense
    if address.is_loopback:
        return True
    private = any(address in net for net in _PRIVATE if net.version == address.version)
    return private and (_plain(host) in listed or str(address) in listed)


def _unwrap(address: Address) -> Address:
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def _plain(host: str) -> str:
    return host.strip().strip("[]").rstrip(".").casefold()


class MemoryRoute:
    """Gives the model of the ``memory`` route as the settings are now; keeps its meter.

    The model is kept while its settings stand, so that what was learnt of its server is, too.
    """

    def __init__(
        self,
        settings: Callable[[], Settings],
        clock: Callable[[], datetime],
        find: Lookup = lookup,
    ) -> None:
        self._settings = settings
        self._find = find
        self._lock = threading.Lock()
        self._meter = Meter(clock, settings().memory_route.daily_calls)
        self._model: OpenAIModel | None = None

    def model(self) -> ChatModel | None:
        """The model to ask, or None for ``builtin``. Raises RouteRefused when it has no server."""
        route = self._settings().memory_route
        if route.provider == "builtin":
            return None
        endpoint = _endpoint(route)
        with self._lock:
            self._meter.cap = route.daily_calls
            if self._model is None or self._model.endpoint != endpoint:
                self._model = OpenAIModel(endpoint, self._resolve, self._meter)
            return self._model

    def meter(self) -> Reading:
        """How many calls were made today, of how many."""
        return self._meter.read()

    def interrupt(self) -> None:
        """Cut the call that is running."""
        with self._lock:
            model = self._model
        if model is not None:
            model.interrupt()

    def _resolve(self, host: str, port: int) -> list[str]:
        return local_addresses(host, port, self._settings().local_hosts, self._find)


def _endpoint(route: RouteSettings) -> Endpoint:
    if not route.base_url:
        raise RouteRefused(
            "the memory route has no server", "set routes.memory.base_url, or provider = builtin"
        )
    return Endpoint(
        route.base_url, route.model or "default", route.api_key, float(route.timeout_seconds)
    )

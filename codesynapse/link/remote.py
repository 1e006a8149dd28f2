"""The server that ``CODESYNAPSE_API_URL`` names, instead of the one on this machine.

It is never started from here, and it has to prove that it knows the token like any other.
"""

from __future__ import annotations

from codesynapse.link.http import Connection, Deadline, LinkError

TYPE_CHECKING = False  # so that a hook need not import typing or collections
if TYPE_CHECKING:
    from collections.abc import Callable
    from socket import socket

__all__ = ["Address", "open_connection"]

_PORTS = {"http": 80, "https": 443}


class Address:
    """What a base URL says. Raises LinkError where it is none."""

    __slots__ = ("host", "port", "prefix", "secure")

    def __init__(self, url: str) -> None:
        scheme, _, rest = url.partition("://")
        scheme = scheme.lower()
        place, slash, path = rest.partition("/")
        host, colon, port = _split(place)
        usable = (not colon or port.isdigit()) and host and "@" not in place and url.isascii()
        if scheme not in _PORTS or not usable or any(c <= " " or c in "?#" for c in url):
            raise LinkError("CODESYNAPSE_API_URL is not the URL of a server")
        self.secure = scheme == "https"
        self.host = host
        self.port = int(port or _PORTS[scheme])
        self.prefix = (slash + path).rstrip("/")


def _split(place: str) -> tuple[str, str, str]:
    if not place.startswith("["):
        return place.partition(":")
    host, _, rest = place[1:].partition("]")
    return host, rest[:1], rest[1:]


def open_connection(address: Address, deadline: Deadline) -> Connection:
    """Connect to it. Raises LinkError, which names no part of the URL."""
    is_plain = not address.secure and address.host.replace(".", "").isdigit()
    try:
        return Connection(
            address.host, address.port, deadline, prefix=address.prefix,
            opened=None if is_plain else _opener(address),
        )  # fmt: skip
    except LinkError as error:
        raise LinkError("the sidecar named by CODESYNAPSE_API_URL does not answer") from error


def _opener(address: Address) -> Callable[[float], socket]:
    def opened(seconds: float) -> socket:
        from socket import create_connection

        plain = create_connection((address.host, address.port), seconds)
        if not address.secure:
            return plain
        import ssl

        try:
            return ssl.create_default_context().wrap_socket(plain, server_hostname=address.host)
        except (OSError, ValueError):
            plain.close()
            raise

    return opened

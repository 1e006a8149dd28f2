"""One bounded HTTP exchange with a checked address.

The name is resolved and judged first, and the connection then goes to the very address that was
judged.  Redirects and proxies are not followed, whatever the environment says.  The whole exchange
ends inside its time even when the server sends a byte a second, and no answer above the cap is
held.  Errors tell the status or the kind of failure, never what was sent or received.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import httpx

from codesynapse.errors import CodeSynapseError, ProviderFailed, RouteRefused, Unavailable
from codesynapse.providers.base import Resolver

__all__ = ["ANSWER_CAP", "Answer", "Wire"]

ANSWER_CAP = 1024 * 1024
_CONNECT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Answer:
    """A status and, for 200 only, the body. What a server says in an error is not kept."""

    status: int
    body: bytes


class Wire:
    """Posts to one server. One exchange at a time may be cut from another thread."""

    def __init__(self, resolve: Resolver, seconds: float) -> None:
        self._resolve = resolve
        self._seconds = seconds
        self._running: _Deadline | None = None

    def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        """Send and receive. Raises Unavailable, ProviderFailed or RouteRefused.

        Errors are raised outside every ``except`` block: the library's own exceptions carry the
        request, and nothing of it may hang on to ours.
        """
        target = _parse(url)
        addresses = self._resolve(target.host, target.port or _default_port(target))
        outcome: Answer | CodeSynapseError = Unavailable("the model server has no address")
        for address in addresses:
            outcome, connected = self._exchange(target, address, body, headers)
            if connected:
                break
        if isinstance(outcome, CodeSynapseError):
            raise outcome
        return outcome

    def interrupt(self) -> None:
        """Cut the exchange that is running, if there is one."""
        running = self._running
        if running is not None:
            running.cut()

    def _exchange(
        self, target: httpx.URL, address: str, body: bytes, headers: Mapping[str, str]
    ) -> tuple[Answer | CodeSynapseError, bool]:
        with _Deadline(self._seconds) as deadline:
            self._running = deadline
            try:
                answer = _send(target, address, body, headers, deadline)
                return (_late(self._seconds) if deadline.over else answer), True
            except CodeSynapseError as error:
                return error, True
            except (httpx.ConnectError, httpx.ConnectTimeout):
                return Unavailable("the model server cannot be reached", "check that it runs"), (
                    deadline.over
                )
            except httpx.TimeoutException:
                return _late(self._seconds), True
            except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError, ValueError):
                # ValueError: h11 and the codecs refuse some garbage with it.
                if deadline.over:
                    return _late(self._seconds), True
                return ProviderFailed("the model server broke off, or did not speak HTTP"), True
            finally:
                self._running = None


class _Deadline(AbstractContextManager["_Deadline"]):
    """Shuts the connection's socket down when the time is over, whoever is waiting on it."""

    def __init__(self, seconds: float) -> None:
        self.over = False
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._end = time.monotonic() + seconds
        self._timer = threading.Timer(seconds, self.cut)
        self._timer.daemon = True

    def __enter__(self) -> _Deadline:
        self._timer.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._timer.cancel()
        with self._lock:
            self._socket = None

    @property
    def left(self) -> float:
        """Seconds left, and a little, so that the timer and not a read gives up first."""
        return max(0.05, self._end - time.monotonic() + 0.25)

    def watch(self, event: str, info: Mapping[str, Any]) -> None:
        """Take the socket from the transport's trace as soon as it is open."""
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            opened = info["return_value"].get_extra_info("socket")
            with self._lock:
                self._socket = opened
            if self.over:
                self.cut()

    def cut(self) -> None:
        """End the exchange now."""
        self.over = True
        with self._lock:
            if self._socket is not None:
                with suppress(OSError):
                    self._socket.shutdown(socket.SHUT_RDWR)


def _send(
    target: httpx.URL, address: str, body: bytes, headers: Mapping[str, str], deadline: _Deadline
) -> Answer:
    client = httpx.Client(
        trust_env=False,
        follow_redirects=False,
        verify=target.scheme == "https",
        timeout=httpx.Timeout(deadline.left, connect=min(deadline.left, _CONNECT_SECONDS)),
    )
    extensions: dict[str, Any] = {"trace": _tracer(deadline), "sni_hostname": target.host}
    with (
        client,
        client.stream(
            "POST",
            target.copy_with(host=address),
            content=body,
            headers={
                **headers,
                "Host": target.netloc.decode("ascii"),
                "Accept-Encoding": "identity",
                "Connection": "close",
            },
            extensions=extensions,
        ) as response,
    ):
        return _receive(response, deadline)


def _receive(response: httpx.Response, deadline: _Deadline) -> Answer:
    if response.status_code != 200:
        return Answer(response.status_code, b"")
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise ProviderFailed("the model server compressed its answer, unasked")
    held = bytearray()
    for piece in response.iter_raw():
        held += piece
        if len(held) > ANSWER_CAP:
            raise ProviderFailed("the model's answer is over 1 MiB")
        if deadline.over:
            break
    return Answer(200, bytes(held))


def _tracer(deadline: _Deadline) -> Callable[[str, Mapping[str, Any]], None]:
    return deadline.watch


def _parse(url: str) -> httpx.URL:
    try:
        target = httpx.URL(url)
    except (httpx.InvalidURL, ValueError):
        target = httpx.URL("")
    if target.scheme not in ("http", "https") or not target.host or target.userinfo:
        raise RouteRefused(
            "the base URL of the model server is not usable",
            "http://HOST:PORT/v1, without a user or password in it",
        )
    return target


def _default_port(target: httpx.URL) -> int:
    return 443 if target.scheme == "https" else 80


def _late(seconds: float) -> Unavailable:
    return Unavailable(
        f"the model server did not answer within {seconds:g} s", "raise timeout_seconds"
    )

"""What stands before every route, in this order: host, origin, size, form, token, memory off.

Plain ASGI. A browser's page on another origin, a name bound to this address anew, an oversized or
malformed body and a caller without the token never reach a route.  It is also the HTTP edge: what
nobody foresaw becomes a 500 without detail, and a log line without content.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import replace
from hmac import compare_digest
from typing import Any
from uuid import uuid4

from codesynapse.domain.scope import Principal
from codesynapse.errors import (
    CodeSynapseError,
    Forbidden,
    MemoryOff,
    StoreDamaged,
    Unauthenticated,
)
from codesynapse.sidecar.forms import MAX_BODY, TooLarge, check_json
from codesynapse.sidecar.refusals import Refusal, refusal_of
from codesynapse.sidecar.running import Running

__all__ = ["MCP", "PRINCIPAL", "Guard", "MisdirectedHost"]

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

PRINCIPAL = "codesynapse.principal"
HEALTH, HOOKS = "/healthz", "/v1/hooks/"
MCP = frozenset({"/mcp", "/mcp/"})
ALWAYS = frozenset({"/v1/sidecar/stop"})  # it can be stopped whatever is wrong or switched off
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})
_log = logging.getLogger("codesynapse.http")


class MisdirectedHost(CodeSynapseError):
    """The request was meant for another host: a foreign name that was bound to this address."""

    code = "wrong_host"
    http_status = 421


class Guard:
    """Wraps the application."""

    def __init__(self, app: App, running: Running) -> None:
        self._app = app
        self._running = running
        listening = running.listening
        names = _LOOPBACK | {listening.url.removeprefix("http://").rsplit(":", 1)[0].lower()}
        self._hosts = names | {f"{name}:{listening.port}" for name in names}
        self._origins = {f"http://{name}:{listening.port}" for name in names}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or let the application."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        counters = self._running.counters
        counters.open += 1
        counters.requests += 1
        reply = _Reply(send)
        try:
            await self._answer(scope, receive, reply)
        except Exception as error:  # the HTTP edge: the message or the trace could hold content
            counters.failures += 1
            _log.error("%s %s stopped by %s", reply.id, _route(scope), type(error).__name__)
            await reply.refuse(Refusal(500, "internal", "something unforeseen went wrong here"))
        finally:
            counters.open -= 1
            if scope["path"] != HEALTH:
                counters.last = time.monotonic()
                _log.info(
                    "%s %s %s %d %dms", reply.id, scope["method"], _route(scope), reply.status,
                    reply.milliseconds,
                )  # fmt: skip

    async def _answer(self, scope: Scope, receive: Receive, reply: _Reply) -> None:
        _without_api(scope)
        try:
            headers = _headers(scope)
            self._check_host(headers)
            body = await _read(headers, receive)
            if body and not scope["path"].startswith(HOOKS):
                check_json(body)
            silent = self._admit(scope, headers)
        except CodeSynapseError as error:
            await reply.refuse(refusal_of(error))
            return
        if silent:
            await reply.nothing()
        else:
            await self._app(scope, _replay(body, receive), reply.send)

    def _check_host(self, headers: dict[str, str]) -> None:
        if headers.get("host", "").lower() not in self._hosts:
            raise MisdirectedHost("this host name is not served here", "ask for 127.0.0.1")
        origin = headers.get("origin")
        if origin is not None and origin.lower() not in self._origins:
            raise Forbidden("pages of another origin may not ask here")

    def _admit(self, scope: Scope, headers: dict[str, str]) -> bool:
        """Put the principal in; returns whether nothing at all is to be said."""
        if scope["path"] == HEALTH:
            return False
        principal = self._principal(headers)
        scope[PRINCIPAL] = replace(
            principal,
            client=headers.get("x-codesynapse-client") or None,
            session=headers.get("x-codesynapse-session") or None,
        )
        if scope["path"] in ALWAYS:
            return False
        if faults := self._running.faults():
            raise StoreDamaged(f"the data file is damaged: {faults[0]}", "restore a backup")
        if self._running.deps.settings().allow_memory or scope["path"] in MCP:
            return False  # without memory the MCP server lists no tool, and a client goes on
        if scope["path"].startswith(HOOKS):
            return True
        raise MemoryOff("memory is switched off here", "allow_memory = true switches it on")

    def _principal(self, headers: dict[str, str]) -> Principal:
        scheme, _, token = headers.get("authorization", "").partition(" ")
        known = compare_digest(token.strip().encode("latin-1"), self._running.token.encode())
        if scheme.lower() != "bearer" or not known:
            raise Unauthenticated(
                "a bearer token is needed, and this is not one of ours",
                "the owner's token is in the config folder: see `codesynapse sidecar status`",
            )
        return self._running.owner


class _Reply:
    """The way back: adds the request's id, and remembers what was answered."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._started = time.monotonic()
        self.id = uuid4().hex[:16]
        self.status = 0

    @property
    def milliseconds(self) -> int:
        """How long it has taken."""
        return round((time.monotonic() - self._started) * 1000)

    async def send(self, message: Message) -> None:
        """Pass on what the application sends."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            own = [(b"x-request-id", self.id.encode()), (b"x-content-type-options", b"nosniff"),
                   (b"cache-control", b"no-store")]  # fmt: skip
            message["headers"] = [*message.get("headers", []), *own]
        await self._send(message)

    async def refuse(self, refusal: Refusal) -> None:
        """Send an error, unless an answer has begun."""
        if self.status:
            return
        headers = [(b"content-type", b"application/json"), *refusal.headers]
        if refusal.status == 413:  # what is left of the body is not read
            headers.append((b"connection", b"close"))
        await self._whole(refusal.status, headers, refusal.body)

    async def nothing(self) -> None:
        """Send 204."""
        await self._whole(204, [], b"")

    async def _whole(self, status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> None:
        length = [] if status == 204 else [(b"content-length", str(len(body)).encode())]
        await self.send(
            {"type": "http.response.start", "status": status, "headers": headers + length}
        )
        await self.send({"type": "http.response.body", "body": body})


def _without_api(scope: Scope) -> None:
    """``/api/v1/…`` is another spelling of ``/v1/…``."""
    path: str = scope["path"]
    if path.startswith("/api/v1/"):
        scope["path"] = path.removeprefix("/api")
        scope["raw_path"] = scope.get("raw_path", b"").removeprefix(b"/api")


def _headers(scope: Scope) -> dict[str, str]:
    """By lower-case name; of one that is given twice the last counts, as for every route."""
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}


async def _read(headers: dict[str, str], receive: Receive) -> bytes:
    length = headers.get("content-length", "0")
    if not length.isdigit() or int(length) > MAX_BODY:
        raise TooLarge()
    parts, size = [], 0
    while True:
        message = await receive()
        part = message.get("body", b"")
        size += len(part)
        if size > MAX_BODY:
            raise TooLarge()
        parts.append(part)
        if not message.get("more_body", False):
            return b"".join(parts)


def _replay(body: bytes, receive: Receive) -> Receive:
    left: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return left.pop() if left else await receive()

    return again


def _route(scope: Scope) -> str:
    """The route's pattern; what a caller wrote into a path is not logged."""
    return getattr(scope.get("route"), "path", "-")

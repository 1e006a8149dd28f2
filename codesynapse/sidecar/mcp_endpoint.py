"""``/mcp``: the MCP server over HTTP, behind the same guard as every route.

Its package costs about a second of a core to import, so it is loaded behind the first answers of
the sidecar, or when somebody asks first.  It keeps no session of its own: any request may follow
any other, across restarts too.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from codesynapse.domain.scope import Principal
from codesynapse.sidecar.guard import MCP, PRINCIPAL
from codesynapse.sidecar.running import Running

__all__ = ["McpEndpoint"]

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_log = logging.getLogger("codesynapse.mcp")


class McpEndpoint:
    """Answers ``/mcp`` itself and passes on everything else."""

    def __init__(self, app: App, running: Running) -> None:
        self._app = app
        self._running = running
        self._lock = asyncio.Lock()
        self._servers: tuple[App, App] | None = None  # with memory, and without
        self._holders: list[asyncio.Task[None]] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http" or scope["path"] not in MCP:
            await self._app(scope, receive, send)
        elif scope["method"] != "POST":
            # There is no stream to listen to and no session to end.
            await send({"type": "http.response.start", "status": 405,
                        "headers": [(b"allow", b"POST"), (b"content-length", b"0")]})  # fmt: skip
            await send({"type": "http.response.body", "body": b""})
        else:
            scope["path"] = "/mcp"
            on, off = await self.load()
            off_here = (b"x-codesynapse-memory", b"off") in scope["headers"]
            allowed = self._running.deps.settings().allow_memory and not off_here
            await (on if allowed else off)(scope, receive, send)

    async def load(self) -> tuple[App, App]:
        """Import and start the server, once: as it is, and with nothing in it for memory off."""
        async with self._lock:
            if self._servers is None:
                made = await asyncio.to_thread(_make, self._running)
                on, off = [await self._started(server) for server in made]
                self._servers = on, off
        return self._servers

    async def _started(self, server: Any) -> App:
        app: App = server.streamable_http_app(
            streamable_http_path="/mcp", stateless_http=True, json_response=True,
            host="",  # hosts and origins are the guard's matter
        )  # fmt: skip
        started = asyncio.Event()
        self._holders.append(asyncio.create_task(_hold(server.session_manager, started)))
        await started.wait()
        return app

    async def end(self) -> None:
        """Stop it."""
        for holder in self._holders:
            holder.cancel()
        await asyncio.gather(*self._holders, return_exceptions=True)


async def _hold(manager: Any, started: asyncio.Event) -> None:
    async with manager.run():
        started.set()
        await asyncio.Event().wait()


def _make(running: Running) -> tuple[Any, Any]:
    from codesynapse.mcp_server.server import make_empty_server, make_server

    server = make_server(running.deps, running.known, running.version, _principal)
    return server, make_empty_server(running.version)


def _principal(request: Any) -> Principal:
    """Whom the guard has let in."""
    principal: Principal = request.scope[PRINCIPAL]
    return principal

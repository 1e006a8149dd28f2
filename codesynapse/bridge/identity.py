"""Which client, session and folder the sidecar is told, for every message that is relayed."""

from __future__ import annotations

import os

from codesynapse.environment import Environment

TYPE_CHECKING = False  # so that the bridge need not import typing
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Identity"]

_MODERN = "io.modelcontextprotocol/"
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")
_SAFE = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/:\\")


class Identity:
    """Known from the environment, else from what the client says of itself.

    A client that names no session has one session per connection.  OpenCode gives each call its
    session in ``session_id``, which our tools don't take: it becomes the header.
    """

    def __init__(self, environment: Environment) -> None:
        self._client = environment.get("CLIENT")
        self._session = environment.get("SESSION")
        self._claude = environment.foreign("CLAUDE_CODE_SESSION_ID")
        self._connection = "stdio-" + os.urandom(12).hex()
        self._folder = environment.foreign("CLAUDE_PROJECT_DIR") or os.getcwd()
        self._version: str | None = None

    def headers(self, message: dict[str, Any]) -> dict[str, str]:
        """For one message; takes out of it what only the headers are for."""
        params = message.get("params")
        params = params if isinstance(params, dict) else {}
        self._learn(message, params)
        client = self._client or "mcp"
        found = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "X-CodeSynapse-Client": client,
            "X-CodeSynapse-Session": self._session_of(client, params),
            "X-CodeSynapse-Folder": _quoted(self._folder),
        }
        return {**found, **self._protocol(message, params)}

    def answered(self, version: object) -> None:
        """The protocol version that the server chose in the handshake."""
        if isinstance(version, str) and version.isascii() and len(version) < 40:
            self._version = version

    def _learn(self, message: dict[str, Any], params: dict[str, Any]) -> None:
        if self._client is not None:
            return
        meta = params.get("_meta")
        info = params.get("clientInfo") if message.get("method") == "initialize" else None
        if info is None and isinstance(meta, dict):
            info = meta.get(_MODERN + "clientInfo")
        if isinstance(info, dict) and isinstance(info.get("name"), str):
            self._client = _plain(info["name"])

    def _session_of(self, client: str, params: dict[str, Any]) -> str:
        given = None
        arguments = params.get("arguments")
        if client == "opencode" and isinstance(arguments, dict):
            given = arguments.pop("session_id", None)
        if isinstance(given, str) and given.isascii() and given.isprintable() and given:
            return given[:200]
        if self._session:
            return self._session
        return (client == "claude-code" and self._claude) or self._connection

    def _protocol(self, message: dict[str, Any], params: dict[str, Any]) -> dict[str, str]:
        """What the transport wants repeated in headers."""
        meta = params.get("_meta")
        modern = meta.get(_MODERN + "protocolVersion") if isinstance(meta, dict) else None
        if not isinstance(modern, str):
            chosen = self._version if message.get("method") != "initialize" else None
            return {"MCP-Protocol-Version": chosen} if chosen else {}
        found = {"MCP-Protocol-Version": modern, "MCP-Method": str(message.get("method"))}
        name = (
            params.get("uri") if message.get("method") == "resources/read" else params.get("name")
        )
        if isinstance(name, str):
            found["MCP-Name"] = name
        return {
            key: value for key, value in found.items() if value.isascii() and value.isprintable()
        }


def _plain(name: str) -> str:
    """A client's name as a header and a path may carry it."""
    words = "".join(c if c in _PLAIN else "-" for c in name.lower()).strip("-")
    return words[:64] or "mcp"


def _quoted(text: str) -> str:
    """Percent-encoded UTF-8: a header is ASCII, a folder's name need not be."""
    raw = text.encode("utf-8", "surrogateescape")
    return "".join(chr(byte) if byte in _SAFE else f"%{byte:02X}" for byte in raw)

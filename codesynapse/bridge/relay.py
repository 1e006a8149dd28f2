"""Each message goes to the sidecar's ``/mcp`` and its answer comes back; many at once.

A sidecar that ended in between is started again and asked again, once; what still fails becomes a
readable JSON-RPC error, so that no call is left without an answer.
"""

from __future__ import annotations

import json
import os
import threading

from codesynapse.bridge.identity import Identity
from codesynapse.bridge.pipes import MAX_LINE, Output
from codesynapse.environment import Environment
from codesynapse.link.http import Answer, Deadline, LinkError
from codesynapse.link.start import Link, connect
from codesynapse.paths import Paths

TYPE_CHECKING = False  # so that the bridge need not import typing
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Relay"]

_CONNECT_SECONDS = 10.0
_CALL_SECONDS = 90.0
_AT_ONCE = 16
_PARSE_ERROR, _INVALID, _FAILED = -32700, -32600, -32000


class Relay:
    """Relays until ``finish``."""

    def __init__(self, environment: Environment, output: Output) -> None:
        self._environment = environment
        self._paths = Paths(environment)
        self._output = output
        self._identity = Identity(environment)
        self._free: list[Link] = []
        self._lock = threading.Lock()
        self._slots = threading.BoundedSemaphore(_AT_ONCE)
        self._running: list[threading.Thread] = []
        self._cancelled: set[str] = set()

    def warm_up(self) -> None:
        """Find or start the sidecar while the client is still busy with itself."""
        self._start(self._connect_early)

    def take(self, line: bytes) -> None:
        """One line of the client."""
        if not line.strip():
            return
        message = self._parse(line)
        if message is None:
            return
        if message.get("method") == "notifications/cancelled":
            self._cancel(message)
            return
        # The headers are made in the order of the messages, since the first tells who asks.
        headers = self._identity.headers(message)
        headers["X-CodeSynapse-Request"] = os.urandom(16).hex()  # the same when it is sent again
        if not self._environment.flag("ALLOW_MEMORY", True):
            headers["X-CodeSynapse-Memory"] = "off"  # for this client, whatever the sidecar has
        self._slots.acquire()
        if message.get("method") in ("initialize", "notifications/initialized"):
            self._relay(message, headers)
        else:
            self._start(self._relay, message, headers)

    def finish(self, seconds: float) -> None:
        """Let what runs come to its end, for so long at most."""
        deadline = Deadline(seconds)
        for thread in self._running:
            try:
                thread.join(deadline.left())
            except LinkError:
                return

    def _start(self, work: Any, *arguments: Any) -> None:
        self._running = [thread for thread in self._running if thread.is_alive()]
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        self._running.append(thread)
        thread.start()

    def _parse(self, line: bytes) -> dict[str, Any] | None:
        if len(line) > MAX_LINE:
            self._refuse(None, _INVALID, "the message is too long", "send it in parts")
            return None
        try:
            message = json.loads(line.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            self._refuse(None, _PARSE_ERROR, "the message is not JSON", "")
            return None
        if not isinstance(message, dict):
            self._refuse(None, _INVALID, "a message is one JSON object", "")
            return None
        return message

    def _cancel(self, message: dict[str, Any]) -> None:
        params = message.get("params")
        if isinstance(params, dict) and "requestId" in params:
            self._cancelled.add(json.dumps(params["requestId"]))

    def _relay(self, message: dict[str, Any], headers: dict[str, str]) -> None:
        try:
            self._answer(message, headers)
        finally:
            self._slots.release()

    def _answer(self, message: dict[str, Any], headers: dict[str, str]) -> None:
        # Half of a pair of surrogates is no character: what cannot be sent becomes a "?".
        body = json.dumps(message, ensure_ascii=False).encode("utf-8", "replace")
        try:
            answer = self._ask(body, headers)
        except (LinkError, OSError) as error:
            reason = str(error) if isinstance(error, LinkError) else type(error).__name__
            self._refuse(
                message.get("id"), _FAILED, f"the memory cannot be reached ({reason})",
                "codesynapse doctor says what is wrong",
            )  # fmt: skip
            return
        if "id" in message and json.dumps(message["id"]) not in self._cancelled:
            self._pass_on(message, answer)

    def _pass_on(self, message: dict[str, Any], answer: Answer) -> None:
        try:
            reply = json.loads(answer.body.decode("utf-8"))
        except (ValueError, RecursionError):
            reply = None
        if isinstance(reply, dict) and "jsonrpc" in reply:
            if message.get("method") == "initialize":
                self._identity.answered((reply.get("result") or {}).get("protocolVersion"))
            self._output.send(answer.body)
            return
        error = reply.get("error") if isinstance(reply, dict) else None
        error = error if isinstance(error, dict) else {}
        reason = str(error.get("message") or f"the memory answered {answer.status}")
        self._refuse(message["id"], _FAILED, reason, str(error.get("hint") or ""))

    def _refuse(self, id_: object, code: int, reason: str, hint: str) -> None:
        text = f"{reason}; {hint}" if hint else reason
        error = {"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": text}}
        self._output.send(json.dumps(error).encode())

    def _ask(self, body: bytes, headers: dict[str, str]) -> Answer:
        link = self._pop()
        if link is not None:
            try:
                return self._ask_on(link, body, headers)
            except LinkError:
                pass  # it was kept since an earlier call; the sidecar may have ended meanwhile
        try:
            return self._ask_on(self._connect(), body, headers)
        except LinkError:
            return self._ask_on(self._connect(), body, headers)

    def _ask_on(self, link: Link, body: bytes, headers: dict[str, str]) -> Answer:
        link.connection.renew(Deadline(_CALL_SECONDS))
        try:
            answer = link.connection.request("POST", "/mcp", link.headers(headers), body)
        except LinkError:
            link.connection.close()
            raise
        with self._lock:
            self._free.append(link)
        return answer

    def _pop(self) -> Link | None:
        with self._lock:
            return self._free.pop() if self._free else None

    def _connect(self) -> Link:
        return connect(self._environment, self._paths, Deadline(_CONNECT_SECONDS))

    def _connect_early(self) -> None:
        try:
            link = self._connect()
        except (LinkError, OSError):
            return  # the first call tries again, and says what is wrong
        with self._lock:
            self._free.append(link)

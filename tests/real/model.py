"""A model server on loopback that speaks the Anthropic Messages API, for driving Claude Code.

It runs in the test's own process: what it answers is decided by a function that the test gives,
and every request it got can be read back.  It promises the shape of the protocol, no sense.
"""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

__all__ = ["Answer", "ModelServer", "Request", "model_server"]


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model says: text or a call of a tool, and the tokens it claims to have read."""

    text: str = "Done."
    input_tokens: int | None = None
    tool: str | None = None
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Request:
    """One request for a message, as the client sent it."""

    body: dict[str, Any]

    @property
    def messages(self) -> list[dict[str, Any]]:
        return list(self.body.get("messages", []))

    @property
    def everything(self) -> str:
        """All text the model would read, system prompt and every block included."""
        return json.dumps(self.body, ensure_ascii=False)

    @property
    def last_user_text(self) -> str:
        users = [m for m in self.messages if m["role"] == "user"]
        return _text(users[-1]["content"]) if users else ""

    @property
    def tool_results(self) -> str:
        """What tools answered since the person last spoke."""
        content = self.messages[-1]["content"] if self.messages else ""
        blocks = content if isinstance(content, list) else []
        results = [b.get("content", "") for b in blocks if b.get("type") == "tool_result"]
        return "\n".join(map(_text, results))

    @property
    def tools(self) -> set[str]:
        """The names of the tools that the model may call."""
        return {tool["name"] for tool in self.body.get("tools", [])}

    @property
    def summarises(self) -> bool:
        """Whether this is the request that asks for a summary of the conversation."""
        return "summary" in self.last_user_text and "<summary>" in self.last_user_text

    @property
    def talks(self) -> bool:
        """Whether it belongs to the conversation itself (titles and probes carry no tools)."""
        return bool(self.body.get("tools")) and not self.summarises


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(b.get("text", "") for b in content if isinstance(b, dict))


@dataclass
class ModelServer:
    """The running server: its address, and what it was asked so far."""

    url: str
    requests: list[Request] = field(default_factory=list)

    @property
    def conversation(self) -> list[Request]:
        """The requests of the conversation, in order."""
        return [r for r in self.requests if r.talks]

    @property
    def summaries(self) -> list[Request]:
        """The compaction requests, in order."""
        return [r for r in self.requests if r.summarises]


@contextmanager
def model_server(answer: Callable[[Request], Answer]) -> Iterator[ModelServer]:
    """Serve until the block ends."""
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:
            """Silent: the test reads ``requests``."""

        def do_HEAD(self) -> None:
            self._json({}, 404)

        do_GET = do_HEAD

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
            if not self.path.split("?")[0].endswith("/v1/messages"):
                self._json({"input_tokens": max(1, len(raw) // 4)})
                return
            request = Request(json.loads(raw))
            with lock:
                server.requests.append(request)
            said = (
                Answer("<analysis>none</analysis>\n<summary>A summary of the talk.</summary>")
                if request.summarises
                else answer(request)
            )
            message = _message(request, said, len(raw))
            if request.body.get("stream"):
                self._stream(message)
            else:
                self._json(message)

        def _json(self, body: Any, status: int = 200) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        def _stream(self, message: dict[str, Any]) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("connection", "close")
            self.end_headers()
            for kind, data in _events(message):
                line = json.dumps({"type": kind, **data})
                self.wfile.write(f"event: {kind}\ndata: {line}\n\n".encode())
            self.close_connection = True

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    server = ModelServer(f"http://127.0.0.1:{http.server_port}")
    thread = threading.Thread(target=http.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()
        thread.join(timeout=10)


def _content(said: Answer) -> dict[str, Any]:
    if said.tool is None:
        return {"type": "text", "text": said.text}
    id_ = "toolu_" + uuid.uuid4().hex[:20]
    return {"type": "tool_use", "id": id_, "name": said.tool, "input": said.arguments}


def _message(request: Request, said: Answer, size: int) -> dict[str, Any]:
    return {
        "id": "msg_" + uuid.uuid4().hex[:24],
        "type": "message",
        "role": "assistant",
        "model": request.body.get("model", "scripted"),
        "content": [_content(said)],
        "stop_reason": "end_turn" if said.tool is None else "tool_use",
        "stop_sequence": None,
        "usage": {
            "input_tokens": said.input_tokens or max(1, size // 4),
            "output_tokens": 12,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
        },
    }


def _events(message: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    (block,) = message["content"]
    yield "message_start", {"message": {**message, "content": [], "stop_reason": None}}
    if block["type"] == "text":
        begun: dict[str, Any] = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": block["text"]}
    else:
        begun = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    yield "content_block_start", {"index": 0, "content_block": begun}
    yield "content_block_delta", {"index": 0, "delta": delta}
    yield "content_block_stop", {"index": 0}
    stopped = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield "message_delta", {"delta": stopped, "usage": message["usage"]}
    yield "message_stop", {}

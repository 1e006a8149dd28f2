"""A model server on loopback that does as scripted, well or badly. Real sockets, no model."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

__all__ = [
    "ModelServer",
    "Reply",
    "Request",
    "breaks_off",
    "drips",
    "facts",
    "hangs",
    "model_server",
    "only_with",
    "pours",
    "raw",
    "says",
    "speaks_no_http",
    "status",
]


class Request:
    """What the server was asked."""

    def __init__(self, path: str, headers: dict[str, str], body: bytes) -> None:
        self.path = path
        self.headers = headers
        self.body = body
        self.json: dict[str, Any] = json.loads(body)

    @property
    def style(self) -> str:
        """How JSON was asked for."""
        shape = self.json.get("response_format")
        return str(shape["type"]) if shape else "prompt"

    @property
    def prompt(self) -> str:
        """All that the model was told."""
        return "\n".join(message["content"] for message in self.json["messages"])


Reply = Callable[["_Handler", Request], None]


class ModelServer:
    """The last scripted reply is given again and again."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.asked = threading.Semaphore(0)  # released once for every request
        self.closing = threading.Event()
        self._replies: list[Reply] = [says('{"facts": []}')]
        self._lock = threading.Lock()
        self._server = _Server(self)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )
        self._thread.start()

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def script(self, *replies: Reply) -> None:
        with self._lock:
            self._replies = list(replies)

    def take(self, request: Request) -> Reply:
        with self._lock:
            self.requests.append(request)
            reply = self._replies[0]
            if len(self._replies) > 1:
                self._replies.pop(0)
        self.asked.release()
        return reply

    def close(self) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)


@contextmanager
def model_server() -> Iterator[ModelServer]:
    server = ModelServer()
    try:
        yield server
    finally:
        server.close()


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    request_queue_size = 32

    def __init__(self, model: ModelServer) -> None:
        self.model = model
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is part of the play."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", "0"))
        request = Request(self.path, dict(self.headers), self.rfile.read(length))
        self.server.model.take(request)(self, request)
        self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """Silent."""

    @property
    def closing(self) -> threading.Event:
        return self.server.model.closing

    def send(self, code: int, body: bytes, **headers: str) -> None:
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def says(content: Any) -> Reply:
    """A chat completion with this content."""
    document = {"choices": [{"message": {"role": "assistant", "content": content}}]}
    return raw(json.dumps(document).encode())


def facts(*triples: tuple[str, str, str], **more: Any) -> Reply:
    """A chat completion with these facts."""
    items = [
        {"subject": s, "predicate": p, "object": o, "confidence": 0.9, "replace": False} | more
        for s, p, o in triples
    ]
    return says(json.dumps({"facts": items}))


def raw(body: bytes, code: int = 200, **headers: str) -> Reply:
    return lambda handler, _: handler.send(code, body, **headers)


def status(code: int, **headers: str) -> Reply:
    """An error that repeats what it was sent, as servers do."""
    return lambda handler, request: handler.send(code, request.body, **headers)


def only_with(style: str, reply: Reply, refusal: int = 422) -> Reply:
    """Refuses every other way of asking for JSON."""

    def choose(handler: _Handler, request: Request) -> None:
        (reply if request.style == style else status(refusal))(handler, request)

    return choose


def hangs(handler: _Handler, request: Request) -> None:
    """Takes the request and never answers."""
    handler.closing.wait(30)


def drips(handler: _Handler, request: Request) -> None:
    """Sends its head, then a byte at a time, for ever."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
    while not handler.closing.wait(0.02):
        handler.wfile.write(b" ")


def pours(handler: _Handler, request: Request) -> None:
    """Streams garbage without end."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
    while not handler.closing.is_set():
        handler.wfile.write(b'data: {"choices": [\xff\xfe\x00' * 4_000)


def breaks_off(handler: _Handler, request: Request) -> None:
    """Promises more than it sends."""
    handler.wfile.write(b'HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{"choices": [')


def speaks_no_http(handler: _Handler, request: Request) -> None:
    """Answers with something else altogether."""
    handler.wfile.write(b"\x00\x15\x03 what? \r\n\r\n")

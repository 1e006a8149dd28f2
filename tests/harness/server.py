"""A server on loopback that stands where the sidecar does, and misbehaves on demand."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from codesynapse import __version__
from codesynapse.link.proof import CHALLENGE_HEADER, PROOF_HEADER, proof
from codesynapse.link.state import Endpoint, write_state
from codesynapse.paths import Paths

__all__ = ["TOKEN", "Asked", "StandIn", "silent_port", "stand_in"]

TOKEN = "cs_" + "0f" * 32
Reply = tuple[int, bytes]


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as it came."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class StandIn:
    """The running stand-in. ``knows_token`` off makes it a foreign server."""

    port: int
    answers: dict[str, Callable[[Asked], Reply]]
    asked: list[Asked] = field(default_factory=list)
    knows_token: bool = True
    version: str = __version__
    hang: threading.Event = field(default_factory=threading.Event)

    def register(self, paths: Paths, pid: int = 1) -> None:
        """Say in the state file that the sidecar is here, and lay down the token."""
        write_state(paths, Endpoint("127.0.0.1", self.port, pid, self.version))
        token = Path(paths.token_file)
        token.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        token.write_text(TOKEN + "\n")
        token.chmod(0o600)


@contextmanager
def stand_in(answers: dict[str, Callable[[Asked], Reply]] | None = None) -> Iterator[StandIn]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:
            """Silent."""

        def do_GET(self) -> None:
            nonce = self.headers.get(CHALLENGE_HEADER, "")
            said = proof(TOKEN, nonce, server.port) if server.knows_token else "0" * 64
            self._send(200, b'{"status":"ok"}\n', {PROOF_HEADER: said})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            asked = Asked(self.path, {k.lower(): v for k, v in self.headers.items()}, body)
            server.asked.append(asked)
            route = self.path.split("?")[0]
            if route not in server.answers:
                server.hang.wait(60)
                return
            status, data = server.answers[route](asked)
            self._send(status, data, {})

        def _send(self, status: int, data: bytes, headers: dict[str, str]) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            cut = data.endswith(b"<cut>")
            self.send_header("content-length", str(len(data) + (1000 if cut else 0)))
            self.end_headers()
            self.wfile.write(data.removesuffix(b"<cut>"))
            if cut:
                self.wfile.flush()
                server.hang.wait(60)
                self.close_connection = True

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    server = StandIn(http.server_port, dict(answers or {}))
    thread = threading.Thread(target=http.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.hang.set()
        http.shutdown()
        http.server_close()
        thread.join(timeout=10)


@contextmanager
def silent_port() -> Iterator[int]:
    """A port that accepts and never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=16) as listener:
        yield listener.getsockname()[1]

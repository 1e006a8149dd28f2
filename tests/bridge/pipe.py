"""A client on the other end of the stdio server's pipes, as plain as can be."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.sidecar.home import Home

__all__ = ["Pipe", "piped", "started", "text_of"]


class Pipe:
    """One running ``codesynapse mcp serve``."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self._next = 0
        self._early: dict[Any, dict[str, Any]] = {}

    def write(self, line: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def send(self, method: str, params: Any = None, *, notify: bool = False) -> int:
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        if not notify:
            self._next += 1
            message["id"] = self._next
        if params is not None:
            message["params"] = params
        self.write(json.dumps(message).encode())
        return self._next

    def read(self) -> dict[str, Any]:
        """The next line; every line is one JSON-RPC message."""
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line, "the server hung up"
        message: dict[str, Any] = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        return message

    def answer_to(self, id_: int) -> dict[str, Any]:
        while id_ not in self._early:
            message = self.read()
            self._early[message["id"]] = message
        return self._early.pop(id_)

    def ask(self, method: str, params: Any = None) -> dict[str, Any]:
        return self.answer_to(self.send(method, params))

    def greet(self, name: str = "probe") -> dict[str, Any]:
        said = self.ask(
            "initialize",
            {"protocolVersion": "2025-11-25", "capabilities": {},
             "clientInfo": {"name": name, "version": "1"}},
        )  # fmt: skip
        self.send("notifications/initialized", notify=True)
        result: dict[str, Any] = said["result"]
        return result

    def call(self, tool: str, *, meta: dict[str, Any] | None = None, **arguments: Any) -> str:
        params: dict[str, Any] = {"name": tool, "arguments": arguments}
        if meta is not None:
            params["_meta"] = meta
        return text_of(self.ask("tools/call", params))

    def close(self) -> int:
        """Close the pipe, as a client that leaves; the exit code."""
        assert self.process.stdin
        self.process.stdin.close()
        return self.process.wait(timeout=20)


def text_of(answer: dict[str, Any]) -> str:
    """What a model reads: the text of a result, marked when it is an error."""
    result = answer["result"]
    assert "structuredContent" not in result
    (part,) = result["content"]
    return ("ERROR: " if result["isError"] else "") + str(part["text"])


@contextmanager
def piped(home: Home, **variables: str) -> Iterator[Pipe]:
    """A stdio server in the home's project."""
    project = home.root / "project"
    project.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "codesynapse", "mcp", "serve"]
    with started(command, project, home.environment.child(**variables)) as pipe:
        yield pipe


@contextmanager
def started(command: list[str], folder: Path, environment: Mapping[str, str]) -> Iterator[Pipe]:
    """A stdio server as a client starts it."""
    process = subprocess.Popen(
        command, env=dict(environment), cwd=folder,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        yield Pipe(process)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(timeout=20)
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()

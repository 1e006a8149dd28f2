"""A home of its own for a test, with a real sidecar process in it, asked over raw HTTP."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from codesynapse.environment import Environment
from codesynapse.link.http import Deadline
from codesynapse.link.start import find
from codesynapse.link.state import Endpoint, read_state
from codesynapse.link.token import ensure_token, read_token
from codesynapse.paths import Paths, private_folder

__all__ = ["Answer", "Home", "wait_until"]

Body = dict[str, Any] | bytes | None


def wait_until(is_so: Any, seconds: float = 20.0, what: str = "it") -> Any:
    """Poll until it is so; fails after a bound."""
    end = time.monotonic() + seconds
    while not (found := is_so()):
        assert time.monotonic() < end, f"{what} did not happen in {seconds} s"
        time.sleep(0.01)
    return found


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        error = self.json["error"]
        assert set(error) == {"code", "message", "hint"}
        return str(error["code"])


@dataclass
class Home:
    root: Path
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def environment(self) -> Environment:
        return Environment(
            {
                "PATH": os.environ["PATH"],
                "HOME": str(self.root),
                "CODESYNAPSE_HOME": str(self.root / "codesynapse"),
                "CODESYNAPSE_PORT": "0",
            }
        )

    @property
    def paths(self) -> Paths:
        return Paths(self.environment)

    @property
    def token(self) -> str:
        token = read_token(self.environment, self.paths)
        assert token
        return token

    @property
    def endpoint(self) -> Endpoint:
        found = read_state(self.paths)
        assert found
        return found

    @property
    def log(self) -> str:
        return Path(self.paths.log_file).read_text(encoding="utf-8")

    def configure(self, text: str) -> None:
        private_folder(self.paths.config)
        Path(self.paths.config_file).write_text(text, encoding="utf-8")

    def spawn(self, *options: str, **variables: str) -> subprocess.Popen[bytes]:
        private_folder(self.paths.config)
        ensure_token(self.environment, self.paths)
        process = subprocess.Popen(
            [sys.executable, "-m", "codesynapse", "sidecar", "run", *options],
            env=self.environment.child(**variables),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        self.processes.append(process)
        return process

    def start(self, *options: str, **variables: str) -> subprocess.Popen[bytes]:
        process = self.spawn(*options, **variables)

        def serves() -> bool:
            assert process.poll() is None, process.communicate()
            return self.serves() and self.endpoint.pid == process.pid

        wait_until(serves, what="the sidecar's start")
        return process

    def command(
        self, *words: str, stdin: bytes = b"", variables: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        """Run our program in this home, to its end."""
        return subprocess.run(
            [sys.executable, "-m", "codesynapse", *words],
            env=self.environment.child(**(variables or {})), input=stdin, capture_output=True,
            cwd=self.root, timeout=60, check=False,
        )  # fmt: skip

    def serves(self) -> bool:
        link = find(self.environment, self.paths, Deadline(10))
        if link is None:
            return False
        link.connection.close()
        return True

    def end(self, process: subprocess.Popen[bytes], seconds: float = 20.0) -> tuple[int, str]:
        """Its exit code and what it said."""
        _, said = process.communicate(timeout=seconds)
        return process.returncode, said.decode()

    def stop(self, process: subprocess.Popen[bytes]) -> int:
        process.send_signal(signal.SIGTERM)
        return self.end(process)[0]

    def close(self) -> None:
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.communicate(timeout=20)

    def ask(
        self, method: str, path: str, body: Body = None, *, session: str | None = None,
        client: str | None = "claude-code", **headers: str | None,
    ) -> Answer:  # fmt: skip
        """One request over a connection of its own. A header given as None is left out."""
        sent: dict[str, str | None] = {
            "Authorization": f"Bearer {self.token}",
            "X-CodeSynapse-Client": client,
            "X-CodeSynapse-Session": session,
        }
        raw = json.dumps(body).encode() if isinstance(body, dict) else body
        if raw is not None:
            sent["Content-Type"] = "application/json"
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        found = self.endpoint
        connection = http.client.HTTPConnection(found.host, found.port, timeout=20)
        try:
            given = {name: value for name, value in sent.items() if value is not None}
            connection.request(method, path, raw, given)
            answer = connection.getresponse()
            lowered = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, lowered, answer.read())
        finally:
            connection.close()

    def repository(self, folder: Path | None = None) -> str:
        folder = folder or self.root / "project"
        folder.mkdir(parents=True, exist_ok=True)
        answer = self.ask("POST", "/v1/repos/resolve", {"cwd": str(folder)})
        assert answer.status == 200, answer
        return str(answer.json["id"])

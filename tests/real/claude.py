"""Drive the real Claude Code: a pinned program, a temporary home, a scripted model on loopback."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.provision import CLAUDE
from tests.real.model import ModelServer

__all__ = ["ClaudeSession", "claude_environment", "claude_session"]


def claude_environment(home: Path, model: ModelServer, **more: str) -> dict[str, str]:
    """The whole environment of the program: nothing of the machine's own reaches it."""
    return {
        "HOME": str(home),
        "PATH": os.defpath + os.pathsep + "/usr/local/bin",
        "LANG": "C.UTF-8",
        "IS_SANDBOX": "1",
        "ANTHROPIC_BASE_URL": model.url,
        "ANTHROPIC_API_KEY": "sk-fake",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL": "1",
        **more,
    }


class ClaudeSession:
    """One running program that takes prompts one after the other."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._results: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self.events: list[dict[str, Any]] = []
        self.session_id: str | None = None
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            event = json.loads(line)
            self.events.append(event)
            self.session_id = event.get("session_id") or self.session_id
            if event.get("type") == "result":
                self._results.put(event)
        self._results.put(None)

    def say(self, prompt: str, seconds: float = 60) -> dict[str, Any]:
        """Send a prompt (or a slash command) and wait for its result."""
        assert self._process.stdin is not None
        message = {"type": "user", "message": {"role": "user", "content": prompt}}
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()
        result = self._results.get(timeout=seconds)
        assert result is not None, "the program ended before it answered"
        return result

    def end(self, seconds: float = 30) -> int:
        """Close its input, as a person who is done, and wait for it to leave."""
        assert self._process.stdin is not None
        if not self._process.stdin.closed:
            self._process.stdin.close()
        return self._process.wait(timeout=seconds)


@contextmanager
def claude_session(
    project: Path, environment: dict[str, str], *arguments: str
) -> Iterator[ClaudeSession]:
    """Start the program in ``project``; it is ended with the block, whatever happens in it."""
    program = CLAUDE.program
    assert program is not None, "Claude Code is not installed: run `make test`"
    process = subprocess.Popen(
        [str(program), "-p", "--input-format", "stream-json", "--output-format", "stream-json",
         "--verbose", *arguments],
        cwd=project, env=environment, text=True, encoding="utf-8",
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    session = ClaudeSession(process)
    try:
        yield session
        session.end()
    finally:
        if process.poll() is None:
            process.kill()
            process.wait(timeout=10)
        assert process.stdout is not None
        session._reader.join(timeout=10)
        process.stdout.close()
        if process.stdin is not None and not process.stdin.closed:
            process.stdin.close()

"""Clients that write without a pause, whatever becomes of the sidecar; what it acknowledged."""

from __future__ import annotations

import http.client
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from codesynapse.link.state import read_state
from tests.sidecar.home import Home
from tests.transcripts.writing import assistant, user

__all__ = ["Load", "kept_facts", "register", "transcript"]

_LOST = (OSError, http.client.HTTPException, AssertionError)


@dataclass
class Load:
    """A context: inside it, threads write facts and offload transcripts of a home."""

    home: Home
    repo: str
    writers: int = 3
    facts: set[str] = field(default_factory=set)
    jobs: set[str] = field(default_factory=set)
    _acknowledged: int = 0
    _wanted: int = 0
    _ended: bool = False
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _threads: list[threading.Thread] = field(default_factory=list)

    def __enter__(self) -> Load:
        for number in range(self.writers):
            self._threads.append(threading.Thread(target=self._write_facts, args=(number,)))
        self._threads.append(threading.Thread(target=self._offload))
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        with self._changed:
            self._ended = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join(30)
            assert not thread.is_alive()

    def wait_for(self, count: int, seconds: float = 20.0) -> None:
        """Let ``count`` more requests be acknowledged."""
        with self._changed:
            goal = self._acknowledged + count
            self._wanted = max(self._wanted, goal)
            self._changed.notify_all()
            assert self._changed.wait_for(lambda: self._acknowledged >= goal, seconds)

    def _write_facts(self, number: int) -> None:
        count = 0
        while not self._over():
            count += 1
            name = f"writer {number} fact {count}"
            body = {"triples": [{"subject": name, "predicate": "IS", "object": "kept"}]}
            if self._post(f"/v1/repos/{self.repo}/memory/triples", body, "w"):
                self._note(self.facts, name)

    def _offload(self) -> None:
        count = 0
        while not self._over():
            count += 1
            path = self.home.root / f"transcript {count}.jsonl"
            said = f"The part {count} service listens on port {8000 + count}."
            path.write_bytes(user(said, count) + assistant("Noted.", count))
            turns = [{"role": "user", "text": said, "id": f"t{count}"}]
            body = {"turns": turns, "transcript": str(path), "end": path.stat().st_size}
            if answer := self._post("/v1/memory/offload", body, f"load {count % 5}"):
                self._note(self.jobs, answer["id"])

    def _post(self, path: str, body: dict[str, Any], session: str) -> dict[str, Any] | None:
        with suppress(*_LOST):
            if read_state(self.home.paths) is not None:
                answer = self.home.ask("POST", path, body, session=session)
                if answer.status in (200, 202):
                    found: dict[str, Any] = answer.json
                    return found
        with self._changed:  # a breath for the one that is starting
            self._changed.wait_for(lambda: self._ended, 0.02)
        return None

    def _note(self, kept: set[str], name: str) -> None:
        with self._changed:
            kept.add(name)
            self._acknowledged += 1
            self._changed.notify_all()

    def _over(self) -> bool:
        """Whether to end; nobody writes more than somebody waits for, or nothing else could run."""
        with self._changed:
            self._changed.wait_for(lambda: self._ended or self._acknowledged < self._wanted)
            return self._ended


def register(home: Home, repo: str) -> None:
    """The sessions that a load speaks for."""
    for name in ("w", *(f"load {n}" for n in range(5))):
        assert home.ask("POST", f"/v1/repos/{repo}/sessions", {}, session=name).status == 200


def kept_facts(home: Home, repo: str) -> set[str]:
    """The subjects of every fact there is."""
    found: set[str] = set()
    cursor = ""
    while True:
        answer = home.ask("GET", f"/v1/repos/{repo}/memory/facts?limit=500{cursor}")
        assert answer.status == 200, answer
        found |= {fact["subject"] for fact in answer.json["facts"]}
        if not answer.json.get("cursor"):
            return found
        cursor = f"&cursor={answer.json['cursor']}"


def transcript(folder: Path, name: str, *parts: bytes) -> Path:
    """A transcript where Claude Code would have it."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.jsonl"
    path.write_bytes(b"".join(parts))
    return path

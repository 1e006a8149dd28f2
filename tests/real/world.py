"""A person's machine in a temporary folder: a home, a repository, our program, a scripted model."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.real.claude import ClaudeSession, claude_environment, claude_session
from tests.real.model import ModelServer

__all__ = ["World", "make_repository", "new_world"]


@dataclass(frozen=True, slots=True)
class World:
    """Everything a real run touches lies below ``root``."""

    root: Path
    project: Path
    model: ModelServer

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def memory_home(self) -> Path:
        return self.root / "memory"

    @property
    def environment(self) -> dict[str, str]:
        return claude_environment(self.home, self.model, CODESYNAPSE_HOME=str(self.memory_home))

    def codesynapse(self, *arguments: str) -> str:
        """Run our program as a person in the project would; its standard output."""
        done = subprocess.run(
            [sys.executable, "-m", "codesynapse", *arguments],
            cwd=self.project, env=self.environment, capture_output=True, text=True,
            encoding="utf-8", check=False, timeout=60,
        )  # fmt: skip
        assert done.returncode == 0, f"{arguments}: {done.stdout}{done.stderr}"
        return done.stdout

    def status(self) -> dict[str, Any]:
        """What ``sidecar status --json`` says."""
        state: dict[str, Any] = json.loads(self.codesynapse("sidecar", "status", "--json"))
        return state

    @contextmanager
    def claude(self, *arguments: str) -> Iterator[ClaudeSession]:
        """One real Claude Code session in the project."""
        with claude_session(self.project, self.environment, *arguments) as session:
            yield session


def make_repository(folder: Path) -> Path:
    """A git repository with one commit and a remote, as a person would have it."""
    folder.mkdir(parents=True)

    def git(*arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, timeout=30)

    git("init", "-q", "-b", "main")
    (folder / "README.md").write_text("# Ledger\n", encoding="utf-8")
    git("add", "README.md")
    git("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "-q", "-m", "Start")
    git("remote", "add", "origin", "git@git.example.org:acme/ledger.git")
    return folder


@contextmanager
def new_world(root: Path, model: ModelServer) -> Iterator[World]:
    """A fresh machine with the hooks installed; its sidecar is stopped with the block."""
    world = World(root, make_repository(root / "work space" / "ledger"), model)
    world.home.mkdir()
    world.codesynapse("mcp", "hooks")
    try:
        yield world
    finally:
        world.codesynapse("sidecar", "stop")

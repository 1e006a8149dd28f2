"""A home as people have it: hooks start the sidecar, and tests find every process of it."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codesynapse import harness
from codesynapse.link.http import Deadline, LinkError
from codesynapse.link.start import find_local
from tests.harness.processes import end_all, lives, pids_of
from tests.sidecar.home import Home, wait_until

__all__ = ["ALLOWED", "HOOK", "Life", "Ran", "newer_package"]

HOOK = Path(harness.__file__).with_name("hook.py")
# What each hook promises, in seconds, and what a busy machine may add to that.
ALLOWED = {"recall": 2.0, "prompt": 1.0, "offload": 5.0, "end": 1.0, "bind": 1.0}
SLACK = 3.0  # for the interpreter's start where many others want the same two cores


@dataclass(frozen=True, slots=True)
class Ran:
    """What one hook did."""

    out: bytes
    err: str
    seconds: float

    @property
    def context(self) -> str:
        """The text that it injects."""
        return str(json.loads(self.out)["hookSpecificOutput"]["additionalContext"])


class Life(Home):
    """A home whose sidecars are started by anybody. ``close`` ends them all."""

    def hook(self, *words: str, stdin: bytes | None = None, script: Path = HOOK,
             variables: Mapping[str, str] | None = None) -> Ran:  # fmt: skip
        """Run one hook as it is installed; it ends with code 0 within what it promises."""
        name = next((w.strip("-") for w in words if w in ("--end", "--prompt")), words[0])
        started = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-I", "-S", str(script), *words],
            input=self.payload() if stdin is None else stdin, capture_output=True,
            env=self.environment.child(**(variables or {})), timeout=30, check=False,
        )  # fmt: skip
        seconds = time.monotonic() - started
        assert done.returncode == 0, done.stderr
        assert seconds < ALLOWED[name] + SLACK, f"{name} took {seconds:.2f} s"
        return Ran(done.stdout, done.stderr.decode(), seconds)

    def payload(self, session: str = "s", event: str = "SessionStart", **more: Any) -> bytes:
        """A hook's input."""
        project = self.root / "project"
        project.mkdir(exist_ok=True)
        body = {"session_id": session, "cwd": str(project), "hook_event_name": event, **more}
        return json.dumps(body).encode()

    def pids(self) -> list[int]:
        """Every living process that was started in this home, ourselves left out."""
        return pids_of(self.environment.get("HOME") or "")

    def serves(self) -> bool:
        with suppress(LinkError):
            link = find_local(self.environment, self.paths, Deadline(10), 1.0)
            if link is not None:
                link.connection.close()
                return True
        return False

    def wait_for_one(self) -> int:
        """Wait until one sidecar serves, and nothing else of this home runs; returns its pid."""
        wait_until(lambda: self.serves() and self.pids() == [self.endpoint.pid], what="one sidecar")
        return self.endpoint.pid

    def wait_for_end(self, pid: int, seconds: float = 20.0) -> None:
        """Wait until this process of ours has ended."""
        wait_until(lambda: not lives(pid), seconds, f"the end of {pid}")

    def close(self) -> None:
        end_all(self.environment.get("HOME") or "")
        super().close()


def newer_package(folder: Path, version: str = "99.0") -> Path:
    """This package under another version; returns what PYTHONPATH has to name."""
    ours = HOOK.parents[1]
    copy = folder / "newer" / "codesynapse"
    copy.mkdir(parents=True)
    for entry in ours.iterdir():
        if entry.name not in ("__init__.py", "__pycache__"):
            (copy / entry.name).symlink_to(entry)
    text = (ours / "__init__.py").read_text(encoding="utf-8")
    lines = [f'__version__ = "{version}"' if line.startswith("__version__") else line
             for line in text.splitlines()]  # fmt: skip
    (copy / "__init__.py").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return copy.parent

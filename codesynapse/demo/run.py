"""The main job on a sample conversation, in a temporary home: real hooks, a real sidecar.

Nothing of the person's own is read or written. What runs is what ``codesynapse mcp hooks``
installed, started as Claude Code starts it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from codesynapse.demo.sample import write_transcript
from codesynapse.environment import Environment
from codesynapse.errors import Unavailable

__all__ = ["Demo", "run_demo"]

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Ran:
    """One hook's run: what the model would be given, and how long it took."""

    context: str
    milliseconds: float


class Demo:
    """A repository in a temporary folder, with our hooks installed."""

    def __init__(self, root: Path, environment: Environment) -> None:
        self.project = root / "ferry"
        self.home = root / "home"
        self.environment = environment.child(
            HOME=str(self.home),
            USERPROFILE=str(self.home),
            CODESYNAPSE_HOME=str(root / "codesynapse"),
            CODESYNAPSE_PORT="0",
        )
        self._hooks: dict[str, Any] = {}

    def install(self) -> int:
        """Make the repository and install the hooks; returns how many events have one."""
        self.home.mkdir(parents=True)
        (self.project / ".git").mkdir(parents=True)
        (self.project / ".git" / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
        self.codesynapse("mcp", "hooks", str(self.project))
        settings = self.project / ".claude" / "settings.local.json"
        self._hooks = json.loads(settings.read_text(encoding="utf-8"))["hooks"]
        return len(self._hooks)

    def codesynapse(self, *arguments: str) -> str:
        """Run our program in the temporary home; raises Unavailable with what it said."""
        done = subprocess.run(
            [sys.executable, "-m", "codesynapse", *arguments],
            cwd=self.project, env=self.environment, capture_output=True,
            text=True, encoding="utf-8", check=False, timeout=60,
        )  # fmt: skip
        if done.returncode:
            raise Unavailable(f"codesynapse {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout

    def transcript(self, session_id: str) -> Path:
        """Where Claude Code would keep this session's transcript."""
        folder = "".join(c if c.isalnum() else "-" for c in str(self.project))
        return self.home / ".claude" / "projects" / folder / f"{session_id}.jsonl"

    def command(self, event: str) -> str:
        """The shell command that is installed for an event."""
        command: str = self._hooks[event][0]["hooks"][0]["command"]
        return command

    def hook(self, event: str, session_id: str, **more: str) -> Ran:
        """Run the installed command of an event with the payload that Claude Code would send."""
        payload = {
            "session_id": session_id,
            "transcript_path": str(self.transcript(session_id)),
            "cwd": str(self.project),
            "hook_event_name": event,
            **more,
        }
        command = self.command(event)
        started = time.perf_counter()
        done = subprocess.run(
            command, shell=True, cwd=self.project, env=self.environment, check=False,
            input=json.dumps(payload), capture_output=True, text=True, encoding="utf-8", timeout=60,
        )  # fmt: skip
        milliseconds = (time.perf_counter() - started) * 1000
        if done.returncode or done.stderr.strip():
            raise Unavailable(f"the hook of {event} said: {done.stderr.strip()}")
        answer = json.loads(done.stdout) if done.stdout.strip() else {}
        context = answer.get("hookSpecificOutput", {}).get("additionalContext", "")
        return Ran(context, milliseconds)


def run_demo(say: Say, environment: Environment | None = None) -> str:
    """Run it all, telling ``say`` each step; returns the block that the fresh session gets.

    Raises Unavailable when a step fails or the fresh session would know nothing.
    """
    with TemporaryDirectory(prefix="codesynapse-demo-", ignore_cleanup_errors=True) as folder:
        demo = Demo(Path(folder).resolve(), environment or Environment())
        try:
            return _steps(demo, say)
        finally:
            demo.codesynapse("sidecar", "stop")


def _steps(demo: Demo, say: Say) -> str:
    first, second = str(uuid.uuid4()), str(uuid.uuid4())
    say(f"1. `codesynapse mcp hooks` in a new repository: {demo.install()} events have a hook.")

    start = demo.hook("SessionStart", first, source="startup")
    say(f"2. A session starts. Nothing is known yet: {_given(start)}.")

    ended = datetime.now(UTC) - timedelta(minutes=5)
    count = write_transcript(demo.transcript(first), first, demo.project, ended)
    say(f"3. {count} messages later the context is full and a compaction begins.")
    offload = demo.hook("PreCompact", first, trigger="auto")
    say(f"   The hook offloads all but the last 10 exchanges in {offload.milliseconds:.0f} ms.")

    compacted = demo.hook("SessionStart", first, source="compact")
    say(f"4. The compacted session is given back what it had lost: {_given(compacted)}.")

    end = demo.hook("SessionEnd", first, reason="prompt_input_exit")
    say(f"5. The session ends. Its last exchanges are handed over in {end.milliseconds:.0f} ms.")

    fresh = demo.hook("SessionStart", second, source="startup")
    say(f"6. A fresh session starts: {_given(fresh)}. It knows:")
    if not fresh.context:
        raise Unavailable(
            "the fresh session was given nothing",
            "run it again with a free port and a writable temporary folder",
        )
    return fresh.context


def _given(ran: Ran) -> str:
    what = f"{len(ran.context):,} characters injected" if ran.context else "nothing is injected"
    return f"{what} ({ran.milliseconds:.0f} ms)"

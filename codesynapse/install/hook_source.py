"""``hooks/events.json``: which event runs which of our commands; every installer reads it here."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codesynapse.errors import InstallRefused
from codesynapse.install.bundled import bundled
from codesynapse.install.hook_command import VERBS

__all__ = ["EventHook", "load_hooks"]


@dataclass(frozen=True, slots=True)
class EventHook:
    """One event, what it runs, the client's time limit in seconds, and what it is good for."""

    event: str
    run: str
    timeout: int
    does: str
    matcher: str | None = None
    option: str | None = None

    def group(self, command: str) -> dict[str, Any]:
        """The entry of Claude Code's settings that runs ``command``."""
        entry = {"type": "command", "command": command, "timeout": self.timeout}
        return (
            {"hooks": [entry]}
            if self.matcher is None
            else {"matcher": self.matcher, "hooks": [entry]}
        )


def load_hooks(folder: Path | None = None) -> tuple[EventHook, ...]:
    """The hooks that ship with this installation, in order. Raises InstallRefused."""
    path = (folder or bundled("hooks")) / "events.json"
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        hooks = tuple(EventHook(event=event, **entry) for event, entry in document.items())
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise InstallRefused(f"{path} is damaged: {error}", "install codesynapse again") from error
    if unknown := [hook.run for hook in hooks if hook.run not in VERBS]:
        raise InstallRefused(f"{path} names a command that does not exist: {unknown[0]}")
    return hooks

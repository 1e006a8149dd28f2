"""Find a session's transcript when a payload does not name it, or names one that is gone."""

from __future__ import annotations

import re
from pathlib import Path

from codesynapse.environment import Environment

__all__ = ["locate"]

_SESSION = re.compile(r"[A-Za-z0-9_-]{1,128}")


def locate(
    named: str | None, session: str, cwd: str | None, environment: Environment
) -> Path | None:
    """The file at ``named``, else the session's file below Claude Code's folder of projects."""
    if named and (path := Path(named)).is_file():
        return path
    if not _SESSION.fullmatch(session):
        return None
    config = environment.foreign("CLAUDE_CONFIG_DIR")
    base = Path(config) if config else Path(environment.home) / ".claude"
    projects = base / "projects"
    if cwd:
        folder = re.sub(r"[^A-Za-z0-9]", "-", cwd)
        if (path := projects / folder / f"{session}.jsonl").is_file():
            return path
    return next((p for p in sorted(projects.glob(f"*/{session}.jsonl")) if p.is_file()), None)

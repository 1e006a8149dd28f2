"""Settings: what the config file and the environment say, as one frozen value.

The file is TOML; environment variables win over it. A broken file raises Invalid; whoever re-reads
a changed file keeps the last good value and reports the error.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from codesynapse.domain.graph import Limits
from codesynapse.environment import Environment
from codesynapse.errors import Invalid
from codesynapse.paths import Paths

__all__ = ["CARRY_OVER", "RouteSettings", "Settings", "load_settings"]

CarryOver = Literal["on", "review", "off"]
CARRY_OVER: tuple[CarryOver, ...] = ("on", "review", "off")


@dataclass(frozen=True, slots=True)
class RouteSettings:
    """The provider that serves one task. ``provider`` is ``builtin`` or ``openai``."""

    provider: str = "builtin"
    base_url: str | None = None
    model: str | None = None
    api_key: str | None = field(default=None, repr=False)
    timeout_seconds: float = 60.0
    daily_calls: int = 1_000


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be set. Times are in seconds unless the name says otherwise."""

    database: Path
    host: str = "127.0.0.1"
    port: int = 8787
    allow_memory: bool = True
    allow_secrets: bool = False
    approve_writes: bool = False  # what agents write waits for a person
    carry_over: CarryOver = "on"
    local_hosts: tuple[str, ...] = ()
    idle_end_seconds: float = 8 * 3600.0
    session_idle_seconds: float = 12 * 3600.0
    session_life_days: float = 7.0
    queue_size: int = 100
    worktrees: Literal["shared", "isolated"] = "shared"
    block_characters: int = 9_000
    limits: Limits = field(default_factory=Limits)
    memory_route: RouteSettings = field(default_factory=RouteSettings)


_SIMPLE: dict[str, type | tuple[type, ...]] = {
    "host": str,
    "port": int,
    "allow_memory": bool,
    "approve_writes": bool,
    "idle_end_seconds": (int, float),
    "session_idle_seconds": (int, float),
    "session_life_days": (int, float),
    "queue_size": int,
    "block_characters": int,
}
_CHOICES: dict[str, tuple[str, ...]] = {
    "carry_over": CARRY_OVER,
    "worktrees": ("shared", "isolated"),
}


def load_settings(environment: Environment, paths: Paths | None = None) -> Settings:
    """Read the config file, if there is one, and lay the environment over it. Raises Invalid."""
    paths = paths or Paths(environment)
    values = _from_file(_read(Path(paths.config_file)))
    settings = replace(Settings(database=Path(paths.database)), **values)
    return _with_environment(settings, environment)


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Invalid(
            f"{path} is not valid TOML: {error}", "mend the line, or remove the file"
        ) from error


def _from_file(document: dict[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, kind in _SIMPLE.items():
        if key in document:
            values[key] = _typed(key, document[key], kind)
    for key, choices in _CHOICES.items():
        if key in document:
            values[key] = _chosen(key, document[key], choices)
    if "database" in document:
        values["database"] = Path(_typed("database", document["database"], str)).expanduser()
    if "local_hosts" in document:
        hosts = _typed("local_hosts", document["local_hosts"], list)
        values["local_hosts"] = tuple(_typed("local_hosts", h, str) for h in hosts)
    route = document.get("routes", {})
    if isinstance(route, dict) and "memory" in route:
        values["memory_route"] = _route("routes.memory", route["memory"])
    return values


def _route(name: str, table: Any) -> RouteSettings:
    table = _typed(name, table, dict)
    kinds: dict[str, type | tuple[type, ...]] = {
        "provider": str,
        "base_url": str,
        "model": str,
        "api_key": str,
        "timeout_seconds": (int, float),
        "daily_calls": int,
    }
    values = {k: _typed(f"{name}.{k}", table[k], kind) for k, kind in kinds.items() if k in table}
    route = RouteSettings(**values)
    _chosen(f"{name}.provider", route.provider, ("builtin", "openai"))
    return route


def _typed(key: str, value: Any, kind: type | tuple[type, ...]) -> Any:
    if isinstance(value, bool) and kind is not bool:
        raise Invalid(f"config key {key} cannot be {value!r}")
    if not isinstance(value, kind):
        raise Invalid(f"config key {key} cannot be {value!r}")
    return value


def _chosen(key: str, value: Any, choices: tuple[str, ...]) -> Any:
    if value not in choices:
        raise Invalid(f"config key {key} cannot be {value!r}", "one of: " + ", ".join(choices))
    return value


def _with_environment(settings: Settings, environment: Environment) -> Settings:
    changes: dict[str, Any] = {
        "allow_memory": environment.flag("ALLOW_MEMORY", settings.allow_memory),
        "allow_secrets": environment.flag("ALLOW_SECRETS", False),
    }
    if database := environment.get("DB"):
        changes["database"] = Path(database).expanduser()
    if host := environment.get("HOST"):
        changes["host"] = host
    if port := environment.get("PORT"):
        if not port.isascii() or not port.isdigit() or int(port) > 65_535:
            raise Invalid(f"CODESYNAPSE_PORT cannot be {port!r}", "a number from 0 to 65535")
        changes["port"] = int(port)
    route = settings.memory_route
    if base_url := environment.get("LLM_BASE_URL"):
        route = replace(route, provider="openai", base_url=base_url)
    if model := environment.get("LLM_MODEL"):
        route = replace(route, model=model)
    if api_key := environment.get("LLM_API_KEY"):
        route = replace(route, api_key=api_key)
    return replace(settings, memory_route=route, **changes)

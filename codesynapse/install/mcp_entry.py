"""The entry by which an agent program starts our MCP server: how it is written, and known again.

``PYTHON -I -S …/codesynapse/bridge/serve.py``, with the client's name in its environment, since
some clients do not say who they are, and with where the memory lies when that was chosen by
environment: several clients pass none of their own on. An entry of our name that looks any other
way was written by a person, and is theirs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from codesynapse.environment import Environment

__all__ = ["NAME", "Server", "is_ours"]

NAME = "codesynapse"
_CLIENT = "CODESYNAPSE_CLIENT"
_PLACES = ("CODESYNAPSE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")
_SCRIPT = re.compile(r"(?:^|[\\/])codesynapse[\\/]bridge[\\/]serve\.py$")


@dataclass(frozen=True, slots=True)
class Server:
    """One installation: its interpreter, its script, and where its memory lies."""

    python: str
    script: str
    places: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def this(cls, python: str, environment: Environment) -> Server:
        """The running one."""
        script = Path(__file__).resolve().parent.parent / "bridge" / "serve.py"
        places = {name: value for name in _PLACES if (value := environment.foreign(name))}
        return cls(python, str(script), places)

    @property
    def words(self) -> list[str]:
        """The arguments behind the interpreter."""
        return ["-I", "-S", self.script]

    def environment(self, client: str) -> dict[str, str]:
        """What the server is told by environment."""
        return {_CLIENT: client, **self.places}


def is_ours(value: Any) -> bool:
    """Whether this is an entry as we write it, for some installation, in any client's form."""
    if not isinstance(value, dict):
        return False
    rest = dict(value)
    command, words = rest.pop("command", None), rest.pop("args", [])
    line = [*(command if isinstance(command, list) else [command])]
    line += words if isinstance(words, list) else [words]
    told = rest.pop("env", None) or rest.pop("environment", None)
    if not isinstance(told, dict) or not set(told) <= {_CLIENT, *_PLACES} or _CLIENT not in told:
        return False
    known = {"type": ("stdio", "local"), "enabled": (True,)}
    if any(given not in known.get(key, ()) for key, given in rest.items()):
        return False
    return len(line) == 4 and line[1:3] == ["-I", "-S"] and bool(_SCRIPT.search(str(line[3])))

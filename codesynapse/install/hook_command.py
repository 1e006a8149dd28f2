"""The commands that hooks run: how they are written, and how ours are told from all others.

For one person: ``PYTHON -I -S …/codesynapse/harness/hook.py VERB || :``, quoted for a POSIX shell
(on Windows the agent program runs hooks in Git Bash, which reads the same quotes). For a team:
``codesynapse`` from the PATH, nothing where there is none. ``|| :`` keeps the exit code 0 when the
program was removed without its hooks: Python's own code for a missing script is 2, which would
block prompts and compactions.

A command is ours when it is, character for character, what these functions write for some
interpreter and some installation. Whatever else names our program was edited by a person, and is
theirs.
"""

from __future__ import annotations

import re
import shlex
from typing import Literal

__all__ = ["VERBS", "command_kind", "personal_command", "shared_command"]

VERBS = ("recall", "recall --prompt", "offload", "offload --end", "bind")

_SCRIPT = re.compile(r"(?:^|[\\/])codesynapse[\\/]harness[\\/]hook\.py$")
_MENTION = re.compile(
    r"codesynapse[\\/]harness[\\/]hook\.py|\bcodesynapse\s+memory\s+(?:recall|offload|bind)\b"
)


def personal_command(python: str, script: str, verb: str) -> str:
    """The command that runs one installation."""
    return f"{shlex.quote(python)} -I -S {shlex.quote(script)} {verb} || :"


def shared_command(verb: str) -> str:
    """The command that runs whichever installation is on the PATH, or nothing."""
    return f"command -v codesynapse >/dev/null 2>&1 && codesynapse memory {verb} || :"


def command_kind(command: str) -> Literal["ours", "edited", "foreign"]:
    """Whose command this is."""
    if _is_ours(command):
        return "ours"
    return "edited" if _MENTION.search(command) else "foreign"


def _is_ours(command: str) -> bool:
    if any(command == shared_command(verb) for verb in VERBS):
        return True
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    if len(words) < 7 or not _SCRIPT.search(words[3]):
        return False
    verb = " ".join(words[4:-2])
    return verb in VERBS and command == personal_command(words[0], words[3], verb)

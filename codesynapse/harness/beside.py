"""Whether a project runs our hooks already, so that the plugin's stay silent. No import at all."""

from __future__ import annotations

import os

from codesynapse.environment import Environment

__all__ = ["installed_beside"]

_MAX_SETTINGS = 1 << 20


def installed_beside(verb: str, environment: Environment) -> bool:
    """Whether a settings file of the project or the person runs this hook of ours.

    Looks for the command's own words: a settings file need not be parsed for that, and a false
    alarm would take a person who wrote about our hooks inside one.
    """
    project = environment.foreign("CLAUDE_PROJECT_DIR") or os.getcwd()
    config = environment.foreign("CLAUDE_CONFIG_DIR") or os.path.join(environment.home, ".claude")
    own = f"hook.py {verb}".encode(), f"hook.py' {verb}".encode(), f"memory {verb}".encode()
    for path in (
        os.path.join(project, ".claude", "settings.local.json"),
        os.path.join(project, ".claude", "settings.json"),
        os.path.join(config, "settings.json"),
    ):
        text = _read(path)
        if b"codesynapse" in text and any(words in text for words in own):
            return True
    return False


def _read(path: str) -> bytes:
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    try:
        return os.read(handle, _MAX_SETTINGS)
    except OSError:
        return b""
    finally:
        os.close(handle)

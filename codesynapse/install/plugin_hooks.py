"""The hooks of the Claude Code plugin, written from the same source as the installer's.

Run as a module it prints the file: ``python -m codesynapse.install.plugin_hooks``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from codesynapse.install.hook_source import EventHook, load_hooks

__all__ = ["plugin_hooks"]


def plugin_hooks(hooks: Sequence[EventHook]) -> str:
    """The text of ``plugin/claude-code/hooks/hooks.json``."""
    entries = {hook.event: [hook.group(_command(hook))] for hook in hooks}
    return json.dumps({"hooks": entries}, indent=2) + "\n"


def _command(hook: EventHook) -> str:
    """From the PATH, nothing where there is none, silent where a project has its own hooks."""
    found = "command -v codesynapse >/dev/null 2>&1"
    if hook.option is not None:
        variable = "CLAUDE_PLUGIN_OPTION_" + hook.option.replace("-", "_").upper()
        found = f'[ "${variable}" = true ] && {found}'
    return f"{found} && codesynapse memory {hook.run} --plugin || :"


if __name__ == "__main__":
    sys.stdout.write(plugin_hooks(load_hooks()))

"""The bind hook: which session a call of one of our tools belongs to. Prints nothing.

It runs before and after every such call, so it imports no more than a recall does.
"""

from __future__ import annotations

from codesynapse.environment import Environment
from codesynapse.harness.recall import Options, call, note, read_input, watchdog
from codesynapse.link.http import Deadline, LinkError
from codesynapse.link.start import find
from codesynapse.paths import Paths

__all__ = ["bind"]

BIND_SECONDS = 0.5


def bind(options: Options, environment: Environment) -> None:
    """Tell the sidecar, if one runs. Never starts one."""
    watchdog(BIND_SECONDS + 0.05)
    deadline = Deadline(BIND_SECONDS)
    paths = Paths(environment)
    payload = read_input()
    try:
        link = find(environment, paths, deadline)
        if link is None:
            return
        try:
            call(link, f"/v1/hooks/{options.client}/bind", payload, deadline)
        finally:
            link.connection.close()
    except LinkError as error:
        note(paths, f"bind: {error}")
    except OSError as error:
        note(paths, f"bind: {error.strerror or type(error).__name__}")

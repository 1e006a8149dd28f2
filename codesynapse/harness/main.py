"""The edge of every hook: nothing that goes wrong reaches the client."""

from __future__ import annotations

import os

from codesynapse.environment import Environment
from codesynapse.harness.recall import Options, guarded, recall, say

TYPE_CHECKING = False  # so that a hook need not import typing or collections
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["VERBS", "main"]

VERBS = ("recall", "offload", "bind")


def main(arguments: Sequence[str]) -> None:
    """Run one hook and leave with exit code 0, always."""
    try:
        _run(arguments, Environment())
    except Exception as error:  # the hook edge: a session must go on, whatever is broken here
        say(type(error).__name__)
    finally:
        os._exit(0)  # without the interpreter's tidying up, which costs a hook some milliseconds


def _run(arguments: Sequence[str], environment: Environment) -> None:
    verb, options = (arguments[0] if arguments else ""), Options(arguments[1:])
    if not environment.flag("ALLOW_MEMORY", True):
        return  # off for this process, whatever the sidecar was started with
    if guarded(environment) or (options.plugin and _runs_already(verb, options, environment)):
        return
    if verb == "recall":
        recall(options, environment)
    elif verb == "bind":
        from codesynapse.harness.bind import bind

        bind(options, environment)
    elif verb == "offload":
        from codesynapse.harness.offload import offload

        offload(options, environment)
    else:
        say("a hook is one of recall, offload, bind")


def _runs_already(verb: str, options: Options, environment: Environment) -> bool:
    from codesynapse.harness.beside import installed_beside

    end, prompt = (" --end" if options.end else ""), (" --prompt" if options.prompt else "")
    return installed_beside(verb + end + prompt, environment)

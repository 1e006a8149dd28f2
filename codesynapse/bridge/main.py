"""``codesynapse mcp serve``: the stdio MCP server. Standard library only; no store, no model."""

from __future__ import annotations

import os

from codesynapse.bridge.pipes import Output, lines
from codesynapse.bridge.relay import Relay
from codesynapse.environment import Environment

__all__ = ["main"]

_FINISH_SECONDS = 10.0


def main() -> None:
    """Relay until the client closes its pipe or goes away; ends with exit code 0."""
    relay = Relay(Environment(), Output())
    try:
        relay.warm_up()
        for line in lines(0):
            relay.take(line)
        relay.finish(_FINISH_SECONDS)
    except KeyboardInterrupt:  # a terminal's Ctrl-C is meant for the client as well
        pass
    finally:
        os._exit(0)  # threads that still wait for the sidecar must not hold the process


if __name__ == "__main__":
    main()

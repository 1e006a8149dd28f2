"""``codesynapse`` and ``python -m codesynapse``. Hooks take a short way that imports no click."""

import sys

__all__ = ["main"]

_HOOKS = ("recall", "offload", "bind")
# A person who asks by hand, or for help, is no hook.
_BY_HAND = {"-h", "--help", "--query", "--session", "--file", "--json"}


def main() -> int:
    """Run the program with the arguments it was started with; returns the exit code."""
    words = sys.argv[1:]
    if len(words) > 1 and words[0] == "memory" and words[1] in _HOOKS:
        options = {word.partition("=")[0] for word in words[2:]}
        if not options & _BY_HAND:
            from codesynapse.harness.main import main as run_hook

            run_hook(words[1:])
            return 0
    if words in (["mcp"], ["mcp", "serve"]) or (not words and not _on_a_terminal()):
        from codesynapse.bridge.main import main as serve

        serve()
    from codesynapse.cli.main import main as run

    return run(words)


def _on_a_terminal() -> bool:
    return sys.stdin is None or sys.stdin.isatty()


if __name__ == "__main__":
    sys.exit(main())

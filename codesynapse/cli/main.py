"""The ``codesynapse`` program: groups by name, each loaded when it is used."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from typing import Any

import click

from codesynapse import __version__
from codesynapse.cli.output import fail, prepare_streams
from codesynapse.errors import CodeSynapseError

__all__ = ["COMMANDS", "cli", "main"]

COMMANDS: dict[str, tuple[str, str]] = {
    "demo": ("codesynapse.cli.demo:demo_command", "Show the main job in a temporary home."),
    "eval": ("codesynapse.cli.evals:eval_group", "Measure extraction against gold."),
    "mcp": ("codesynapse.cli.mcp:mcp_group", "Serve MCP; install hooks and the AGENTS.md block."),
    "memory": ("codesynapse.cli.memory:memory_group", "Look at and curate what is remembered."),
    "setup": ("codesynapse.cli.setup:setup_command", "Set a repository up, in one command."),
    "sidecar": ("codesynapse.cli.sidecar:sidecar_group", "The local server that owns the data."),
}


class LazyGroup(click.Group):
    """A group that imports a command's module only when that command is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names, without importing anything."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the one command; None for a name that is not ours."""
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands from the table, so that help imports none of them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][1]) for name in self.list_commands(ctx)])


@click.group(
    cls=LazyGroup,
    no_args_is_help=False,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="codesynapse")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Memory for coding agents: it survives compaction and carries over to the next session."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code: 0 done, 1 refused or failed, 2 wrong usage."""
    prepare_streams()
    try:
        result: Any = cli.main(
            None if arguments is None else list(arguments), "codesynapse", standalone_mode=False
        )
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return fail("stopped")
    except CodeSynapseError as error:
        return fail(error.message, error.hint, error.exit_code)
    except BrokenPipeError:
        return _reader_gone()
    except Exception as error:  # the command line's edge: a person gets a line, never a traceback
        return fail(f"something unforeseen went wrong ({type(error).__name__}: {error})")
    return result if isinstance(result, int) else 0


def _reader_gone() -> int:
    """Whoever read our output has read enough; keep Python from complaining at exit."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return 0

"""``codesynapse mcp``: install the hooks and the agents' text into a project, and take them out."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import click

from codesynapse.cli.hook_notes import hook_notes
from codesynapse.environment import Environment
from codesynapse.install.agents_md import block_text, plan_block, plan_block_removal
from codesynapse.install.claude_hooks import (
    HookRequest,
    Installation,
    plan_hooks,
    plan_removal,
    settings_name,
)
from codesynapse.install.compaction import DEFAULT_PERCENTAGE
from codesynapse.install.edit import Plan, carry_out, preview
from codesynapse.install.hook_source import load_hooks
from codesynapse.install.mcp_clients import CLIENTS, McpClient
from codesynapse.install.mcp_entry import Server
from codesynapse.install.mcp_install import place_of, plan_server, plan_server_removal, snippet
from codesynapse.install.project import Project, find_project
from codesynapse.paths import Paths

__all__ = ["mcp_group"]

_folder = click.argument(
    "folder",
    metavar="[DIR]",
    required=False,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
)
_remove = click.option("--remove", is_flag=True, help="Take out what was installed.")
_dry_run = click.option(
    "--dry-run", is_flag=True, help="Print the plan as a diff and change nothing."
)


@click.group("mcp")
def mcp_group() -> None:
    """Connect agent programs to the memory."""


@mcp_group.command("serve")
def serve() -> None:
    """Serve MCP on stdin and stdout, for an agent program to start."""
    from codesynapse.bridge.main import main as relay

    relay()


@mcp_group.command("hooks")
@_folder
@click.option(
    "--shared",
    is_flag=True,
    help="Write .claude/settings.json, for the whole team, instead of settings.local.json.",
)
@click.option(
    "--compact-at",
    metavar="PCT",
    type=click.IntRange(0, 100),
    help="Let Claude Code compact when its context is this full, in percent; 0 leaves the "
    f"setting alone.  [default: {DEFAULT_PERCENTAGE}, or what was chosen before]",
)
@click.option(
    "--per-prompt/--no-per-prompt",
    default=None,
    help="Look up what is known for every prompt as well.  [default: as it is]",
)
@_remove
@_dry_run
def hooks(
    folder: Path | None,
    shared: bool,
    compact_at: int | None,
    per_prompt: bool | None,
    remove: bool,
    dry_run: bool,
) -> None:
    """Install the Claude Code hooks into the project at DIR.

    DIR is used as it is; without it, it is the root of the repository around the current folder.
    Claude Code reads the settings of the folder that it is started in.
    """
    environment = Environment()
    paths = Paths(environment)
    project = find_project(folder, Path.cwd())

    def make_plan() -> Plan:
        if remove:
            return plan_removal(project, paths, shared=shared)
        request = HookRequest(shared, compact_at, per_prompt)
        installation = Installation.this(sys.executable, environment)
        return plan_hooks(project, paths, request, load_hooks(), installation)

    plan = _run(project, paths, make_plan, dry_run)
    notes = plan.notes if remove else (*plan.notes, *hook_notes(project, paths, shared))
    _report(project.folder / settings_name(shared=shared), plan, notes, dry_run)


@mcp_group.command("agents-md")
@_folder
@_remove
@click.option("--check", is_flag=True, help="Exit 1 when the block is missing or outdated.")
@_dry_run
def agents_md(folder: Path | None, remove: bool, check: bool, dry_run: bool) -> None:
    """Write the block that tells agents about their memory into AGENTS.md at DIR.

    CLAUDE.md gets it as well where it exists and does not import AGENTS.md. DIR is used as it is;
    without it, it is the root of the repository around the current folder.
    """
    if check and remove:
        raise click.UsageError("--check and --remove do not go together")
    paths = Paths(Environment())
    project = find_project(folder, Path.cwd())

    def make_plan() -> Plan:
        return plan_block_removal(project) if remove else plan_block(project, block_text())

    plan = _run(project, paths, make_plan, dry_run or check)
    if check:
        _check(plan)
    else:
        _report(project.folder, plan, plan.notes, dry_run)


@mcp_group.command("install")
@click.argument("client", type=click.Choice(sorted(CLIENTS)))
@_remove
@click.option("--print", "show", is_flag=True, help="Print what to add by hand, change nothing.")
@_dry_run
def install(client: str, remove: bool, show: bool, dry_run: bool) -> None:
    """Let CLIENT start our MCP server, by an entry in its own settings."""
    if show and remove:
        raise click.UsageError("--print and --remove do not go together")
    environment = Environment()
    server = Server.this(sys.executable, environment)
    chosen = CLIENTS[client]
    place = chosen.file(environment)
    if show:
        click.echo(click.format_filename(place), err=True)
        click.echo(snippet(chosen, server), nl=False)
        return
    paths = Paths(environment)

    def make_plan() -> Plan:
        if remove:
            return plan_server_removal(chosen, environment, paths)
        return plan_server(chosen, environment, paths, server)

    plan = _run(place_of(chosen, environment)[0], paths, make_plan, dry_run)
    notes = plan.notes if remove or not plan.changes else (*plan.notes, _restart(chosen))
    _report(place, plan, notes, dry_run)


def _restart(client: McpClient) -> str:
    return f"If {client.title} runs, {client.hint}."


def _run(project: Project, paths: Paths, make_plan: Callable[[], Plan], dry_run: bool) -> Plan:
    return carry_out(project, paths, make_plan, dry_run=dry_run)


def _check(plan: Plan) -> None:
    for edit in plan.edits:
        state = "missing or outdated" if edit.before != edit.after else "up to date"
        click.echo(f"{edit.name}: {state}")
    if plan.changes:
        click.echo("run codesynapse mcp agents-md to write it", err=True)
        raise click.exceptions.Exit(1)


def _report(place: Path, plan: Plan, notes: tuple[str, ...], dry_run: bool) -> None:
    """What was done goes to stdout; of a dry run, the diff does, and the words to stderr."""
    if dry_run:
        click.echo(preview(plan), nl=False)
    shown = click.format_filename(place)
    if not plan.changes:
        click.echo(f"{shown}: nothing to change", err=dry_run)
    else:
        click.echo(f"{shown}: {'would be changed' if dry_run else 'changed'}", err=dry_run)
    for line in plan.done:
        click.echo(f"  {line}", err=dry_run)
    for note in notes:
        click.echo(f"\n{note}", err=dry_run)

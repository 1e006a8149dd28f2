"""``codesynapse setup``: one repository, everything, in one command; and all of it out again."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from codesynapse.cli.hook_notes import hook_notes
from codesynapse.cli.output import note
from codesynapse.environment import Environment
from codesynapse.errors import InstallRefused
from codesynapse.install.edit import Plan, carry_out, preview
from codesynapse.install.everything import Step, removal_steps, setup_steps
from codesynapse.install.project import find_project
from codesynapse.paths import Paths

__all__ = ["setup_command"]

_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


@click.command("setup")
@click.argument("folder", metavar="[DIR]", required=False, type=_FOLDER)
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="Print the plan as a diff and change nothing.")
@click.option("--remove", is_flag=True, help="Take out what was installed.")
def setup_command(folder: Path | None, yes: bool, dry_run: bool, remove: bool) -> None:
    """Set a repository up: hooks, the agents' text, and our server in each client found.

    DIR is used as it is; without it, it is the root of the repository around the current folder.
    Exit code 1 when a file could not be edited safely; the others are done all the same.
    """
    environment = Environment()
    paths = Paths(environment)
    project = find_project(folder, Path.cwd())
    steps = (
        removal_steps(project, environment, paths)
        if remove
        else setup_steps(project, environment, paths, sys.executable)
    )
    planned, refused = _planned(steps)
    _show(planned, dry_run)
    if dry_run or not planned:
        if not planned and not refused:
            note("codesynapse: there is nothing to change")
        raise SystemExit(1 if refused else 0)
    if not yes:
        click.confirm("Go on?", abort=True, err=True)
    for step, _ in planned:
        try:
            carry_out(step.project, paths, step.plan)
        except InstallRefused as error:
            refused = True
            _say(step, error)
    note(
        "codesynapse: done" if not refused else "codesynapse: done, except for what is named above"
    )
    if not remove:
        for line in hook_notes(project, paths, shared=False):
            note(f"\n{line}")
    raise SystemExit(1 if refused else 0)


def _planned(steps: Sequence[Step]) -> tuple[list[tuple[Step, Plan]], bool]:
    """The steps that change something, and whether one was refused, which is said at once."""
    planned, refused = [], False
    for step in steps:
        try:
            plan = step.plan()
        except InstallRefused as error:
            refused = True
            _say(step, error)
            continue
        for line in plan.notes:
            note(f"{step.title}: {line}")
        if plan.changes:
            planned.append((step, plan))
    return planned, refused


def _say(step: Step, error: InstallRefused) -> None:
    note(f"{step.title}: refused: {error.message}")
    if error.hint:
        note(f"  {error.hint}")


def _show(planned: Sequence[tuple[Step, Plan]], dry_run: bool) -> None:
    for step, plan in planned:
        note(f"{step.title}:")
        for edit in plan.edits:
            if not edit.private and edit.changes:
                note(f"  {click.format_filename(edit.path)}")
        for line in plan.done:
            note(f"    {line}")
        if dry_run:
            click.echo(preview(plan), nl=False)

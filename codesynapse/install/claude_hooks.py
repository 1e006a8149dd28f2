"""Claude Code's hooks in ``.claude/settings.local.json``, or ``.claude/settings.json`` for a team.

Installing adds our entries and nothing else; a second time changes nothing, and points entries of
an installation that moved to this one. An entry that a person edited is theirs: it is neither
touched nor removed, and its event gets no second one. Removing gives the first bytes back.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from codesynapse.environment import Environment
from codesynapse.errors import InstallRefused
from codesynapse.install.compaction import plan_percentage, restored_percentage
from codesynapse.install.edit import Plan, open_target
from codesynapse.install.hook_command import personal_command, shared_command
from codesynapse.install.hook_entries import (
    HookEntry,
    add_group,
    drop_entry,
    entries_of,
    override_raw,
    set_command,
)
from codesynapse.install.hook_source import EventHook
from codesynapse.install.json_file import JsonFile, open_json, parsed
from codesynapse.install.json_text import JsonText
from codesynapse.install.project import Project
from codesynapse.install.record import Record
from codesynapse.paths import Paths

__all__ = ["HookRequest", "Installation", "plan_hooks", "plan_removal", "settings_name"]


@dataclass(frozen=True, slots=True)
class Installation:
    """The program whose hooks are installed: its interpreter, its hook script, and the PATH."""

    python: str
    script: str
    path: str | None = None

    @classmethod
    def this(cls, python: str, environment: Environment) -> Installation:
        """The running one."""
        script = Path(__file__).resolve().parent.parent / "harness" / "hook.py"
        return cls(
            os.path.abspath(python) if python else "", str(script), environment.foreign("PATH")
        )

    def command(self, verb: str, *, shared: bool) -> str:
        """The command to write into settings. Raises InstallRefused where it has no safe form."""
        if shared:
            return shared_command(verb)
        command = personal_command(self.python, self.script, verb)
        if not self.python or not _is_text(command):
            raise InstallRefused(
                "the path of this installation cannot be written into a settings file",
                "install codesynapse under a path that is valid UTF-8",
            )
        return command


def _is_text(command: str) -> bool:
    try:
        command.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class HookRequest:
    """What to install. None leaves a choice as it stands in the file, or at its default."""

    shared: bool = False
    compact_at: int | None = None
    per_prompt: bool | None = None


def settings_name(*, shared: bool) -> str:
    """The settings file, relative to the project."""
    return os.path.join(".claude", "settings.json" if shared else "settings.local.json")


def plan_hooks(
    project: Project,
    paths: Paths,
    request: HookRequest,
    hooks: Sequence[EventHook],
    installation: Installation,
) -> Plan:
    """What installing would change. Raises InstallRefused when a file cannot be edited safely."""
    file = _open(project, paths, shared=request.shared)
    # A second set beside the team's would run everything twice.
    other = _entries_elsewhere(project, shared=not request.shared)
    served = (
        other if not request.shared and shutil.which("codesynapse", path=installation.path) else ()
    )
    done, notes = _install(file, request, hooks, installation, served)
    percentage = plan_percentage(file.document, file.record.override, request.compact_at, file.undo)
    file.document = percentage.document
    file.record = replace(file.record, override=percentage.override)
    edits = file.edits()
    if request.shared and other:
        plan = plan_removal(project, paths, shared=False)
        edits, done = (*plan.edits, *edits), [*plan.done, *done]
    return Plan(edits, (*done, *percentage.done), (*notes, *percentage.notes))


def plan_removal(project: Project, paths: Paths, *, shared: bool) -> Plan:
    """What removing would change."""
    file = _open(project, paths, shared=shared)
    done: list[str] = []
    while ours := _owned(file.document):
        file.document = drop_entry(file.document, ours[0], file.undo)
        done.append(f"removed the {ours[0].event} hook from {file.target.name}")
    notes = [_edited_note(entry, file) for entry in _edited(file.document)]
    percentage = restored_percentage(file.document, file.record.override, file.undo, bool(done))
    file.document = percentage.document
    if _entries_elsewhere(project, shared=not shared):
        where = settings_name(shared=not shared)
        notes.append(f"{where} has our hooks as well; remove them with{'out' * shared} --shared")
    return Plan(file.removal(), (*done, *percentage.done), (*notes, *percentage.notes))


def _open(project: Project, paths: Paths, *, shared: bool) -> JsonFile:
    name = settings_name(shared=shared)
    return open_json(project, paths, name, lambda text: bool(_owned(text)), kept=_set_by_us)


def _set_by_us(document: JsonText, record: Record) -> bool:
    return record.override is not None and override_raw(document) in record.override.written


def _install(
    file: JsonFile,
    request: HookRequest,
    hooks: Sequence[EventHook],
    installation: Installation,
    served: Sequence[HookEntry],
) -> tuple[list[str], list[str]]:
    done: list[str] = []
    notes: list[str] = []
    team = {entry.event for entry in served}
    wanted = [
        hook
        for hook in hooks
        if hook.event not in team and _is_wanted(hook, request, file.document)
    ]
    for entry in _surplus(file.document, {hook.event for hook in wanted}):
        file.document = drop_entry(file.document, entry, file.undo)
        done.append(f"removed a {entry.event} hook from {file.target.name}")
    for hook in wanted:
        command = installation.command(hook.run, shared=request.shared)
        if line := _install_one(file, hook, command):
            done.append(line)
    if team:
        notes.append(
            f"{settings_name(shared=True)} runs our hooks here already; none is added twice"
        )
    if _switched_off(file.document):
        notes.append(f"{file.target.name} sets disableAllHooks, so no hook runs until that is gone")
    notes += [_edited_note(entry, file) for entry in _edited(file.document)]
    return done, notes


def _switched_off(document: JsonText) -> bool:
    switch = document.find("disableAllHooks")
    return switch is not None and document.raw(switch) == "true"


def _install_one(file: JsonFile, hook: EventHook, command: str) -> str | None:
    ours = _owned(file.document, hook.event)
    if ours:
        if ours[0].command == command:
            return None
        file.document = set_command(file.document, ours[0], command)
        return f"{hook.event}: now runs this installation"
    if any(entry.event == hook.event for entry in _edited(file.document)):
        return None
    file.document = add_group(file.document, hook.event, hook.group(command), file.undo)
    return f"{hook.event}: {hook.does}"


def _is_wanted(hook: EventHook, request: HookRequest, document: JsonText) -> bool:
    if hook.option is None:
        return True
    return bool(_owned(document, hook.event)) if request.per_prompt is None else request.per_prompt


def _surplus(document: JsonText, events: set[str]) -> list[HookEntry]:
    """Entries of ours that should not be there, last first, so that places stay true."""
    seen: set[str] = set()
    surplus: list[HookEntry] = []
    for entry in _owned(document):
        if entry.event in seen or entry.event not in events:
            surplus.append(entry)
        seen.add(entry.event)
    return surplus[::-1]


def _owned(document: JsonText, event: str | None = None) -> list[HookEntry]:
    entries = (entry for entry in entries_of(document) if entry.owner == "ours")
    return [entry for entry in entries if event is None or entry.event == event]


def _edited(document: JsonText) -> list[HookEntry]:
    return [entry for entry in entries_of(document) if entry.owner == "edited"]


def _edited_note(entry: HookEntry, file: JsonFile) -> str:
    return (
        f"the {entry.event} hook in {file.target.name} runs codesynapse in a form that a person "
        "wrote; it was left as it is"
    )


def _entries_elsewhere(project: Project, *, shared: bool) -> list[HookEntry]:
    """Our entries in the other settings file; one that cannot be read is not ours to judge here."""
    try:
        target = open_target(project, settings_name(shared=shared))
        return [] if target.data is None else _owned(parsed(target))
    except InstallRefused:
        return []

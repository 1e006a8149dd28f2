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
from codesynapse.install.edit import FileEdit, Plan, Target, missing_folders, open_target
from codesynapse.install.hook_command import personal_command, shared_command
from codesynapse.install.hook_entries import (
    HookEntry,
    Undo,
    add_group,
    drop_entry,
    entries_of,
    override_raw,
    set_command,
)
from codesynapse.install.hook_source import EventHook
from codesynapse.install.json_text import JsonRefused, JsonText
from codesynapse.install.project import Project
from codesynapse.install.record import Record, record_path
from codesynapse.paths import Paths

__all__ = ["HookRequest", "Installation", "plan_hooks", "plan_removal", "settings_name"]

_EMPTY = b"{}\n"


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


@dataclass(slots=True)
class _SettingsFile:
    """A settings file while a plan for it is made."""

    target: Target
    document: JsonText
    record: Record
    undo: Undo
    record_file: Path
    record_data: bytes | None

    def edits(self) -> tuple[FileEdit, ...]:
        """The record first: whoever is interrupted can still take back what follows."""
        before = self.target.data
        changed = self.document.data != (before if before is not None else _EMPTY)
        after = self.document.data if changed else before
        record = replace(self.record, containers=self.undo.containers)
        if after == before and self.record_data is None:
            return ()
        remembered = FileEdit(
            self.record_file, self.record_file.name, self.record_data, record.data, private=True
        )
        return remembered, FileEdit(self.target.path, self.target.name, before, after)

    def removal(self) -> tuple[FileEdit, ...]:
        """The file first, then what was remembered of it, then folders that are left empty."""
        before, after = (
            self.target.data,
            self.document.data if self.target.data is not None else None,
        )
        gone = self.record.created and not self.document.root.elements
        edit = FileEdit(
            self.target.path,
            self.target.name,
            before,
            None if gone else after,
            prune=self.record.folders if gone else (),
        )
        folder = self.record_file.parent
        forgotten = FileEdit(
            self.record_file,
            self.record_file.name,
            self.record_data,
            None,
            private=True,
            prune=(folder, folder.parent) if self.record_data is not None else (),
        )
        return edit, forgotten


def _open(project: Project, paths: Paths, *, shared: bool) -> _SettingsFile:
    target = open_target(project, settings_name(shared=shared))
    document = _parse(target)
    record_file = record_path(paths, target.path)
    record_data = record_file.read_bytes() if record_file.is_file() else None
    record = Record.parse(record_data)
    ours = bool(_owned(document))
    if record is None or not (ours or _set_by_us(document, record)):
        # Nothing of ours stands there: what was remembered of it is of another time. Entries
        # without a memory came from elsewhere, and so did the containers around them.
        record = Record(
            target.path,
            created=target.data is None,
            complete=not ours,
            folders=missing_folders(target.path),
            override=record.override if record is not None else None,
        )
    undo = Undo(dict(record.containers), known=record.complete)
    return _SettingsFile(target, document, record, undo, record_file, record_data)


def _set_by_us(document: JsonText, record: Record) -> bool:
    return record.override is not None and override_raw(document) in record.override.written


def _parse(target: Target) -> JsonText:
    try:
        document = JsonText.parse(_EMPTY if target.data is None else target.data)
    except JsonRefused as error:
        raise InstallRefused(
            f"{target.path} is not valid JSON: {error}", "mend it, then try again"
        ) from error
    if document.root.kind != "object":
        raise InstallRefused(f"{target.path} does not hold an object", "mend it, then try again")
    return document


def _install(
    file: _SettingsFile,
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


def _install_one(file: _SettingsFile, hook: EventHook, command: str) -> str | None:
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


def _edited_note(entry: HookEntry, file: _SettingsFile) -> str:
    return (
        f"the {entry.event} hook in {file.target.name} runs codesynapse in a form that a person "
        "wrote; it was left as it is"
    )


def _entries_elsewhere(project: Project, *, shared: bool) -> list[HookEntry]:
    """Our entries in the other settings file; one that cannot be read is not ours to judge here."""
    try:
        target = open_target(project, settings_name(shared=shared))
        return [] if target.data is None else _owned(_parse(target))
    except InstallRefused:
        return []

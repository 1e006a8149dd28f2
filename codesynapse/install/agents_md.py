"""The block that tells agents about their memory, in AGENTS.md and, where it is read, CLAUDE.md.

Claude Code reads AGENTS.md when there is no CLAUDE.md, and ignores it when there is one that does
not import it. So CLAUDE.md gets the block where it exists and imports no AGENTS.md; one that
imports it, or is a link to it, does not, and a copy stays a copy: nobody reads the text twice.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from codesynapse.errors import InstallRefused
from codesynapse.install.bundled import bundled
from codesynapse.install.edit import FileEdit, Plan, Target, open_target
from codesynapse.install.project import Project
from codesynapse.install.text_block import find_block, with_block, without_block

__all__ = ["block_text", "plan_block", "plan_block_removal"]

AGENTS, CLAUDE = "AGENTS.md", "CLAUDE.md"

# What Claude Code does not read imports in: fenced blocks, comments, code spans.
_NOT_TEXT = re.compile(
    r"^[ ]{0,3}(?P<fence>`{3,}|~{3,}).*?(?:^[ ]{0,3}(?P=fence)|\Z)|<!--.*?-->"
    r"|(?P<tick>`+)(?!`)(?:(?!\n[ \t]*\n).)*?(?<!`)(?P=tick)(?!`)",
    re.DOTALL | re.MULTILINE,
)
_IMPORT = re.compile(r"(?<!\S)@(?P<path>(?:\\ |\S)+)")
_IMPORT_DEPTH = 5
_IMPORT_SIZE = 1 << 20


@dataclass(frozen=True, slots=True)
class _Files:
    """The files that should hold the block, and the one that should not."""

    with_block: tuple[Target, ...]
    without_block: tuple[Target, ...]
    notes: tuple[str, ...]


def block_text(folder: Path | None = None) -> str:
    """The text that agents read. Raises InstallRefused when this installation lacks it."""
    path = (folder or bundled("agents_md")) / "memory.md"
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise InstallRefused(f"{path} cannot be read", "install codesynapse again") from error


def plan_block(project: Project, text: str) -> Plan:
    """What writing the block would change. Raises InstallRefused."""
    files = _files(project)
    edits = [
        _edit(target, with_block(target.data, text, target.name)) for target in files.with_block
    ]
    edits += [_edit(target, _without(target)) for target in files.without_block]
    done = [_line(edit) for edit in edits if edit.changes]
    return Plan(tuple(edits), tuple(done), files.notes)


def plan_block_removal(project: Project) -> Plan:
    """What taking the block out would change. Raises InstallRefused."""
    files = _files(project)
    targets = (*files.with_block, *files.without_block)
    edits = [_edit(target, _without(target)) for target in targets]
    done = [f"{edit.name}: block removed" for edit in edits if edit.changes]
    return Plan(tuple(edits), tuple(done))


def _files(project: Project) -> _Files:
    agents, claude = open_target(project, AGENTS), open_target(project, CLAUDE)
    if claude.path == agents.path:
        return _Files((agents,), (), (f"{CLAUDE} and {AGENTS} are one file; it holds one block",))
    if claude.data is None:
        return _Files((agents,), (), ())
    if _imports(project, claude.path, claude.data, agents.path):
        return _Files((agents,), (claude,), (f"{CLAUDE} imports {AGENTS}, which holds the block",))
    return _Files((agents, claude), (), ())


def _imports(project: Project, file: Path, data: bytes, wanted: Path, depth: int = 1) -> bool:
    """Whether a file imports another, itself or through files of the repository that it imports."""
    text = _NOT_TEXT.sub(" ", data.decode("utf-8-sig", "replace"))
    for match in _IMPORT.finditer(text):
        path = match["path"].replace("\\ ", " ").rstrip(".,;:!?)\"'")
        named = Path(os.path.realpath(file.parent / os.path.expanduser(path)))
        if named == wanted:
            return True
        if depth < _IMPORT_DEPTH and _is_readable(project, named):
            found = _imports(project, named, named.read_bytes(), wanted, depth + 1)
            if found:
                return True
    return False


def _is_readable(project: Project, file: Path) -> bool:
    try:
        inside = file.is_relative_to(project.repository) and file.is_file()
        return inside and file.stat().st_size <= _IMPORT_SIZE and os.access(file, os.R_OK)
    except (OSError, ValueError):
        return False


def _without(target: Target) -> bytes | None:
    return None if target.data is None else without_block(target.data, target.name)


def _edit(target: Target, after: bytes | None) -> FileEdit:
    return FileEdit(target.path, target.name, target.data, after)


def _line(edit: FileEdit) -> str:
    had = edit.before is not None and find_block(edit.before, edit.name) is not None
    has = edit.after is not None and find_block(edit.after, edit.name) is not None
    what = {(False, True): "written", (True, True): "updated"}.get((had, has), "removed")
    return f"{edit.name}: block {what}"

"""From a plan to bytes on the disk: read, preview, apply atomically, put back on failure.

A plan is made from what the files hold, shown as a diff, and applied whole or not at all. A file
that changed since it was read makes the plan be made again. Links that leave the repository, what
is not a regular file, and what cannot be written are refused while planning.
"""

from __future__ import annotations

import contextlib
import difflib
import os
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from codesynapse.errors import InstallRefused
from codesynapse.install.lock import locked
from codesynapse.install.project import Project
from codesynapse.paths import Paths, private_folder

__all__ = ["FileEdit", "Plan", "Target", "carry_out", "missing_folders", "open_target", "preview"]

_ATTEMPTS = 8


@dataclass(frozen=True, slots=True)
class FileEdit:
    """One file's bytes before and after; None is a file that is not there.

    ``private`` files are records of ours outside the repository: 0600, and not in the preview.
    ``prune`` are folders to remove afterwards where they are empty, innermost first.
    """

    path: Path
    name: str
    before: bytes | None
    after: bytes | None
    private: bool = False
    prune: tuple[Path, ...] = ()

    @property
    def changes(self) -> bool:
        """Whether applying it does anything."""
        return self.before != self.after or bool(self.prune)


@dataclass(frozen=True, slots=True)
class Plan:
    """Edits in the order they are applied, what they do in words, and what else to know."""

    edits: tuple[FileEdit, ...] = ()
    done: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def changes(self) -> bool:
        """Whether any file of the person would change."""
        return any(edit.before != edit.after for edit in self.edits if not edit.private)


@dataclass(frozen=True, slots=True)
class Target:
    """A file to edit: the real path behind any links, how to name it, and what it holds."""

    path: Path
    name: str
    data: bytes | None


class _Changed(Exception):
    """A file is not as it was when the plan was made."""


def open_target(project: Project, relative: str) -> Target:
    """Read a file of the project, or raise InstallRefused if it could not be written safely."""
    asked = project.folder / relative
    real = Path(os.path.realpath(asked))
    if not real.is_relative_to(os.path.realpath(project.repository)):
        raise InstallRefused(
            f"{asked} is a symbolic link out of the repository, to {real}",
            "replace the link by a file, or edit the file that it points to yourself",
        )
    try:
        data = _read(asked, real)
    except OSError as error:
        raise InstallRefused(f"{asked} cannot be read: {error.strerror}") from error
    _check_writable(asked, real)
    return Target(real, relative, data)


def _read(asked: Path, real: Path) -> bytes | None:
    try:
        status = os.stat(asked)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode):
        raise InstallRefused(f"{asked} is not a regular file")
    if not status.st_mode & 0o222 or not os.access(real, os.W_OK):
        raise InstallRefused(f"{asked} is read-only", "make it writable first")
    return real.read_bytes()


def _check_writable(asked: Path, real: Path) -> None:
    folder = real.parent
    while not folder.exists():
        folder = folder.parent
    if not folder.is_dir():
        raise InstallRefused(f"{asked} cannot be made: {folder} is not a folder")
    # The mode bits are looked at as well, since for root os.access allows everything.
    if not folder.stat().st_mode & 0o222 or not os.access(folder, os.W_OK | os.X_OK):
        raise InstallRefused(
            f"{asked} cannot be written: {folder} is read-only", "make the folder writable first"
        )


def missing_folders(path: Path) -> tuple[Path, ...]:
    """The folders that have to be made for ``path``, innermost first."""
    missing: list[Path] = []
    folder = path.parent
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    return tuple(missing)


def preview(plan: Plan) -> str:
    """The plan as a unified diff; empty when nothing would change."""
    return "".join(_diff(edit) for edit in plan.edits if edit.changes and not edit.private)


def _diff(edit: FileEdit) -> str:
    lines = difflib.unified_diff(
        _lines(edit.before),
        _lines(edit.after),
        "/dev/null" if edit.before is None else f"a/{edit.name}",
        "/dev/null" if edit.after is None else f"b/{edit.name}",
    )
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def _lines(data: bytes | None) -> list[str]:
    # Only line feeds part lines here, as in every other diff program.
    lines = (data or b"").decode("utf-8", "replace").split("\n")
    return [f"{line}\n" for line in lines[:-1]] + [line for line in lines[-1:] if line]


def carry_out(
    project: Project, paths: Paths, make_plan: Callable[[], Plan], *, dry_run: bool = False
) -> Plan:
    """Make the plan and apply it, alone in the repository. A dry run makes it only."""
    if dry_run:
        return make_plan()
    with locked(project.repository, paths):
        for _ in range(_ATTEMPTS):
            plan = make_plan()
            with contextlib.suppress(_Changed):
                _apply(plan.edits)
                return plan
    raise InstallRefused(
        "the files keep changing while they are being edited",
        "close the program that writes them, then try again",
    )


def _apply(edits: Sequence[FileEdit]) -> None:
    applied: list[FileEdit] = []
    try:
        for edit in edits:
            if edit.changes:
                applied.append(_apply_one(edit))
    except (OSError, _Changed) as error:
        for edit in reversed(applied):
            with contextlib.suppress(OSError, _Changed):
                _apply_one(_reversed(edit))
        if isinstance(error, OSError):
            raise InstallRefused(
                f"{error.filename or 'a file'} cannot be written: {error.strerror or error}",
                "nothing was changed",
            ) from error
        raise


def _reversed(edit: FileEdit) -> FileEdit:
    return replace(edit, before=edit.after, after=edit.before)


def _apply_one(edit: FileEdit) -> FileEdit:
    """Apply one edit; what is returned knows the folders that were made, so it can be undone."""
    made = missing_folders(edit.path) if edit.after is not None else ()
    try:
        if edit.after is not None:
            _make_folders(edit, made)
            _replace(edit, edit.after)
        elif edit.before is not None:
            _check_unchanged(edit)
            edit.path.unlink()
    except (OSError, _Changed):
        _prune(made)
        raise
    _prune(edit.prune)
    return replace(edit, prune=made)


def _make_folders(edit: FileEdit, missing: Sequence[Path]) -> None:
    if edit.private:
        for folder in (*reversed(missing), edit.path.parent):
            private_folder(str(folder))
        return
    for folder in reversed(missing):
        with contextlib.suppress(FileExistsError):
            folder.mkdir()


def _replace(edit: FileEdit, data: bytes) -> None:
    # The name is fixed and the lock is held: what a killed installer left behind is cleared here.
    temporary = edit.path.with_name(f".{edit.path.name}.codesynapse-new")
    temporary.unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(temporary, flags, 0o600 if edit.private else 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            _keep_mode(edit.path, file.fileno())
            os.fsync(file.fileno())
        _check_unchanged(edit)
        os.replace(temporary, edit.path)
    finally:
        temporary.unlink(missing_ok=True)
    _sync_folder(edit.path.parent)


def _keep_mode(path: Path, descriptor: int) -> None:
    if os.name != "posix" or not path.exists():
        return
    old, new = path.stat(), os.fstat(descriptor)
    if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
        with contextlib.suppress(PermissionError):
            os.fchown(descriptor, old.st_uid, old.st_gid)
    # After the owner, since a change of owner clears some bits.
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode))


def _check_unchanged(edit: FileEdit) -> None:
    try:
        now: bytes | None = edit.path.read_bytes()
    except FileNotFoundError:
        now = None
    if now != edit.before:
        raise _Changed


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _prune(folders: Sequence[Path]) -> None:
    for folder in folders:
        # Whoever put something in there keeps the folder.
        with contextlib.suppress(OSError):
            folder.rmdir()

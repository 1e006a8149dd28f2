"""The folder that an installer works on, and the repository whose border no edit crosses."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from codesynapse.errors import InstallRefused

__all__ = ["Project", "find_project"]


@dataclass(frozen=True, slots=True)
class Project:
    """``folder`` holds the files to edit; ``repository`` is that folder or the work tree around it.

    ``linked_worktree`` says that ``repository`` is a further work tree of a repository elsewhere.
    """

    folder: Path
    repository: Path
    linked_worktree: bool = False


def find_project(folder: Path | None, here: Path) -> Project:
    """``folder`` as it is when given, else the root of the work tree around ``here``.

    An agent program reads the settings of the folder it is started in. That is the root for most
    people, so it is the default; who starts it in a subfolder names that folder.
    """
    start = (here if folder is None else folder).absolute()
    if not start.is_dir():
        raise InstallRefused(f"{start} is not a folder", "name the project's folder")
    start = start.resolve()
    root = _work_tree(start)
    chosen = start if folder is not None or root is None else root
    return Project(
        folder=chosen,
        repository=root or chosen,
        linked_worktree=root is not None and (root / ".git").is_file(),
    )


def _work_tree(start: Path) -> Path | None:
    for folder in (start, *start.parents):
        # A file instead of a folder marks a linked work tree or a submodule: a root as well.
        if (folder / ".git").exists():
            return folder
    return None

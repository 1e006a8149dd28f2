"""A JSON settings file that somebody else owns, while a plan for it is made.

Whatever kind of entry is put in, the file is read, remembered, written and put back here, so that
installing and removing again gives the first bytes back for every kind alike.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from codesynapse.errors import InstallRefused
from codesynapse.install.edit import FileEdit, Target, missing_folders, open_target
from codesynapse.install.json_text import Dialect, JsonRefused, JsonText, Node
from codesynapse.install.project import Project
from codesynapse.install.record import Record, record_path
from codesynapse.paths import Paths

__all__ = [
    "JsonFile",
    "Undo",
    "collapsed",
    "ensured",
    "node_at",
    "open_json",
    "parsed",
    "without_member",
]

_EMPTY = b"{}\n"


@dataclass(slots=True)
class Undo:
    """Inner white space of containers that were empty, None for those of ours, by key path.

    ``known`` is False where nothing was remembered: then whatever becomes empty is taken for ours.
    """

    containers: dict[str, str | None] = field(default_factory=dict)
    known: bool = True

    def is_ours(self, path: tuple[str, ...]) -> bool:
        """Whether the container was made by us."""
        key = "/".join(path)
        return not self.known or (key in self.containers and self.containers[key] is None)

    def inner(self, path: tuple[str, ...]) -> str:
        """What stood between its brackets when it was empty."""
        return self.containers.get("/".join(path)) or ""

    def filling(self, document: JsonText, path: tuple[str, ...]) -> None:
        """Remember an empty container before something is put into it."""
        node = document.find(*path)
        if node is not None and not node.elements:
            self.containers.setdefault("/".join(path), document.inner(node))

    def made(self, path: tuple[str, ...]) -> None:
        """Remember that a container is ours."""
        self.containers["/".join(path)] = None


@dataclass(slots=True)
class JsonFile:
    """The file, its document as planned so far, and what is remembered of it."""

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


def open_json(
    project: Project,
    paths: Paths,
    name: str,
    ours: Callable[[JsonText], bool],
    *,
    dialect: Dialect | None = None,
    kept: Callable[[JsonText, Record], bool] | None = None,
) -> JsonFile:
    """Read a settings file and what is remembered of it. Raises InstallRefused.

    ``ours`` says whether entries of ours stand in it; ``kept`` whether something else does for
    which the record is still good.
    """
    target = open_target(project, name)
    document = parsed(target, dialect)
    record_file = record_path(paths, target.path)
    record_data = record_file.read_bytes() if record_file.is_file() else None
    record = Record.parse(record_data)
    there = ours(document)
    if record is None or not (there or (kept is not None and kept(document, record))):
        # Nothing of ours stands there: what was remembered of it is of another time. Entries
        # without a memory came from elsewhere, and so did the containers around them.
        record = Record(
            target.path,
            created=target.data is None,
            complete=not there,
            folders=missing_folders(target.path),
            override=record.override if record is not None else None,
        )
    undo = Undo(dict(record.containers), known=record.complete)
    return JsonFile(target, document, record, undo, record_file, record_data)


def parsed(target: Target, dialect: Dialect | None = None) -> JsonText:
    """The document of a target; an empty object where there is no file. Raises InstallRefused."""
    try:
        document = JsonText.parse(_EMPTY if target.data is None else target.data, dialect)
    except JsonRefused as error:
        raise InstallRefused(
            f"{target.path} is not valid JSON: {error}", "mend it, then try again"
        ) from error
    if document.root.kind != "object":
        raise InstallRefused(f"{target.path} does not hold an object", "mend it, then try again")
    return document


def ensured(document: JsonText, path: tuple[str, ...], kind: str, undo: Undo) -> JsonText:
    """The document with a container at this path. Raises InstallRefused on a strange shape."""
    node = document.find(*path)
    if node is not None:
        if node.kind != kind:
            raise InstallRefused(
                f"{'.'.join(path)} in the settings is not an {kind}", "mend it, then try again"
            )
        return document
    undo.filling(document, path[:-1])
    undo.made(path)
    parent = node_at(document, *path[:-1])
    return document.with_member(parent, path[-1], {} if kind == "object" else [])


def collapsed(document: JsonText, path: tuple[str, ...], undo: Undo) -> JsonText:
    """The document without a container that is empty and ours."""
    node = document.find(*path)
    if node is None or node.elements or not undo.is_ours(path):
        return document
    return without_member(document, path, undo)


def without_member(document: JsonText, path: tuple[str, ...], undo: Undo) -> JsonText:
    """The document without the member at this path, if it is there."""
    parent = node_at(document, *path[:-1])
    place = parent.position(path[-1])
    return document if place is None else document.without(parent, place, undo.inner(path[:-1]))


def node_at(document: JsonText, *path: str) -> Node:
    """The node at a path that is known to be there."""
    node = document.find(*path)
    assert node is not None
    return node

"""Our entries inside a Claude Code settings document: find, add, drop. Pure; bytes stay theirs.

``Undo`` is what has to be remembered of containers that were empty or are ours (see ``record``).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from codesynapse.errors import InstallRefused
from codesynapse.install.hook_command import command_kind
from codesynapse.install.json_text import JsonText, Node

__all__ = [
    "HookEntry",
    "Undo",
    "add_group",
    "drop_entry",
    "entries_of",
    "override_raw",
    "set_command",
    "set_override",
]

_OVERRIDE = ("env", "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE")


@dataclass(frozen=True, slots=True)
class HookEntry:
    """A hook command of a document, and whose it is: "ours", "edited" or "foreign"."""

    event: str
    group: int
    index: int
    command: str
    owner: str


@dataclass(slots=True)
class Undo:
    """Inner white space of containers that were empty, None for those of ours, by key path.

    ``known`` is False where nothing was remembered: then whatever becomes empty is taken for ours.
    """

    containers: dict[str, str | None] = field(default_factory=dict)
    known: bool = True

    def is_ours(self, path: tuple[str, ...]) -> bool:
        key = "/".join(path)
        return not self.known or (key in self.containers and self.containers[key] is None)

    def inner(self, path: tuple[str, ...]) -> str:
        return self.containers.get("/".join(path)) or ""

    def filling(self, document: JsonText, path: tuple[str, ...]) -> None:
        node = document.find(*path)
        if node is not None and not node.elements:
            self.containers.setdefault("/".join(path), document.inner(node))

    def made(self, path: tuple[str, ...]) -> None:
        self.containers["/".join(path)] = None


def entries_of(document: JsonText) -> list[HookEntry]:
    """Every hook command of a document; what has another shape than hooks have is passed over."""
    hooks = document.find("hooks")
    if hooks is None or hooks.kind != "object":
        return []
    events = dict(hooks.members)
    return [entry for event, node in events.items() for entry in _of_event(document, event, node)]


def _of_event(document: JsonText, event: str, groups: Node) -> Iterator[HookEntry]:
    for number, group in enumerate(groups.children if groups.kind == "array" else ()):
        handlers = group.member("hooks")
        if handlers is None or handlers.kind != "array":
            continue
        for index, handler in enumerate(handlers.children):
            command = handler.member("command")
            if command is not None and command.kind == "string":
                text = json.loads(document.raw(command))
                yield HookEntry(event, number, index, text, command_kind(text))


def add_group(document: JsonText, event: str, group: dict[str, Any], undo: Undo) -> JsonText:
    """The document with a group more under an event. Raises InstallRefused on a strange shape."""
    document = _ensure(document, ("hooks",), "object", undo)
    document = _ensure(document, ("hooks", event), "array", undo)
    undo.filling(document, ("hooks", event))
    return document.with_item(_at(document, "hooks", event), group)


def set_command(document: JsonText, entry: HookEntry, command: str) -> JsonText:
    """The document with another command in the entry's place; its other keys stay."""
    node = _handlers(document, entry).children[entry.index].member("command")
    assert node is not None
    return document.with_raw(node, json.dumps(command, ensure_ascii=False))


def drop_entry(document: JsonText, entry: HookEntry, undo: Undo) -> JsonText:
    """The document without one entry, and without what only stood there for it."""
    handlers = _handlers(document, entry)
    if len(handlers.elements) > 1:
        return document.without(handlers, entry.index)
    path = ("hooks", entry.event)
    document = document.without(_at(document, *path), entry.group, undo.inner(path))
    return _collapsed(_collapsed(document, path, undo), ("hooks",), undo)


def override_raw(document: JsonText) -> str | None:
    """The compaction percentage as it is written in the document."""
    environment = document.find("env")
    if environment is None or environment.kind != "object":
        return None
    node = environment.member(_OVERRIDE[1])
    return None if node is None else document.raw(node)


def set_override(document: JsonText, raw: str | None, undo: Undo) -> JsonText:
    """The document with this compaction percentage, or with none."""
    node = document.find(*_OVERRIDE)
    if raw is not None and node is None:
        document = _ensure(document, ("env",), "object", undo)
        undo.filling(document, ("env",))
        return document.with_member(_at(document, "env"), _OVERRIDE[1], json.loads(raw))
    if raw is not None and node is not None:
        return document.with_raw(node, raw)
    return _collapsed(_without_member(document, _OVERRIDE, undo), ("env",), undo)


def _ensure(document: JsonText, path: tuple[str, ...], kind: str, undo: Undo) -> JsonText:
    node = document.find(*path)
    if node is not None:
        if node.kind != kind:
            raise InstallRefused(
                f"{'.'.join(path)} in the settings is not an {kind}", "mend it, then try again"
            )
        return document
    undo.filling(document, path[:-1])
    undo.made(path)
    parent = _at(document, *path[:-1])
    return document.with_member(parent, path[-1], {} if kind == "object" else [])


def _collapsed(document: JsonText, path: tuple[str, ...], undo: Undo) -> JsonText:
    node = document.find(*path)
    if node is None or node.elements or not undo.is_ours(path):
        return document
    return _without_member(document, path, undo)


def _without_member(document: JsonText, path: tuple[str, ...], undo: Undo) -> JsonText:
    parent = _at(document, *path[:-1])
    place = parent.position(path[-1])
    return document if place is None else document.without(parent, place, undo.inner(path[:-1]))


def _at(document: JsonText, *path: str) -> Node:
    node = document.find(*path)
    assert node is not None
    return node


def _handlers(document: JsonText, entry: HookEntry) -> Node:
    group = _at(document, "hooks", entry.event).children[entry.group]
    handlers = group.member("hooks")
    assert handlers is not None
    return handlers

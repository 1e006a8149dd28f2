"""Our entries inside a Claude Code settings document: find, add, drop. Pure; bytes stay theirs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from codesynapse.install.hook_command import command_kind
from codesynapse.install.json_file import Undo, collapsed, ensured, node_at, without_member
from codesynapse.install.json_text import JsonText, Node

__all__ = [
    "HookEntry",
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
    document = ensured(document, ("hooks",), "object", undo)
    document = ensured(document, ("hooks", event), "array", undo)
    undo.filling(document, ("hooks", event))
    return document.with_item(node_at(document, "hooks", event), group)


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
    document = document.without(node_at(document, *path), entry.group, undo.inner(path))
    return collapsed(collapsed(document, path, undo), ("hooks",), undo)


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
        document = ensured(document, ("env",), "object", undo)
        undo.filling(document, ("env",))
        return document.with_member(node_at(document, "env"), _OVERRIDE[1], json.loads(raw))
    if raw is not None and node is not None:
        return document.with_raw(node, raw)
    return collapsed(without_member(document, _OVERRIDE, undo), ("env",), undo)


def _handlers(document: JsonText, entry: HookEntry) -> Node:
    group = node_at(document, "hooks", entry.event).children[entry.group]
    handlers = group.member("hooks")
    assert handlers is not None
    return handlers

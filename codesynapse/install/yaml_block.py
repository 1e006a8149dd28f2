"""One entry of ours in a YAML mapping that is somebody else's, between two marker comments.

Where the mapping is there, the entry is its first child, in whole lines, at its children's indent;
where it is not, mapping and entry are a block at the end of the text. Taking either out gives the
first bytes back with nothing remembered. PyYAML says where things stand; no line but ours is
written anew.
"""

from __future__ import annotations

import re
from typing import Any

import yaml

from codesynapse.errors import InstallRefused
from codesynapse.install.text_block import HASH, VERSION, find_block, with_block, without_block

__all__ = ["load", "render", "with_entry", "without_entry"]

_INDENT = b"  "
_NESTED = re.compile(
    rb"^(?P<indent>[ ]+)# codesynapse:begin v[0-9]{1,6}\r?\n"
    rb"(?:.*\r?\n)*?(?P=indent)# codesynapse:end(?P<newline>\r?\n|\Z)",
    re.MULTILINE,
)


class _Loader(yaml.SafeLoader):
    """Reads tags that it does not know as what they stand on, so that any file can be compared."""


def _unknown(loader: _Loader, suffix: str, node: yaml.Node) -> Any:
    if isinstance(node, yaml.MappingNode):
        return suffix, loader.construct_mapping(node, deep=True)
    if isinstance(node, yaml.SequenceNode):
        return suffix, loader.construct_sequence(node, deep=True)
    return suffix, node.value


_Loader.add_multi_constructor("!", _unknown)


def load(data: bytes, name: str) -> dict[str, Any]:
    """The one document of a text; empty for an empty one. No tag runs anything.

    Raises InstallRefused for what is not one mapping in valid YAML.
    """
    try:
        document = yaml.load(data, _Loader)
    except (yaml.YAMLError, UnicodeDecodeError, ValueError) as error:
        where = getattr(error, "problem_mark", None)
        line = f" (line {where.line + 1})" if where is not None else ""
        raise InstallRefused(
            f"{name} is not valid YAML{line}", "mend it, then try again"
        ) from error
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise InstallRefused(f"{name} does not hold a mapping", "mend it, then try again")
    return document


def render(value: dict[str, Any]) -> str:
    """A mapping in block style, each value on a line of its own."""
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=1_000_000)


def with_entry(data: bytes | None, key: str, name: str, entry: dict[str, Any]) -> bytes:
    """The text with our entry below ``key``, once. The caller checks what it reads back as."""
    if data is not None and (there := _NESTED.search(data)):
        newline = there["newline"] or _newline(data)
        lines = _lines({name: entry}, there["indent"], newline)
        body = newline.join(lines) + there["newline"]
        return data[: there.start()] + body + data[there.end() :]
    at_the_end = data is None or find_block(data, key, HASH) is not None
    place = None if at_the_end or data is None else _place(data, key)
    if data is None or place is None:
        return with_block(data, render({key: {name: entry}}), key, HASH)
    at, indent = place
    newline = _newline(data)
    block = newline.join(_lines({name: entry}, indent, newline))
    if at == len(data) and not data.endswith(b"\n"):
        return data + newline + block
    return data[:at] + block + newline + data[at:]


def without_entry(data: bytes, name: str) -> bytes | None:
    """The text without our entry; None where there was no file before. Raises InstallRefused."""
    there = _NESTED.search(data)
    if there is None:
        return without_block(data, name, HASH)
    before, after = data[: there.start()], data[there.end() :]
    if there["newline"]:
        return before + after
    return before.removesuffix(_newline(data))


def _lines(value: dict[str, Any], indent: bytes, newline: bytes) -> list[bytes]:
    inner = render(value).encode("utf-8").rstrip(b"\n").split(b"\n")
    begin, end = HASH.line(f"codesynapse:begin v{VERSION}"), HASH.line("codesynapse:end")
    return [indent + line for line in (begin, *inner, end)]


def _newline(data: bytes) -> bytes:
    return b"\r\n" if b"\r\n" in data else b"\n"


def _place(data: bytes, key: str) -> tuple[int, bytes] | None:
    """Where the first line of the mapping's children begins, and their indent."""
    root = yaml.compose(data, _Loader)
    if not isinstance(root, yaml.MappingNode) or root.flow_style:
        return None
    for name, value in root.value:
        if name.value != key:
            continue
        if isinstance(value, yaml.MappingNode) and value.value and not value.flow_style:
            first = value.value[0][0].start_mark
            return _line_start(data, first.line), b" " * first.column
        return _line_start(data, name.end_mark.line + 1), _INDENT
    return None


def _line_start(data: bytes, line: int) -> int:
    """The byte at which a line begins, as the parser counts lines; the end for one behind it."""
    at = 0
    for _ in range(line):
        found = re.compile(rb"\r\n|\n|\r|\xc2\x85|\xe2\x80\xa8|\xe2\x80\xa9").search(data, at)
        if found is None:
            return len(data)
        at = found.end()
    return at

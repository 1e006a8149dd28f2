"""Edit JSON without touching a byte that the edit does not need.

A document is its text: byte order mark, line ends, indentation, key order, duplicate keys, spelling
of numbers and strings, comments (where the format has them) and a missing last newline all stay.
Adding something and taking it out again gives the first bytes back, except between the brackets of
a container that was empty: its inner text is the caller's to remember and to hand to ``without``.

Strict JSON by default; ``Dialect(comments=True, trailing_commas=True)`` reads the JSON of editors.
"""

from __future__ import annotations

import codecs
import json
import re
from dataclasses import dataclass
from typing import Any

from codesynapse.install.json_scan import Dialect, Element, JsonRefused, Node, scan

__all__ = ["Dialect", "JsonRefused", "JsonText", "Node"]

_BOM = codecs.BOM_UTF8
_LINE_END = re.compile("\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class JsonText:
    """A parsed document. Every edit returns a new one."""

    text: str
    root: Node
    dialect: Dialect
    bom: bool = False

    @classmethod
    def parse(cls, data: bytes, dialect: Dialect | None = None) -> JsonText:
        """Read a document. Raises JsonRefused, which says where it is wrong."""
        bom = data.startswith(_BOM)
        try:
            text = data[len(_BOM) if bom else 0 :].decode("utf-8")
        except UnicodeDecodeError as error:
            raise JsonRefused(f"not UTF-8 at byte {error.start}") from error
        dialect = dialect or Dialect()
        return cls(text, scan(text, dialect), dialect, bom)

    @property
    def data(self) -> bytes:
        """The document as bytes."""
        return (_BOM if self.bom else b"") + self.text.encode("utf-8")

    def find(self, *keys: str) -> Node | None:
        """The node under these keys. Of a duplicate key the last counts, as for every reader."""
        node = self.root
        for key in keys:
            member = node.member(key)
            if member is None:
                return None
            node = member
        return node

    def raw(self, node: Node) -> str:
        """The node's own text."""
        return self.text[node.start : node.end]

    def inner(self, node: Node) -> str:
        """What stands between the brackets of a container."""
        return self.text[node.start + 1 : node.end - 1]

    def value(self, node: Node) -> Any:
        """The node as a Python value."""
        match node.kind:
            case "object":
                return {key: self.value(child) for key, child in node.members}
            case "array":
                return [self.value(child) for child in node.children]
            case _:
                return json.loads(self.raw(node))

    def with_raw(self, node: Node, raw: str) -> JsonText:
        """The document with ``raw`` in place of the node's text."""
        return self._spliced((node.start, node.end, raw))

    def with_value(self, node: Node, value: Any) -> JsonText:
        """The document with another value in the node's place, laid out as its neighbours are."""
        indent = None if self._inline else self._line_indent(node.start)
        return self.with_raw(node, self._rendered(value, None, indent))

    def with_member(self, container: Node, key: str, value: Any) -> JsonText:
        """The document with a member more, at the end of an object."""
        return self._with_last(container, value, key)

    def with_item(self, container: Node, value: Any) -> JsonText:
        """The document with an item more, at the end of an array."""
        return self._with_last(container, value, None)

    def without(self, container: Node, index: int, empty: str = "") -> JsonText:
        """The document without one child; ``empty`` stands in a container that becomes empty."""
        elements = container.elements
        element = elements[index]
        if len(elements) == 1 and not self._has_comments(container):
            return self._spliced((container.start + 1, container.end - 1, empty))
        if element.comma is not None:
            # Somebody follows, or a last comma stands: the comma after this one goes with it.
            return self._spliced((self._cut(element, element.comma + 1), element.comma + 1, ""))
        cut = (self._cut(element, element.end), element.end, "")
        comma = elements[index - 1].comma if index else None
        if comma is None:
            return self._spliced(cut)
        return self._spliced((comma, comma + 1, ""), cut)

    def _cut(self, element: Element, end: int) -> int:
        """Where to begin to take an element out: what is a comment before it stays readable."""
        comment = self.dialect.last_comment(self.text, element.gap, element.start)
        if comment is None:
            return element.gap
        place, whole_line = comment
        return element.start if whole_line and self.text[end] not in "\r\n" else place

    def _has_comments(self, container: Node) -> bool:
        only, last = container.elements[0], container.end - 1
        places = ((only.gap, only.start), (only.comma or only.end, last))
        return any(self.dialect.last_comment(self.text, *place) for place in places)

    def _with_last(self, container: Node, value: Any, key: str | None) -> JsonText:
        if not container.elements:
            return self._filled(container, value, key)
        last = container.elements[-1]
        tail = last.comma + 1 if last.comma is not None else last.end
        comment = self.dialect.last_comment(self.text, tail, container.end - 1)
        place, whole_line = comment or (tail, False)
        spread = self._spread(last.gap, last.start)
        if whole_line and spread is None:
            spread = self._line_indent(last.start)
        new = self._lead(container, spread) + self._rendered(value, key, spread)
        if last.comma is not None:
            return self._spliced((place, place, new + ","))
        if place == tail:
            return self._spliced((tail, tail, "," + new))
        return self._spliced((tail, tail, ","), (place, place, new))

    def _lead(self, container: Node, spread: str | None) -> str:
        if spread is not None:
            return self._newline + spread
        last = container.elements[-1]
        tight = len(container.elements) > 1 and last.gap == last.start
        return "" if tight else " "

    def _filled(self, container: Node, value: Any, key: str | None) -> JsonText:
        place = (container.start + 1, container.end - 1)
        # A comment between empty brackets stays in front of what comes in.
        comments = self.inner(container).rstrip(" \t\r\n")
        if self._inline and not comments:
            return self._spliced((*place, self._rendered(value, key, None)))
        outer = self._line_indent(container.start)
        inner = outer + self._unit
        raw = self._rendered(value, key, inner)
        return self._spliced(
            (*place, comments + self._newline + inner + raw + self._newline + outer)
        )

    def _rendered(self, value: Any, key: str | None, indent: str | None) -> str:
        name = "" if key is None else json.dumps(key, ensure_ascii=False) + ": "
        if indent is None:
            return name + json.dumps(value, ensure_ascii=False)
        lines = json.dumps(value, ensure_ascii=False, indent=self._unit).split("\n")
        return name + (self._newline + indent).join(lines)

    def _spliced(self, *changes: tuple[int, int, str]) -> JsonText:
        text = self.text
        for start, end, new in reversed(changes):
            text = text[:start] + new + text[end:]
        return JsonText(text, scan(text, self.dialect), self.dialect, self.bom)

    def _spread(self, gap: int, start: int) -> str | None:
        """The indentation of a child that starts a line of its own; None when it does not."""
        before = self.text[gap:start]
        newline = max(before.rfind("\n"), before.rfind("\r"))
        if newline < 0:
            return None
        line = before[newline + 1 :]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def _line_indent(self, place: int) -> str:
        start = max(self.text.rfind("\n", 0, place), self.text.rfind("\r", 0, place)) + 1
        line = self.text[start:place]
        return line[: len(line) - len(line.lstrip(" \t"))]

    @property
    def _newline(self) -> str:
        match = _LINE_END.search(self.text)
        return match.group() if match else "\n"

    @property
    def _inline(self) -> bool:
        """Whether the whole document is written on one line."""
        first = self.root.elements[0] if self.root.elements else None
        return first is not None and self._spread(first.gap, first.start) is None

    @property
    def _unit(self) -> str:
        first = self.root.elements[0] if self.root.elements else None
        unit = None if first is None else self._spread(first.gap, first.start)
        return "  " if unit is None else unit

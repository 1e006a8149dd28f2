"""Read JSON into nodes that know where they stand in the text. Pure; keeps nothing but places."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Literal

__all__ = ["Dialect", "Element", "JsonRefused", "Node", "scan"]

Kind = Literal["object", "array", "string", "number", "literal"]

_DEPTH = 200
_SPACE = re.compile(r"[ \t\r\n]*")
_TRIVIA = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
# Possessive, so that a missing quote costs one pass.
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_LITERAL = re.compile(r"true|false|null")


class JsonRefused(ValueError):
    """The text is not JSON of its dialect; the message says what is wrong, and where."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """What is allowed beyond JSON."""

    comments: bool = False
    trailing_commas: bool = False

    def skip(self, text: str, place: int) -> int:
        """The place after white space and comments."""
        match = (_TRIVIA if self.comments else _SPACE).match(text, place)
        return place if match is None else match.end()

    def last_comment(self, text: str, start: int, end: int) -> tuple[int, bool] | None:
        """Where the last comment between two tokens ends, and whether its line has to end there."""
        if not self.comments:
            return None
        found = list(_COMMENT.finditer(text, start, end))
        return (found[-1].end(), found[-1].group().startswith("//")) if found else None


@dataclass(frozen=True, slots=True)
class Element:
    """A child of a container, from its key on.

    ``gap`` is where the white space before it begins, ``comma`` the place of the comma after it.
    """

    gap: int
    start: int
    end: int
    comma: int | None
    key: str | None
    node: Node


@dataclass(frozen=True, slots=True)
class Node:
    """A value and where it stands."""

    kind: Kind
    start: int
    end: int
    elements: tuple[Element, ...] = ()

    @property
    def children(self) -> tuple[Node, ...]:
        """The values in a container, in order."""
        return tuple(element.node for element in self.elements)

    @property
    def members(self) -> tuple[tuple[str, Node], ...]:
        """Keys and values of an object, in order, duplicates included."""
        return tuple((e.key, e.node) for e in self.elements if e.key is not None)

    def position(self, key: str) -> int | None:
        """The index of the last member with this key."""
        places = [index for index, (name, _) in enumerate(self.members) if name == key]
        return places[-1] if places else None

    def member(self, key: str) -> Node | None:
        """The value of the last member with this key."""
        place = self.position(key)
        return None if place is None else self.elements[place].node


def scan(text: str, dialect: Dialect) -> Node:
    """The root of a document. Raises JsonRefused."""
    scanner = _Scanner(text, dialect)
    node = scanner.value(dialect.skip(text, 0), 0)
    end = dialect.skip(text, node.end)
    if end != len(text):
        raise scanner.refused(end, "something follows the end")
    return node


class _Scanner:
    """The text and what is allowed in it; methods take a place and return a node."""

    def __init__(self, text: str, dialect: Dialect) -> None:
        self.text = text
        self.dialect = dialect

    def refused(self, place: int, reason: str) -> JsonRefused:
        before = self.text[:place].replace("\r\n", "\n").replace("\r", "\n")
        line = before.count("\n") + 1
        column = len(before) - before.rfind("\n")
        return JsonRefused(f"line {line}, column {column}: {reason}")

    def value(self, place: int, depth: int) -> Node:
        if depth > _DEPTH:
            raise self.refused(place, "nested too deeply")
        match self.text[place : place + 1]:
            case "{":
                return self.container(place, depth, "}")
            case "[":
                return self.container(place, depth, "]")
            case '"':
                return self.token(place, _STRING, "string")
            case "t" | "f" | "n":
                return self.token(place, _LITERAL, "literal")
            case "":
                raise self.refused(place, "the text ends where a value is expected")
            case _:
                return self.token(place, _NUMBER, "number")

    def token(self, place: int, pattern: re.Pattern[str], kind: Kind) -> Node:
        match = pattern.match(self.text, place)
        if match is None:
            what = "a value is expected" if kind != "string" else "a string is broken"
            raise self.refused(place, what)
        return Node(kind, place, match.end())

    def container(self, start: int, depth: int, close: str) -> Node:
        elements: list[Element] = []
        gap = start + 1
        place = self.dialect.skip(self.text, gap)
        while self.text[place : place + 1] != close:
            if elements and elements[-1].comma is None:
                raise self.refused(place, f"a comma or {close} is expected")
            element = self.element(gap, place, depth, keyed=close == "}")
            elements.append(element)
            gap = element.end if element.comma is None else element.comma + 1
            place = self.dialect.skip(self.text, gap)
        if elements and elements[-1].comma is not None and not self.dialect.trailing_commas:
            raise self.refused(elements[-1].comma, "a comma stands before the end")
        kind: Kind = "object" if close == "}" else "array"
        return Node(kind, start, place + 1, tuple(elements))

    def element(self, gap: int, start: int, depth: int, *, keyed: bool) -> Element:
        key, place = self.key(start) if keyed else (None, start)
        node = self.value(place, depth + 1)
        after = self.dialect.skip(self.text, node.end)
        comma = after if self.text[after : after + 1] == "," else None
        return Element(gap, start, node.end, comma, key, node)

    def key(self, start: int) -> tuple[str, int]:
        if self.text[start : start + 1] != '"':
            raise self.refused(start, "a key in double quotes is expected")
        name = self.token(start, _STRING, "string")
        colon = self.dialect.skip(self.text, name.end)
        if self.text[colon : colon + 1] != ":":
            raise self.refused(colon, "a colon is expected")
        key = json.loads(self.text[start : name.end])
        return key, self.dialect.skip(self.text, colon + 1)

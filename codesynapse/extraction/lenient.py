"""JSON as models write it: read what is whole, whatever stands around it.

Prose, code fences and thinking around it, trailing commas, an end that is cut off, a broken item
among good ones.  Time is linear in the text, depth is bounded, and nothing is ever raised: what
cannot be read is counted.
"""

from __future__ import annotations

import re
from collections import Counter
from json.decoder import JSONDecodeError, scanstring  # type: ignore[attr-defined]
from typing import Any

__all__ = ["read_values"]

_DEPTH = 32
_PROBLEMS = 300
_SPACE = re.compile(r"[ \t\r\n\ufeff]*")
_OPEN = re.compile(r"[\[{]")
_WORD = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|[A-Za-z]+")
_WORDS = {
    "true": True,
    "false": False,
    "null": None,
    "True": True,
    "False": False,
    "None": None,
    "NaN": None,
}
_THOUGHT = re.compile(r"\s*<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_END_OF_THOUGHT = re.compile(r"</(?:think|thinking|reasoning)>", re.IGNORECASE)


def read_values(text: str) -> tuple[list[Any], Counter[str]]:
    """Every JSON list and object in the text, outermost ones, and what was wrong, by reason."""
    reader = _Reader(text, _after_thoughts(text))
    values = []
    while (start := reader.seek()) is not None:
        try:
            values.append(reader.value(0))
        except _Unreadable as problem:
            reader.note(problem.reason)
            reader.at = max(reader.at, start + 1)
    if reader.cut:
        reader.counts["cut"] = 1
    return values, reader.counts


def _after_thoughts(text: str) -> int:
    """Where the answer begins: behind thinking aloud, whole, unclosed, or without its opening."""
    start = 0
    while (thought := _THOUGHT.match(text, start)) is not None:
        start = thought.end()
    # Some servers swallow the opening tag: then all before the closing one was thought, unless
    # nothing follows, and the tag is but a word in the answer.
    closings = [found.end() for found in _END_OF_THOUGHT.finditer(text, start)]
    if closings and _OPEN.search(text, closings[-1]):
        return closings[-1]
    return start


class _Unreadable(Exception):
    """Holds a reason, never text."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class _Reader:
    """A recursive reader. ``at`` is how far it came; ``cut`` that the text ended too early."""

    def __init__(self, text: str, at: int) -> None:
        self.text = text
        self.at = at
        self.cut = False
        self.counts: Counter[str] = Counter()

    def note(self, reason: str) -> None:
        """Count a problem. An answer with hundreds of them is not read to its end."""
        if reason != "cut":
            self.counts[reason] += 1
        if self.counts.total() >= _PROBLEMS:
            self.at = len(self.text)

    def seek(self) -> int | None:
        """Go to the next list or object, or to nowhere."""
        found = _OPEN.search(self.text, self.at)
        if found is None:
            return None
        self.at = found.start()
        return self.at

    def value(self, depth: int) -> Any:
        if depth > _DEPTH:
            raise _Unreadable("too_deep")
        letter = self._peek()
        if letter == "{":
            return self._object(depth)
        if letter == "[":
            return self._array(depth)
        if letter == '"':
            return self._string()
        return self._word()

    def _peek(self) -> str:
        space = _SPACE.match(self.text, self.at)
        self.at = space.end() if space else self.at
        if self.at >= len(self.text):
            self.cut = True
            raise _Unreadable("cut")
        return self.text[self.at]

    def _string(self) -> str:
        bad = False
        try:
            value, self.at = scanstring(self.text, self.at + 1, False)
        except JSONDecodeError as error:
            # Not raised from here: the decoder's error holds the whole text.
            bad, self.cut = True, error.msg.startswith("Unterminated")
            self.at = len(self.text) if self.cut else max(self.at + 1, error.pos)
        if bad:
            raise _Unreadable("cut" if self.cut else "malformed")
        return str(value)

    def _word(self) -> Any:
        found = _WORD.match(self.text, self.at)
        if found is None:
            raise _Unreadable("malformed")
        word, self.at = found.group(), found.end()
        if word in _WORDS:
            return _WORDS[word]
        if word[0].isalpha():
            raise _Unreadable("malformed")
        if len(word) > 40:
            return None
        return int(word) if word.lstrip("-").isdigit() else float(word)

    def _array(self, depth: int) -> list[Any]:
        items: list[Any] = []
        self.at += 1
        while True:
            try:
                letter = self._peek()
                if letter == "]":
                    self.at += 1
                    return items
                if letter == ",":
                    self.at += 1
                    continue
                items.append(self.value(depth + 1))
            except _Unreadable as problem:
                if problem.reason == "too_deep":
                    raise
                self.note(problem.reason)
                if self.cut or not self._next_item():
                    return items
            if self.cut:
                return items

    def _next_item(self) -> bool:
        """After a broken item: go on at the next object, if one follows."""
        following = self.text.find("{", self.at)
        if following < 0:
            return False
        self.at = following
        return True

    def _object(self, depth: int) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        self.at += 1
        try:
            while (letter := self._peek()) != "}":
                if letter == ",":
                    self.at += 1
                    continue
                if letter != '"':
                    raise _Unreadable("malformed")
                key = self._string()
                if self._peek() != ":":
                    raise _Unreadable("malformed")
                self.at += 1
                fields[key] = self.value(depth + 1)
                if self.cut:
                    raise _Unreadable("cut")
        except _Unreadable as problem:
            # A wrapper keeps the whole items it holds; an item itself is whole or nothing.
            if problem.reason == "too_deep" or not any(_holds(v) for v in fields.values()):
                raise
            self.note(problem.reason)
            return fields
        self.at += 1
        return fields


def _holds(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(item, dict) for item in value)

"""The block of recalled text that a session is given. Pure: same input, same bytes.

Promises: whole items, best first, within a budget counted as the client counts; no output at all
when there is nothing to say; a fence that no recalled text can contain, open or close; wording
that states and never orders.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from codesynapse.recall.answer import NOTICE
from codesynapse.recall.words import count_tokens, plain, utf16_units

__all__ = [
    "DEFAULT_UNITS",
    "FENCE_CLOSE",
    "FENCE_OPEN",
    "MAX_UNITS",
    "Block",
    "Item",
    "Section",
    "compose",
    "inert",
]

FENCE_OPEN = "<codesynapse-memory>"
FENCE_CLOSE = "</codesynapse-memory>"
DEFAULT_UNITS = 9_000
MAX_UNITS = 9_900  # clients replace what passes 10,000 by a preview

# A bracket, in any of the shapes a reader may take for one, before anything like our own marker,
# a closing tag, or the tags by which clients tell their own text from quoted text.
_TAG = re.compile(
    r"[<＜‹﹤〈⟨«≮❮≺〈《˂ᐸ]"
    r"(?=\W{0,8}?(?:[/／⁄∕]|c\W*o\W*d\W*e\W*s\W*y\W*n|\w+[-_:]\w|"
    r"(?:system|user|assistant|human)\b))",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Item:
    """One line. ``ids`` are the facts it stands for; ``key`` is equal for equal content."""

    text: str
    notes: str = ""
    ids: tuple[str, ...] = ()
    key: str = ""

    @property
    def line(self) -> str:
        """As it stands in the block."""
        # As one: a bracket at the end of the one must not open what begins the other.
        return "- " + inert(f"{self.text} ({self.notes})" if self.notes else self.text)

    @property
    def marks(self) -> frozenset[str]:
        """What to remember so that this is not given twice: ids, and a digest of the content."""
        digest = hashlib.blake2b((self.key or self.text).encode("utf-8", "replace"), digest_size=12)
        return frozenset((*self.ids, "=" + digest.hexdigest()))


@dataclass(frozen=True, slots=True)
class Section:
    """Items under a heading, best first."""

    heading: str
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """``text`` is empty when there is nothing to say. ``given`` is for the next call's ``given``"""

    text: str = ""
    items: tuple[Item, ...] = ()
    left_out: int = 0

    @property
    def given(self) -> frozenset[str]:
        """The marks of everything in the block."""
        return frozenset(mark for item in self.items for mark in item.marks)


def inert(text: str) -> str:
    """One visible line in which nothing can pass for a fence or a client's own markup."""
    return _TAG.sub("&lt;", plain(text))


def compose(
    sections: Iterable[Section], *, units: int = DEFAULT_UNITS, tokens: int | None = None
) -> Block:
    """Lay out what fits, in order, and stop at the first item that does not fit."""
    sections = list(sections)
    total = sum(len(section.items) for section in sections)
    budget = _Budget(min(units, MAX_UNITS), tokens)
    body: list[str] = []
    taken: list[Item] = []
    for heading, item in _in_order(sections):
        lines = ([f"{inert(heading)}:"] if heading else []) + [item.line]
        if not budget.take(lines):
            break
        body += lines
        taken.append(item)
    if not taken:
        return Block(left_out=total)
    text = "\n".join([FENCE_OPEN, NOTICE, *body, FENCE_CLOSE])
    return Block(text, tuple(taken), total - len(taken))


def _in_order(sections: Sequence[Section]) -> Iterable[tuple[str | None, Item]]:
    """Every item, the first of each section with its heading."""
    for section in sections:
        for place, item in enumerate(section.items):
            yield (section.heading if place == 0 else None), item


class _Budget:
    """What is left after the fence and the notice, in UTF-16 units and, if asked, in tokens."""

    def __init__(self, units: int, tokens: int | None) -> None:
        self._units = units
        self._tokens = tokens
        if not (self.take([FENCE_OPEN, NOTICE]) and self._spend(FENCE_CLOSE)):
            self._units = -1  # not even an empty fence fits

    def take(self, lines: list[str]) -> bool:
        """Spend these lines and their line ends, or nothing."""
        return self._spend("".join(line + "\n" for line in lines))

    def _spend(self, text: str) -> bool:
        units = self._units - utf16_units(text)
        tokens = None if self._tokens is None else self._tokens - count_tokens(text)
        if units < 0 or (tokens is not None and tokens < 0):
            return False
        self._units, self._tokens = units, tokens
        return True

"""A model's answer in, proposed facts out. Nothing is raised; what cannot be used is counted.

Reasons: ``not_json``, ``malformed``, ``cut``, ``too_deep`` (of the text); ``wrong_type``,
``missing_field``, ``bad_predicate``, ``too_long``, ``too_many`` (of an item).
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from codesynapse.extraction.lenient import read_values

__all__ = ["MOST_ITEMS", "Parsed", "Proposed", "parse"]

MOST_ITEMS = 200
_LONGEST_ANSWER = 1024 * 1024
_LONGEST_NAME = 300
_LONGEST_TYPE = 40
_NESTING = 4
_UNSTATED_CONFIDENCE = 0.7
_PREDICATE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_IN_WORDS = {"low": 0.5, "medium": 0.7, "high": 0.9, "certain": 0.95}
_FIELDS = ("subject", "predicate", "object")


@dataclass(frozen=True, slots=True)
class Proposed:
    """One fact as a model proposes it. ``turn`` is a number of the prompt, as claimed."""

    subject: str
    predicate: str
    object: str
    confidence: float
    replace: bool = False
    turn: int | None = None
    subject_type: str | None = None
    object_type: str | None = None


@dataclass(frozen=True, slots=True)
class Parsed:
    """``usable`` when the answer has the asked shape, even if it names no fact."""

    items: tuple[Proposed, ...] = ()
    usable: bool = False
    counts: Counter[str] = field(default_factory=Counter)


def parse(answer: str) -> Parsed:
    """Read an answer of any shape."""
    values, counts = read_values(answer[:_LONGEST_ANSWER])
    if not values:
        counts["not_json"] += 1
        return Parsed(counts=counts)
    items: list[Proposed] = []
    seen, bare_list = 0, False
    for raw in chain.from_iterable(map(_items, values)):
        if raw is _EMPTY_LIST:
            bare_list = True
            continue
        seen += 1
        if seen > MOST_ITEMS:
            counts["too_many"] += 1
            continue
        item = _item(raw, counts)
        if item is not None:
            items.append(item)
    return Parsed(tuple(items), bool(items) or (bare_list and not seen and not counts), counts)


_EMPTY_LIST = object()


def _items(value: Any, depth: int = 0) -> Iterator[Any]:
    """The items of an answer: of lists, of wrappers around lists, and single ones."""
    if isinstance(value, list):
        yield from _of_list(value, depth)
    elif not isinstance(value, dict) or _looks_like_item(value):
        yield value
    elif isinstance(value.get("facts"), list):
        yield from _of_list(value["facts"], depth)
    elif depth < _NESTING:
        for held in value.values():
            if isinstance(held, list | dict):
                yield from _items(held, depth + 1)


def _of_list(items: list[Any], depth: int) -> Iterator[Any]:
    if not items:
        yield _EMPTY_LIST
    for item in items:
        if isinstance(item, dict):
            yield from list(_items(item, depth + 1)) or [item]
        else:
            yield item


def _looks_like_item(value: dict[str, Any]) -> bool:
    return any(name in value for name in _FIELDS)


def _item(raw: Any, counts: Counter[str]) -> Proposed | None:
    problem, fact = _read(raw)
    if problem:
        counts[problem] += 1
    return fact


def _read(raw: Any) -> tuple[str, Proposed | None]:
    if not isinstance(raw, dict):
        return "wrong_type", None
    if any(raw.get(name) in (None, "") for name in _FIELDS):
        return "missing_field", None
    subject, predicate, obj = (_name(raw[name]) for name in _FIELDS)
    if subject is None or predicate is None or obj is None:
        return "wrong_type", None
    if not (subject and predicate and obj):
        return "missing_field", None
    if max(len(subject), len(obj)) > _LONGEST_NAME:
        return "too_long", None
    spelled = _predicate(predicate)
    if spelled is None:
        return "bad_predicate", None
    return "", Proposed(
        subject,
        spelled,
        obj,
        _confidence(raw.get("confidence")),
        _switch(raw.get("replace")),
        _number(raw.get("turn")),
        _type(raw.get("subject_type")),
        _type(raw.get("object_type")),
    )


def _name(value: Any) -> str | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return str(value)
    return " ".join(value.split()) if isinstance(value, str) else None


def _predicate(text: str) -> str | None:
    """As UPPER_SNAKE_CASE, or None when nothing of it can be spelled so."""
    if len(text) <= 64 and _PREDICATE.fullmatch(text):
        return text
    plain = unicodedata.normalize("NFKD", _CAMEL.sub("_", text)).encode("ascii", "ignore").decode()
    spelled = re.sub(r"[^A-Z0-9]+", "_", plain.upper()).strip("_").lstrip("0123456789_")
    return spelled if len(spelled) <= 64 and _PREDICATE.fullmatch(spelled) else None


def _confidence(value: Any) -> float:
    """Between 0 and 1. What is not a number means little either way."""
    if isinstance(value, str):
        text = value.strip().casefold()
        if text in _IN_WORDS:
            return _IN_WORDS[text]
        try:
            value = float(text.rstrip("%")) / (100 if text.endswith("%") else 1)
        except ValueError:
            return _UNSTATED_CONFIDENCE
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return _UNSTATED_CONFIDENCE
    if 1 < value <= 100:
        value = value / 100 if value > 10 else value / 10
    return min(1.0, max(0.0, float(value)))


def _switch(value: Any) -> bool:
    return value is True or (isinstance(value, str) and value.strip().casefold() == "true")


def _number(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        digits = re.search(r"\d{1,6}", value)
        return int(digits.group()) if digits else None
    if isinstance(value, int | float) and math.isfinite(value):
        return int(value)
    return None


def _type(value: Any) -> str | None:
    text = " ".join(value.split()) if isinstance(value, str) else ""
    return text if 0 < len(text) <= _LONGEST_TYPE else None

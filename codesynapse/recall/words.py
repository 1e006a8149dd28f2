"""How recalled things are put in words: plain text, ages, qualifiers. Pure.

What comes out of ``plain`` is one line without anything invisible, so that no stored text can
forge a line, a fence or a direction of reading.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import datetime, timedelta, tzinfo

__all__ = [
    "LOW_CONFIDENCE",
    "OUTDATED_AFTER",
    "age_in_days",
    "age_in_words",
    "count_tokens",
    "old_in_words",
    "plain",
    "utf16_units",
]

OUTDATED_AFTER = timedelta(days=180)
LOW_CONFIDENCE = 0.7

# Letters and marks that show nothing: Hangul fillers, the grapheme joiner, Khmer inherent vowels,
# Mongolian and ideographic variation selectors, the Braille blank, and what Unicode reserves as
# ignorable or no character. All could carry hidden text. Other unassigned ones stay: they are
# letters and emoji of a later Unicode.
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u2800\u3164\ufdd0-\ufdef\ufe00-\ufe0e"
    "\uffa0\ufff0-\ufff8\ufffe\uffff\U000e0000-\U000e0fff]"
)
_DROPPED = frozenset({"Cf", "Cs", "Co"})
_SPACED = frozenset({"Cc", "Zl", "Zp", "Zs"})


def plain(text: str) -> str:
    """One visible line: line ends and controls become a space, what shows nothing is removed."""
    if text.isascii() and text.isprintable():
        return " ".join(text.split())
    kept = (_visible(character) for character in _BLANK.sub("", text))
    return " ".join("".join(kept).split())


def _visible(character: str) -> str:
    category = unicodedata.category(character)
    if category in _SPACED:
        return " "
    return "" if category in _DROPPED else character


def utf16_units(text: str) -> int:
    """How long a client that counts in UTF-16 units finds this text."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def count_tokens(text: str) -> int:
    """A generous estimate of a model's tokens: 3 letters each, 2 for what is not ASCII."""
    ascii_letters = len(text.encode("ascii", "ignore"))
    return -(-ascii_letters // 3) + 2 * (len(text) - ascii_letters)


def age_in_days(said: datetime, now: datetime, zone: tzinfo | None) -> int:
    """Days between the two by the calendar of ``zone`` (the system's when None); never negative."""
    days = (now.astimezone(zone).date() - said.astimezone(zone).date()).days
    return max(days, 0)


def age_in_words(days: int) -> str:
    """``today``, ``1 day ago``, ``12 days ago``."""
    return "today" if days == 0 else _ago(days, "day")


def old_in_words(days: int) -> str:
    """The coarser words of the qualifier: ``8 months ago``, ``2 years ago``."""
    if days >= 2 * 365:
        return _ago(days // 365, "year")
    return _ago(days // 30, "month") if days >= 30 else age_in_words(days)


def _ago(count: int, unit: str) -> str:
    return f"{count} {unit}{'' if count == 1 else 's'} ago"

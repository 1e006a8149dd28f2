"""Names of entities, types and predicates: what may stand in the graph, and what counts as equal.

Promises: cleaning and folding are idempotent, ``name_key(clean_name(x)) == name_key(x)``, and ids
follow from names alone, so that replicas agree.  Secrets are not looked for here: whoever brings
text from outside redacts it first.
"""

from __future__ import annotations

import re
import unicodedata
from hashlib import blake2b

from codesynapse.errors import Invalid, InvalidPredicate

__all__ = [
    "MAX_NAME",
    "MAX_PREDICATE",
    "MAX_TYPE",
    "USER",
    "USER_KEY",
    "check_predicate",
    "clean_name",
    "clean_type",
    "entity_id",
    "fact_id",
    "name_key",
    "nearest_predicate",
]

MAX_NAME = 120
MAX_TYPE = 40
MAX_PREDICATE = 64
USER = "User"
USER_KEY = "user"

_SELF_KEYS = frozenset({"me", "i", USER_KEY})
_PREDICATE = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*")
_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_REGIONAL = range(0x1F1E6, 0x1F200)
_SKIN_TONES = range(0x1F3FB, 0x1F400)

# Drawn as nothing, yet neither Cc nor Cf: fillers, joiners and variation selectors. A name that
# carries them looks like another one, or smuggles text past the reader.
_FILLERS = (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0)
_SELECTORS = (range(0x180B, 0x1810), range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0))
_INVISIBLE = frozenset(_FILLERS).union(*_SELECTORS)
_DROPPED = frozenset({"Cc", "Cf", "Cs"})  # control, format (bidi, zero width), lone surrogates


def clean_name(text: str) -> str:
    """The name as it is shown: visible characters, single spaces, at most 120 of them.

    ``me``, ``I`` and ``user`` are the entity ``User``.  Raises Invalid when nothing is left.
    """
    cleaned = _visible(text, MAX_NAME)
    key = _fold(cleaned)
    if not key:
        raise Invalid("a name is empty", "give at least one visible character")
    return USER if key in _SELF_KEYS else cleaned


def name_key(text: str) -> str:
    """What two spellings of one name share; empty when ``text`` holds nothing visible."""
    key = _fold(_visible(text, MAX_NAME))
    return USER_KEY if key in _SELF_KEYS else key


def clean_type(text: str | None) -> str | None:
    """A type in lower case, at most 40 characters; None when nothing is left."""
    if text is None:
        return None
    # Lower case can be longer than upper case, so the cut comes last.
    return _visible(_visible(text, MAX_NAME).lower(), MAX_TYPE) or None


def check_predicate(text: str) -> str:
    """``text`` itself when it is UPPER_SNAKE_CASE of at most 64 characters.

    Raises InvalidPredicate, whose hint is the nearest valid spelling, otherwise.
    """
    if len(text) <= MAX_PREDICATE and _PREDICATE.fullmatch(text):
        return text
    nearest = nearest_predicate(text)
    raise InvalidPredicate(
        f"{text[:MAX_PREDICATE]!r} is not a predicate: UPPER_SNAKE_CASE,"
        f" at most {MAX_PREDICATE} characters",
        f"write {nearest}" if nearest else "write something like DEPENDS_ON",
    )


def nearest_predicate(text: str) -> str | None:
    """The valid predicate closest to ``text``, or None when it has no Latin letter to keep."""
    plain = unicodedata.normalize("NFKD", text[: 4 * MAX_PREDICATE])
    plain = "".join(c for c in plain if not unicodedata.combining(c))
    words = re.findall(r"[A-Z0-9]+", _WORD_START.sub("_", plain).upper())
    joined = "_".join(words).lstrip("0123456789_")[:MAX_PREDICATE].rstrip("_")
    return joined or None


def entity_id(scope_key: str, name_key: str) -> str:
    """The id of the entity that the name with this key represents in a scope."""
    return _hash(b"entity", scope_key, name_key)


def fact_id(scope_key: str, subject_id: str, predicate: str, object_id: str) -> str:
    """The id of a fact between two entities of a scope."""
    return _hash(b"fact", scope_key, subject_id, predicate, object_id)


def _hash(kind: bytes, *parts: str) -> str:
    # No part can hold a NUL: scope keys and predicates are checked, names are cleaned.
    text = "\0".join(parts).encode("utf-8", "surrogatepass")
    return blake2b(text, digest_size=16, person=kind).hexdigest()


def _fold(text: str) -> str:
    """NFKC and case folding until neither changes anything, and single spaces."""
    while True:
        folded = unicodedata.normalize("NFKC", text).casefold()
        folded = " ".join(_drop_invisible(unicodedata.normalize("NFKC", folded)).split())
        if folded == text:
            return folded
        text = folded


def _visible(text: str, limit: int) -> str:
    composed = unicodedata.normalize("NFC", _drop_invisible(text))
    return _cut(" ".join(composed.split()), limit).rstrip()


def _drop_invisible(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        " " if c.isspace() else c
        for c in text
        if c.isspace() or (unicodedata.category(c) not in _DROPPED and ord(c) not in _INVISIBLE)
    )


def _cut(text: str, limit: int) -> str:
    """At most ``limit`` characters, never through what a reader sees as one."""
    if len(text) <= limit:
        return text
    end = limit
    while end and _continues(text, end):
        end -= 1
    return text[: end or limit]  # nothing but marks: there is no better place


def _continues(text: str, at: int) -> bool:
    """Whether the character at ``at`` is drawn together with the one before it."""
    code = ord(text[at])
    if code in _REGIONAL:
        before = at
        while before and ord(text[before - 1]) in _REGIONAL:
            before -= 1
        return (at - before) % 2 == 1
    return unicodedata.category(text[at])[0] == "M" or code in _SKIN_TONES

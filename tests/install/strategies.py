"""Valid settings documents in every odd shape, and texts for the block."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

__all__ = ["PROPERTY", "letters", "settings_documents", "texts"]

# A busy machine may draw slowly; that says nothing about the property.
PROPERTY = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])

_EVENTS = ["SessionStart", "PreCompact", "PreToolUse", "SessionEnd", "Stop", "Änderung"]
_NAME = "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE"


def letters(least: int, most: int) -> st.SearchStrategy[str]:
    """Short texts of what is awkward in JSON."""
    return st.text(alphabet='ab"\\/\n\t{}[],: \x7füЖ\u2028😀', min_size=least, max_size=most)


_space = st.text(alphabet=" \t\r\n", max_size=4)
_scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-9, 9), st.floats(allow_nan=False, allow_infinity=False),
    letters(0, 6),
)  # fmt: skip


@st.composite
def _spelt(draw: st.DrawFn, value: Any, space: st.SearchStrategy[str]) -> str:
    """A value as text, with white space wherever JSON allows it and keys perhaps given twice."""
    if isinstance(value, dict):
        members = [
            f"{draw(space)}{json.dumps(key, ensure_ascii=draw(st.booleans()))}{draw(space)}:"
            f"{draw(space)}{draw(_spelt(child, space))}{draw(space)}"
            for key, child in value.items()
        ]
        return "{" + (",".join(members) or draw(space)) + "}"
    if isinstance(value, list):
        items = [f"{draw(space)}{draw(_spelt(child, space))}{draw(space)}" for child in value]
        return "[" + (",".join(items) or draw(space)) + "]"
    return json.dumps(value)


def _values() -> st.SearchStrategy[Any]:
    return st.recursive(
        _scalars,
        lambda inner: st.one_of(
            st.lists(inner, max_size=2), st.dictionaries(letters(0, 3), inner, max_size=2)
        ),
        max_leaves=4,
    )


def _groups() -> st.SearchStrategy[Sequence[Any]]:
    handler = st.fixed_dictionaries(
        {"type": st.just("command"), "command": st.sampled_from(["true", "echo 'ü'", 'say "x"'])}
    )
    group = st.fixed_dictionaries(
        {"hooks": st.lists(handler, max_size=2)}, optional={"matcher": letters(0, 3)}
    )
    return st.lists(st.one_of(group, group, _scalars), max_size=2)


@st.composite
def settings_documents(draw: st.DrawFn) -> bytes:
    """A settings file that is valid, and has none of our entries."""
    document = draw(st.dictionaries(letters(0, 3), _values(), max_size=2))
    if draw(st.booleans()):
        document["hooks"] = draw(st.dictionaries(st.sampled_from(_EVENTS), _groups(), max_size=3))
    if draw(st.booleans()):
        values = {"A": st.just("b"), _NAME: st.sampled_from(["80", 30, "30"])}
        document["env"] = draw(st.fixed_dictionaries({}, optional=values))
    keys = draw(st.permutations(list(document)))
    shuffled = {key: document[key] for key in keys}
    if draw(st.booleans()):
        indents: list[int | str] = [0, 1, 2, 4, "\t"]
        indent = draw(st.sampled_from(indents))
        text = json.dumps(shuffled, indent=indent, ensure_ascii=False)
        text = text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))
    else:
        text = draw(_spelt(shuffled, draw(st.sampled_from([_space, st.just(""), st.just(" ")]))))
    ends = draw(_space), draw(_space)
    start = b"\xef\xbb\xbf" if draw(st.booleans()) else b""
    return start + (ends[0] + text + ends[1]).encode("utf-8", "surrogatepass")


def texts() -> st.SearchStrategy[bytes]:
    """A text file without our markers: any bytes, many line ends."""
    piece = st.one_of(
        st.sampled_from([b"\n", b"\r\n", b"\r", b"# Title", b"\xef\xbb\xbf", b"", b"<!-- x -->"]),
        st.binary(max_size=4).map(lambda data: data.replace(b"\x00", b"")),
    )
    pieces = st.lists(piece, max_size=8).map(b"".join)
    return pieces.filter(lambda data: not data.startswith((b"\xff\xfe", b"\xfe\xff")))

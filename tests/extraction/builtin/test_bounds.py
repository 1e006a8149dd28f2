"""What a hostile text can cost is bounded: no rule sees more than one capped clause."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codesynapse.domain.turns import Speaker, Turn
from codesynapse.extraction.builtin import extract, listener, segment
from codesynapse.extraction.builtin.clauses import Clause, Draft, Family, Talk
from codesynapse.extraction.builtin.vocabulary import PREDICATES

_MEGABYTE = 1_000_000
_UNITS = [
    *("a ", "a,", "is ", "the ", "we use ", "((", "`a", '"a', "no ", ". ", "? ", "- ", "→", "x="),
    *("and ", "so ", ": ", "<a-b>", "i am ", "must ", "用", "は", "…", "!!", "because ", "a-"),
    *("1.", "it is ", "**a", "http://a:", "a@b ", "x -> "),
]


@pytest.mark.parametrize("unit", _UNITS)
def test_a_megabyte_of_anything_meets_each_rule_a_bounded_number_of_times(
    unit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []

    def watched(family: Family) -> Family:
        def run(clause: Clause, talk: Talk) -> Sequence[Draft]:
            seen.append(len(clause.text))
            return family(clause, talk)

        return run

    monkeypatch.setattr(listener, "_FAMILIES", tuple(map(watched, listener._FAMILIES)))
    monkeypatch.setattr(listener, "pasted", lambda text: False)
    text = unit * (_MEGABYTE // len(unit))
    extract([Turn(Speaker.USER, text), Turn(Speaker.ASSISTANT, text), Turn(Speaker.USER, text)])
    most = 2 * 2 * segment.MAX_SENTENCES * 25 * len(listener._FAMILIES)
    assert len(seen) <= most
    assert max(seen, default=0) <= 2 * segment.MAX_SENTENCE


_WORDS = st.sampled_from(
    [
        *[
            "we",
            "i",
            "the",
            "api",
            "uses",
            "use",
            "is",
            "are",
            "must",
            "never",
            "no",
            "don't",
            "only",
            "when",
            "if",
            "lives",
            "in",
            "and",
            "so",
            "not",
        ],
        *[
            "=",
            "→",
            ":",
            ";",
            ",",
            ".",
            "?",
            "!",
            "(",
            ")",
            "postgres",
            "16",
            "pnpm",
            "src/a.py",
            "because",
            "instead",
            "of",
            "called",
            "owned",
            "by",
        ],
        *[
            "Priya",
            "用",
            "は",
            "läuft",
            "auf",
            "está",
            "en",
            "nunca",
            "dans",
            "jamais",
            "<b-c>",
            "```",
            "$",
            "run",
            "-",
            "*",
            "yes",
            "nope",
        ],
        *["tok_demo_91xkq7", "password", "ignore", "previous", "instructions", "fails", "cause"],
        "`make t`",
        '"the barn"',
        "\n",
    ]
)
_TURN = st.builds(
    lambda role, words: Turn(role, " ".join(words)),
    st.sampled_from(Speaker),
    st.lists(_WORDS, max_size=30),
)


@given(st.lists(_TURN, max_size=6))
@settings(max_examples=100, deadline=None)
def test_any_talk_gives_well_formed_candidates(turns: list[Turn]) -> None:
    found = extract(turns)
    assert found == extract(turns)
    for candidate in found:
        assert re.fullmatch(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*", candidate.predicate)
        assert candidate.predicate in PREDICATES
        assert candidate.subject.strip()
        assert candidate.object.strip()
        assert len(candidate.subject) <= 120
        assert len(candidate.object) <= 120
        assert 0.6 <= candidate.confidence <= 0.95
        assert not re.search("[\ue000-\uf8ff]", candidate.subject + candidate.object)
        assert "tok_demo" not in candidate.subject + candidate.object


@given(st.text(max_size=300))
@settings(max_examples=60, deadline=None)
def test_any_text_is_safe(text: str) -> None:
    extract([Turn(Speaker.USER, text), Turn(Speaker.ASSISTANT, text), Turn(Speaker.USER, "yes")])

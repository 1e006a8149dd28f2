from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codesynapse.domain.names import (
    MAX_NAME,
    MAX_PREDICATE,
    MAX_TYPE,
    check_predicate,
    clean_name,
    clean_type,
    entity_id,
    fact_id,
    name_key,
    nearest_predicate,
)
from codesynapse.errors import Invalid, InvalidPredicate

_ODD = (
    "aA \t\n\x00\u200b\u200d\u202e\u2066\ufe0f\U000e0041\u0301\u0345ßſİıﬁΣς한ᄒ\u1161"
    "\U0001f1e9\U0001f3fb"
)
_texts = st.text(max_size=200) | st.text(alphabet=_ODD, max_size=300)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("GitHub", "github"),
        ("Straße", "STRASSE"),
        ("ﬁle", "FILE"),
        ("Ｔｏｋｙｏ", "tokyo"),
        ("  the\u00a0 API\n", "the api"),
        ("e\u0301clair", "éclair"),
        ("pay\u200bment", "payment"),
        ("I", "me"),
        ("User", "ME"),
    ],
)
def test_spellings_of_one_name_share_a_key(one: str, other: str) -> None:
    assert name_key(one) == name_key(other)


@pytest.mark.parametrize("text", ["me", "Me", "I", "i", " USER ", "user"])
def test_the_person_is_called_user_whatever_the_spelling(text: str) -> None:
    assert clean_name(text) == "User"
    assert name_key(text) == "user"


@pytest.mark.parametrize("text", ["users", "iOS", "meme", "user-service"])
def test_names_that_merely_begin_like_the_person_are_their_own(text: str) -> None:
    assert clean_name(text) == text
    assert name_key(text) != "user"


@pytest.mark.parametrize(
    "hidden", ["\x00", "\x1b", "\u202e", "\u2066", "\u200d", "\ud800", "\ufe0f"]
)
def test_control_bidi_and_zero_width_characters_are_dropped(hidden: str) -> None:
    assert clean_name(f"re{hidden}dis") == "redis"


def test_letters_of_any_script_stay() -> None:
    for text in ("東京 API", "naïve", "Đặng", "नमस्ते", "🙂"):
        assert clean_name(text) == text


@pytest.mark.parametrize("text", ["", " \t\n", "\u200b\u202e", "\x00", "\u3164", "\ud83d"])
def test_a_name_without_anything_visible_is_refused(text: str) -> None:
    with pytest.raises(Invalid, match="empty"):
        clean_name(text)
    assert name_key(text) == ""


@pytest.mark.parametrize(
    ("tail", "kept"),
    [
        ("xyz", "x"),
        ("e\u0303\u0323z", ""),  # one letter with two marks does not fit whole
        ("👍🏽", ""),
        ("🇩🇪", ""),
        ("🙂🙂", "🙂"),
    ],
)
def test_a_long_name_is_cut_where_a_reader_sees_a_boundary(tail: str, kept: str) -> None:
    assert clean_name("a" * 119 + tail) == "a" * 119 + kept


def test_flags_are_cut_between_pairs() -> None:
    assert clean_name("a" * 118 + "🇩🇪🇫🇷") == "a" * 118 + "🇩🇪"


def test_a_name_of_marks_alone_is_cut_all_the_same() -> None:
    assert len(clean_name("a" + "\u0301" * 500)) == MAX_NAME


@given(_texts)
def test_cleaning_twice_is_cleaning_once(text: str) -> None:
    try:
        cleaned = clean_name(text)
    except Invalid:
        assert name_key(text) == ""
        return
    assert clean_name(cleaned) == cleaned
    assert name_key(cleaned) == name_key(text) == name_key(name_key(text))
    assert 0 < len(cleaned) <= MAX_NAME
    cleaned.encode("utf-8")


@given(_texts)
def test_a_type_is_lower_case_and_short_or_none(text: str) -> None:
    cleaned = clean_type(text)
    assert cleaned is None or (0 < len(cleaned) <= MAX_TYPE and clean_type(cleaned) == cleaned)


def test_types_are_free_in_case() -> None:
    assert clean_type("Tool") == clean_type("TOOL") == "tool"
    assert clean_type(None) is None
    assert clean_type(" \u200b") is None


@pytest.mark.parametrize("text", ["USES", "DEPENDS_ON", "V2", "RUNS_ON_2", "A" * 64])
def test_upper_snake_case_is_a_predicate(text: str) -> None:
    assert check_predicate(text) == text


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ("uses", "USES"),
        ("depends on", "DEPENDS_ON"),
        ("dependsOn", "DEPENDS_ON"),
        ("usesHTTPServer", "USES_HTTP_SERVER"),
        ("_USES__IT_", "USES_IT"),
        ("USES\n", "USES"),
        ("2_FAST", "FAST"),
        ("préfère", "PREFERE"),
        ("USES']-(x) DETACH DELETE x", "USES_X_DETACH_DELETE_X"),
        ("A" * 65, "A" * 64),
    ],
)
def test_anything_else_is_refused_with_the_nearest_spelling(text: str, nearest: str) -> None:
    with pytest.raises(InvalidPredicate) as refused:
        check_predicate(text)
    assert refused.value.hint == f"write {nearest}"


@pytest.mark.parametrize("text", ["", "使用", "42", "__"])
def test_what_has_no_near_spelling_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(InvalidPredicate) as refused:
        check_predicate(text)
    assert "DEPENDS_ON" in refused.value.hint


@given(st.text(max_size=100) | st.text(alphabet="aAbB1_ -", max_size=100))
def test_the_nearest_spelling_is_always_valid(text: str) -> None:
    nearest = nearest_predicate(text)
    if nearest is not None:
        assert check_predicate(nearest) == nearest
        assert len(nearest) <= MAX_PREDICATE


def test_ids_follow_from_names_and_scope_alone() -> None:
    assert re.fullmatch(r"[0-9a-f]{32}", entity_id("session:s1", "redis"))
    assert entity_id("session:s1", "redis") == entity_id("session:s1", "redis")
    assert entity_id("session:s1", "redis") != entity_id("session:s2", "redis")
    assert fact_id("k", "a", "USES", "b") != fact_id("k", "b", "USES", "a")
    assert fact_id("k", "ab", "C", "d") != fact_id("k", "a", "BC", "d")

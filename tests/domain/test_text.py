from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codesynapse.domain.text import (
    MAX_TERMS,
    MAX_WORD,
    Term,
    analyse,
    is_word,
    normalise,
    query_terms,
)


def _finds(query: str, text: str) -> bool:
    """Whether some term of the query matches some word of the text, as a store would."""
    words = analyse(text)
    return any(
        word.startswith(term.text) if term.prefix else word == term.text
        for term in query_terms(query)
        for word in words
    )


@given(st.text())
def test_normalising_twice_changes_nothing(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


@pytest.mark.parametrize(
    ("one", "other"),
    [("ＡＢＣ", "abc"), ("Straße", "STRASSE"), (" a\t b\n", "a b"), ("ﬁle", "FILE")],
)
def test_spellings_of_one_text_are_equal_once_normalised(one: str, other: str) -> None:
    assert normalise(one) == normalise(other)


@given(st.text())
def test_every_word_is_safe_for_any_engine(text: str) -> None:
    words = [*analyse(text), *(term.text for term in query_terms(text))]
    assert all(is_word(word) and len(word) <= MAX_WORD for word in words)


@given(st.text(min_size=1))
def test_a_text_is_found_by_itself_if_it_holds_a_word(text: str) -> None:
    assert bool(query_terms(text)) == bool(analyse(text))
    if analyse(text):
        assert _finds(text, text)


@pytest.mark.parametrize("name", ["fooBarBaz", "foo_bar_baz", "foo-bar-baz", "Foo.bar/baz"])
def test_an_identifier_is_found_whole_and_by_its_parts(name: str) -> None:
    assert analyse(name) == ["foo", "bar", "baz", "foobarbaz"]


def test_a_run_of_capitals_is_one_part() -> None:
    assert analyse("parseHTTPHeader") == ["pars", "http", "header", "parsehttpheader"]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("databases", "the database"),
        ("deployed", "deploy"),
        ("running", "runs"),
        ("caches", "caching"),
        ("adding", "add"),
        ("embedding", "embed"),
        ("fixes", "fix"),
        ("used", "uses"),
        ("based", "base"),
        ("libraries", "library"),
        ("config", "Configuration"),
        ("post", "PostgreSQL"),
        ("postgresql", "PostgreSQL"),
        ("CAFE", "café"),
        ("café", "cafe"),
        ("straße", "STRASSE"),
        ("istanbul", "İstanbul"),
        ("base.py", "src/store/base.py"),
        ("v3.11", "Python v3.11"),
        ("c++", "written in C++"),
        ("C#", "c# and F#"),
        ("Alice", "Alice's laptop"),
        ("ｆｕｌｌｗｉｄｔｈ", "fullwidth"),
    ],
)
def test_it_is_found(query: str, text: str) -> None:
    assert _finds(query, text)


@pytest.mark.parametrize(
    ("query", "text"), [("C++", "C#"), ("port", "sport"), ("us", "user"), ("31", "311")]
)
def test_it_is_not_found(query: str, text: str) -> None:
    assert not _finds(query, text)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("数据", "我们的数据库在上海"),
        ("据库", "数据库"),
        ("库", "数据库"),
        ("設定", "設定ファイル"),
        ("서울", "서울에서"),
        ("ไทย", "ภาษาไทย"),
        ("使う", "redisを使う"),
        ("redis", "redisを使う"),
    ],
)
def test_any_two_neighbours_of_an_unspaced_script_are_found(query: str, text: str) -> None:
    assert _finds(query, text)


def test_neighbours_do_not_cross_spaces_or_scripts() -> None:
    assert analyse("数据 库a存") == ["数", "据", "数据", "库", "a", "存"]
    assert not _finds("据库", "数据 库")


def test_a_query_of_two_characters_is_one_term() -> None:
    assert query_terms("数据") == [Term("数据")]


def test_prefixes_start_at_three_letters_and_never_from_digits() -> None:
    assert query_terms("go api 311") == [Term("go"), Term("api", True), Term("311")]


def test_stop_words_go_unless_nothing_is_left() -> None:
    assert [term.text for term in query_terms("What does the team don't use?")] == ["team", "use"]
    assert [term.text for term in query_terms("what is it")] == ["what", "is", "it"]


@pytest.mark.parametrize(
    "text",
    [
        '"',
        "a:b",
        "AND",
        "(x",
        "don't",
        "*",
        "\0",
        "\ud800",
        "pre-edit",
        "NEAR(a b)",
        "^x",
        "😀",
        "",
    ],
)
def test_any_text_is_a_query(text: str) -> None:
    for term in query_terms(text):
        assert is_word(term.text)


def test_terms_come_once_and_are_bounded() -> None:
    assert query_terms("Redis redis REDIS") == [Term("redis", True)]
    assert len(query_terms(" ".join(f"word{n}" for n in range(10_000)))) == MAX_TERMS


def test_words_of_a_blob_are_cut_the_same_way_on_both_sides() -> None:
    blob = "a1" * 5_000
    assert [len(word) for word in analyse(blob)] == [MAX_WORD]
    assert _finds(blob, blob)

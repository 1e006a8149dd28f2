from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codesynapse.install.json_text import Dialect, JsonRefused, JsonText
from tests.install.strategies import PROPERTY, letters, settings_documents

EDITORS = Dialect(comments=True, trailing_commas=True)


def refuse_constant(name: str) -> Any:
    raise ValueError(name)


@PROPERTY
@given(settings_documents())
def test_reading_and_writing_back_is_the_identity(data: bytes) -> None:
    assert JsonText.parse(data).data == data


@PROPERTY
@given(settings_documents())
def test_values_are_those_that_every_reader_sees(data: bytes) -> None:
    document = JsonText.parse(data)
    assert document.value(document.root) == json.loads(data.decode("utf-8-sig"))


@PROPERTY
@given(
    st.text(alphabet='{}[]":,\\ \n\t0123456789-+.eEtrufalsn/*u\x00é', max_size=12)
    | settings_documents().flatmap(
        lambda data: st.integers(0, len(data)).map(lambda n: data[:n].decode("utf-8-sig", "ignore"))
    )
)
def test_what_is_refused_is_what_is_not_json(text: str) -> None:
    try:
        json.loads(text, parse_constant=refuse_constant)
        valid = True
    except ValueError:
        valid = False
    try:
        JsonText.parse(text.encode("utf-8"))
        read = True
    except JsonRefused:
        read = False
    assert read == valid


@PROPERTY
@given(settings_documents(), letters(4, 6), st.integers() | letters(0, 5))
def test_a_member_put_in_and_taken_out_leaves_the_bytes(data: bytes, key: str, value: Any) -> None:
    document = JsonText.parse(data)
    inner = document.inner(document.root)
    more = document.with_member(document.root, key, value)
    assert json.loads(more.data.decode("utf-8-sig")) == {
        **document.value(document.root),
        key: value,
    }
    empty = "" if document.root.elements else inner
    assert more.without(more.root, len(more.root.elements) - 1, empty).data == data


ARRAYS = [
    "[1]", "[ 1 ]", "[1,2]", "[1, 2]", "[1,]", "[\n  1\n]", "[\n  1,\n]", "[\n\t1 // one\n]",
    "[\n  1, // one\n]", "[1 /* one */]", "[1 // one\n]", "[1, // one\n]", "[\n  1\n  // 2\n]",
    "[\r\n  1,\r\n  2\r\n]", "[\n  1,\n  // more\n  2 /* b */\n  /* c */ ]",
]  # fmt: skip


@pytest.mark.parametrize("text", ARRAYS)
def test_an_item_goes_in_and_out_of_an_array_with_comments(text: str) -> None:
    document = JsonText.parse(text.encode(), EDITORS)
    more = document.with_item(document.root, 3)
    count = len(document.root.elements)
    assert more.value(more.root) == [*document.value(document.root), 3]
    assert more.without(more.root, count).text == text


@pytest.mark.parametrize("text", ARRAYS)
def test_taking_out_any_item_keeps_the_others_and_every_comment(text: str) -> None:
    document = JsonText.parse(text.encode(), EDITORS)
    for index in range(len(document.root.elements)):
        less = document.without(document.root, index)
        expected = document.value(document.root)
        del expected[index]
        assert less.value(less.root) == expected
        assert less.text.count("//") == text.count("//")


def test_the_last_of_a_duplicate_key_counts() -> None:
    document = JsonText.parse(b'{"a": 1, "a": {"b": 2}}')
    found = document.find("a", "b")
    assert found is not None
    assert document.with_raw(found, "3").data == b'{"a": 1, "a": {"b": 3}}'


def test_a_new_member_takes_indentation_and_line_ends_from_the_document() -> None:
    document = JsonText.parse(b'\xef\xbb\xbf{\r\n\t"a": {}\r\n}')
    inner = document.find("a")
    assert inner is not None
    more = document.with_member(inner, "b", [1])
    assert more.data == (b'\xef\xbb\xbf{\r\n\t"a": {\r\n\t\t"b": [\r\n\t\t\t1\r\n\t\t]\r\n\t}\r\n}')


def test_a_document_on_one_line_stays_on_one_line() -> None:
    document = JsonText.parse(b'{"a":1}')
    assert document.with_member(document.root, "b", {"c": []}).data == b'{"a":1, "b": {"c": []}}'


def test_a_comment_between_empty_brackets_stays() -> None:
    document = JsonText.parse(b"{ // mine\n}", EDITORS)
    more = document.with_member(document.root, "a", 1)
    assert more.data == b'{ // mine\n  "a": 1\n}'


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b'{"a": 1,}', "line 1, column 8: a comma stands before the end"),
        (b'{\n  "a": 1', "line 2, column 9: a comma or } is expected"),
        (b"{} x", "line 1, column 4: something follows the end"),
        (b"", "line 1, column 1: the text ends where a value is expected"),
        (b'{"a": // c\n1}', "line 1, column 7: a value is expected"),
        (b'{"a": "\n"}', "line 1, column 7: a string is broken"),
        (b"{'a': 1}", "line 1, column 2: a key in double quotes is expected"),
        (b'{"a" 1}', "line 1, column 6: a colon is expected"),
        (b'{"\xff": 1}', "not UTF-8 at byte 2"),
        (b"[" * 5000, "line 1, column 202: nested too deeply"),
    ],
)
def test_a_refusal_says_where_and_why(data: bytes, reason: str) -> None:
    with pytest.raises(JsonRefused) as refused:
        JsonText.parse(data)
    assert str(refused.value) == reason

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codesynapse.extraction.parse import MOST_ITEMS, Parsed, parse

FACT = {"subject": "project", "predicate": "USES", "object": "uv", "confidence": 0.9}


def objects(parsed: Parsed) -> list[str]:
    return [item.object for item in parsed.items]


@pytest.mark.parametrize(
    "answer",
    [
        json.dumps({"facts": [FACT]}),
        json.dumps([FACT]),
        json.dumps(FACT),
        json.dumps({"result": {"facts": [FACT]}}),
        json.dumps([{"fact": FACT}]),
        "Here is what I found:\n\n" + json.dumps({"facts": [FACT]}) + "\nHope that helps!",
        "```json\n" + json.dumps({"facts": [FACT]}, indent=2) + "\n```",
        "<think>Maybe [1] or {this}: "
        + json.dumps({"facts": []})
        + "</think>"
        + json.dumps([FACT]),
        "it says uv, so {uv}.</think>\n" + json.dumps({"facts": [FACT]}),
        '{"facts": [' + json.dumps(FACT)[:-1] + ",},]}",
        '{"facts": [' + json.dumps(FACT) + ', {"subject": "project", "predicate": "US',
        '{"facts": [' + json.dumps(FACT) + ', {"subject": "a", "predicate": "B", "object": "c"',
        '{"facts": [' + json.dumps(FACT) + ', {"subject": "a", "tags": ["x", ',
        '{"facts": [{"subject": oops}, ' + json.dumps(FACT) + "]}",
        '{"note": "see {curly} and [1]", "facts": [' + json.dumps(FACT) + "]}",
        "\ufeff" + json.dumps(FACT),
        '{"subject": "project", "predicate": "uses", "object": "uv", "confidence": "high"}',
    ],
)
def test_a_usable_item_is_found_whatever_stands_around_it(answer: str) -> None:
    parsed = parse(answer)

    assert parsed.usable
    assert objects(parsed) == ["uv"]
    assert parsed.items[0].predicate == "USES"
    assert parsed.items[0].confidence == 0.9


@pytest.mark.parametrize("answer", ['{"facts": []}', "[]", "No facts.\n```json\n[]\n```"])
def test_an_empty_list_is_an_answer(answer: str) -> None:
    assert parse(answer) == Parsed(usable=True)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("", "not_json"),
        ("I could not find any facts.", "not_json"),
        ("{}", None),
        ('{"facts": "none"}', None),
        ("<think>" + json.dumps([FACT]), "not_json"),
        ('[{"subject": "a"}]', "missing_field"),
        ('[{"subject": "a", "predicate": "USES", "object": null}]', "missing_field"),
        ('[{"subject": "a", "predicate": "USES", "object": ["b"]}]', "wrong_type"),
        ('[{"subject": true, "predicate": "USES", "object": "b"}]', "wrong_type"),
        ('[["a", "USES", "b"]]', "wrong_type"),
        ("[1, 2, 3]", "wrong_type"),
        ('[{"subject": "a", "predicate": "使う", "object": "b"}]', "bad_predicate"),
        ('[{"subject": "a", "predicate": "USES", "object": "' + "b" * 400 + '"}]', "too_long"),
        ('[{"subject": "a", "predicate": "US', "cut"),
        ("[" * 100_000, "too_deep"),
        ('{"a":' * 100_000, "too_deep"),
    ],
)
def test_what_cannot_be_used_is_counted_by_reason(answer: str, reason: str | None) -> None:
    parsed = parse(answer)

    assert not parsed.usable
    assert not parsed.items
    if reason:
        assert parsed.counts[reason] >= 1


def test_whole_items_before_a_cut_are_kept_and_the_cut_is_counted_once() -> None:
    whole = json.dumps({"facts": [FACT | {"object": f"tool {n}"} for n in range(5)]})

    parsed = parse(whole[: whole.index("tool 4")])

    assert objects(parsed) == ["tool 0", "tool 1", "tool 2", "tool 3"]
    assert parsed.counts == {"cut": 1}


def test_thousands_of_items_are_capped() -> None:
    parsed = parse(json.dumps([FACT | {"object": f"tool {n}"} for n in range(5_000)]))

    assert len(parsed.items) == MOST_ITEMS
    assert parsed.counts["too_many"] == 5_000 - MOST_ITEMS


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.8, 0.8),
        ("0.8", 0.8),
        ("80%", 0.8),
        (80, 0.8),
        (8, 0.8),
        (-3, 0.0),
        (1e30, 1.0),
        (None, 0.7),
        (True, 0.7),
        ("sure", 0.7),
        ("Low", 0.5),
        ({}, 0.7),
    ],
)
def test_confidence_is_read_from_what_models_write(value: Any, expected: float) -> None:
    assert parse(json.dumps(FACT | {"confidence": value})).items[0].confidence == expected


@pytest.mark.parametrize(
    ("value", "expected"), [(3, 3), ("T3", 3), ("3", 3), (None, None), (True, None), ([], None)]
)
def test_the_number_of_the_turn_is_read_leniently(value: Any, expected: int | None) -> None:
    assert parse(json.dumps(FACT | {"turn": value})).items[0].turn == expected


def test_numbers_may_stand_as_names() -> None:
    assert objects(parse(json.dumps(FACT | {"object": 8080}))) == ["8080"]


@pytest.mark.parametrize(
    "answer",
    [
        "<think></think>" * 70_000,
        '["\\x",' * 200_000,
        "{" * 1_000_000,
        '[{"a":' * 200_000,
        "</think>{" * 100_000,
        '{"facts":[' + '{"subject": x},' * 60_000,
    ],
    ids=["thoughts", "escapes", "braces", "nested", "closings", "broken items"],
)
def test_hostile_answers_cost_little_time(answer: str) -> None:
    start = time.process_time()

    parse(answer)

    assert time.process_time() - start < 2


names = st.text(st.characters(blacklist_categories=("Cs", "Cc")), min_size=1, max_size=40).map(
    lambda text: " ".join(text.split())
)
facts = st.lists(
    st.fixed_dictionaries(
        {
            "subject": names.filter(bool),
            "predicate": st.from_regex(r"[A-Z][A-Z0-9]{0,9}(_[A-Z0-9]{1,5}){0,3}", fullmatch=True),
            "object": names.filter(bool),
            "confidence": st.floats(0, 1),
            "replace": st.booleans(),
            "turn": st.integers(1, 99),
        }
    ),
    max_size=6,
)


@given(facts, st.booleans())
def test_a_well_formed_answer_comes_through_whole(
    items: list[dict[str, Any]], ascii_: bool
) -> None:
    parsed = parse(json.dumps({"facts": items}, ensure_ascii=ascii_))

    assert parsed.usable
    assert not parsed.counts
    assert [
        {
            "subject": item.subject,
            "predicate": item.predicate,
            "object": item.object,
            "confidence": item.confidence,
            "replace": item.replace,
            "turn": item.turn,
        }
        for item in parsed.items
    ] == items


@given(facts, st.data())
def test_a_cut_answer_gives_the_first_items_and_no_others(
    items: list[dict[str, Any]], data: st.DataObject
) -> None:
    whole = json.dumps({"facts": items})
    end = data.draw(st.integers(0, len(whole)))

    got = objects(parse(whole[:end]))

    assert got == [item["object"] for item in items][: len(got)]
    closed = [n for n in range(len(items) + 1) if len(json.dumps({"facts": items[:n]})) - 2 <= end]
    assert len(got) >= (max(closed) if closed else 0)


@given(st.text(alphabet='{}[]",:\\ \nabc<>/think0.5eE-tfn`', max_size=200))
def test_no_text_makes_it_raise(text: str) -> None:
    parsed = parse(text)

    assert parsed.usable or not parsed.items


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(["facts", "subject", "predicate", "object", "confidence", "x"]),
                inner,
                max_size=5,
            )
        ),
        max_leaves=12,
    )
)
def test_no_json_value_makes_it_raise(value: Any) -> None:
    for item in parse(json.dumps(value)).items:
        assert item.subject
        assert item.object
        assert 0 <= item.confidence <= 1

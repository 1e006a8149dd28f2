from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from codesynapse.errors import Invalid
from codesynapse.evals.extraction import Fact, predict, read_lines, score, score_case, write_lines


def _want(subject: str, said: str, negated: bool = False) -> dict[str, Any]:
    return {"subject": [subject], "object": [said], "about": said, "negated": negated}


def _case(**parts: Any) -> dict[str, Any]:
    return {"id": "c", "kind": "k", "lang": "en", "expect": [], "forbid": [], **parts}


def _fact(subject: str, predicate: str, said: str) -> dict[str, Any]:
    return {"subject": subject, "predicate": predicate, "object": said, "confidence": 0.9}


def test_a_match_needs_the_object_and_the_subject() -> None:
    case = _case(expect=[_want("api", "redis")])
    assert score_case(case, [Fact("the api", "USES", "Redis 7")])[0].matched == 1
    assert score_case(case, [Fact("the web", "USES", "Redis 7")])[0].wrong == 1
    assert score_case(case, [Fact("redis", "USED_BY_API", "x")])[0].matched == 1


def test_matching_is_one_to_one_and_maximal() -> None:
    case = _case(expect=[_want("api", "redis"), _want("api", "7")])
    both = [Fact("api", "USES", "redis 7"), Fact("api", "USES", "redis")]
    tally, _ = score_case(case, both)
    assert (tally.matched, tally.duplicate) == (2, 0)
    tally, _ = score_case(case, [*both, Fact("api", "RUNS", "redis")])
    assert (tally.matched, tally.duplicate) == (2, 1)


def test_short_words_and_numbers_need_their_edges() -> None:
    case = _case(expect=[_want("db", "15"), _want("qa", "14")])
    tally, _ = score_case(case, [Fact("dbx", "IS", "15"), Fact("qa", "KEPT_FOR", "3.14")])
    assert tally.matched == 0


def test_a_denial_of_what_is_superseded_is_neutral_and_a_secret_never_is() -> None:
    case = _case(
        expect=[_want("api", "redis")],
        forbid=[
            {"object": ["memcached"], "why": "superseded: gone"},
            {"object": ["tok_1"], "why": "secret: a token"},
        ],
    )
    facts = [
        Fact("api", "DOES_NOT_USE", "memcached"),
        Fact("api", "USES", "memcached"),
        Fact("api", "USES", "redis with tok_1"),
    ]
    tally, _ = score_case(case, facts)
    assert (tally.neutral, tally.forbidden, tally.hard) == (1, 2, 1)


def test_what_is_allowed_counts_neither_way() -> None:
    case = _case(expect=[_want("api", "redis")], allow=[_want("web", "vite")])
    tally, _ = score_case(case, [Fact("api", "USES", "redis"), Fact("web", "USES", "vite")])
    assert tally.rates()["precision_adj"] == 1.0
    assert tally.rates()["precision"] == 0.5


def test_the_figures_add_up_over_cases_and_groups() -> None:
    gold = [_case(id="a", expect=[_want("api", "redis")]), _case(id="b", kind="none", tags=["x"])]
    lines: list[dict[str, Any]] = [
        {
            "id": "a",
            "facts": [_fact("api", "USES", "redis"), {**_fact("y", "IS", "z"), "confidence": 0.1}],
        },
        {"id": "b", "facts": [_fact("api", "USES", "kafka")]},
        {"id": "ghost", "facts": []},
    ]
    report = score(gold, lines, minimum=0.5)
    rates = report.overall.rates()
    assert (rates["matched"], rates["predicted"], rates["nofact_fp"]) == (1, 2, 1)
    assert (rates["precision_adj"], rates["recall"], rates["f1"]) == (0.5, 1.0, 0.6667)
    assert set(report.groups) == {"kind k", "kind none", "lang en", "tag x"}
    assert (report.missing, report.unknown) == (0, ["ghost"])
    assert report.missed_targets() == [
        "precision_adj is 0.5, the target 0.85",
        "facts from none: 1",
    ]


def test_polarity_is_noted_where_a_denial_is_expected() -> None:
    case = _case(expect=[_want("api", "redis", negated=True)])
    assert score_case(case, [Fact("api", "USES", "redis")])[0].polarity_errors == 1
    assert score_case(case, [Fact("api", "AVOIDS", "redis")])[0].polarity_errors == 0


def test_a_bad_line_is_refused_with_its_number(tmp_path: Path) -> None:
    path = tmp_path / "gold.jsonl"
    path.write_text('{"id": 1}\n\n{"id": \n', encoding="utf-8")
    with pytest.raises(Invalid, match="line 3"):
        read_lines(path)
    path.write_text("[1]\n", encoding="utf-8")
    with pytest.raises(Invalid, match="line 1"):
        read_lines(path)


def test_predictions_survive_the_file(tmp_path: Path) -> None:
    turns = [{"role": "user", "text": "we use pnpm", "at": "2026-01-02T03:04:05Z"}]
    lines = predict([{"id": "é", "turns": turns}])
    write_lines(tmp_path / "out.jsonl", lines)
    assert read_lines(tmp_path / "out.jsonl") == lines
    assert json.loads(json.dumps(lines))[0]["facts"][0]["object"] == "pnpm"

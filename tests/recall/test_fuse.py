"""Reciprocal rank fusion holds its bounds and never punishes a better rank."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from codesynapse.recall.fuse import RRF_K, by_score, fuse, in_order

RANKINGS = st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=8), max_size=4)


def fused(*rankings: list[str]) -> dict[str, float]:
    return dict(fuse(map(in_order, rankings)))


@given(RANKINGS)
def test_every_id_comes_once_with_a_score_within_the_bounds(rankings: list[list[str]]) -> None:
    scores = fuse(map(in_order, rankings))
    assert {id_ for id_, _ in scores} == {id_ for ranking in rankings for id_ in ranking}
    assert len(dict(scores)) == len(scores)
    assert all(0 < score <= len(rankings) / (RRF_K + 1) for _, score in scores)


@given(RANKINGS)
def test_the_best_score_comes_first_and_the_order_of_the_legs_is_nothing(
    rankings: list[list[str]],
) -> None:
    scores = fuse(map(in_order, rankings))
    assert [score for _, score in scores] == sorted((score for _, score in scores), reverse=True)
    turned = dict(fuse(map(in_order, rankings[::-1])))
    assert all(abs(turned[id_] - score) < 1e-12 for id_, score in scores)


@given(RANKINGS, st.permutations("abcdef"), st.integers(1, 5))
def test_moving_an_id_up_never_lowers_its_score(
    others: list[list[str]], ranking: list[str], place: int
) -> None:
    mover = ranking[place]
    better = [*ranking[: place - 1], mover, ranking[place - 1], *ranking[place + 1 :]]
    assert fused(*others, better)[mover] > fused(*others, ranking)[mover]


def test_what_two_legs_agree_on_beats_what_one_leg_puts_first() -> None:
    assert next(iter(fused(["a", "both"], ["b", "both"]))) == "both"


def test_nothing_gives_nothing() -> None:
    assert fuse([]) == []
    assert fused([], []) == {}


def test_equal_scores_share_a_rank_and_leave_a_gap_behind() -> None:
    assert by_score([("c", 1.0), ("a", 2.0), ("b", 2.0)]) == {"a": 1, "b": 1, "c": 3}
    assert by_score([("a", 0.1 + 0.2), ("b", 0.3)]) == {"a": 1, "b": 1}

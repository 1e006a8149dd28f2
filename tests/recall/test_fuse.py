"""Reciprocal rank fusion holds its bounds and never punishes a better rank."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from codesynapse.recall.fuse import RRF_K, fuse

RANKINGS = st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=8), max_size=4)


@given(RANKINGS)
def test_every_id_comes_once_with_a_score_within_the_bounds(rankings: list[list[str]]) -> None:
    fused = fuse(rankings)
    assert {id_ for id_, _ in fused} == {id_ for ranking in rankings for id_ in ranking}
    assert len(dict(fused)) == len(fused)
    assert all(0 < score <= len(rankings) / (RRF_K + 1) for _, score in fused)


@given(RANKINGS)
def test_the_best_score_comes_first_and_the_order_of_the_legs_is_nothing(
    rankings: list[list[str]],
) -> None:
    fused = fuse(rankings)
    assert [score for _, score in fused] == sorted((score for _, score in fused), reverse=True)
    turned = dict(fuse(rankings[::-1]))
    assert all(abs(turned[id_] - score) < 1e-12 for id_, score in fused)


@given(RANKINGS, st.permutations("abcdef"), st.integers(1, 5))
def test_moving_an_id_up_never_lowers_its_score(
    others: list[list[str]], ranking: list[str], place: int
) -> None:
    mover = ranking[place]
    better = [*ranking[: place - 1], mover, ranking[place - 1], *ranking[place + 1 :]]
    assert dict(fuse([*others, better]))[mover] > dict(fuse([*others, list(ranking)]))[mover]


def test_what_two_legs_agree_on_beats_what_one_leg_puts_first() -> None:
    assert next(id_ for id_, _ in fuse([["a", "both"], ["b", "both"]])) == "both"


def test_nothing_gives_nothing() -> None:
    assert fuse([]) == []
    assert fuse([[], []]) == []

"""Facts are ordered by what matters, and no entity takes all the places."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from codesynapse.domain.graph import FactRow, Interval, Source
from codesynapse.domain.ranking import by_strength, rank_facts, render_fact, share_places

START = datetime(2026, 1, 1, tzinfo=UTC)
SOURCE = Source("test", START)


def fact(
    id_: str, subject: str = "a", object_: str = "b", confidence: float = 0.8,
    confirmations: int = 1, days: int = 0,
) -> FactRow:  # fmt: skip
    interval = Interval(START + timedelta(days=days), None)
    return FactRow(
        id=id_,
        subject_id=subject,
        predicate="USES",
        object_id=object_,
        confidence=confidence,
        confirmations=confirmations,
        intervals=(interval,),
        said_by=None,
        newest=SOURCE,
        first_stored_at=START,
    )


ENDS = st.sampled_from("abcdef")
FACTS = st.lists(
    st.builds(
        fact,
        id_=st.integers(0, 999).map(str),
        subject=ENDS,
        object_=ENDS,
        confidence=st.sampled_from([0.6, 0.8, 1.0]),
        confirmations=st.integers(1, 3),
        days=st.integers(0, 3),
    ),
    max_size=30,
    unique_by=lambda row: row.id,
)


def test_relevance_comes_before_confidence_confirmations_and_age() -> None:
    rows = [
        fact("old"),
        fact("new", days=2),
        fact("said often", confirmations=3),
        fact("sure", confidence=0.9),
        fact("relevant", confidence=0.6),
    ]
    ranked = rank_facts(rows, {"relevant": 0.1})
    assert [row.id for row in ranked] == ["relevant", "sure", "said often", "new", "old"]
    assert [row.id for row in by_strength(rows)][:2] == ["sure", "said often"]


@given(FACTS)
def test_the_order_of_arrival_never_matters(rows: list[FactRow]) -> None:
    shuffled = sorted(rows, key=lambda row: row.id[::-1])
    assert by_strength(shuffled) == by_strength(rows)
    assert rank_facts(shuffled, {}) == by_strength(rows)


@given(FACTS, st.integers(1, 40), st.integers(1, 10))
def test_places_are_shared_and_none_is_wasted(
    rows: list[FactRow], limit: int, per_entity: int
) -> None:
    placed = share_places(rows, limit, per_entity)
    assert len(placed) == min(limit, len(rows))
    assert len({row.id for row in placed}) == len(placed)


@given(FACTS, st.integers(1, 5))
def test_what_is_passed_over_stands_behind_what_was_not(
    rows: list[FactRow], per_entity: int
) -> None:
    placed = share_places(rows, len(rows), per_entity)
    taken: dict[str, int] = {}
    passed = False
    for row in placed:
        ends = {row.subject_id, row.object_id}
        if any(taken.get(end, 0) >= per_entity for end in ends):
            passed = True
        elif not passed:
            for end in ends:
                taken[end] = taken.get(end, 0) + 1
    assert all(count <= per_entity for count in taken.values())


def test_a_fact_reads_as_a_sentence() -> None:
    row = fact("1", "a", "b")
    assert render_fact(row, {"a": "payments-api", "b": "PostgreSQL"}) == (
        "payments-api uses PostgreSQL"
    )

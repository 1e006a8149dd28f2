from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codesynapse.domain.batch import Batch
from codesynapse.domain.folding import representatives
from codesynapse.domain.graph import EntityRow, Interval, Order, Source, StatementRow
from codesynapse.domain.turns import Speaker
from tests.domain.memory_graph import MemoryGraph
from tests.domain.saying import (
    SCOPE,
    SOURCE,
    at,
    batch,
    fact_of,
    graph_of,
    identity,
    say,
    write,
)


def _said(*texts: str) -> MemoryGraph:
    """One batch each, a minute apart."""
    return graph_of(*[batch(f"b{n}", say(text, n)) for n, text in enumerate(texts)])


def _held(graph: MemoryGraph, text: str) -> list[tuple[float, float | None]]:
    def minutes(moment: object) -> float:
        return (moment - at(0)).total_seconds() / 60  # type: ignore[operator, no-any-return]

    return [
        (minutes(start), None if end is None else minutes(end))
        for start, end in fact_of(graph, text).intervals
    ]


def _entity(graph: MemoryGraph, name: str) -> EntityRow:
    rows = graph.rows(SCOPE)
    return rows.entities[rows.names[name].entity_id]


# Saying again


def test_a_fact_said_again_is_confirmed_and_keeps_its_start_and_highest_confidence() -> None:
    graph = graph_of(
        batch("b2", say("API USES redis", 5, confidence=0.9)),
        batch("b1", say("api USES Redis", 1, confidence=0.7)),
        batch("b3", say("api USES redis", 9, confidence=0.8)),
    )
    fact = fact_of(graph, "api USES redis")
    assert fact.id == identity("api", "USES", "redis")
    assert (fact.confirmations, fact.confidence) == (3, 0.9)
    assert _held(graph, "api USES redis") == [(1, None)]


def test_one_batch_confirms_once_however_often_it_says_it() -> None:
    graph = graph_of(batch("b1", say("api USES redis"), say("API USES redis", 1)))
    assert fact_of(graph, "api USES redis").confirmations == 1
    assert len(graph.rows(SCOPE).statements) == 2


def test_the_newest_provenance_and_the_earliest_storing_are_kept() -> None:
    late = Batch("b1", (say("api USES redis", 9),), SOURCE)
    early_source = Source("early", at(5))
    early = Batch("b2", (say("api USES redis", 1),), early_source)
    fact = fact_of(graph_of(late, early), "api USES redis")
    assert fact.newest.client == "test"
    assert fact.first_stored_at == at(5)


@pytest.mark.parametrize(
    ("speakers", "said_by"),
    [
        ([None], None),
        ([Speaker.ASSISTANT, None], Speaker.ASSISTANT),
        ([Speaker.USER, Speaker.ASSISTANT], Speaker.USER),
    ],
)
def test_what_a_person_ever_said_is_said_by_the_person(
    speakers: list[Speaker | None], said_by: Speaker | None
) -> None:
    said = [say("api USES redis", n, speaker=who) for n, who in enumerate(speakers)]
    assert fact_of(graph_of(batch("b1", *said)), "api USES redis").said_by is said_by


# Validity


def test_a_then_b_then_a_again_is_three_intervals_and_a_is_current() -> None:
    graph = _said("api PORT! 8000", "api PORT! 9000", "api PORT! 8000")
    assert _held(graph, "api PORT 8000") == [(0, 1), (2, None)]
    assert _held(graph, "api PORT 9000") == [(1, 2)]
    assert fact_of(graph, "api PORT 8000").holds_at(at(0.5))
    assert not fact_of(graph, "api PORT 8000").holds_at(at(1))


def test_replace_closes_every_other_open_value_and_nothing_else() -> None:
    graph = _said("api PORT 1", "api PORT 2", "web PORT 3", "api HOST h", "api PORT! 4")
    assert not fact_of(graph, "api PORT 1").current
    assert not fact_of(graph, "api PORT 2").current
    assert fact_of(graph, "web PORT 3").current
    assert fact_of(graph, "api HOST h").current
    assert fact_of(graph, "api PORT 4").current


def test_a_late_older_value_becomes_a_closed_interval() -> None:
    graph = graph_of(batch("b9", say("api PORT! 9000", 5)))
    write(graph, batch("b1", say("api PORT! 8000", 2)))
    assert _held(graph, "api PORT 8000") == [(2, 5)]
    assert _held(graph, "api PORT 9000") == [(5, None)]


def test_a_late_replace_closes_only_what_was_said_before_it() -> None:
    graph = _said("api PORT 1", "api HOST x", "api PORT 2")
    write(graph, batch("late", say("api PORT! 3", 1)))
    assert _held(graph, "api PORT 1") == [(0, 1)]
    assert _held(graph, "api PORT 2") == [(2, None)]
    assert fact_of(graph, "api PORT 3").current


def test_at_one_moment_the_batch_id_and_then_the_place_decide() -> None:
    later, earlier = batch("b2", say("api PORT! 2")), batch("b1", say("api PORT! 1"))
    for graph in (graph_of(later, earlier), graph_of(earlier, later)):
        assert fact_of(graph, "api PORT 2").current
        assert _held(graph, "api PORT 1") == [(0, 0)]
    graph = graph_of(batch("b1", say("api PORT! 2"), say("api PORT! 1")))
    assert fact_of(graph, "api PORT 1").current


def test_a_fact_can_be_closed_and_said_again() -> None:
    graph = _said("api USES redis", "api USES- redis", "api USES redis")
    assert _held(graph, "api USES redis") == [(0, 1), (2, None)]
    assert fact_of(graph, "api USES redis").confirmations == 2


def test_an_end_that_arrives_before_what_it_ends_is_not_lost() -> None:
    graph = graph_of(batch("b2", say("api USES- redis", 5)))
    fact = fact_of(graph, "api USES redis")
    assert (fact.intervals, fact.confirmations) == ((Interval(at(5), at(5)),), 0)
    write(graph, batch("b1", say("api USES redis", 1)))
    assert _held(graph, "api USES redis") == [(1, 5)]


# Names


def test_the_spelling_first_said_is_shown_though_it_came_last() -> None:
    graph = graph_of(batch("b2", say("REDIS IS fast", 5)), batch("b1", say("Redis IS fast", 1)))
    assert _entity(graph, "redis").name == "Redis"


def test_the_newest_type_is_shown_whatever_the_name_it_was_given_to() -> None:
    graph = graph_of(
        batch("b1", say("a USES b", 0, types=("Tool", None))),
        batch("b2", say("a SAME_AS c", 1)),
        batch("b3", say("c USES b", 2, types=("FILE", None))),
        batch("b4", say("a USES b", 3)),
    )
    assert _entity(graph, "a").type == "file"
    assert _entity(graph, "b").type is None


def test_within_one_statement_the_subject_comes_first() -> None:
    graph = graph_of(batch("b1", say("Redis IS REDIS", types=("tool", "person"))))
    assert _entity(graph, "redis") == EntityRow(_entity(graph, "redis").id, "Redis", "tool")


# One entity under several names


def test_same_as_makes_the_object_an_alias_and_joins_equal_facts() -> None:
    graph = graph_of(
        batch("b1", say("api USES redis", 3, confidence=0.7)),
        batch("b2", say("backend USES redis", 1, confidence=0.9)),
        batch("b3", say("web CALLS backend", 2)),
        batch("b4", say("api SAME_AS Backend", 9)),
    )
    assert _entity(graph, "backend") == EntityRow(
        _entity(graph, "api").id, "api", None, ("backend",)
    )
    fact = fact_of(graph, "backend USES redis")
    assert fact.id == identity("api", "USES", "redis")
    assert (fact.confirmations, fact.confidence) == (2, 0.9)
    assert _held(graph, "api USES redis") == [(1, None)]
    assert identity("backend", "USES", "redis") not in graph.rows(SCOPE).facts
    assert fact_of(graph, "web CALLS api").id == identity("web", "CALLS", "api")
    assert {row.fact_id for row in graph.rows(SCOPE).statements.values()} == {
        None,
        fact.id,
        identity("web", "CALLS", "api"),
    }


def test_the_display_name_of_a_merged_entity_is_that_of_the_subject() -> None:
    graph = _said("postgres IS fast", "PostgreSQL SAME_AS Postgres")
    assert _entity(graph, "postgres").name == "PostgreSQL"


def test_a_merge_lets_replace_reach_the_values_of_both() -> None:
    graph = _said("api PORT 1", "backend PORT! 2", "api SAME_AS backend")
    assert _held(graph, "api PORT 1") == [(0, 1)]
    assert fact_of(graph, "api PORT 2").current


def test_cycles_and_chains_of_aliases_end_in_one_entity() -> None:
    cycle = _said("a SAME_AS b", "b SAME_AS c", "c SAME_AS a", "c USES x")
    chain = _said("c SAME_AS d", "b SAME_AS c", "a SAME_AS b", "d USES x")
    for graph in (cycle, chain):
        assert graph.counts(SCOPE).entities == 2
        assert fact_of(graph, "a USES x").id == identity("a", "USES", "x")


def test_a_late_older_same_as_changes_who_represents_the_entity() -> None:
    graph = _said("x USES a", "a SAME_AS b")
    assert _entity(graph, "b").name == "a"
    write(graph, batch("late", say("b SAME_AS a", -1)))
    assert _entity(graph, "a").name == "b"
    assert set(graph.rows(SCOPE).facts) == {identity("x", "USES", "b")}


def test_two_spellings_of_one_name_are_no_merge() -> None:
    graph = _said("redis USES x", "Redis SAME_AS REDIS")
    assert _entity(graph, "redis").aliases == ()


def test_a_fact_that_points_at_its_own_subject_is_closed() -> None:
    graph = _said("api USES backend", "api USES redis", "api SAME_AS backend")
    assert _held(graph, "api USES api") == [(0, 0)]
    assert fact_of(graph, "api USES redis").current
    write(graph, batch("again", say("backend USES api", 7)))
    fact = fact_of(graph, "api USES api")
    assert (fact.current, fact.confirmations) == (False, 2)


def test_what_a_value_replaced_stays_closed_when_it_turns_out_to_be_the_subject() -> None:
    graph = _said("api USES npm", "api USES! pnpm", "api SAME_AS pnpm")
    assert _held(graph, "api USES npm") == [(0, 1)]


_keys = st.sampled_from("abcdef")


@given(st.lists(st.tuples(_keys, _keys), max_size=12))
@settings(deadline=None)
def test_representatives_follow_from_the_set_and_unite_what_is_linked(
    pairs: list[tuple[str, str]],
) -> None:
    rows = [
        StatementRow(Order(at(n // 3), "b", n), one, "SAME_AS", other, 1.0, SOURCE, None)
        for n, (one, other) in enumerate(pairs)
    ]
    roots = representatives(rows)
    assert roots == representatives(reversed(rows))
    assert all(roots[one] == roots[other] for one, other in pairs)
    assert all(roots[root] == root for root in roots.values())

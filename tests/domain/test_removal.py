from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codesynapse.domain.batch import (
    Batch,
    plan_entity_removal,
    plan_removal,
    removal_touches,
)
from codesynapse.domain.folding import fold
from codesynapse.domain.graph import SAME_AS, Plan, StatementRow
from codesynapse.errors import StaleRevision
from tests.domain.memory_graph import MemoryGraph, Rows
from tests.domain.saying import SCOPE, SOURCE, batch, batches, fact_of, graph_of, say, write

ORIGIN = "carried:x"


def _remove(graph: MemoryGraph, fact_ids: Collection[str], origin: str | None = None) -> Plan:
    facts = [f for id_, f in graph.rows(SCOPE).facts.items() if id_ in fact_ids]
    ends = {end for fact in facts for end in (fact.subject_id, fact.object_id)}
    touches = removal_touches("gone", [graph.rows(SCOPE).entities[id_] for id_ in ends])
    slice_ = graph.slice(SCOPE, touches)
    plan = plan_removal(SCOPE, slice_, fact_ids, "gone", origin=origin)
    graph.apply(plan, SCOPE, slice_.revision)
    return plan


def _remove_entity(graph: MemoryGraph, id_: str) -> Plan:
    rows = graph.rows(SCOPE)
    ends = {id_}
    for fact in rows.facts.values():
        if id_ in (fact.subject_id, fact.object_id):
            ends |= {fact.subject_id, fact.object_id}
    touches = removal_touches("gone", [rows.entities[end] for end in ends])
    slice_ = graph.slice(SCOPE, touches)
    plan = plan_entity_removal(SCOPE, slice_, [id_], "gone")
    graph.apply(plan, SCOPE, slice_.revision)
    return plan


def _without(graph: MemoryGraph, goes: Callable[[StatementRow], bool]) -> Rows:
    """The oracle: what the other statements fold to."""
    kept = [row for row in graph.rows(SCOPE).statements.values() if not goes(row)]
    left = fold(SCOPE.key, [replace(row, fact_id=None) for row in kept])
    return Rows(left.names, left.entities, left.facts, left.statements)


@given(batches(), st.data())
@settings(max_examples=150, deadline=None)
def test_deleted_facts_leave_the_graph_as_if_never_said(
    said: Sequence[Batch], data: st.DataObject
) -> None:
    graph = graph_of(*said)
    ids = sorted(graph.rows(SCOPE).facts)
    gone = data.draw(st.sets(st.sampled_from(ids))) if ids else set()
    origin = data.draw(st.sampled_from([None, ORIGIN]))
    expected = _without(
        graph,
        lambda row: row.fact_id in gone and (origin is None or row.source.origin == origin),
    )
    _remove(graph, gone, origin)
    assert graph.rows(SCOPE) == expected
    assert graph.verify(SCOPE) == []


@given(batches(), st.data())
@settings(max_examples=100, deadline=None)
def test_a_deleted_entity_leaves_nothing_of_itself(
    said: Sequence[Batch], data: st.DataObject
) -> None:
    graph = graph_of(*said)
    ids = sorted(graph.rows(SCOPE).entities)
    if not ids:
        return
    gone = data.draw(st.sampled_from(ids))
    keys = {key for key, name in graph.rows(SCOPE).names.items() if name.entity_id == gone}
    expected = _without(graph, lambda row: bool({row.subject, row.object} & keys))
    _remove_entity(graph, gone)
    assert graph.rows(SCOPE) == expected
    assert not keys & graph.rows(SCOPE).names.keys()


@given(batches(), st.data())
@settings(max_examples=50, deadline=None)
def test_after_a_removal_writing_goes_on_as_if_it_had_never_been_said(
    said: Sequence[Batch], data: st.DataObject
) -> None:
    half = len(said) // 2
    graph = graph_of(*said[:half])
    ids = sorted(graph.rows(SCOPE).facts)
    gone = data.draw(st.sets(st.sampled_from(ids))) if ids else set()
    _remove(graph, gone)
    write(graph, *said[half:])
    assert graph.rows(SCOPE) == _without(graph, lambda row: False)


def test_deleting_what_replaced_another_brings_the_other_back() -> None:
    graph = graph_of(batch("b1", say("api PORT 80")), batch("b2", say("api PORT! 90", 1)))
    _remove(graph, {fact_of(graph, "api PORT 90").id})
    assert fact_of(graph, "api PORT 80").current
    assert "90" not in graph.rows(SCOPE).names


def test_an_alias_outlives_the_facts_and_goes_with_the_entity() -> None:
    graph = graph_of(batch("b1", say("api USES redis"), say("redis SAME_AS cache")))
    _remove(graph, {fact_of(graph, "api USES redis").id})
    assert set(graph.rows(SCOPE).names) == {"redis", "cache"}
    graph = graph_of(batch("b1", say("api USES redis"), say("redis SAME_AS cache")))
    _remove_entity(graph, graph.rows(SCOPE).names["cache"].entity_id)
    assert graph.rows(SCOPE) == Rows()


def test_revoking_an_origin_keeps_what_others_said() -> None:
    carried = replace(SOURCE, origin=ORIGIN)
    graph = graph_of(
        batch("b1", say("api USES redis"), say("api USES kafka"), source=carried),
        batch("b2", say("api USES redis", 1)),
    )
    both = {fact_of(graph, text).id for text in ("api USES redis", "api USES kafka")}
    _remove(graph, both, ORIGIN)
    assert [fact.confirmations for fact in graph.rows(SCOPE).facts.values()] == [1]
    assert "kafka" not in graph.rows(SCOPE).names


def test_deleting_the_first_spelling_shows_the_next_one() -> None:
    graph = graph_of(batch("b1", say("API USES Redis")), batch("b2", say("web USES REDIS", 1)))
    assert graph.rows(SCOPE).names["redis"].display == "Redis"
    _remove(graph, {fact_of(graph, "api USES redis").id})
    assert {e.name for e in graph.rows(SCOPE).entities.values()} == {"web", "REDIS"}


def test_removing_twice_changes_nothing() -> None:
    graph = graph_of(batch("b1", say("api USES redis")))
    gone = {fact_of(graph, "api USES redis").id}
    _remove(graph, gone)
    write(graph, batch("b2", say("api USES redis")))
    assert _remove(graph, gone) == Plan("gone")
    assert fact_of(graph, "api USES redis").confirmations == 1


def test_ids_that_are_not_there_are_passed_over() -> None:
    graph = graph_of(batch("b1", say("api USES redis")))
    assert _remove(graph, {"0" * 32}).empty


def test_a_slice_that_was_asked_too_early_is_refused() -> None:
    graph = graph_of(batch("b1", say("api USES redis")))
    rows = graph.rows(SCOPE)
    redis = rows.entities[rows.names["redis"].entity_id]
    slice_ = graph.slice(SCOPE, removal_touches("gone", [redis]))
    with pytest.raises(StaleRevision):
        plan_entity_removal(SCOPE, slice_, [redis.id], "gone")
    assert not any(row.predicate == SAME_AS for row in slice_.statements)

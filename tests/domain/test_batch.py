from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codesynapse.domain.batch import MAX_STATEMENTS, Batch, Needs
from codesynapse.domain.graph import Limits, Plan, Source
from codesynapse.domain.scope import Scope
from codesynapse.domain.statements import Statement
from codesynapse.errors import Invalid, InvalidPredicate, LimitExceeded, StaleRevision
from tests.domain.memory_graph import MemoryGraph
from tests.domain.saying import (
    LIMITS,
    SCOPE,
    SOURCE,
    at,
    batch,
    batches,
    fact_of,
    folded,
    graph_of,
    say,
    write,
)


@given(batches(), st.data())
@settings(max_examples=200, deadline=None)
def test_any_order_of_batches_gives_what_folding_all_statements_gives(
    said: Sequence[Batch], data: st.DataObject
) -> None:
    order = data.draw(st.permutations([*said, *said[:2]]))
    graph = graph_of(*order)
    assert graph.rows(SCOPE) == folded(said)
    assert graph.verify(SCOPE) == []


@given(batches())
@settings(max_examples=50, deadline=None)
def test_nothing_said_is_lost(said: Sequence[Batch]) -> None:
    stored = graph_of(*said).rows(SCOPE).statements
    assert len(stored) == sum(len(one.statements) for one in said)


@given(batches())
@settings(max_examples=50, deadline=None)
def test_a_plan_holds_only_what_changes(said: Sequence[Batch]) -> None:
    graph = graph_of(*said[:-1])
    before = graph.slice(SCOPE, said[-1].touches(SCOPE))
    plan = said[-1].plan(SCOPE, before, LIMITS)
    graph.apply(plan, SCOPE, before.revision)
    after = graph.slice(SCOPE, said[-1].touches(SCOPE))
    again = said[-1].plan(SCOPE, replace(after, applied=False), LIMITS)
    assert again == Plan(said[-1].id)
    assert again.empty


@given(batches())
@settings(max_examples=50, deadline=None)
def test_needs_are_what_the_counts_grow_by(said: Sequence[Batch]) -> None:
    graph = MemoryGraph()
    for one in said:
        before = graph.counts(SCOPE)
        needs = one.needs(SCOPE, graph.slice(SCOPE, one.touches(SCOPE)))
        write(graph, one)
        after = graph.counts(SCOPE)
        assert needs == (after.entities - before.entities, after.facts - before.facts)


def test_a_batch_that_is_stored_already_plans_nothing() -> None:
    one = batch("b1", say("api USES redis"))
    graph = graph_of(one)
    slice_ = graph.slice(SCOPE, one.touches(SCOPE))
    assert one.plan(SCOPE, slice_, Limits(entities=0, facts=0)).empty
    assert one.needs(SCOPE, slice_) == Needs(0, 0)


def test_a_batch_without_statements_is_only_recorded() -> None:
    graph = graph_of(batch("b1"))
    assert graph.counts(SCOPE).facts == 0
    assert graph.slice(SCOPE, batch("b1").touches(SCOPE)).applied


def test_of_two_writers_at_one_moment_the_second_plans_again() -> None:
    graph = MemoryGraph()
    one, two = batch("b1", say("api USES redis")), batch("b2", say("API USES Redis"))
    slice_ = graph.slice(SCOPE, two.touches(SCOPE))
    write(graph, one)
    with pytest.raises(StaleRevision):
        graph.apply(two.plan(SCOPE, slice_, LIMITS), SCOPE, slice_.revision)
    write(graph, two)
    assert fact_of(graph, "api USES redis").confirmations == 2
    assert graph.counts(SCOPE).entities == 2


def test_scopes_do_not_meet() -> None:
    one = batch("b1", say("api USES redis"))
    here, there = Scope.session("s1"), Scope.session("s2")
    ids = [
        {
            entity.id
            for entity in one.plan(s, MemoryGraph().slice(s, one.touches(s)), LIMITS).entities
        }
        for s in (here, there)
    ]
    assert not ids[0] & ids[1]


def test_what_a_batch_touches_is_named_by_key() -> None:
    one = batch(
        "b1",
        say("API USES Redis"),
        say("API RUNS_ON! port80"),
        say("Redis SAME_AS cache"),
    )
    touches = one.touches(SCOPE)
    assert touches.names == {"api", "redis", "cache", "port80"}
    assert touches.facts == {("api", "USES", "redis")}
    assert touches.groups == {("api", "RUNS_ON")}
    assert touches.merges == {"redis", "cache"}


def test_resolving_names_the_entities_that_move() -> None:
    graph = graph_of(batch("b1", say("api USES cache"), say("web USES redis")))
    one = batch("b2", say("redis SAME_AS cache", 1))
    resolved = one.resolve(SCOPE, graph.slice(SCOPE, one.touches(SCOPE)))
    ids = {key: name.entity_id for key, name in graph.rows(SCOPE).names.items()}
    assert resolved.moved == {ids["cache"]: ids["redis"]}
    assert resolved.entities[ids["redis"]].aliases == ("cache",)


# Limits


def test_a_batch_that_would_pass_a_limit_is_refused_with_the_figures() -> None:
    graph = graph_of(batch("b1", say("api USES redis"), say("api USES kafka")))
    one = batch("b2", say("web USES redis", 1), say("web USES nats", 1))
    before = deepcopy(graph.rows(SCOPE))
    with pytest.raises(LimitExceeded) as refused:
        write(graph, one, limits=Limits(entities=4))
    assert refused.value.message == ("session:s1 has 3 entities, this would add 2, the limit is 4")
    with pytest.raises(LimitExceeded, match="2 facts, this would add 2, the limit is 3"):
        write(graph, one, limits=Limits(facts=3))
    assert graph.rows(SCOPE) == before
    write(graph, one, limits=Limits(entities=5, facts=4))


def test_closed_facts_count_and_intervals_and_aliases_do_not() -> None:
    graph = graph_of(batch("b1", say("api PORT 80"), say("api PORT! 90", 1)))
    full = Limits(entities=3, facts=2)
    with pytest.raises(LimitExceeded):
        write(graph, batch("b2", say("api PORT! 3", 2)), limits=full)
    write(graph, batch("b3", say("api PORT! 80", 2)), limits=full)
    write(graph, batch("b4", say("api SAME_AS backend", 2)), limits=full)
    assert len(fact_of(graph, "backend PORT 80").intervals) == 2
    assert graph.counts(SCOPE).entities == 3


def test_what_adds_nothing_is_taken_even_past_a_limit() -> None:
    graph = graph_of(batch("b1", say("api USES redis"), say("api USES cache")))
    write(graph, batch("b2", say("api USES redis", 1)), limits=Limits(entities=1, facts=1))
    write(graph, batch("b3", say("redis SAME_AS cache", 1)), limits=Limits(entities=1, facts=1))
    assert graph.counts(SCOPE).facts == 1


# What may be said


def _statement(**change: object) -> Statement:
    base = Statement("api", "USES", "redis", at(0))
    return replace(base, **change)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "change",
    [
        {"confidence": float("nan")},
        {"confidence": 1.01},
        {"confidence": -0.01},
        {"confidence": float("inf")},
        {"subject": " \u200b"},
        {"object": ""},
        {"said_at": datetime(2026, 3, 1)},
        {"said_at": datetime.min.replace(tzinfo=timezone(timedelta(hours=5)))},
        {"close": True, "replace": True},
        {"predicate": "SAME_AS", "close": True},
        {"source": replace(SOURCE, client="")},
        {"source": replace(SOURCE, stored_at=datetime(2026, 3, 1))},
    ],
    ids=str,
)
def test_a_statement_that_breaks_a_rule_refuses_the_batch(change: dict[str, object]) -> None:
    with pytest.raises(Invalid):
        batch("b1", say("web USES nats"), _statement(**change))


def test_a_predicate_is_refused_by_name() -> None:
    with pytest.raises(InvalidPredicate) as refused:
        batch("b1", _statement(predicate="uses"))
    assert refused.value.hint == "write USES"


def test_a_batch_holds_at_most_500_statements() -> None:
    batch("b1", *[say("a USES b")] * MAX_STATEMENTS)
    with pytest.raises(Invalid, match="501"):
        batch("b1", *[say("a USES b")] * (MAX_STATEMENTS + 1))


@pytest.mark.parametrize("id_", ["", " ", "a b", "é", "x" * 201, "a\n"])
def test_a_batch_id_is_visible_ascii(id_: str) -> None:
    with pytest.raises(Invalid):
        batch(id_)


def test_times_are_kept_in_utc_to_the_millisecond() -> None:
    tokyo = timezone(timedelta(hours=9))
    one = batch("b1", _statement(said_at=datetime(2026, 3, 1, 0, 30, 0, 123_999, tokyo)))
    said_at = one.statements[0].said_at
    assert said_at == datetime(2026, 2, 28, 15, 30, 0, 123_000, UTC)
    assert said_at.tzinfo is UTC


def test_a_time_in_the_far_future_becomes_the_time_of_storing() -> None:
    ahead = timedelta(minutes=5)
    source = Source("test", at(0))
    near, far = at(0) + ahead, at(0) + ahead + timedelta(milliseconds=1)
    one = batch("b1", _statement(said_at=near), _statement(said_at=far), source=source)
    assert [said.said_at for said in one.statements] == [near, at(0)]


def test_names_are_cleaned_and_cut() -> None:
    one = batch("b1", _statement(subject="a" * 200, object="re\u202edis"))
    assert one.statements[0].subject == "a" * 120
    assert one.statements[0].object == "redis"


def test_a_statement_may_bring_its_own_source() -> None:
    own = replace(SOURCE, client="other", origin="promoted:s9")
    graph = graph_of(batch("b1", _statement(source=own), say("web USES redis")))
    assert fact_of(graph, "api USES redis").newest == own
    assert fact_of(graph, "web USES redis").newest == SOURCE


def test_in_a_repository_the_user_goes_by_name() -> None:
    one = batch("b1", say("me PREFERS tabs"), say("api OWNED_BY User"), say("api USES redis"))
    shared = one.for_scope(Scope.repository("r1"), "anna")
    assert [(said.subject, said.object) for said in shared.statements] == [
        ("anna", "tabs"),
        ("api", "anna"),
        ("api", "redis"),
    ]
    assert shared.for_scope(Scope.repository("r1"), "bert") == shared


@pytest.mark.parametrize("scope", [SCOPE, Scope.personal("anna"), Scope.personal("anna", "r1")])
def test_elsewhere_the_user_stays_user(scope: Scope) -> None:
    one = batch("b1", say("me PREFERS tabs"))
    assert one.for_scope(scope, "anna") == one


@given(batches())
@settings(max_examples=30, deadline=None)
def test_checking_a_checked_batch_changes_nothing(said: Sequence[Batch]) -> None:
    for one in said:
        assert replace(one) == one

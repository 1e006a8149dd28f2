"""Promoting, deleting, closing, reopening and merging; each leaves a trace."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from codesynapse.domain.scope import Principal, Role, Scope
from codesynapse.domain.sessions import Session, SessionState
from codesynapse.errors import Closed, Forbidden, Invalid, NotFound
from codesynapse.service.curation import (
    close_fact,
    delete_entity,
    delete_facts,
    delete_scope,
    merge_entities,
    promote,
    reopen_fact,
)
from codesynapse.service.facts import history, list_facts, nodes
from codesynapse.store.base import FactFilter, Page
from tests.service.memory_world import START, World

SHOP = Scope.repository("shop")
OWN = Scope.session("s-one")
CARRIED = Scope.personal("ana", "shop")


def session(world: World) -> Session:
    found = world.store.sessions.get("s-one")
    assert found is not None
    return found


def trail(world: World) -> list[str]:
    return [entry.action for entry in world.store.audit.recent(Page(50))[0]]


def test_promotion_keeps_the_time_said_the_origin_and_the_writers_name(world: World) -> None:
    world.say(OWN, "User PREFERS pnpm", said_at=START - timedelta(days=2), confidence=0.9)
    promote(world, world.caller(), session(world), world.fact_ids(OWN))
    (fact,) = list_facts(world, world.caller(), SHOP).facts
    assert fact.sentence == "ana prefers pnpm"
    assert fact.valid_from == START - timedelta(days=2)
    assert fact.source.origin == "promoted:s-one"
    assert (fact.source.session, fact.source.user) == ("s-one", "ana")
    assert fact.confidence == 0.9
    assert "facts.promote" in trail(world)


def test_promoting_again_changes_nothing_even_in_another_selection(world: World) -> None:
    world.say(OWN, "api USES Redis", "api USES Kafka")
    ids = world.fact_ids(OWN)
    assert promote(world, world.caller(), session(world), ids[:1]).applied
    assert promote(world, world.caller(), session(world), ids).applied
    assert not promote(world, world.caller(), session(world), ids).applied
    facts = list_facts(world, world.caller(), SHOP).facts
    assert sorted(f.object for f in facts) == ["Kafka", "Redis"]
    assert [f.confirmations for f in facts] == [1, 1]


def test_a_promoted_fact_that_was_deleted_can_be_promoted_again(world: World) -> None:
    world.say(OWN, "api USES Redis")
    ids = world.fact_ids(OWN)
    promote(world, world.caller(), session(world), ids)
    delete_facts(world, world.caller(), SHOP, world.fact_ids(SHOP))
    assert promote(world, world.caller(), session(world), ids).applied
    assert len(world.fact_ids(SHOP)) == 1


def test_a_promoted_correction_replaces_what_the_repository_had(world: World) -> None:
    world.say(SHOP, "api LISTENS_ON 8000", said_at=START - timedelta(days=9))
    world.say(OWN, "api LISTENS_ON 9000", replace=True)
    promote(world, world.caller(), session(world), world.fact_ids(OWN))
    assert [f.object for f in list_facts(world, world.caller(), SHOP).facts] == ["9000"]


def test_what_cannot_be_promoted_is_refused_whole(world: World) -> None:
    world.say(OWN, "api LISTENS_ON 8000", said_at=START - timedelta(days=1))
    world.say(OWN, "api LISTENS_ON 9000", replace=True)
    everything, caller = world.fact_ids(OWN), world.caller()
    with pytest.raises(Invalid):
        promote(world, caller, session(world), everything)
    with pytest.raises(NotFound):
        promote(world, caller, session(world), [world.fact_ids(OWN, history=False)[0], "unknown"])
    with pytest.raises(Invalid):
        promote(world, caller, session(world), [])
    with pytest.raises(Forbidden):
        promote(world, world.caller(user="ben"), session(world), everything)
    with pytest.raises(Forbidden):
        promote(world, world.caller(role=Role.READER), session(world), everything)
    with pytest.raises(Closed):
        promote(world, caller, replace(session(world), state=SessionState.REVOKED), everything)
    assert world.fact_ids(SHOP) == []


def test_deleting_a_fact_takes_it_out_of_history_and_search(world: World) -> None:
    world.say(SHOP, "api USES Redis", "api USES Kafka")
    gone = next(f for f in list_facts(world, world.caller(), SHOP).facts if f.object == "Kafka")
    assert delete_facts(world, world.caller(), SHOP, [gone.id]) == 1
    assert len(world.fact_ids(SHOP)) == 1
    assert nodes(world, world.caller(), SHOP, "Kafka").nodes == ()
    with pytest.raises(NotFound):
        delete_facts(world, world.caller(), SHOP, [gone.id])
    with pytest.raises(NotFound):
        delete_facts(world, world.caller(), SHOP, [])
    assert "facts.delete" in trail(world)


def test_the_trail_never_tells_what_was_said(world: World) -> None:
    world.say(OWN, "marker USES secretive")
    promote(world, world.caller(), session(world), world.fact_ids(OWN))
    delete_scope(world, world.caller(), SHOP)
    entries, _ = world.store.audit.recent(Page(50))
    assert "secretive" not in str(entries)
    assert {entry.user for entry in entries} == {"ana"}


def test_deleting_an_entity_takes_all_its_facts_and_aliases(world: World) -> None:
    world.say(SHOP, "api USES Redis", "worker USES Redis", "api USES Kafka", "Redis SAME_AS cache")
    (node,) = nodes(world, world.caller(), SHOP, "cache").nodes
    assert delete_entity(world, world.caller(), SHOP, node.id) == 2
    assert [f.object for f in list_facts(world, world.caller(), SHOP).facts] == ["Kafka"]
    assert nodes(world, world.caller(), SHOP, "cache").nodes == ()
    with pytest.raises(NotFound):
        delete_entity(world, world.caller(), SHOP, node.id)


def test_what_is_deleted_from_carried_memory_is_never_carried_again(world: World) -> None:
    world.say(CARRIED, "User PREFERS pnpm", "User PREFERS tabs", "User USES vim")
    ids = world.fact_ids(CARRIED)
    delete_facts(world, world.caller(), CARRIED, ids[:1])
    assert world.store.review.blocked(CARRIED, ids) == {ids[0]}
    delete_scope(world, world.caller(), CARRIED)
    assert world.store.review.blocked(CARRIED, ids) == set(ids)
    world.say(SHOP, "api USES Redis")
    (other,) = world.fact_ids(SHOP)
    delete_facts(world, world.caller(), SHOP, [other])
    assert world.store.review.blocked(SHOP, [other]) == set()


def test_a_repository_is_emptied_by_an_admin_only(world: World) -> None:
    world.say(SHOP, "api USES Redis")
    with pytest.raises(Forbidden):
        delete_scope(world, Principal("ben", Role.WRITER), SHOP)
    with pytest.raises(Forbidden):
        delete_facts(world, Principal("ben", Role.READER), SHOP, world.fact_ids(SHOP))
    assert delete_scope(world, Principal("ben", Role.ADMIN), SHOP) == 1
    assert world.fact_ids(SHOP) == []


def test_closing_and_reopening_leave_two_intervals(world: World) -> None:
    world.say(SHOP, "api USES Redis")
    (id_,) = world.fact_ids(SHOP)
    world.time.pass_days(1)
    closed = close_fact(world, world.caller(), SHOP, id_)
    assert not closed.current
    assert list_facts(world, world.caller(), SHOP).facts == ()
    assert close_fact(world, world.caller(), SHOP, id_) == closed
    world.time.pass_days(1)
    opened = reopen_fact(world, world.caller(), SHOP, id_)
    assert opened.current
    assert len(opened.intervals) == 2
    assert reopen_fact(world, world.caller(), SHOP, id_) == opened
    assert len(history(world, world.caller(), SHOP, id_).statements) == 3
    assert {"fact.close", "fact.reopen"} <= set(trail(world))


def test_a_decision_comes_after_what_was_said_in_the_same_moment(world: World) -> None:
    world.say(SHOP, "api USES Redis")
    (id_,) = world.fact_ids(SHOP)
    for _ in range(3):
        assert not close_fact(world, world.caller(), SHOP, id_).current
        assert reopen_fact(world, world.caller(), SHOP, id_).current


def test_merging_joins_facts_and_keeps_the_other_name_as_an_alias(world: World) -> None:
    world.say(SHOP, "api USES postgres", "worker USES PostgreSQL")
    world.say(SHOP, "api USES PostgreSQL")
    ids = {node.name: node.id for node in nodes(world, world.caller(), SHOP).nodes}
    merged = merge_entities(world, world.caller(), SHOP, ids["PostgreSQL"], ids["postgres"])
    assert merged.name == "PostgreSQL"
    assert merged.aliases == ("postgres",)
    facts = list_facts(world, world.caller(), SHOP).facts
    assert sorted(f.sentence for f in facts) == ["api uses PostgreSQL", "worker uses PostgreSQL"]
    assert max(f.confirmations for f in facts) == 2
    with pytest.raises(Invalid):
        merge_entities(world, world.caller(), SHOP, merged.id, merged.id)
    with pytest.raises(NotFound):
        merge_entities(world, world.caller(), SHOP, merged.id, "unknown")


def test_deleting_in_anothers_session_is_refused(world: World) -> None:
    world.say(OWN, "api USES Redis")
    world.session("two")
    for act in (close_fact, reopen_fact, delete_entity):
        with pytest.raises(Forbidden):
            act(world, world.caller("two"), OWN, world.fact_ids(OWN)[0])
    with pytest.raises(Forbidden):
        delete_scope(world, world.caller("two"), OWN)
    assert len(list_facts(world, world.caller(), OWN, FactFilter()).facts) == 1

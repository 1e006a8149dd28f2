"""Writing and reading facts through the services."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import timedelta

import pytest

from codesynapse.config import Settings
from codesynapse.domain.graph import Limits
from codesynapse.domain.scope import Principal, Role, Scope
from codesynapse.errors import Forbidden, Invalid, InvalidPredicate, LimitExceeded, NotFound
from codesynapse.recall.answer import NOTICE
from codesynapse.service.facts import (
    Triple,
    add_triples,
    history,
    list_facts,
    nodes,
    subgraph,
)
from codesynapse.store.base import FactFilter, Page
from tests.service.memory_world import START, World

SHOP = Scope.repository("shop")
OWN = Scope.session("s-one")


def test_what_is_written_is_read_with_its_source_and_the_notice(world: World) -> None:
    result = world.say(SHOP, "api USES PostgreSQL 16")
    listed = list_facts(world, world.caller(), SHOP)
    (fact,) = listed.facts
    assert result.applied
    assert result.fact_ids == (fact.id,)
    assert listed.notice == NOTICE
    assert fact.sentence == "api uses PostgreSQL 16"
    assert (fact.source.client, fact.source.session, fact.source.user) == (
        "claude-code",
        "s-one",
        "ana",
    )
    assert fact.record()["valid_from"] == "2026-03-02T09:00:00.000Z"
    assert listed.record()["facts"][0]["source"]["session"] == "s-one"


def test_in_a_repository_user_is_the_writers_name(world: World) -> None:
    world.say(SHOP, "I PREFERS pnpm")
    world.say(OWN, "me PREFERS pnpm")
    assert list_facts(world, world.caller(), SHOP).facts[0].subject == "ana"
    assert list_facts(world, world.caller(), OWN).facts[0].subject == "User"


def test_secrets_in_names_never_reach_the_store(world: World) -> None:
    key = "AKIA" + "IOSFODNN7EXAMPLF"
    world.say(SHOP, f"deploy USES {key}")
    assert key not in list_facts(world, world.caller(), SHOP).facts[0].sentence
    assert key.encode() not in b"".join(p.read_bytes() for p in world.root.glob("memory.db*"))


def test_the_same_batch_twice_writes_once(world: World) -> None:
    triple = Triple("api", "USES", "Redis")
    first = add_triples(world, world.caller(), SHOP, [triple], batch_id="b1")
    second = add_triples(world, world.caller(), SHOP, [triple], batch_id="b1")
    assert (first.applied, second.applied) == (True, False)
    assert list_facts(world, world.caller(), SHOP).facts[0].confirmations == 1


def test_writers_at_the_same_moment_lose_no_confirmation(world: World) -> None:
    ready = threading.Barrier(8)

    def write() -> None:
        ready.wait(10)
        for _ in range(5):
            world.say(SHOP, "api USES Redis")

    threads = [threading.Thread(target=write) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert list_facts(world, world.caller(), SHOP).facts[0].confirmations == 40


def test_a_bad_predicate_is_refused_with_the_nearest_and_nothing_is_written(world: World) -> None:
    with pytest.raises(InvalidPredicate) as refused:
        add_triples(
            world,
            world.caller(),
            SHOP,
            [Triple("a", "USES", "b"), Triple("a", "depends-on", "b")],
        )
    assert "DEPENDS_ON" in refused.value.hint
    assert world.fact_ids(SHOP) == []


def test_no_triples_a_reader_and_a_passed_limit_are_refused(world: World) -> None:
    with pytest.raises(Invalid):
        add_triples(world, world.caller(), SHOP, [])
    with pytest.raises(Forbidden):
        world.say(SHOP, "a USES b", who=Principal("ben", Role.READER))
    world.configured = Settings(database=world.root / "x", limits=Limits(entities=3, facts=10))
    world.say(SHOP, "a USES b")
    with pytest.raises(LimitExceeded):
        world.say(SHOP, "c USES d", "e USES f")
    assert len(world.fact_ids(SHOP)) == 1


def test_closed_facts_are_read_only_with_history_or_a_moment(world: World) -> None:
    world.time.pass_days(10)
    for day, port in enumerate(("8000", "9000", "8000")):
        world.say(SHOP, f"api LISTENS_ON {port}", said_at=START + timedelta(days=day), replace=True)
    caller = world.caller()
    assert [f.object for f in list_facts(world, caller, SHOP).facts] == ["8000"]
    everything = list_facts(world, caller, SHOP, FactFilter(history=True)).facts
    assert {f.object for f in everything} == {"8000", "9000"}
    closed = next(f for f in everything if f.object == "9000")
    assert "superseded on 2026-03-04" in closed.qualifiers
    then = FactFilter(as_of=START + timedelta(days=1, hours=1))
    (fact,) = list_facts(world, caller, SHOP, then).facts
    assert (fact.object, fact.valid_from) == ("9000", START + timedelta(days=1))
    with pytest.raises(Invalid):
        list_facts(world, caller, SHOP, FactFilter(as_of=START.replace(tzinfo=None)))
    past = subgraph(world, caller, SHOP, ["api"], which=then)
    assert [f.object for f in past.facts] == ["9000"]
    assert [f.object for f in subgraph(world, caller, SHOP, ["api"]).facts] == ["8000"]


def test_history_tells_three_intervals_and_every_statement(world: World) -> None:
    world.time.pass_days(3)
    for day, port in enumerate(("8000", "9000", "8000")):
        world.say(SHOP, f"api LISTENS_ON {port}", said_at=START + timedelta(days=day), replace=True)
    (current,) = list_facts(world, world.caller(), SHOP).facts
    told = history(world, world.caller(), SHOP, current.id)
    assert len(told.fact.intervals) == 2
    assert [s.order.said_at for s in told.statements if s.fact_id == current.id] == [
        START,
        START + timedelta(days=2),
    ]
    assert told.record()["notice"] == NOTICE
    with pytest.raises(NotFound):
        history(world, world.caller(), SHOP, "nothing")


def test_pages_go_through_both_personal_scopes(world: World) -> None:
    here, everywhere = Scope.personal("ana", "shop"), Scope.personal("ana")
    world.say(here, *(f"User USES here{n}" for n in range(3)))
    world.say(everywhere, *(f"User USES there{n}" for n in range(3)))
    seen: list[str] = []
    cursor: str | None = None
    for _ in range(10):
        page = list_facts(world, world.caller(), (here, everywhere), page=Page(2, cursor))
        seen += [fact.object for fact in page.facts]
        cursor = page.cursor
        if cursor is None:
            break
    assert sorted(seen) == ["here0", "here1", "here2", "there0", "there1", "there2"]
    with pytest.raises(Invalid):
        list_facts(world, world.caller(), (here, everywhere), page=Page(2, "9~x"))


def test_nodes_are_found_by_name_alias_and_type_and_listed_without_a_query(world: World) -> None:
    add_triples(
        world,
        world.caller(),
        SHOP,
        [
            Triple("payments-api", "USES", "PostgreSQL", object_type="tool"),
            Triple("PostgreSQL", "SAME_AS", "pg"),
        ],
    )
    caller = world.caller()
    for query in ("payments", "paymentsApi".replace("A", "-a")):
        assert nodes(world, caller, SHOP, query).nodes[0].name == "payments-api"
    assert nodes(world, caller, SHOP, "pg").nodes[0].name == "PostgreSQL"
    assert nodes(world, caller, SHOP, "pg").nodes[0].aliases == ("pg",)
    assert len(nodes(world, caller, SHOP).nodes) == 2
    assert nodes(world, caller, SHOP, '"(*').nodes == ()


def test_a_subgraph_walks_hops_and_says_when_there_is_more(world: World) -> None:
    world.say(SHOP, "a USES b", "b USES c", "c USES d", "x USES y")
    caller = world.caller()
    assert {f.sentence for f in subgraph(world, caller, SHOP, ["A"]).facts} == {"a uses b"}
    two = subgraph(world, caller, SHOP, ["a"], hops=2)
    assert {node.name for node in two.nodes} == {"a", "b", "c"}
    assert not two.more
    cut = subgraph(world, caller, SHOP, limit=3)
    assert len(cut.facts) == 3
    assert cut.more
    assert subgraph(world, caller, SHOP, ["unknown"]).facts == ()
    with pytest.raises(Invalid):
        subgraph(world, caller, SHOP, hops=4)


def test_every_read_of_anothers_session_is_refused(world: World) -> None:
    world.session("two")
    other = world.caller("two")
    for read in (list_facts, nodes, subgraph):
        with pytest.raises(Forbidden):
            read(world, other, OWN)
    with pytest.raises(Forbidden):
        history(world, other, OWN, "x")


def test_secrets_of_an_old_database_are_masked_when_read(world: World) -> None:
    key = "AKIA" + "IOSFODNN7EXAMPLF"
    world.configured = replace(world.settings(), allow_secrets=True)
    world.say(SHOP, f"deploy USES {key}")
    world.configured = None
    assert key not in str(list_facts(world, world.caller(), SHOP).record())
    assert key not in str(nodes(world, world.caller(), SHOP).record())

"""Recall over a real store: gate, legs, hops, hubs, scopes, qualifiers."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from codesynapse.domain.scope import Scope
from codesynapse.errors import Forbidden, Invalid, ProviderFailed, Unavailable
from codesynapse.recall.answer import NOTICE, RecallAnswer
from codesynapse.recall.gate import Gated
from codesynapse.recall.legs import LegHits
from codesynapse.service.facts import Triple, add_triples
from codesynapse.service.recall import recall
from codesynapse.store.base import Hit, Page
from codesynapse.store.sqlite import SqliteStore
from tests.service.memory_world import START, World

SHOP = Scope.repository("shop")
OWN = Scope.session("s-one")


def ask(world: World, query: str, scope: Scope = SHOP, limit: int = 20, hops: int = 1) -> list[str]:
    answer = recall(world, world.caller(), scope, query, limit=limit, hops=hops)
    assert answer.notice == NOTICE
    return [fact.sentence for fact in answer.facts]


def test_small_talk_is_answered_at_once_with_the_reason(world: World) -> None:
    world.say(SHOP, "thanks USES thanks_list")
    answer = recall(world, world.caller(), SHOP, "thanks!")
    assert answer == RecallAnswer(reason=Gated.SMALL_TALK)
    assert answer.record()["gated"] is True
    assert answer.record()["notice"] == NOTICE


def test_while_the_index_is_damaged_the_names_answer_and_then_it_is_mended(world: World) -> None:
    world.say(SHOP, "payments-api USES PostgreSQL", "docs WRITTEN_IN Markdown")
    assert isinstance(world.store, SqliteStore)
    with closing(sqlite3.connect(world.store.path)) as connection, connection:
        for table in ("fact_words", "entity_words"):
            connection.execute(f"DELETE FROM {table}_data")
    answer = recall(world, world.caller(), SHOP, "what does payments-api use")
    assert [fact.sentence for fact in answer.facts] == ["payments-api uses PostgreSQL"]
    assert answer.failed == ("lexical",)

    world.say(SHOP, "web DEPENDS_ON payments-api")  # by a writer that mends it first
    answer = recall(world, world.caller(), SHOP, "what does payments-api use")
    assert answer.failed == ()
    assert len(answer.facts) == 2
    assert world.store.verify() == []
    trail, _ = world.store.audit.recent(Page())
    assert "index.rebuild" in {entry.action for entry in trail}


def test_the_fact_that_shares_most_words_comes_first(world: World) -> None:
    world.say(
        SHOP,
        "payments-api USES PostgreSQL 16",
        "payments-api LISTENS_ON 8080",
        "web DEPENDS_ON payments-api",
        "docs WRITTEN_IN Markdown",
    )
    assert ask(world, "which PostgreSQL version does payments-api use")[0].startswith(
        "payments-api uses PostgreSQL"
    )
    assert "docs written in Markdown" not in ask(world, "payments-api")


def test_a_name_brings_its_neighbours_and_two_hops_bring_theirs(world: World) -> None:
    world.say(
        SHOP, "checkout DEPENDS_ON ledger", "ledger STORES_IN cassandra", "cassandra RUNS_ON k8s"
    )
    assert ask(world, "checkout") == ["checkout depends on ledger"]
    two = ask(world, "checkout", hops=2)
    assert two == ["checkout depends on ledger", "ledger stores in cassandra"]


def test_a_hub_cannot_fill_the_answer(world: World) -> None:
    for part in range(10):
        world.say(SHOP, *(f"hub HAS_PART part{part}x{n}" for n in range(50)))
    world.say(SHOP, "billing OWNED_BY hub", "billing LISTENS_ON 9000", "billing WRITTEN_IN Rust")
    found = ask(world, "hub billing", limit=10)
    assert {"billing listens on 9000", "billing written in Rust"} <= set(found)
    assert len(found) <= 10


def test_equal_matches_are_ranked_by_confidence_confirmations_and_age(world: World) -> None:
    world.say(SHOP, "api USES alpha", confidence=0.9, said_at=START - timedelta(days=3))
    world.say(SHOP, "api USES beta", confidence=0.7)
    world.say(SHOP, "api USES gamma", confidence=0.7, said_at=START - timedelta(days=1))
    world.say(SHOP, "api USES gamma", confidence=0.7, said_at=START - timedelta(days=2))
    world.say(SHOP, "api USES delta", confidence=0.7, said_at=START - timedelta(days=5))
    assert [s.removeprefix("api uses ") for s in ask(world, "api")] == [
        "alpha",
        "gamma",
        "beta",
        "delta",
    ]


def test_only_current_values_are_recalled_however_many_were_replaced(world: World) -> None:
    for n in range(40):
        world.say(
            SHOP,
            f"api LISTENS_ON {8000 + n}",
            said_at=START - timedelta(minutes=40 - n),
            replace=True,
        )
    assert ask(world, "which port does the api listen on") == ["api listens on 8039"]


def test_a_session_is_asked_alone_and_finds_nothing_elsewhere(world: World) -> None:
    world.say(SHOP, "api USES Redis")
    assert ask(world, "api", OWN) == []
    world.say(OWN, "api USES Kafka")
    assert ask(world, "api", OWN) == ["api uses Kafka"]
    world.session("two")
    with pytest.raises(Forbidden):
        recall(world, world.caller("two"), OWN, "api")


def test_scopes_asked_together_are_joined_where_they_say_the_same(world: World) -> None:
    here, everywhere = Scope.personal("ana", "shop"), Scope.personal("ana")
    world.say(here, "User PREFERS pnpm", confidence=0.65)
    world.say(everywhere, "User PREFERS pnpm", "User PREFERS tabs", confidence=0.9)
    answer = recall(world, world.caller(), (here, everywhere), "what does the user prefer, pnpm?")
    pnpm = [fact for fact in answer.facts if fact.object == "pnpm"]
    assert len(pnpm) == 1
    assert pnpm[0].confidence == 0.9
    assert pnpm[0].also == tuple(world.fact_ids(here))


def test_the_writers_name_and_user_are_one_when_joined(world: World) -> None:
    world.say(SHOP, "User PREFERS pnpm")
    world.say(OWN, "User PREFERS pnpm")
    answer = recall(world, world.caller(), (OWN, SHOP), "pnpm")
    assert [fact.sentence for fact in answer.facts] == ["User prefers pnpm"]


def test_qualifiers_tell_age_and_trust_in_words(world: World) -> None:
    world.say(SHOP, "api USES Redis", confidence=0.62, said_at=START - timedelta(days=245))
    (fact,) = recall(world, world.caller(), SHOP, "Redis").facts
    assert fact.qualifiers == ("stored 8 months ago, may be outdated", "low confidence")
    assert fact.notes() == "245 days ago; stored 8 months ago, may be outdated; low confidence"
    world.say(SHOP, "api USES Redis")
    (fact,) = recall(world, world.caller(), SHOP, "Redis").facts
    assert fact.qualifiers == ()
    assert fact.notes() == "245 days ago; said 2 times"


def test_a_fact_about_a_file_that_is_gone_says_so(world: World) -> None:
    (world.root / "src").mkdir()
    (world.root / "src" / "kept.py").write_text("")
    world.say(SHOP, "handler DEFINED_IN src/kept.py", "router DEFINED_IN src/moved.py")
    answer = recall(world, world.caller(), SHOP, "handler router")
    told = {fact.subject: fact.qualifiers for fact in answer.facts}
    assert told == {
        "handler": (),
        "router": ("refers to src/moved.py, which no longer exists",),
    }


@dataclass
class VectorStub:
    """A leg as an embedder would give it."""

    hits: LegHits = field(default_factory=LegHits)
    broken: bool = False
    name: str = "vectors"

    def search(self, scope: Scope, query: str) -> LegHits:
        if self.broken:
            raise ProviderFailed("the model is gone")
        return self.hits


def test_a_second_leg_finds_what_no_word_matches(world: World) -> None:
    world.say(SHOP, "api USES Redis", "web USES React")
    rows = world.store.facts.strongest(SHOP, 10)
    redis = next(row for row in rows if row.object_id in _ids(world, "Redis"))
    legs = VectorStub(LegHits(facts={redis.id: 1}))
    answer = recall(world, world.caller(), SHOP, "caching layer", vectors=legs)
    assert [fact.sentence for fact in answer.facts] == ["api uses Redis"]
    assert answer.failed == ()


def _ids(world: World, name: str) -> set[str]:
    rows = world.store.facts.names(SHOP, [name.lower()])
    return {row.entity_id for row in rows.values()}


def test_a_leg_that_fails_is_named_and_the_other_answers(world: World) -> None:
    world.say(SHOP, "api USES Redis")
    answer = recall(world, world.caller(), SHOP, "Redis", vectors=VectorStub(broken=True))
    assert [fact.sentence for fact in answer.facts] == ["api uses Redis"]
    assert answer.failed == ("vectors",)


@pytest.mark.parametrize(
    "query",
    [
        '"',
        "pre-edit",
        "a:b",
        "AND",
        "(x",
        "don't",
        "*",
        "a\x00b",
        "x" * 10_000,
        "🎉 rocket",
        "a OR b NEAR c",
    ],
)
def test_any_query_is_safe(world: World, query: str) -> None:
    world.say(SHOP, "api USES Redis")
    assert isinstance(ask(world, query), list)


def test_two_characters_of_chinese_are_found(world: World) -> None:
    world.say(SHOP, "支付服务 USES 关系数据库", "前端 USES React")
    assert ask(world, "数据") == ["支付服务 uses 关系数据库"]


def test_parts_of_identifiers_and_prefixes_are_found(world: World) -> None:
    world.say(SHOP, "OrderServiceClient CALLS inventory_sync.py")
    for query in ("order service", "inventory", "inven", "OrderServiceClient"):
        assert ask(world, query), query


def test_out_of_range_hops_and_limits_are_refused(world: World) -> None:
    for hops, limit in ((0, 5), (3, 5), (1, 0), (1, 101)):
        with pytest.raises(Invalid):
            recall(world, world.caller(), SHOP, "api", hops=hops, limit=limit)


def test_another_scopes_facts_change_nothing(world: World) -> None:
    world.say(SHOP, "api USES Redis", "api USES Kafka")
    before = ask(world, "api Redis")
    for n in range(20):
        world.say(Scope.repository(f"other{n}"), "api USES Redis", "Redis USES api")
    assert ask(world, "api Redis") == before


def test_a_name_given_in_triples_with_types_is_found_by_type(world: World) -> None:
    add_triples(
        world, world.caller(), SHOP, [Triple("ana", "OWNS", "ledger", object_type="service")]
    )
    assert ask(world, "service") == ["ana owns ledger"]


def test_without_its_full_text_index_a_recall_still_finds_names(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.say(SHOP, "api USES Redis", "web USES React")

    def broken(*_: object) -> list[Hit]:
        raise Unavailable("the index is away")

    monkeypatch.setattr(world.store.facts, "find_entities", broken)
    answer = recall(world, world.caller(), SHOP, "who uses redis")
    assert [fact.sentence for fact in answer.facts] == ["api uses Redis"]
    assert answer.failed == ("lexical",)

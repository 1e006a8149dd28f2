"""Finding things: what every engine has to pass, whatever stands behind its search."""

from __future__ import annotations

from dataclasses import replace

import pytest

from codesynapse.domain.graph import Plan
from codesynapse.domain.scope import Scope
from codesynapse.domain.text import Term, query_terms
from codesynapse.store.base import Store
from tests.store.contract import StoreContract
from tests.store.planning import SCOPE, entity, fact, keyed, plan, write

__all__ = ["SearchContract"]

HOSTILE = (
    '"',
    "'",
    "a:b",
    "AND",
    "a OR b",
    "(x",
    "don't",
    "*",
    "^a",
    "NEAR(a b, 2)",
    "\0",
    "\ud800",
    "pre-edit",
    "words : a",
    "{a b} : c",
    "-a",
    "%_",
    "😀",
    "",
    "   ",
    "'; DROP TABLE facts; --",
)


def facts_for(store: Store, query: str, limit: int = 10, scope: Scope = SCOPE) -> list[str]:
    return [hit.id for hit in store.facts.find_facts(scope, query_terms(query), limit)]


def entities_for(store: Store, query: str, limit: int = 10, scope: Scope = SCOPE) -> list[str]:
    return [hit.id for hit in store.facts.find_entities(scope, query_terms(query), limit)]


class SearchContract(StoreContract):
    """``find_entities`` and ``find_facts``."""

    def test_a_fact_is_found_by_any_of_its_three_parts(self, store: Store) -> None:
        write(store, plan("b1", fact("Billing", "DEPENDS_ON", "PostgreSQL")))
        for query in ("billing", "depends", "postgres", "which database? postgresql"):
            assert facts_for(store, query) == ["Billing|DEPENDS_ON|PostgreSQL"]
        assert facts_for(store, "redis") == []

    def test_an_entity_is_found_by_name_alias_and_type(self, store: Store) -> None:
        row = entity("k8s", "orchestrator", "Kubernetes", "kube control")
        write(store, Plan("b1", names=(keyed(row),), entities=(row,)))
        for query in ("k8s", "kubernetes", "control", "orchestrators"):
            assert entities_for(store, query) == [row.id]

    def test_only_current_facts_are_found_and_a_reopened_one_again(self, store: Store) -> None:
        write(store, plan("b1", fact("app", "USES", "mysql"), fact("app", "USES", "oracle", end=3)))
        assert facts_for(store, "oracle mysql") == ["app|USES|mysql"]
        now, then = fact("app", "USES", "oracle"), fact("app", "USES", "mysql", end=4)
        write(store, Plan("b2", facts=(now, then)))
        assert facts_for(store, "oracle mysql") == ["app|USES|oracle"]

    def test_a_renamed_entity_is_found_by_its_new_name_only(self, store: Store) -> None:
        write(store, plan("b1", fact("app", "USES", "mysql")))
        row = replace(entity("mysql"), name="MariaDB")
        write(store, Plan("b2", entities=(row,)))
        assert entities_for(store, "mariadb") == ["e-mysql"]
        assert facts_for(store, "mariadb") == ["app|USES|mysql"]
        assert entities_for(store, "mysql") == []
        assert facts_for(store, "mysql") == []

    def test_what_was_removed_is_not_found(self, store: Store) -> None:
        write(store, plan("b1", fact("app", "USES", "mysql")))
        write(
            store,
            Plan(
                "b2",
                removed_facts=frozenset({"app|USES|mysql"}),
                removed_entities=frozenset({"e-app", "e-mysql"}),
                removed_names=frozenset({"app", "mysql"}),
                removed_statements=frozenset(
                    s.order for s in store.facts.statements(SCOPE, ["app|USES|mysql"])
                ),
            ),
        )
        assert facts_for(store, "mysql") == entities_for(store, "mysql") == []

    @pytest.mark.parametrize("query", HOSTILE)
    def test_any_text_is_a_safe_query(self, store: Store, query: str) -> None:
        write(store, plan("b1", fact("app", "USES", "mysql")))
        facts_for(store, query)
        entities_for(store, query)
        raw = [Term(query), Term(query, prefix=True)]
        store.facts.find_facts(SCOPE, raw, 5)
        store.facts.find_entities(SCOPE, raw, 5)

    @pytest.mark.parametrize("query", ["数据", "据库", "上海", "設定", "서울"])
    def test_two_characters_of_an_unspaced_script_hit(self, store: Store, query: str) -> None:
        write(
            store,
            plan("b1", fact("数据库在上海", "USES", "設定ファイル"), fact("서울에서", "HAS", "x")),
        )
        assert len(facts_for(store, query)) == 1

    def test_two_characters_do_not_match_across_a_space(self, store: Store) -> None:
        write(store, plan("b1", fact("数据 库", "USES", "x")))
        assert facts_for(store, "据库") == []

    def test_identifiers_are_found_by_their_parts(self, store: Store) -> None:
        write(store, plan("b1", fact("parseHTTPHeader", "DEFINED_IN", "src/net/http_parse.py")))
        for query in ("header", "http_parse.py", "parse_http_header", "net"):
            assert len(facts_for(store, query)) == 1

    def test_the_whole_word_beats_a_longer_one_and_more_words_beat_fewer(
        self, store: Store
    ) -> None:
        names = ["redistribution", "Redis", "Redis cluster", "cluster"]
        rows = tuple(entity(name) for name in names)
        write(store, Plan("b1", names=tuple(map(keyed, rows)), entities=rows))
        assert entities_for(store, "redis")[0] == "e-redis"
        assert entities_for(store, "redis")[-1] == "e-redistribution"
        assert entities_for(store, "redis cluster")[0] == "e-redis cluster"

    def test_a_rare_word_weighs_more_than_a_common_one(self, store: Store) -> None:
        common = [fact("app", "USES", f"tool{i}") for i in range(30)]
        write(store, plan("b1", *common, fact("job", "USES", "cron")))
        assert facts_for(store, "app cron")[0] == "job|USES|cron"

    def test_scores_fall_and_the_limit_holds(self, store: Store) -> None:
        write(store, plan("b1", *(fact("app", "USES", f"tool {i}") for i in range(40))))
        hits = store.facts.find_facts(SCOPE, query_terms("tool 7 app"), 5)
        assert len(hits) == 5
        assert hits[0].id == "app|USES|tool 7"
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        assert store.facts.find_facts(SCOPE, query_terms("app"), 0) == []

    def test_the_best_is_found_among_more_hits_than_are_scored(self, store: Store) -> None:
        many = [entity(f"redis node number {i} in rack {i}") for i in range(700)]
        row = entity("Redis")
        write(store, Plan("b0", names=(keyed(row),), entities=(row,)))
        write(store, Plan("b1", names=tuple(map(keyed, many)), entities=tuple(many)))
        found = entities_for(store, "redis rack 350")
        assert found[0] == "e-redis node number 350 in rack 350"

    def test_another_scope_changes_neither_hits_nor_scores(self, store: Store) -> None:
        write(store, plan("b1", fact("app", "USES", "mysql"), fact("app", "HAS", "tests")))
        before = store.facts.find_facts(SCOPE, query_terms("app mysql"), 5)
        for scope in (Scope.session("s1"), Scope.personal("me"), Scope.personal("me", "r1")):
            write(
                store,
                plan("b1", *(fact("app", "USES", f"mysql{i}") for i in range(9))),
                scope=scope,
            )
        assert store.facts.find_facts(SCOPE, query_terms("app mysql"), 5) == before

    def test_a_deleted_scope_is_not_found_even_when_it_is_filled_again(self, store: Store) -> None:
        write(store, plan("b1", fact("app", "USES", "mysql")))
        store.facts.delete_scope(SCOPE)
        assert facts_for(store, "mysql") == []
        write(store, plan("b2", fact("app", "USES", "oracle")))
        assert facts_for(store, "mysql") == []
        assert facts_for(store, "oracle") == ["app|USES|oracle"]

"""Random batches and deletions, beside the in-memory engine that the rules are tested with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codesynapse.domain.batch import Batch, plan_removal, removal_touches
from codesynapse.domain.graph import Limits, Slice, Touches
from codesynapse.domain.scope import Scope
from codesynapse.domain.text import query_terms
from codesynapse.store.base import FactFilter, FactStore, Page
from codesynapse.store.sqlite import SqliteStore, open_store
from tests.domain.memory_graph import MemoryGraph
from tests.domain.saying import batches

_EXAMPLE = count()
_ALL = Page(limit=1_000)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteStore]:
    with closing(open_store(tmp_path_factory.mktemp("batches") / "store.db")) as store:
        yield store
        assert store.verify() == []


def _ordered(slice_: Slice) -> Slice:
    return replace(
        slice_,
        facts=tuple(sorted(slice_.facts, key=lambda fact: fact.id)),
        statements=tuple(sorted(slice_.statements, key=lambda row: row.order)),
    )


def _both(memory: MemoryGraph, facts: FactStore, scope: Scope, touches: Touches) -> Slice:
    wanted = _ordered(memory.slice(scope, touches))
    assert _ordered(facts.slice(scope, touches)) == wanted
    return wanted


def _write(memory: MemoryGraph, facts: FactStore, scope: Scope, batch: Batch) -> None:
    slice_ = _both(memory, facts, scope, batch.touches(scope))
    plan = batch.plan(scope, slice_, Limits())
    memory.apply(plan, scope, slice_.revision)
    facts.apply(plan, scope, slice_.revision)


def _delete(
    memory: MemoryGraph, facts: FactStore, scope: Scope, fact_id: str, batch_id: str
) -> None:
    rows = memory.rows(scope)
    fact = rows.facts[fact_id]
    ends = [rows.entities[id_] for id_ in {fact.subject_id, fact.object_id}]
    slice_ = _both(memory, facts, scope, removal_touches(batch_id, ends))
    plan = plan_removal(scope, slice_, [fact_id], batch_id)
    memory.apply(plan, scope, slice_.revision)
    facts.apply(plan, scope, slice_.revision)


def _assert_same(memory: MemoryGraph, facts: FactStore, scope: Scope) -> None:
    rows = memory.rows(scope)
    assert facts.counts(scope) == memory.counts(scope)
    assert facts.names(scope, rows.names) == rows.names
    assert facts.list_entities(scope, _ALL)[0] == [rows.entities[i] for i in sorted(rows.entities)]
    history = facts.facts(scope, FactFilter(history=True), _ALL)[0]
    assert {fact.id: fact for fact in history} == rows.facts
    told = [row for row in rows.statements.values() if row.fact_id]
    assert facts.statements(scope, list(rows.facts)) == sorted(told, key=lambda row: row.order)
    current = {fact.id for fact in rows.facts.values() if fact.current}
    ports = {id_ for id_ in current if rows.facts[id_].predicate == "PORT"}
    assert {hit.id for hit in facts.find_facts(scope, query_terms("PORT"), 99)} == ports


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(written=batches(), chosen=st.lists(st.integers(0, 99), max_size=3))
def test_the_store_holds_what_the_rules_say(
    store: SqliteStore, written: Sequence[Batch], chosen: list[int]
) -> None:
    scope, memory = Scope.session(f"s{next(_EXAMPLE)}"), MemoryGraph()
    for batch in written:
        _write(memory, store.facts, scope, batch)
    _write(memory, store.facts, scope, written[0])
    for number, place in enumerate(chosen):
        ids = sorted(memory.rows(scope).facts)
        if ids:
            _delete(memory, store.facts, scope, ids[place % len(ids)], f"gone-{number}")
    _assert_same(memory, store.facts, scope)

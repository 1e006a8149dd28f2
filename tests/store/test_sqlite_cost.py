"""What a scope costs is its own: counted in steps of SQLite's machine, without a clock."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from codesynapse.domain.batch import Batch
from codesynapse.domain.graph import Limits, Order, Plan, Source
from codesynapse.domain.scope import Scope
from codesynapse.domain.statements import Statement
from codesynapse.domain.text import query_terms
from codesynapse.store.base import FactFilter, Page
from codesynapse.store.sqlite import SqliteStore, open_store
from tests.store.planning import SCOPE, at, entity, fact, plan, touching, write

MERGE = touching("app", "tool 7", merges=("tool 7",), groups=frozenset({("app", "USES")}))

READS: dict[str, Callable[[SqliteStore], object]] = {
    "find_facts": lambda s: s.facts.find_facts(SCOPE, query_terms("which tool 7 does app use"), 10),
    "find_entities": lambda s: s.facts.find_entities(SCOPE, query_terms("tool 7"), 10),
    "names": lambda s: s.facts.names(SCOPE, ["app", "tool 7"]),
    "slice": lambda s: s.facts.slice(SCOPE, MERGE),
    "neighbours": lambda s: s.facts.neighbours(SCOPE, ["e-app", "e-tool 7"], 10),
    "strongest": lambda s: s.facts.strongest(SCOPE, 10),
    "facts": lambda s: s.facts.facts(SCOPE, FactFilter(entity_ids=("e-tool 7",)), Page(10)),
    "history": lambda s: s.facts.facts(SCOPE, FactFilter(history=True), Page(10)),
    "list_entities": lambda s: s.facts.list_entities(SCOPE, Page(10)),
    "statements": lambda s: s.facts.statements(SCOPE, ["app|USES|tool 7"]),
    "sessions_facts": lambda s: s.facts.sessions_facts(SCOPE, "carried:s1"),
    "counts": lambda s: s.facts.counts(SCOPE),
}


def _fill(store: SqliteStore, scope: Scope, facts: int = 120) -> None:
    rows = [fact("app", "USES", f"tool {n}", start=n) for n in range(facts)]
    for start in range(0, facts, 20):
        write(store, plan(f"b{start}", *rows[start : start + 20], origin="carried:s1"), scope=scope)


@contextmanager
def _counting(connection: sqlite3.Connection) -> Iterator[list[int]]:
    steps = [0]

    def step() -> int:
        steps[0] += 1
        return 0

    connection.set_progress_handler(step, 1)
    try:
        yield steps
    finally:
        connection.set_progress_handler(None, 1)


def _reading(store: SqliteStore) -> dict[str, int]:
    """How many steps each kind of read takes."""
    with store._database.read() as connection:  # one thread gets the same reader each time
        reader = connection
    cost = {}
    for name, read in READS.items():
        read(store)
        with _counting(reader) as steps:
            read(store)
        cost[name] = steps[0]
    return cost


def _writing(store: SqliteStore, name: str, writes: int = 60) -> float:
    """How many steps one write takes, in the mean: the index is merged now and then."""
    with _counting(store._database._writer) as steps:
        for n in range(writes):
            write(store, plan(f"{name}-{n}", fact("app", "HAS", f"{name} {n}")))
    return steps[0] / writes


@pytest.mark.timeout(120)
def test_a_scope_costs_the_same_whatever_other_scopes_hold(tmp_path: Path) -> None:
    with (
        closing(open_store(tmp_path / "alone.db")) as alone,
        closing(open_store(tmp_path / "crowded.db")) as crowded,
    ):
        for other in range(25):
            _fill(crowded, Scope.session(f"before-{other}"))
        for store in (alone, crowded):
            _fill(store, SCOPE)
        for other in range(25):
            _fill(crowded, Scope.session(f"after-{other}"))
        # How many parts the index is in depends on when it was last merged, in either store.
        for store in (alone, crowded):
            store.reindex()
        few, many = _reading(alone), _reading(crowded)
        assert {name: many[name] for name in READS if many[name] > 1.3 * few[name]} == {}
        assert all(few.values())
        assert _writing(crowded, "part") <= 1.3 * _writing(alone, "part")


def test_no_posting_list_holds_words_of_two_scopes(tmp_path: Path) -> None:
    with closing(open_store(tmp_path / "store.db")) as store:
        for scope in (SCOPE, Scope.session("s1"), Scope.personal("1z")):
            write(store, plan("b1", fact("1zapp", "USES", "2ztool")), scope=scope)
        with closing(sqlite3.connect(tmp_path / "store.db")) as connection:
            for table, owner in (("fact_words", "facts"), ("entity_words", "entities")):
                connection.execute(
                    f"CREATE VIRTUAL TABLE temp.{table}_v USING fts5vocab(main, {table}, instance)"
                )
                rows = connection.execute(
                    f"SELECT v.term, o.scope FROM {table}_v AS v JOIN {owner} AS o"
                    " ON o.number = v.doc"
                ).fetchall()
                assert {term.split("z", 1)[0] == str(scope) for term, scope in rows} == {True}
                assert {scope for _, scope in rows} == {1, 2, 3}


def test_a_hub_costs_what_is_returned_of_it(tmp_path: Path) -> None:
    cost = []
    for size in (40, 800):
        with closing(open_store(tmp_path / f"{size}.db")) as store:
            rows = [fact("hub", "USES", f"n{n}", start=n % 7) for n in range(size)]
            write(store, plan("b1", *rows))
            with store._database.read() as connection:
                reader = connection
            store.facts.neighbours(SCOPE, ["e-hub"], 8)
            with _counting(reader) as steps:
                assert len(store.facts.neighbours(SCOPE, ["e-hub"], 8)["e-hub"]) == 8
            cost.append(steps[0])
    assert cost[1] <= 1.3 * cost[0]


def test_a_write_in_a_full_group_costs_no_more_for_what_the_scope_holds(tmp_path: Path) -> None:
    with closing(open_store(tmp_path / "store.db")) as store:
        _fill(store, SCOPE, 40)
        early = _writing(store, "early")
        _fill(store, Scope.session("x"), 400)
        write(store, Plan("big", facts=tuple(fact("app", "OWNS", f"tool {n}") for n in range(40))))
        assert _writing(store, "late") <= 1.3 * early


@pytest.mark.parametrize("shape", ["apart", "hub", "slot"])
@pytest.mark.timeout(120)
def test_a_batch_costs_its_own_facts_whatever_the_scope_holds(tmp_path: Path, shape: str) -> None:
    """Reading what a batch touches and writing it; ``slot``: beside values that were replaced."""
    with closing(open_store(tmp_path / "store.db")) as store:
        with store._database.read() as connection:
            reader = connection
        cost = []
        for number in range(24):
            batch = _batch(shape, number)
            touches = batch.touches(SCOPE)
            with _counting(reader) as reading:
                slice_ = store.facts.slice(SCOPE, touches)
            with _counting(store._database._writer) as writing:
                store.facts.apply(batch.plan(SCOPE, slice_, Limits()), SCOPE, slice_.revision)
            cost.append(reading[0] + writing[0])
        # The index is merged now and then: the middle tells.
        early, late = sorted(cost[2:8])[3], sorted(cost[-6:])[3]
        assert late <= 1.3 * early


def _batch(shape: str, number: int) -> Batch:
    said = []
    for place in range(50):
        subject = f"module {number}-{place}" if shape == "apart" else "app"
        predicate = f"HAS_{place}" if shape == "slot" and place == 0 else "USES"
        said.append(
            Statement(
                subject,
                predicate,
                f"tool {number}-{place}",
                at(number),
                replace=shape == "slot" and place == 0,
            )
        )
    return Batch(f"b{number}", tuple(said), Source("cli", at(0)))


def _write_and_remove(store: SqliteStore) -> None:
    """Every kind of step that writing facts has: new, renamed, closed and removed rows."""
    write(store, plan("b-new", fact("app", "USES", "tool 7"), fact("app", "NEEDS", "x")))
    write(store, Plan("b-name", entities=(replace(entity("app"), name="Other"),)))
    removal = Plan(
        "b-gone",
        removed_facts=frozenset({"app|NEEDS|x"}),
        removed_entities=frozenset({"e-x"}),
        removed_names=frozenset({"x"}),
        removed_statements=frozenset({Order(at(0), "b-new", 1)}),
    )
    write(store, removal)


@contextmanager
def _tracing(connection: sqlite3.Connection) -> Iterator[list[str]]:
    ran: list[str] = []
    connection.set_trace_callback(ran.append)
    try:
        yield ran
    finally:
        connection.set_trace_callback(None)


def _assert_searches(connection: sqlite3.Connection, ran: list[str]) -> None:
    """Each statement finds its rows by an index, and by more of it than the scope."""
    starts = ("SELECT", "INSERT", "UPDATE", "DELETE")
    queries = [line for line in ran if line.lstrip().startswith(starts)]
    queries = [line for line in queries if "_words_config" not in line]  # FTS5's own handful
    assert queries
    for query in queries:
        for *_, step in connection.execute(f"EXPLAIN QUERY PLAN {query}"):
            scans = step.startswith("SCAN") and not step.startswith(
                ("SCAN wanted", "SCAN one", "SCAN json_each", "SCAN CONSTANT")
            )
            assert not scans or "VIRTUAL TABLE INDEX" in step, (query, step)
            # All of a scope is read only where a page of it is what was asked.
            assert "(scope=?)" not in step or "LIMIT" in query, (query, step)


@pytest.mark.parametrize("name", READS)
def test_no_read_walks_a_whole_table_or_scope(tmp_path: Path, name: str) -> None:
    with closing(open_store(tmp_path / "store.db")) as store:
        _fill(store, SCOPE, 20)
        with store._database.read() as connection:
            reader = connection
        with _tracing(reader) as ran:
            READS[name](store)
        _assert_searches(reader, ran)


def test_no_write_walks_a_whole_table_or_scope(tmp_path: Path) -> None:
    with closing(open_store(tmp_path / "store.db")) as store:
        _fill(store, SCOPE, 20)
        with _tracing(store._database._writer) as ran:
            _write_and_remove(store)
        with store._database.read() as connection:
            _assert_searches(connection, ran)

"""What every engine has to pass. A subclass says how its store is opened:

    class TestMyFacts(FactsContract):
        def open(self, folder: Path) -> Store: ...

Classes follow ``store.base``: this file holds the graph, ``contract_search`` finding things,
``contract_records`` the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Barrier, Thread

import pytest

from codesynapse.domain.batch import Batch
from codesynapse.domain.graph import Interval, Limits, Order, Plan, Slice, Source
from codesynapse.domain.scope import Scope
from codesynapse.domain.statements import Statement
from codesynapse.errors import Invalid, LimitExceeded, StaleRevision
from codesynapse.store.base import Counts, FactFilter, Page, Store
from tests.store.planning import (
    SCOPE,
    alias,
    at,
    entity,
    fact,
    keyed,
    plan,
    said,
    touching,
    write,
)

__all__ = ["FactsContract", "SliceContract", "StoreContract"]

OTHER = Scope.session("s1")


class StoreContract:
    """Gives each test an empty store of its own, closed and sound afterwards."""

    plans_once = True  # False where ``change`` may have to plan again

    def open(self, folder: Path) -> Store:
        raise NotImplementedError

    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        store = self.open(tmp_path)
        try:
            yield store
            assert store.verify() == []
        finally:
            store.close()


class SliceContract(StoreContract):
    """``slice``: what ``domain.graph.Slice`` promises."""

    def test_a_new_scope_is_at_revision_0_and_empty(self, store: Store) -> None:
        assert store.facts.slice(SCOPE, touching("a")) == Slice(0, False, 0, 0)
        assert store.facts.counts(SCOPE) == Counts(0, 0, 0, 0)

    def test_rows_come_back_as_they_were_written(self, store: Store) -> None:
        one = replace(
            fact("a", "USES", "b"),
            intervals=(Interval(at(-9e6), at(2)), Interval(at(5), None)),
            confidence=0.1 + 0.2,
        )
        written = replace(
            plan("b1", one),
            entities=(entity("a", "tool", "Å", 'x"y'), entity("b")),
            names=(
                keyed(entity("a", "tool")),
                keyed(entity("a", "tool"), "Å"),
                keyed(entity("b"), order=Order(at(7), "z", 3)),
            ),
        )
        write(store, written)
        found = store.facts.slice(SCOPE, touching("a", "b", groups=frozenset({("a", "USES")})))
        assert found == Slice(
            revision=1,
            applied=False,
            entity_count=2,
            fact_count=1,
            names={row.key: row for row in written.names},
            entities={row.id: row for row in written.entities},
            facts=(one,),
            statements=written.statements,
        )

    def test_all_names_of_an_entity_come_with_any_one_of_them(self, store: Store) -> None:
        row = entity("k8s", None, "Kubernetes")
        names = (keyed(row), keyed(row, "kubernetes"))
        write(store, Plan("b1", names=names, entities=(row,)))
        found = store.facts.slice(SCOPE, touching("kubernetes", "nobody"))
        assert set(found.names) == {"k8s", "kubernetes"}
        assert set(found.entities) == {row.id}

    def test_a_group_is_that_of_the_entity_and_holds_every_fact_of_it(self, store: Store) -> None:
        row = entity("a", None, "alias")
        facts = [fact("a", "USES", "b"), fact("a", "USES", "c", end=5), fact("a", "OWNS", "d")]
        write(
            store,
            plan("b1", *facts),
            Plan("b2", names=(keyed(row, "alias"),), entities=(row,)),
        )
        asked = touching("alias", groups=frozenset({("alias", "USES")}))
        found = store.facts.slice(SCOPE, asked)
        assert {f.id for f in found.facts} == {"a|USES|b", "a|USES|c"}
        assert {s.fact_id for s in found.statements} == {"a|USES|b", "a|USES|c"}
        assert set(found.entities) == {"e-a", "e-b", "e-c"}

    def test_a_fact_asked_comes_with_what_replaces_in_its_group(self, store: Store) -> None:
        row = entity("a", None, "alias")
        facts = [fact("a", "USES", name) for name in "bcd"] + [fact("a", "OWNS", "b")]
        written = plan("b1", *facts)
        quiet = tuple(
            replace(said, replace="|c" in str(said.fact_id)) for said in written.statements
        )
        write(
            store,
            replace(written, statements=quiet),
            Plan("b2", names=(keyed(row, "alias"),), entities=(row,)),
        )
        asked = touching("alias", "b", facts=frozenset({("alias", "USES", "b")}))
        found = store.facts.slice(SCOPE, asked)
        assert {f.id for f in found.facts} == {"a|USES|b", "a|USES|c"}
        assert {s.fact_id for s in found.statements} == {"a|USES|b", "a|USES|c"}
        assert set(found.entities) == {"e-a", "e-b", "e-c"}
        new = touching("a", "x", facts=frozenset({("a", "USES", "x"), ("x", "USES", "a")}))
        assert {f.id for f in store.facts.slice(SCOPE, new).facts} == {"a|USES|c"}

    def test_a_merge_reads_all_around_and_the_groups_that_touches(self, store: Store) -> None:
        around = [fact("m", "USES", "x"), fact("y", "OWNS", "m"), fact("y", "OWNS", "z", end=9)]
        write(store, plan("b1", *around, fact("y", "HAS", "z"), fact("q", "OWNS", "z")))
        found = store.facts.slice(SCOPE, touching("m", merges=("m",)))
        assert {f.id for f in found.facts} == {row.id for row in around}
        assert set(found.entities) == {"e-m", "e-x", "e-y", "e-z"}

    def test_a_merge_brings_what_united_its_names_and_no_other_alias(self, store: Store) -> None:
        one, two = entity("k8s", None, "Kube", "Kubernetes"), entity("pg", None, "Postgres")
        names = (keyed(one), keyed(one, "kube"), keyed(one, "kubernetes"))
        united = (alias("k8s", "kube", "b1"), alias("kube", "kubernetes", "b2", 1))
        write(
            store,
            Plan(
                "b1",
                names=(*names, keyed(two), keyed(two, "postgres")),
                entities=(one, two),
                statements=(*united, alias("pg", "postgres", "b3")),
            ),
        )
        found = store.facts.slice(SCOPE, touching("kubernetes", "pg", merges=("kubernetes",)))
        assert found.statements == united
        assert set(found.names) == {"k8s", "kube", "kubernetes", "pg", "postgres"}

    def test_a_known_batch_is_said_to_be_applied(self, store: Store) -> None:
        write(store, plan("b1", fact("a", "USES", "b")))
        assert store.facts.slice(SCOPE, touching("a", batch="b1")).applied
        assert not store.facts.slice(OTHER, touching("a", batch="b1")).applied


class FactsContract(StoreContract):
    """``apply``, and reading by key, filter, neighbourhood and origin."""

    def test_a_recorded_batch_is_a_no_op_whatever_the_revision(self, store: Store) -> None:
        write(store, plan("b1", fact("a", "USES", "b")))
        before = store.facts.slice(SCOPE, touching("a", "c"))
        for revision in (0, 1, 99):
            store.facts.apply(plan("b1", fact("c", "USES", "d")), SCOPE, revision)
        assert store.facts.slice(SCOPE, touching("a", "c")) == before

    def test_a_stale_plan_is_refused_and_leaves_nothing(self, store: Store) -> None:
        write(store, plan("b1", fact("a", "USES", "b")))
        with pytest.raises(StaleRevision):
            store.facts.apply(plan("b2", fact("c", "USES", "d")), SCOPE, 0)
        assert store.facts.counts(SCOPE) == Counts(2, 1, 1, 1)
        assert store.facts.names(SCOPE, ["c"]) == {}
        assert not store.facts.slice(SCOPE, touching(batch="b2")).applied

    def test_a_change_is_planned_from_what_it_touches_and_written(self, store: Store) -> None:
        one, two = plan("b1", fact("a", "USES", "b")), plan("b2", fact("a", "USES", "c"))
        seen: list[Slice] = []

        def planned(slice_: Slice) -> Plan:
            seen.append(slice_)
            return one if slice_.revision == 0 else two

        asked = touching("a", batch="b1")
        assert store.facts.change(SCOPE, asked, planned) == one
        assert store.facts.change(SCOPE, asked, planned) == Plan("b1")  # without asking again
        asked = touching("a", batch="b2")
        assert store.facts.change(SCOPE, asked, planned) == two
        assert [slice_.revision for slice_ in seen] == [0, 1]
        assert set(seen[1].names) == {"a"}
        assert store.facts.counts(SCOPE) == Counts(3, 2, 2, 2)

    def test_a_change_that_is_empty_or_fails_leaves_nothing(self, store: Store) -> None:
        def fails(_: Slice) -> Plan:
            raise LimitExceeded("enough")

        asked = touching("a", batch="b1")
        assert store.facts.change(SCOPE, asked, lambda _: Plan("b1")).empty
        with pytest.raises(LimitExceeded):
            store.facts.change(SCOPE, asked, fails)
        assert store.facts.slice(SCOPE, asked) == Slice(0, False, 0, 0)

    @pytest.mark.timeout(120)
    def test_many_writers_of_one_scope_lose_nothing(self, store: Store) -> None:
        plans: list[str] = []

        def say(writer: int) -> None:
            for number in range(12):
                said = (
                    Statement("app", "USES", f"tool {number}", at(number)),
                    Statement("app", "PORT", f"p{writer}-{number}", at(number), replace=True),
                    Statement(f"module {writer}", "OWNED_BY", "Dana", at(number)),
                )
                batch = Batch(f"{writer}-{number}", said, Source("cli", at(0)))

                def planned(slice_: Slice, batch: Batch = batch) -> Plan:
                    plans.append(batch.id)
                    return batch.plan(SCOPE, slice_, Limits())

                store.facts.change(SCOPE, batch.touches(SCOPE), planned)
                store.facts.change(SCOPE, batch.touches(SCOPE), planned)

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(say, range(8)))
        assert len(set(plans)) == 96
        assert len(plans) == 96 or not self.plans_once
        facts, _ = store.facts.facts(SCOPE, FactFilter(history=True), Page(500))
        by_predicate = {
            name: [row for row in facts if row.predicate == name]
            for name in ("USES", "PORT", "OWNED_BY")
        }
        assert [row.confirmations for row in by_predicate["USES"]] == [8] * 12
        assert [row.confirmations for row in by_predicate["OWNED_BY"]] == [12] * 8
        assert len(by_predicate["PORT"]) == 96
        assert sum(row.current for row in by_predicate["PORT"]) == 1
        assert len(store.facts.statements(SCOPE, [row.id for row in facts])) == 288
        assert store.facts.counts(SCOPE) == Counts(1 + 12 + 96 + 8 + 1, 116, 21, 96)
        assert store.verify() == []

    def test_every_plan_moves_the_revision_by_one_even_an_empty_one(self, store: Store) -> None:
        write(store, plan("b1", fact("a", "USES", "b")), Plan("b2"))
        assert store.facts.counts(SCOPE) == Counts(2, 1, 1, 2)
        assert store.facts.slice(SCOPE, touching(batch="b2")).applied

    def test_upserts_replace_and_the_counts_follow(self, store: Store) -> None:
        write(store, plan("b1", fact("a", "USES", "b"), fact("a", "USES", "c")))
        closed = fact("a", "USES", "b", end=5, confirmations=4)
        write(store, Plan("b2", facts=(closed, fact("a", "OWNS", "c"))))
        assert store.facts.counts(SCOPE) == Counts(3, 3, 2, 2)
        history, _ = store.facts.facts(SCOPE, FactFilter(ids=(closed.id,), history=True), Page())
        assert history == [closed]

    def test_removal_comes_first_and_reaches_every_kind_of_row(self, store: Store) -> None:
        kept, gone = fact("a", "USES", "b"), fact("c", "USES", "d")
        first = plan("b1", kept, gone)
        write(store, first)
        again = fact("a", "USES", "b", confirmations=2)
        write(
            store,
            Plan(
                "b2",
                facts=(again,),
                removed_facts=frozenset({kept.id, gone.id, "unknown"}),
                removed_entities=frozenset({"e-c", "e-d"}),
                removed_names=frozenset({"c", "d"}),
                removed_statements=frozenset({first.statements[1].order}),
            ),
        )
        assert store.facts.counts(SCOPE) == Counts(2, 1, 1, 2)
        assert store.facts.names(SCOPE, "abcd").keys() == {"a", "b"}
        assert store.facts.entities(SCOPE, ["e-a", "e-c"]).keys() == {"e-a"}
        assert store.facts.statements(SCOPE, [kept.id, gone.id]) == [first.statements[0]]
        assert store.facts.facts(SCOPE, FactFilter(history=True), Page())[0] == [again]

    def test_a_stored_statement_only_gets_its_new_fact(self, store: Store) -> None:
        first = plan("b1", fact("a", "USES", "b"))
        write(store, first)
        old = first.statements[0]
        moved = replace(old, fact_id="z|USES|b", confidence=0.1, subject="z")
        write(store, replace(plan("b2", fact("z", "USES", "b")), statements=(moved,)))
        assert store.facts.statements(SCOPE, ["z|USES|b"]) == [replace(old, fact_id="z|USES|b")]
        assert store.facts.statements(SCOPE, ["a|USES|b"]) == []

    def test_scopes_do_not_see_each_other(self, store: Store) -> None:
        write(store, plan("b1", fact("a", "USES", "b")))
        write(store, plan("b1", fact("a", "OWNS", "b")), scope=OTHER)
        assert [f.predicate for f in store.facts.strongest(SCOPE, 9)] == ["USES"]
        assert [f.predicate for f in store.facts.strongest(OTHER, 9)] == ["OWNS"]
        assert store.facts.names(Scope.personal("s1"), ["a"]) == {}

    def test_statements_are_oldest_first(self, store: Store) -> None:
        row = fact("a", "USES", "b")
        write(store, *(plan(f"b{m}", row, minutes=m) for m in (3, 1, 2)))
        found = store.facts.statements(SCOPE, [row.id])
        assert found == [said(row, f"b{m}", 0, m) for m in (1, 2, 3)]
        assert store.facts.statements(SCOPE, []) == []

    def test_all_entities_are_listed_once_whatever_is_written_meanwhile(self, store: Store) -> None:
        write(store, plan("b1", *(fact(f"n{i:02}", "USES", "x") for i in range(20))))
        seen: list[str] = []
        cursor: str | None = None
        while True:
            rows, cursor = store.facts.list_entities(SCOPE, Page(6, cursor))
            seen += [row.id for row in rows]
            write(store, plan(f"c{len(seen)}", fact("n00", "OWNS", "x")))
            if cursor is None:
                break
        assert len(seen) == len(set(seen)) == 21

    def test_facts_are_newest_first_in_pages(self, store: Store) -> None:
        rows = [fact("a", "USES", f"b{i}", start=i % 4) for i in range(11)]
        write(store, plan("b1", *rows))
        seen, cursor = store.facts.facts(SCOPE, FactFilter(), Page(4))
        while cursor:
            more, cursor = store.facts.facts(SCOPE, FactFilter(), Page(4, cursor))
            assert len(more) <= 4
            seen += more
        starts = [row.intervals[-1].start for row in seen]
        assert starts == sorted(starts, reverse=True)
        assert {row.id for row in seen} == {row.id for row in rows}
        assert len(seen) == 11

    @pytest.mark.parametrize(
        ("which", "expected"),
        [
            (FactFilter(), {"a|USES|b", "c|OWNS|a"}),
            (FactFilter(history=True), {"a|USES|b", "c|OWNS|a", "a|USES|old"}),
            (FactFilter(ids=("a|USES|b", "nothing")), {"a|USES|b"}),
            (FactFilter(entity_ids=("e-a",), predicate="OWNS"), {"c|OWNS|a"}),
            (FactFilter(entity_ids=("e-c", "e-b")), {"a|USES|b", "c|OWNS|a"}),
            (FactFilter(subject_ids=("e-a",)), {"a|USES|b"}),
            (FactFilter(predicate="USES", history=True), {"a|USES|b", "a|USES|old"}),
            (FactFilter(as_of=at(1)), {"a|USES|old"}),
            (FactFilter(as_of=at(2)), {"a|USES|b"}),
            (FactFilter(as_of=at(1), history=True), {"a|USES|old"}),
            (FactFilter(as_of=at(-1)), set()),
        ],
    )
    def test_filters(self, store: Store, which: FactFilter, expected: set[str]) -> None:
        old = fact("a", "USES", "old", start=0, end=2)
        write(
            store, plan("b1", old, fact("a", "USES", "b", start=2), fact("c", "OWNS", "a", start=3))
        )
        found, cursor = store.facts.facts(SCOPE, which, Page())
        assert ({row.id for row in found}, cursor) == (expected, None)

    @pytest.mark.parametrize("cursor", ["x", "%", "e30=", "WzFd", "\ud800", "W251bGwsIG51bGxd"])
    def test_a_made_up_cursor_is_refused(self, store: Store, cursor: str) -> None:
        write(store, plan("b1", fact("a", "USES", "b")))
        with pytest.raises(Invalid):
            store.facts.facts(SCOPE, FactFilter(), Page(4, cursor))

    def test_neighbours_are_the_best_of_both_sides_however_many(self, store: Store) -> None:
        weak = [fact("hub", "USES", f"n{i}", confidence=0.5) for i in range(60)]
        strong = [
            fact("x", "OWNS", "hub", confidence=0.9),
            fact("hub", "HAS", "y", confidence=0.9, confirmations=3),
            fact("hub", "HAS", "newer", confidence=0.9, start=9),
            fact("hub", "HAD", "z", confidence=1.0, end=4),
        ]
        write(store, plan("b1", *weak, *strong, fact("lone", "USES", "n1")))
        found = store.facts.neighbours(SCOPE, ["e-hub", "e-lone", "e-nobody"], 4)
        best = ["hub|HAS|y", "hub|HAS|newer", "x|OWNS|hub"]
        assert [row.id for row in found["e-hub"]][:3] == best
        assert len(found["e-hub"]) == 4
        assert [row.id for row in found["e-lone"]] == ["lone|USES|n1"]
        assert found["e-nobody"] == []

    def test_a_fact_about_itself_is_one_neighbour(self, store: Store) -> None:
        write(store, plan("b1", fact("a", "CALLS", "a")))
        assert len(store.facts.neighbours(SCOPE, ["e-a"], 5)["e-a"]) == 1

    def test_the_strongest_are_current_and_ordered(self, store: Store) -> None:
        write(
            store,
            plan(
                "b1",
                fact("a", "USES", "new", start=5),
                fact("a", "USES", "old"),
                fact("a", "USES", "often", confirmations=2),
                fact("a", "USES", "sure", confidence=0.9),
                fact("a", "USES", "past", confidence=1.0, end=3),
            ),
        )
        order = [row.id.split("|")[2] for row in store.facts.strongest(SCOPE, 3)]
        assert order == ["sure", "often", "new"]

    def test_facts_of_an_origin(self, store: Store) -> None:
        one, two = fact("a", "USES", "b"), fact("a", "USES", "c")
        write(store, plan("b1", one, origin="carried:s1"), plan("b2", two, one))
        assert store.facts.sessions_facts(SCOPE, "carried:s1") == [one.id]
        assert store.facts.sessions_facts(SCOPE, "carried:s2") == []
        assert store.facts.sessions_facts(OTHER, "carried:s1") == []

    def test_deleting_a_scope_is_complete_counted_and_idempotent(self, store: Store) -> None:
        write(store, plan("b1", fact("a", "USES", "b"), fact("a", "USES", "c", end=3)))
        write(store, plan("b1", fact("a", "USES", "b")), scope=OTHER)
        assert store.facts.delete_scope(SCOPE) == 2
        assert store.verify() == []
        assert store.facts.slice(SCOPE, touching("a", batch="b1")) == Slice(0, False, 0, 0)
        assert store.facts.strongest(SCOPE, 9) == []
        assert store.facts.delete_scope(SCOPE) == 0
        assert store.facts.counts(OTHER) == Counts(2, 1, 1, 1)

    def test_a_plan_read_before_a_deletion_is_refused_after_it(self, store: Store) -> None:
        write(store, plan("b1", fact("a", "USES", "b")))
        read_at = store.facts.counts(SCOPE).revision
        store.facts.delete_scope(SCOPE)
        late = plan("late", fact("c", "USES", "d"))
        with pytest.raises(StaleRevision):
            store.facts.apply(late, SCOPE, read_at)
        write(store, plan("b2", fact("x", "USES", "y")))
        with pytest.raises(StaleRevision):
            store.facts.apply(late, SCOPE, read_at)

    def test_threads_that_write_at_once_lose_nothing(self, store: Store) -> None:
        start = Barrier(4)

        def work(writer: int) -> None:
            start.wait(timeout=30)
            for turn in range(15):
                one = plan(f"b{writer}-{turn}", fact(f"w{writer}", "USES", f"x{turn}"))
                while True:
                    try:
                        write(store, one)
                        break
                    except StaleRevision:
                        continue

        threads = [Thread(target=work, args=(writer,)) for writer in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=60)
        assert store.facts.counts(SCOPE) == Counts(19, 60, 60, 60)

    def test_a_reader_sees_a_plan_whole_or_not_at_all(self, store: Store) -> None:
        both = [("a|USES|b", "a|USES|c"), ("a|USES|c", "a|USES|b")]
        write(store, plan("b0", fact("a", "USES", "b"), fact("a", "USES", "c", end=1)))
        torn: list[object] = []

        def look() -> None:
            asked = touching("a", groups=frozenset({("a", "USES")}))
            while True:
                found = store.facts.slice(SCOPE, asked)
                current = tuple(f.id for f in found.facts if f.current)
                if (current, found.revision % 2) not in ((("a|USES|b",), 1), (("a|USES|c",), 0)):
                    torn.append(found)
                if found.revision >= 40:
                    return

        reader = Thread(target=look)
        reader.start()
        for turn in range(1, 40):
            now, then = (f.split("|") for f in both[turn % 2])
            write(store, Plan(f"b{turn}", facts=(fact(*then, end=9), fact(*now))))
        reader.join(timeout=60)
        assert torn == []

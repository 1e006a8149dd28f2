"""What statements add up to: the rules about facts, as pure functions of a set of statements.

Every function here gives the same rows for the same set, in whatever order it comes.  Statements
are ordered by ``Order`` (time said, batch, place), never by arrival.

* **Entities.** ``SAME_AS`` statements unite names, oldest first; the root of the subject's side
  survives, so cycles and chains end in one name, which gives the entity its id.  The first
  spelling of a name is its display name; the newest type anyone gave is the entity's type.
* **Facts.** Saying a fact opens an interval unless one is open; ``close`` ends it, ``replace``
  ends every other open value of (subject, predicate).  What was only ever ended keeps one empty
  interval at that moment, and so does a fact that points at its own subject: it never held.
* Confirmations count the batches that say a fact; confidence is the highest of what says it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from codesynapse.domain.graph import (
    SAME_AS,
    EntityRow,
    FactRow,
    Interval,
    NameRow,
    Order,
    StatementRow,
)
from codesynapse.domain.names import entity_id, fact_id
from codesynapse.domain.turns import Speaker

__all__ = [
    "Edge",
    "Graph",
    "Said",
    "add_spellings",
    "fold",
    "fold_entity",
    "fold_facts",
    "representatives",
]


class Edge(NamedTuple):
    """The two ends and the predicate that identify a fact in its scope."""

    subject_id: str
    predicate: str
    object_id: str


class Said(NamedTuple):
    """A statement about a fact, and the edge it is about once names are resolved."""

    edge: Edge
    row: StatementRow


@dataclass(frozen=True, slots=True)
class Graph:
    """Everything that follows from a set of statements, by key or id."""

    names: dict[str, NameRow]
    entities: dict[str, EntityRow]
    facts: dict[str, FactRow]
    statements: dict[Order, StatementRow]


def fold(scope_key: str, statements: Iterable[StatementRow]) -> Graph:
    """The whole graph of a scope from nothing but its statements."""
    rows = sorted(statements, key=lambda row: row.order)
    roots = representatives(row for row in rows if row.predicate == SAME_AS)
    ids = {
        key: entity_id(scope_key, roots.get(key, key))
        for row in rows
        for key in (row.subject, row.object)
    }
    names = add_spellings({}, rows, ids)
    members: defaultdict[str, list[NameRow]] = defaultdict(list)
    for name in names.values():
        members[name.entity_id].append(name)
    said = [
        Said(Edge(ids[row.subject], row.predicate, ids[row.object]), row)
        for row in rows
        if row.predicate != SAME_AS
    ]
    facts, placed = fold_facts(scope_key, said)
    aliases = (row for row in rows if row.predicate == SAME_AS)
    return Graph(
        names,
        {id_: fold_entity(scope_key, id_, found) for id_, found in members.items()},
        facts,
        {row.order: row for row in (*placed, *aliases)},
    )


def representatives(same_as: Iterable[StatementRow]) -> dict[str, str]:
    """The name that represents each name that occurs in these SAME_AS statements."""
    parent: dict[str, str] = {}
    for row in sorted(same_as, key=lambda row: row.order):
        kept, joined = _root(parent, row.subject), _root(parent, row.object)
        parent[joined] = kept
    return {key: _root(parent, key) for key in list(parent)}


def _root(parent: dict[str, str], key: str) -> str:
    parent.setdefault(key, key)
    while parent[key] != key:
        parent[key] = key = parent[parent[key]]  # halves the path for the next caller
    return key


def add_spellings(
    known: Mapping[str, NameRow], rows: Iterable[StatementRow], ids: Mapping[str, str]
) -> dict[str, NameRow]:
    """The names in ``rows``, on top of what is ``known`` of them.

    ``ids`` gives their entities; names that it does not give are left out.
    """
    names: dict[str, NameRow] = {}
    for row in rows:
        for key, spelled, type_ in (
            (row.subject, row.subject_as, row.subject_type),
            (row.object, row.object_as, row.object_type),
        ):
            if key in ids:
                name = names.get(key) or known.get(key)
                name = name or NameRow(key, ids[key], spelled or key, row.order)
                names[key] = _spelled(name, row, spelled or key, type_)
    return names


def _spelled(name: NameRow, row: StatementRow, spelled: str, type_: str | None) -> NameRow:
    if row.order < name.display_order:
        name = replace(name, display=spelled, display_order=row.order)
    # Not newer within one statement: its subject comes first.
    if type_ is not None and (name.type_order is None or name.type_order < row.order):
        name = replace(name, type=type_, type_order=row.order)
    return name


def fold_entity(scope_key: str, id_: str, names: Iterable[NameRow]) -> EntityRow:
    """The row of an entity from all its names, one of which gives it its id."""
    members = sorted(names, key=lambda name: name.key)
    root = next(name for name in members if entity_id(scope_key, name.key) == id_)
    typed = [(name.type_order, name.type) for name in members if name.type_order is not None]
    aliases = sorted(name.display for name in members if name is not root)
    newest = max(typed, key=lambda pair: pair[0])[1] if typed else None
    return EntityRow(id_, root.display, newest, tuple(aliases))


def fold_facts(
    scope_key: str, said: Iterable[Said]
) -> tuple[dict[str, FactRow], list[StatementRow]]:
    """The facts of (subject, predicate) groups, and the statements with their fact's id.

    A group must be given whole, since ``replace`` reaches every value of it, or else without some
    of the values of which no statement replaces: what is given folds the same without those.
    """
    groups: defaultdict[tuple[str, str], list[Said]] = defaultdict(list)
    for item in sorted(said, key=lambda item: item.row.order):
        groups[item.edge.subject_id, item.edge.predicate].append(item)
    facts: dict[str, FactRow] = {}
    placed: list[StatementRow] = []
    for group in groups.values():
        intervals = _intervals(group)
        about: defaultdict[Edge, list[StatementRow]] = defaultdict(list)
        for item in group:
            about[item.edge].append(item.row)
        for edge, rows in about.items():
            fact = _fact(fact_id(scope_key, *edge), edge, rows, intervals[edge])
            facts[fact.id] = fact
            placed += (
                row if row.fact_id == fact.id else replace(row, fact_id=fact.id) for row in rows
            )
    return facts, placed


def _intervals(group: list[Said]) -> dict[Edge, tuple[Interval, ...]]:
    """When each value of one group held; ``group`` is in order."""
    since: dict[Edge, datetime] = {}
    past: defaultdict[Edge, list[Interval]] = defaultdict(list)
    first: dict[Edge, datetime] = {}

    def end(edge: Edge, at: datetime) -> None:
        start = since.pop(edge, None)
        if start is not None:
            past[edge].append(Interval(start, at))

    for edge, row in group:
        at = row.order.said_at
        first.setdefault(edge, at)
        if row.close:
            end(edge, at)
            continue
        if row.replace:
            for other in [value for value in since if value != edge]:
                end(other, at)
        if edge.subject_id != edge.object_id:
            since.setdefault(edge, at)
    for edge, start in since.items():
        past[edge].append(Interval(start, None))
    return {edge: tuple(past[edge] or [Interval(at, at)]) for edge, at in first.items()}


def _fact(
    id_: str, edge: Edge, rows: list[StatementRow], intervals: tuple[Interval, ...]
) -> FactRow:
    asserting = [row for row in rows if not row.close]
    telling = asserting or rows  # of what was only ever ended, that is all there is
    speakers = {row.source.speaker for row in telling}
    return FactRow(
        id=id_,
        subject_id=edge.subject_id,
        predicate=edge.predicate,
        object_id=edge.object_id,
        confidence=max(row.confidence for row in telling),
        confirmations=len({row.order.batch_id for row in asserting}),
        intervals=intervals,
        said_by=next((who for who in (Speaker.USER, Speaker.ASSISTANT) if who in speakers), None),
        newest=telling[-1].source,
        first_stored_at=min(row.source.stored_at for row in rows),
    )

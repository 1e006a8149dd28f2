"""One write to the graph, as a pure step from what is stored to what is to be stored.

``Batch`` says things; ``plan_removal`` unsays them.  Both are given the ``Slice`` of a scope that
their ``Touches`` asked for and return a ``Plan`` of absolute rows.  The result is what
``folding.fold`` makes of all statements of the scope, whatever the order in which batches came,
and a batch id that is stored already changes nothing.

Refused, whole: what ``statements`` refuses, more than 500 statements, and what would pass a limit
of the scope.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

from codesynapse.domain.folding import (
    Edge,
    Said,
    add_spellings,
    fold_entity,
    fold_facts,
    representatives,
)
from codesynapse.domain.graph import (
    SAME_AS,
    EntityRow,
    FactRow,
    Limits,
    NameRow,
    Order,
    Plan,
    Slice,
    Source,
    StatementRow,
    Touches,
)
from codesynapse.domain.names import USER_KEY, entity_id, name_key
from codesynapse.domain.scope import Scope, ScopeKind
from codesynapse.domain.statements import Statement, checked, checked_source
from codesynapse.errors import Invalid, LimitExceeded, StaleRevision

__all__ = [
    "MAX_STATEMENTS",
    "Batch",
    "Needs",
    "Resolved",
    "Statement",
    "plan_entity_removal",
    "plan_removal",
    "removal_touches",
]

MAX_STATEMENTS = 500

_Key = TypeVar("_Key", bound=Hashable)
_Row = TypeVar("_Row")
_BATCH_ID = re.compile(r"[\x21-\x7e]{1,200}")


class Needs(NamedTuple):
    """How many rows a batch adds to its scope, net of what merging takes away."""

    entities: int
    facts: int


@dataclass(frozen=True, slots=True)
class Resolved:
    """Names brought to entities: what a batch does to the names and entities of its slice.

    ``moved`` maps the id of each entity that is merged away, or represented by another name from
    now on, to the id that stands for it.
    """

    names: dict[str, NameRow]  # of the slice and the batch, by key, as they will be
    entities: dict[str, EntityRow]  # of those names, by id, as they will be
    moved: dict[str, str]

    def edge(self, row: StatementRow) -> Edge:
        """What a statement of the batch is about."""
        subject, object_ = self.names[row.subject], self.names[row.object]
        return Edge(subject.entity_id, row.predicate, object_.entity_id)


@dataclass(frozen=True, slots=True)
class Batch:
    """Statements under one id. Making one cleans and checks them; raises Invalid."""

    id: str
    statements: tuple[Statement, ...]
    source: Source

    def __post_init__(self) -> None:
        if not _BATCH_ID.fullmatch(self.id):
            raise Invalid("a batch id is 1 to 200 visible ASCII characters", "use a UUID")
        if len(self.statements) > MAX_STATEMENTS:
            raise Invalid(
                f"{len(self.statements)} statements in one batch; at most {MAX_STATEMENTS}",
                "send them in several batches",
            )
        source = checked_source(self.source)
        object.__setattr__(self, "source", source)
        clean = tuple(checked(statement, source) for statement in self.statements)
        object.__setattr__(self, "statements", clean)

    def for_scope(self, scope: Scope, user: str) -> Batch:
        """The batch as it is said in ``scope``: where others read, ``User`` is a name."""
        if scope.kind is not ScopeKind.REPOSITORY:
            return self

        def named(name: str) -> str:
            return user if name_key(name) == USER_KEY else name

        return replace(
            self,
            statements=tuple(
                replace(said, subject=named(said.subject), object=named(said.object))
                for said in self.statements
            ),
        )

    def touches(self, scope: Scope) -> Touches:
        """What has to be read of ``scope`` before this can be planned."""
        rows = _rows(self)
        about = [row for row in rows if row.predicate != SAME_AS]
        return Touches(
            batch_id=self.id,
            names=frozenset(key for row in rows for key in _keys(row)),
            # Without ``replace`` a value leaves its neighbours alone, however many there are.
            facts=frozenset((r.subject, r.predicate, r.object) for r in about if not r.replace),
            groups=frozenset((r.subject, r.predicate) for r in about if r.replace),
            merges=frozenset(k for row in rows if row.predicate == SAME_AS for k in _keys(row)),
        )

    def resolve(self, scope: Scope, slice_: Slice) -> Resolved:
        """Which entities the names of this batch are, and what becomes of those they merge."""
        rows = _rows(self)
        ids = {key: entity_id(scope.key, key) for row in rows for key in _keys(row)}
        ids |= {key: name.entity_id for key, name in slice_.names.items()}
        # Only names that are merged now: of others, the slice need not hold what united them.
        roots = representatives(r for r in (*slice_.statements, *rows) if r.predicate == SAME_AS)
        ids |= {key: entity_id(scope.key, root) for key, root in roots.items()}
        names = {**slice_.names, **add_spellings(slice_.names, rows, ids)}
        names = {key: replace(name, entity_id=ids[key]) for key, name in names.items()}
        moved = {
            name.entity_id: ids[key]
            for key, name in slice_.names.items()
            if name.entity_id != ids[key]
        }
        return Resolved(names, _entities(scope, names.values()), moved)

    def needs(self, scope: Scope, slice_: Slice) -> Needs:
        """What this adds to the scope; nothing when it is stored already."""
        return _needs(slice_, self._planned(scope, slice_))

    def plan(self, scope: Scope, slice_: Slice, limits: Limits) -> Plan:
        """The rows to write; an empty plan when the batch is stored already.

        Raises LimitExceeded, with the figures, when the scope would pass a limit.  What adds
        nothing is never refused, even in a scope that is past a limit that was lowered.
        """
        plan = self._planned(scope, slice_)
        needs = _needs(slice_, plan)
        _check_limit(scope, "entities", slice_.entity_count, needs.entities, limits.entities)
        _check_limit(scope, "facts", slice_.fact_count, needs.facts, limits.facts)
        return plan

    def _planned(self, scope: Scope, slice_: Slice) -> Plan:
        if slice_.applied:
            return Plan(self.id)
        resolved = self.resolve(scope, slice_)
        rows = _rows(self)
        aliases = [row for row in rows if row.predicate == SAME_AS]
        said = _said(slice_.statements, _edges(slice_, resolved.moved))
        said += (Said(resolved.edge(row), row) for row in rows if row.predicate != SAME_AS)
        facts, placed = fold_facts(scope.key, said)
        stored = {row.order: row for row in slice_.statements}
        return Plan(
            batch_id=self.id,
            names=_changed(slice_.names, resolved.names),
            entities=_changed(slice_.entities, resolved.entities),
            facts=_changed(_by_id(slice_), facts),
            statements=_changed(stored, {row.order: row for row in (*aliases, *placed)}),
            removed_facts=frozenset(_by_id(slice_).keys() - facts.keys()),
            removed_entities=frozenset(resolved.moved),
        )


def removal_touches(batch_id: str, entities: Iterable[EntityRow]) -> Touches:
    """What has to be read to delete facts: ``entities`` are those on either side of them."""
    keys = frozenset(name_key(entity.name) for entity in entities)
    return Touches(batch_id, names=keys, merges=keys)


def plan_removal(
    scope: Scope,
    slice_: Slice,
    fact_ids: Iterable[str],
    batch_id: str,
    *,
    origin: str | None = None,
) -> Plan:
    """Delete facts as if they had never been said; names that nothing else mentions go too.

    With ``origin``, only statements of that origin go, and what others said stays.  Ids that are
    not there are passed over.  Raises StaleRevision when the slice misses an entity on either
    side of a fact that goes: somebody wrote since the facts were listed; list and read again.
    """
    wanted = set(fact_ids)
    doomed = _doomed(slice_, lambda fact: fact.id in wanted)
    goes = (
        row.order
        for row in slice_.statements
        if row.fact_id in doomed and (origin is None or row.source.origin == origin)
    )
    return _without(scope, slice_, frozenset(goes), batch_id)


def plan_entity_removal(
    scope: Scope, slice_: Slice, entity_ids: Iterable[str], batch_id: str
) -> Plan:
    """Delete entities with all their facts, names and aliases; otherwise as ``plan_removal``.

    The slice must have been asked for these entities and for every neighbour of theirs.
    """
    wanted = set(entity_ids)
    doomed = _doomed(slice_, lambda fact: bool(wanted & {fact.subject_id, fact.object_id}))
    owner = {key: name.entity_id for key, name in slice_.names.items()}
    goes = (
        row.order
        for row in slice_.statements
        if row.fact_id in doomed or (row.predicate == SAME_AS and owner.get(row.subject) in wanted)
    )
    return _without(scope, slice_, frozenset(goes), batch_id)


def _doomed(slice_: Slice, goes: Callable[[FactRow], bool]) -> set[str | None]:
    if slice_.applied:
        return set()
    whole = {name.entity_id for name in slice_.names.values()}  # read with all around them
    doomed = [fact for fact in slice_.facts if goes(fact)]
    if any(not {fact.subject_id, fact.object_id} <= whole for fact in doomed):
        raise StaleRevision("the facts changed since they were listed", "try again")
    return {fact.id for fact in doomed}


def _without(scope: Scope, slice_: Slice, goes: frozenset[Order], batch_id: str) -> Plan:
    """The plan that takes statements away and folds what is left."""
    if slice_.applied:
        return Plan(batch_id)
    kept = [row for row in slice_.statements if row.order not in goes]
    edges = _edges(slice_, {})
    facts, _ = fold_facts(scope.key, _said(kept, edges))
    ids = {key: name.entity_id for key, name in slice_.names.items()}
    names = add_spellings({}, kept, ids)
    gone = {name.entity_id for name in slice_.names.values()}
    gone -= {name.entity_id for name in names.values()}
    return Plan(
        batch_id=batch_id,
        names=_changed(slice_.names, names),
        entities=_changed(slice_.entities, _entities(scope, names.values())),
        facts=_changed(_by_id(slice_), facts),
        removed_facts=frozenset(_by_id(slice_).keys() - facts.keys()),
        removed_entities=frozenset(gone),
        removed_names=frozenset(slice_.names.keys() - names.keys()),
        removed_statements=goes,
    )


def _edges(slice_: Slice, moved: Mapping[str, str]) -> dict[str, Edge]:
    """What each stored fact is about, once entities have moved."""
    return {
        fact.id: Edge(
            moved.get(fact.subject_id, fact.subject_id),
            fact.predicate,
            moved.get(fact.object_id, fact.object_id),
        )
        for fact in slice_.facts
    }


def _said(rows: Iterable[StatementRow], edges: Mapping[str, Edge]) -> list[Said]:
    return [Said(edges[row.fact_id], row) for row in rows if row.fact_id is not None]


def _by_id(slice_: Slice) -> dict[str, FactRow]:
    return {fact.id: fact for fact in slice_.facts}


def _entities(scope: Scope, names: Iterable[NameRow]) -> dict[str, EntityRow]:
    members: defaultdict[str, list[NameRow]] = defaultdict(list)
    for name in names:
        members[name.entity_id].append(name)
    return {id_: fold_entity(scope.key, id_, found) for id_, found in members.items()}


def _changed(stored: Mapping[_Key, _Row], wanted: Mapping[_Key, _Row]) -> tuple[_Row, ...]:
    """The rows that are not stored as they should be."""
    return tuple(row for key, row in wanted.items() if stored.get(key) != row)


def _needs(slice_: Slice, plan: Plan) -> Needs:
    stored = _by_id(slice_)
    entities = sum(entity.id not in slice_.entities for entity in plan.entities)
    facts = sum(fact.id not in stored for fact in plan.facts)
    return Needs(entities - len(plan.removed_entities), facts - len(plan.removed_facts))


def _check_limit(scope: Scope, what: str, have: int, more: int, limit: int) -> None:
    if more > 0 and have + more > limit:
        raise LimitExceeded(
            f"{scope.key} has {have} {what}, this would add {more}, the limit is {limit}",
            "delete what is no longer needed",
        )


def _keys(row: StatementRow) -> tuple[str, str]:
    return row.subject, row.object


def _rows(batch: Batch) -> list[StatementRow]:
    return [
        StatementRow(
            order=Order(said.said_at, batch.id, place),
            subject=name_key(said.subject),
            predicate=said.predicate,
            object=name_key(said.object),
            confidence=said.confidence,
            source=said.source or batch.source,
            fact_id=None,
            replace=said.replace,
            close=said.close,
            subject_as=said.subject,
            object_as=said.object,
            subject_type=said.subject_type,
            object_type=said.object_type,
        )
        for place, said in enumerate(batch.statements)
    ]

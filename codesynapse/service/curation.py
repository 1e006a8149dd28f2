"""What a person does to facts that stand: promote, delete, close, reopen, merge. All audited.

Closing and merging are statements like any other, so history stays; deleting takes the
statements themselves away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from uuid import uuid4

from codesynapse.domain.batch import (
    Batch,
    Statement,
    plan_entity_removal,
    plan_removal,
    removal_touches,
)
from codesynapse.domain.graph import SAME_AS, EntityRow, FactRow, Limits, Plan, Slice, Touches
from codesynapse.domain.names import name_key
from codesynapse.domain.scope import Principal, Role, Scope, ScopeKind
from codesynapse.domain.sessions import Session
from codesynapse.errors import Closed, Forbidden, Invalid, NotFound
from codesynapse.recall.answer import FactView
from codesynapse.service.access import FactDeps, check_writable
from codesynapse.service.facts import (
    WriteResult,
    audit,
    known_fact,
    source_of,
    write_batch,
    write_plan,
)
from codesynapse.service.views import NodeView, show_facts, show_node
from codesynapse.store.base import FactFilter, Page

__all__ = [
    "MAX_PROMOTED",
    "close_fact",
    "delete_entity",
    "delete_facts",
    "delete_scope",
    "merge_entities",
    "promote",
    "reopen_fact",
]

MAX_PROMOTED = 200
_PAGE = 500


def promote(
    deps: FactDeps, principal: Principal, session: Session, fact_ids: Sequence[str]
) -> WriteResult:
    """Copy chosen current facts of a session to its repository, with the time they were said.

    Idempotent: what this session promoted before is passed over.  Raises Forbidden, Closed,
    NotFound for an unknown id, and Invalid for a closed fact; nothing is promoted then.
    """
    own, target = Scope.session(session.id), Scope.repository(session.repo_id)
    _check_owner(deps, principal, session)
    check_writable(deps, principal, target)
    rows = _chosen(deps, own, fact_ids)
    batch = _promotion(deps, principal, session, rows).for_scope(target, principal.user)
    touches, limits = batch.touches(target), deps.settings().limits
    result = write_plan(
        deps, target, lambda: touches, partial(_plan_promotion, batch, target, limits)
    )
    audit(deps, principal, "facts.promote", target, target=session.id, detail=f"{len(rows)} facts")
    return result


def _check_owner(deps: FactDeps, principal: Principal, session: Session) -> None:
    if session.user != principal.user:
        raise Forbidden("only the person of a session promotes its facts")
    if session.state.closed or session.expires_at <= deps.clock():
        raise Closed("the session is closed; its facts are gone")


def _chosen(deps: FactDeps, scope: Scope, fact_ids: Sequence[str]) -> list[FactRow]:
    wanted = tuple(dict.fromkeys(fact_ids))
    if not 1 <= len(wanted) <= MAX_PROMOTED:
        raise Invalid(f"{len(wanted)} facts were chosen", f"choose 1 to {MAX_PROMOTED}")
    rows, _ = deps.store.facts.facts(scope, FactFilter(ids=wanted, history=True), Page(len(wanted)))
    if missing := set(wanted) - {row.id for row in rows}:
        raise NotFound(f"the session has no fact {min(missing)}")
    if closed := [row.id for row in rows if not row.current]:
        raise Invalid(f"fact {closed[0]} no longer holds", "promote the one that took its place")
    return rows


def _promotion(
    deps: FactDeps, principal: Principal, session: Session, rows: list[FactRow]
) -> Batch:
    own = Scope.session(session.id)
    entities = deps.store.facts.entities(own, _ends(rows))
    replacing = {
        row.fact_id
        for row in deps.store.facts.statements(own, [row.id for row in rows])
        if row.replace
    }
    here = source_of(deps, principal, session=session.id, origin=f"promoted:{session.id}")
    statements = tuple(
        Statement(
            subject=entities[row.subject_id].name,
            predicate=row.predicate,
            object=entities[row.object_id].name,
            said_at=row.intervals[-1].start,
            confidence=row.confidence,
            replace=row.id in replacing,
            subject_type=entities[row.subject_id].type,
            object_type=entities[row.object_id].type,
            speaker=row.said_by,
            source=replace(here, client=row.newest.client, model=row.newest.model),
        )
        for row in rows
    )
    return Batch(f"promote-{uuid4().hex}", statements, here)


def _plan_promotion(batch: Batch, scope: Scope, limits: Limits, slice_: Slice) -> Plan:
    """Without what the repository has from this session already, whoever promoted it when."""
    ids = {name.key: name.entity_id for name in slice_.names.values()}

    def edge(subject: str, predicate: str, object_: str) -> tuple[str, str, str]:
        return ids.get(subject, subject), predicate, ids.get(object_, object_)

    there = {
        edge(row.subject, row.predicate, row.object)
        for row in slice_.statements
        if row.source.origin == batch.source.origin
    }
    new = tuple(
        said
        for said in batch.statements
        if edge(name_key(said.subject), said.predicate, name_key(said.object)) not in there
    )
    return replace(batch, statements=new).plan(scope, slice_, limits) if new else Plan(batch.id)


def delete_facts(
    deps: FactDeps, principal: Principal, scope: Scope, fact_ids: Iterable[str]
) -> int:
    """Delete facts as if never said, and return how many. Raises NotFound when none is there.

    What a person deletes from what was carried over is not carried over again.
    """
    check_writable(deps, principal, scope)
    wanted = tuple(dict.fromkeys(fact_ids))
    rows = list(_all_facts(deps, scope, FactFilter(ids=wanted, history=True))) if wanted else []
    if not rows:
        raise NotFound(f"there is no such fact in this {scope.kind} memory")
    ids = [row.id for row in rows]
    _block(deps, scope, ids)
    batch_id = f"delete-{uuid4().hex}"
    _remove(deps, scope, FactFilter(ids=tuple(ids), history=True), batch_id, (), _facts_of(ids))
    audit(deps, principal, "facts.delete", scope, target=ids[0], detail=f"{len(ids)} facts")
    return len(ids)


def delete_entity(deps: FactDeps, principal: Principal, scope: Scope, entity_id: str) -> int:
    """Delete an entity with its names and every fact on either side; returns how many facts."""
    check_writable(deps, principal, scope)
    if entity_id not in deps.store.facts.entities(scope, [entity_id]):
        raise NotFound(f"there is no entity {entity_id} in this {scope.kind} memory")
    which = FactFilter(entity_ids=(entity_id,), history=True)
    ids = [row.id for row in _all_facts(deps, scope, which)]
    _block(deps, scope, ids)
    batch_id = f"delete-{uuid4().hex}"

    def plan(scope: Scope, slice_: Slice, batch_id: str) -> Plan:
        return plan_entity_removal(scope, slice_, [entity_id], batch_id)

    _remove(deps, scope, which, batch_id, (entity_id,), plan)
    audit(deps, principal, "entity.delete", scope, target=entity_id, detail=f"{len(ids)} facts")
    return len(ids)


def delete_scope(deps: FactDeps, principal: Principal, scope: Scope) -> int:
    """Delete everything of a scope; returns how many facts. A repository's takes an admin."""
    check_writable(deps, principal, scope)
    if scope.kind is ScopeKind.REPOSITORY and principal.role not in (Role.ADMIN, Role.OWNER):
        raise Forbidden("only an admin empties a repository's memory")
    _block(deps, scope, (row.id for row in _all_facts(deps, scope, FactFilter(history=True))))
    removed = deps.store.facts.delete_scope(scope)
    audit(deps, principal, "scope.delete", scope, detail=f"{removed} facts")
    return removed


_Removal = Callable[[Scope, Slice, str], Plan]


def _facts_of(ids: list[str]) -> _Removal:
    def plan(scope: Scope, slice_: Slice, batch_id: str) -> Plan:
        return plan_removal(scope, slice_, ids, batch_id)

    return plan


def _remove(
    deps: FactDeps,
    scope: Scope,
    which: FactFilter,
    batch_id: str,
    entity_ids: tuple[str, ...],
    plan: _Removal,
) -> None:
    """Each attempt lists the facts again, since a merge may have moved them meanwhile."""

    def touches() -> Touches:
        ends = {*entity_ids, *_ends(_all_facts(deps, scope, which))}
        return removal_touches(batch_id, _entities(deps, scope, ends).values())

    write_plan(deps, scope, touches, lambda slice_: plan(scope, slice_, batch_id))


def _block(deps: FactDeps, scope: Scope, fact_ids: Iterable[str]) -> None:
    # Before the deletion: a crash between the two must not let carry-over bring it back.
    if scope.kind is ScopeKind.PERSONAL and scope.repo is not None:
        deps.store.review.block(scope, fact_ids)


def _all_facts(deps: FactDeps, scope: Scope, which: FactFilter) -> Iterator[FactRow]:
    cursor: str | None = None
    while True:
        rows, cursor = deps.store.facts.facts(scope, which, Page(_PAGE, cursor))
        yield from rows
        if cursor is None:
            return


def _ends(rows: Iterable[FactRow]) -> set[str]:
    return {end for row in rows for end in (row.subject_id, row.object_id)}


def _entities(deps: FactDeps, scope: Scope, ids: Iterable[str]) -> dict[str, EntityRow]:
    return deps.store.facts.entities(scope, sorted(ids))


def close_fact(deps: FactDeps, principal: Principal, scope: Scope, fact_id: str) -> FactView:
    """A person says that a fact no longer holds; it stays in history. Idempotent."""
    return _restate(deps, principal, scope, fact_id, close=True)


def reopen_fact(deps: FactDeps, principal: Principal, scope: Scope, fact_id: str) -> FactView:
    """A person says that a closed fact holds again: a new interval opens. Idempotent."""
    return _restate(deps, principal, scope, fact_id, close=False)


def _restate(
    deps: FactDeps, principal: Principal, scope: Scope, fact_id: str, *, close: bool
) -> FactView:
    check_writable(deps, principal, scope)
    row = known_fact(deps, scope, fact_id)
    if row.current is close:
        said_at = _after_all(deps, scope, row)
        names = _entities(deps, scope, (row.subject_id, row.object_id))
        statement = Statement(
            subject=names[row.subject_id].name,
            predicate=row.predicate,
            object=names[row.object_id].name,
            said_at=said_at,
            confidence=row.confidence,
            close=close,
        )
        _state(deps, principal, scope, statement)
        action = "fact.close" if close else "fact.reopen"
        audit(deps, principal, action, scope, target=fact_id)
        row = known_fact(deps, scope, fact_id)
    return show_facts(deps, scope, [row])[0]


def _after_all(deps: FactDeps, scope: Scope, row: FactRow) -> datetime:
    """Now, or just after the newest statement: what a person decides comes last."""
    said = [s.order.said_at for s in deps.store.facts.statements(scope, [row.id])]
    edges = [moment for interval in row.intervals for moment in interval if moment is not None]
    return max(deps.clock(), max((*said, *edges)) + timedelta(milliseconds=1))


def _state(deps: FactDeps, principal: Principal, scope: Scope, statement: Statement) -> None:
    batch = Batch(f"curate-{uuid4().hex}", (statement,), source_of(deps, principal))
    write_batch(deps, scope, batch)


def merge_entities(
    deps: FactDeps, principal: Principal, scope: Scope, keep_id: str, other_id: str
) -> NodeView:
    """Make ``other`` an alias of ``keep``, facts included. Raises NotFound, Invalid."""
    check_writable(deps, principal, scope)
    rows = _entities(deps, scope, {keep_id, other_id})
    for wanted in (keep_id, other_id):
        if wanted not in rows:
            raise NotFound(f"there is no entity {wanted} in this {scope.kind} memory")
    if keep_id == other_id:
        raise Invalid("an entity cannot be merged with itself")
    keep, other = rows[keep_id], rows[other_id]
    _state(deps, principal, scope, Statement(keep.name, SAME_AS, other.name, deps.clock()))
    audit(deps, principal, "entities.merge", scope, target=keep_id)
    known = deps.store.facts.names(scope, [name_key(keep.name)])
    entity_id = known[name_key(keep.name)].entity_id
    return show_node(deps, scope, _entities(deps, scope, [entity_id])[entity_id])

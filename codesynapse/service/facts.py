"""Writing and reading facts: every path into the graph ends in ``write_batch``.

A batch is read against the part of the scope it touches, planned purely, and applied, all in one
turn of the store's writer.  What would pass a limit is refused whole, with the figures.  Every
read carries the notice and gives current facts unless history or ``as_of`` is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import uuid4

from codesynapse.domain.batch import Batch, Statement
from codesynapse.domain.graph import FactRow, Plan, Slice, Source, Touches
from codesynapse.domain.names import name_key
from codesynapse.domain.redaction import redact
from codesynapse.domain.scope import Principal, Scope
from codesynapse.domain.text import query_terms
from codesynapse.errors import IndexDamaged, Invalid, NotFound, StaleRevision
from codesynapse.recall.legs import WordScanLeg
from codesynapse.service.access import FactDeps, check_readable, check_writable
from codesynapse.service.views import (
    FactHistory,
    FactList,
    NodeList,
    NodeView,
    Subgraph,
    show_facts,
    show_node,
)
from codesynapse.store.base import AuditEntry, FactFilter, Page

__all__ = [
    "Triple",
    "WriteResult",
    "add_triples",
    "audit",
    "history",
    "holder_of_entity",
    "holder_of_fact",
    "known_fact",
    "list_facts",
    "nodes",
    "source_of",
    "subgraph",
    "write_batch",
    "write_plan",
]

_ATTEMPTS = 64
_MAX_PAGE = 500
_PER_NODE = 25


@dataclass(frozen=True, slots=True)
class WriteResult:
    """What one write did. ``applied`` is False when the batch was stored already."""

    batch_id: str
    applied: bool
    fact_ids: tuple[str, ...] = ()  # facts the write made or changed
    removed: int = 0


@dataclass(frozen=True, slots=True)
class Triple:
    """One fact as a caller says it. Without ``said_at`` it was said now."""

    subject: str
    predicate: str
    object: str
    confidence: float = 0.8
    said_at: datetime | None = None
    replace: bool = False
    subject_type: str | None = None
    object_type: str | None = None


def write_batch(deps: FactDeps, scope: Scope, batch: Batch) -> WriteResult:
    """Write a batch; applying one twice changes nothing. Raises LimitExceeded, Invalid.

    Names are taken as they stand: see ``Batch.for_scope`` for who ``User`` is in a repository.
    """
    limits = deps.settings().limits
    touches = batch.touches(scope)
    return write_plan(
        deps, scope, lambda: touches, lambda slice_: batch.plan(scope, slice_, limits)
    )


def write_plan(
    deps: FactDeps,
    scope: Scope,
    touches_now: Callable[[], Touches],
    plan_for: Callable[[Slice], Plan],
) -> WriteResult:
    """Read, plan and apply in one turn. An empty plan is not written.

    ``touches_now`` is asked again when ``plan_for`` finds that what it named is no longer right.
    """
    facts = deps.store.facts
    for _ in range(_ATTEMPTS):
        touches = touches_now()
        try:
            plan = facts.change(scope, touches, plan_for)
        except StaleRevision:
            continue  # somebody wrote since the touches were listed
        return WriteResult(
            touches.batch_id,
            applied=not plan.empty,
            fact_ids=tuple(row.id for row in plan.facts),
            removed=len(plan.removed_facts),
        )
    raise StaleRevision(
        f"{scope.key} was written by others {_ATTEMPTS} times in a row", "try again"
    )


def source_of(
    deps: FactDeps, principal: Principal, *, session: str | None = None, origin: str | None = None
) -> Source:
    """The provenance of what this caller writes now."""
    if session is None and principal.client and principal.session:
        known = deps.store.sessions.by_client(principal.client, principal.session)
        session = known.id if known else None
    return Source(
        client=principal.client or "codesynapse",
        stored_at=deps.clock(),
        session=session,
        user=principal.user,
        origin=origin,
    )


def add_triples(
    deps: FactDeps,
    principal: Principal,
    scope: Scope,
    triples: Sequence[Triple],
    *,
    batch_id: str | None = None,
) -> WriteResult:
    """Write what a caller states, names redacted; the session it came from is recorded.

    A ``batch_id`` given twice writes once.  Raises Forbidden, Invalid, InvalidPredicate and
    LimitExceeded; a refused call stores nothing.
    """
    check_writable(deps, principal, scope)
    if not triples:
        raise Invalid("there is no triple to write")
    now = deps.clock()
    clean = _unchanged if deps.settings().allow_secrets else redact
    batch = Batch(
        id=batch_id or f"triples-{uuid4().hex}",
        statements=tuple(_statement(triple, now, clean) for triple in triples),
        source=source_of(deps, principal),
    )
    result = write_batch(deps, scope, batch.for_scope(scope, principal.user))
    audit(deps, principal, "facts.add", scope, detail=f"{len(triples)} triples")
    return result


def _statement(triple: Triple, now: datetime, clean: Callable[[str], str]) -> Statement:
    return Statement(
        subject=clean(triple.subject),
        predicate=triple.predicate,
        object=clean(triple.object),
        said_at=triple.said_at or now,
        confidence=triple.confidence,
        replace=triple.replace,
        subject_type=triple.subject_type,
        object_type=triple.object_type,
    )


def _unchanged(text: str) -> str:
    return text


def audit(
    deps: FactDeps,
    principal: Principal,
    action: str,
    scope: Scope,
    *,
    target: str | None = None,
    detail: str | None = None,
) -> None:
    """Leave a trace: who did what kind of thing to what id, never what was said."""
    deps.store.audit.add(
        AuditEntry(
            at=deps.clock(),
            user=principal.user,
            client=principal.client,
            action=action,
            scope=scope.key,
            target=target,
            detail=detail,
        )
    )


def list_facts(
    deps: FactDeps,
    principal: Principal,
    scope: Scope | Sequence[Scope],
    which: FactFilter | None = None,
    page: Page | None = None,
) -> FactList:
    """A page of facts, newest first; of several scopes one after the other."""
    scopes, which = _readable(deps, principal, scope), _checked(which) or FactFilter()
    at, page = _page(page, len(scopes))
    rows, cursor = deps.store.facts.facts(scopes[at], which, page)
    views = show_facts(deps, scopes[at], rows, as_of=which.as_of)
    return FactList(tuple(views), _cursor(at, cursor, len(scopes)))


def nodes(
    deps: FactDeps,
    principal: Principal,
    scope: Scope | Sequence[Scope],
    query: str = "",
    page: Page | None = None,
) -> NodeList:
    """Entities by name, alias or type, best first; without a query all of them, by pages."""
    scopes = _readable(deps, principal, scope)
    if query.strip():
        limit = min((page or Page()).limit, _MAX_PAGE)
        found = [node for one in scopes for node in _search_nodes(deps, one, query, limit)]
        return NodeList(tuple(found[:limit]))
    at, page = _page(page, len(scopes))
    rows, cursor = deps.store.facts.list_entities(scopes[at], page)
    shown = tuple(show_node(deps, scopes[at], row) for row in rows)
    return NodeList(shown, _cursor(at, cursor, len(scopes)))


def _search_nodes(deps: FactDeps, scope: Scope, query: str, limit: int) -> list[NodeView]:
    facts = deps.store.facts
    try:
        ids = [hit.id for hit in facts.find_entities(scope, query_terms(query), limit)]
    except IndexDamaged:
        ids = list(WordScanLeg(facts).search(scope, query).entities)[:limit]
    rows = facts.entities(scope, ids)
    return [show_node(deps, scope, rows[id_]) for id_ in ids if id_ in rows]


def subgraph(
    deps: FactDeps,
    principal: Principal,
    scope: Scope | Sequence[Scope],
    names: Sequence[str] = (),
    *,
    hops: int = 1,
    limit: int = 100,
    which: FactFilter | None = None,
) -> Subgraph:
    """The facts within ``hops`` of the named entities, or the strongest ones without a name.

    ``which`` asks for history, a moment or one predicate.  A name that is not known adds nothing.
    Of several scopes the first has its place in ``limit`` before the next.
    """
    scopes, which = _readable(deps, principal, scope), _checked(which)
    if not (1 <= hops <= 3 and 1 <= limit <= _MAX_PAGE):
        raise Invalid("hops or limit is out of range", f"1 to 3 hops, 1 to {_MAX_PAGE} facts")
    parts = []
    left, more = limit, False
    for one in scopes:
        rows = _rows_of(deps, one, names, hops, left, which)
        parts.append(_part(deps, one, rows[:left], which))
        more = more or len(rows) > left
        left -= min(left, len(rows))
    return Subgraph(
        nodes=tuple(node for part in parts for node in part.nodes),
        facts=tuple(fact for part in parts for fact in part.facts),
        more=more,
    )


def _rows_of(
    deps: FactDeps,
    scope: Scope,
    names: Sequence[str],
    hops: int,
    limit: int,
    which: FactFilter | None,
) -> list[FactRow]:
    """At most ``limit`` rows of one scope, and one more where there are more."""
    if not names:
        return _strongest(deps, scope, limit + 1, which)
    known = deps.store.facts.names(scope, {name_key(name) for name in names})
    entries = {row.entity_id for row in known.values()}
    return list(_around(deps, scope, entries, hops, limit, which).values())


def _part(
    deps: FactDeps, scope: Scope, rows: Sequence[FactRow], which: FactFilter | None
) -> Subgraph:
    ends = sorted({end for row in rows for end in (row.subject_id, row.object_id)})
    entities = deps.store.facts.entities(scope, ends)
    return Subgraph(
        nodes=tuple(show_node(deps, scope, row) for row in entities.values()),
        facts=tuple(show_facts(deps, scope, rows, as_of=which.as_of if which else None)),
        more=False,
    )


def _strongest(deps: FactDeps, scope: Scope, limit: int, which: FactFilter | None) -> list[FactRow]:
    if which is None:
        return deps.store.facts.strongest(scope, limit)
    return deps.store.facts.facts(scope, which, Page(limit))[0]


def _around(
    deps: FactDeps,
    scope: Scope,
    entries: set[str],
    hops: int,
    limit: int,
    which: FactFilter | None,
) -> dict[str, FactRow]:
    """One fact more than ``limit`` when there are more."""
    found: dict[str, FactRow] = {}
    seen: set[str] = set()
    frontier = entries
    for _ in range(hops):
        if not frontier or len(found) > limit:
            break
        for row in _touching(deps, scope, sorted(frontier), limit, which):
            found.setdefault(row.id, row)
        seen |= frontier
        frontier = {end for row in found.values() for end in (row.subject_id, row.object_id)} - seen
    return found


def _touching(
    deps: FactDeps, scope: Scope, entity_ids: list[str], limit: int, which: FactFilter | None
) -> list[FactRow]:
    if which is None:
        around = deps.store.facts.neighbours(scope, entity_ids, max(_PER_NODE, limit + 1))
        return [row for id_ in entity_ids for row in around.get(id_, [])]
    asked = FactFilter(
        entity_ids=tuple(entity_ids),
        predicate=which.predicate,
        history=which.history,
        as_of=which.as_of,
    )
    return deps.store.facts.facts(scope, asked, Page(limit + 1))[0]


def history(deps: FactDeps, principal: Principal, scope: Scope, fact_id: str) -> FactHistory:
    """One fact, closed or not, with everything that was said about it. Raises NotFound."""
    _readable(deps, principal, scope)
    row = known_fact(deps, scope, fact_id)
    statements = deps.store.facts.statements(scope, [fact_id])
    return FactHistory(show_facts(deps, scope, [row])[0], tuple(statements))


def holder_of_fact(deps: FactDeps, scopes: Sequence[Scope], fact_id: str) -> Scope:
    """The one of these scopes that holds a fact, closed or not. Raises NotFound.

    It says nothing about who may read it: whoever goes on there is asked.
    """
    which = FactFilter(ids=(fact_id,), history=True)
    for scope in scopes:
        if deps.store.facts.facts(scope, which, Page(1))[0]:
            return scope
    raise NotFound(f"there is no fact {fact_id} in the memory that was asked")


def holder_of_entity(deps: FactDeps, scopes: Sequence[Scope], entity_id: str) -> Scope:
    """The one of these scopes that holds an entity. Raises NotFound."""
    for scope in scopes:
        if deps.store.facts.entities(scope, [entity_id]):
            return scope
    raise NotFound(f"there is no entity {entity_id} in the memory that was asked")


def known_fact(deps: FactDeps, scope: Scope, fact_id: str) -> FactRow:
    """One fact's row, closed or not. Raises NotFound."""
    which = FactFilter(ids=(fact_id,), history=True)
    rows, _ = deps.store.facts.facts(scope, which, Page(1))
    if not rows:
        raise NotFound(f"there is no fact {fact_id} in this {scope.kind} memory")
    return rows[0]


def _readable(
    deps: FactDeps, principal: Principal, scope: Scope | Sequence[Scope]
) -> tuple[Scope, ...]:
    scopes = (scope,) if isinstance(scope, Scope) else tuple(scope)
    for one in scopes:
        check_readable(deps, principal, one)
    return scopes


def _checked(which: FactFilter | None) -> FactFilter | None:
    if which is not None and which.as_of is not None and which.as_of.utcoffset() is None:
        raise Invalid("as_of has no time zone", "write it like 2026-01-31T09:00:00Z")
    return which


def _page(page: Page | None, scopes: int) -> tuple[int, Page]:
    """Which scope a cursor is in, and the page there."""
    page = page or Page()
    if not 1 <= page.limit <= _MAX_PAGE:
        raise Invalid(f"limit cannot be {page.limit}", f"1 to {_MAX_PAGE}")
    if scopes == 1 or page.cursor is None:
        return 0, page
    at, _, rest = page.cursor.partition("~")
    if not at.isdigit() or not int(at) < scopes:
        raise Invalid("this cursor is not one of ours", "start again without it")
    return int(at), Page(page.limit, rest or None)


def _cursor(at: int, cursor: str | None, scopes: int) -> str | None:
    if scopes == 1:
        return cursor
    if cursor is not None:
        return f"{at}~{cursor}"
    return f"{at + 1}~" if at + 1 < scopes else None

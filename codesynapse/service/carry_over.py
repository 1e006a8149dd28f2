"""What a person told one session, for their next ones: carried over when the session ends.

Only what the person stated or confirmed, at confidence 0.75 or more, and only to the person's own
memory of that repository.  What is carried is statements, with the time they were said: a
correction closes there what it corrected, and carrying over again adds nothing.  What a person
deleted or rejected there is never carried again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import blake2b
from itertools import islice
from typing import NamedTuple
from uuid import uuid4

from codesynapse.domain.batch import (
    MAX_STATEMENTS,
    Batch,
    Statement,
    plan_removal,
    removal_touches,
)
from codesynapse.domain.graph import FactRow, Plan, Slice, Source, StatementRow, Touches
from codesynapse.domain.names import entity_id, fact_id, name_key
from codesynapse.domain.scope import Principal, Scope
from codesynapse.domain.sessions import Session
from codesynapse.domain.turns import Speaker
from codesynapse.errors import Forbidden, LimitExceeded, NotFound, StaleRevision
from codesynapse.service.access import FactDeps
from codesynapse.service.facts import write_batch, write_plan
from codesynapse.service.late import late_rows
from codesynapse.store.base import AuditEntry, FactFilter, Page, ReviewItem

__all__ = [
    "LEAST_CARRIED",
    "Carried",
    "approve",
    "carry",
    "origin_of",
    "reject",
    "target_of",
    "waiting",
    "withdraw",
]

LEAST_CARRIED = 0.75
_PAGE = 500
_MOST_WAITING = 10_000


@dataclass(frozen=True, slots=True)
class Carried:
    """What one carry-over did, in statements. ``refused``: they would have passed a limit."""

    carried: int = 0
    waiting: int = 0
    refused: int = 0


class _Key(NamedTuple):
    """What makes a carried statement the same one."""

    said_at: datetime
    subject: str
    predicate: str
    object: str
    close: bool


def target_of(session: Session) -> Scope:
    """Where this session's facts are carried to."""
    return Scope.personal(session.user, session.repo_id)


def origin_of(session_id: str) -> str:
    """How a statement that was carried over is marked."""
    return f"carried:{session_id}"


def carry(deps: FactDeps, session: Session) -> Carried:
    """Carry over what is not there yet, as the setting says. Changes no session row."""
    setting = deps.settings().carry_over
    if setting == "off":
        return Carried()
    rows = _new(deps, session, list(_eligible(deps, session)))
    if setting == "on":
        late = late_rows(deps, target_of(session), rows)
        done = _write(deps, session, rows)
        _end_late(deps, session, late)
        return done
    ends = _write(deps, session, [row for row in rows if row.close])
    proposed = _propose(deps, session, [row for row in rows if not row.close])
    return replace(ends, waiting=proposed)


def _eligible(deps: FactDeps, session: Session) -> Iterator[StatementRow]:
    """The person's own statements about facts that they stated surely enough, or ended."""
    scope = Scope.session(session.id)
    facts = [row for row in _all_facts(deps, scope) if row.said_by is Speaker.USER]
    by_fact: dict[str | None, list[StatementRow]] = {}
    for row in deps.store.facts.statements(scope, [fact.id for fact in facts]):
        if row.source.speaker is Speaker.USER:
            by_fact.setdefault(row.fact_id, []).append(row)
    for rows in by_fact.values():
        sure = any(row.confidence >= LEAST_CARRIED for row in rows if not row.close)
        yield from (row for row in rows if sure or row.close)


def _new(deps: FactDeps, session: Session, rows: list[StatementRow]) -> list[StatementRow]:
    """Without what is there already, and what a person deleted there.

    The end of what is not there is carried too: the value may come late, from another session.
    """
    target, facts = target_of(session), deps.store.facts
    origin = origin_of(session.id)
    carried = facts.statements(target, facts.sessions_facts(target, origin))
    there = {_key(row) for row in carried if row.source.origin == origin}
    rows = [row for row in rows if _key(row) not in there]
    ids = dict(zip(map(_key, rows), _target_ids(deps, target, rows), strict=True))
    wanted = tuple(set(ids.values()))
    blocked = deps.store.review.blocked(target, wanted)
    return [row for row in rows if ids[_key(row)] not in blocked]


def _target_ids(deps: FactDeps, target: Scope, rows: Iterable[StatementRow]) -> list[str]:
    rows = list(rows)
    keys = {key for row in rows for key in (row.subject, row.object)}
    names = deps.store.facts.names(target, keys)

    def entity(key: str) -> str:
        return names[key].entity_id if key in names else entity_id(target.key, key)

    return [
        fact_id(target.key, entity(row.subject), row.predicate, entity(row.object)) for row in rows
    ]


def _write(deps: FactDeps, session: Session, rows: list[StatementRow]) -> Carried:
    """One batch for what is new, named after it: written again after a crash, it is the same."""
    left = iter(sorted(rows, key=lambda row: row.order))
    done, refused = 0, 0
    while part := list(islice(left, MAX_STATEMENTS)):
        batch = Batch(
            _digest("carry-", session.id, *(repr(tuple(_key(row))) for row in part)),
            tuple(_statement(deps, session, row) for row in part),
            Source(session.client, deps.clock(), session.id, session.user),
        )
        try:
            write_batch(deps, target_of(session), batch)
            done += len(part)
        except LimitExceeded:
            refused += len(part)
    if done or refused:
        _audit(deps, session, "carry_over", f"{done} carried, {refused} over the limit")
    return Carried(carried=done, refused=refused)


def _end_late(deps: FactDeps, session: Session, late: list[tuple[StatementRow, datetime]]) -> None:
    """Close what something newer took the place of, in batches named after what they close."""
    for first in range(0, len(late), MAX_STATEMENTS):
        part = late[first : first + MAX_STATEMENTS]
        closed = tuple(
            replace(_statement(deps, session, row), said_at=at, replace=False, close=True)
            for row, at in part
        )
        batch = Batch(
            _digest("late-", session.id, *(repr(tuple(_key(row))) for row, _ in part)),
            closed,
            Source(session.client, deps.clock(), session.id, session.user),
        )
        write_batch(deps, target_of(session), batch)


def _statement(deps: FactDeps, session: Session, row: StatementRow) -> Statement:
    source = replace(
        row.source, stored_at=deps.clock(), session=session.id, origin=origin_of(session.id)
    )
    return Statement(
        subject=row.subject_as or row.subject,
        predicate=row.predicate,
        object=row.object_as or row.object,
        said_at=row.order.said_at,
        confidence=row.confidence,
        replace=row.replace,
        close=row.close,
        subject_type=row.subject_type,
        object_type=row.object_type,
        speaker=row.source.speaker,
        source=source,
    )


def _propose(deps: FactDeps, session: Session, rows: list[StatementRow]) -> int:
    """Each fact that still holds in the session waits once, in its newest wording."""
    scope, target = Scope.session(session.id), target_of(session)
    ids = tuple({row.fact_id for row in rows if row.fact_id is not None})
    current = {fact.id for fact in _all_facts(deps, scope, ids) if fact.current}
    origin = origin_of(session.id)
    approved = set(deps.store.facts.sessions_facts(target, origin))
    newest: dict[str, StatementRow] = {}
    for row, there in zip(rows, _target_ids(deps, target, rows), strict=True):
        if row.fact_id in current and there not in approved:
            newest[there] = max(newest.get(there, row), row, key=lambda row: row.order)
    items = [_item(deps, session, row) for row in newest.values()]
    deps.store.review.add(items)
    return len(items)


# The first letter of a review item's id says what approval does: add a value, or replace others.
_ADDS, _REPLACES = "a", "r"


def _item(deps: FactDeps, session: Session, row: StatementRow) -> ReviewItem:
    target = target_of(session).key
    kind = _REPLACES if row.replace else _ADDS
    return ReviewItem(
        id=_digest(kind, target, session.id, row.subject, row.predicate, row.object),
        scope=target,
        session_id=session.id,
        subject=row.subject_as or row.subject,
        predicate=row.predicate,
        object=row.object_as or row.object,
        confidence=row.confidence,
        said_at=row.order.said_at,
        created_at=deps.clock(),
    )


def waiting(deps: FactDeps, principal: Principal, repo_id: str) -> list[ReviewItem]:
    """What waits for this person's approval in this repository, oldest first."""
    return deps.store.review.waiting(Scope.personal(principal.user, repo_id))


def approve(deps: FactDeps, principal: Principal, item_id: str) -> None:
    """Carry a waiting fact over. Raises NotFound, Forbidden, LimitExceeded (it waits on)."""
    item, target = _mine(deps, principal, item_id)
    session = deps.store.sessions.get(item.session_id)
    source = Source(
        client=session.client if session else principal.client or "codesynapse",
        stored_at=deps.clock(),
        session=item.session_id,
        user=principal.user,
        speaker=Speaker.USER,
        origin=origin_of(item.session_id),
    )
    statement = Statement(
        item.subject,
        item.predicate,
        item.object,
        item.said_at,
        item.confidence,
        replace=item.id.startswith(_REPLACES),
    )
    write_batch(deps, target, Batch(f"review-{item.id}", (statement,), source))
    deps.store.review.remove(item.id)
    _audit_review(deps, principal, item, "approve")


def reject(deps: FactDeps, principal: Principal, item_id: str) -> None:
    """Never carry this fact over, from any session. Raises NotFound, Forbidden."""
    item, target = _mine(deps, principal, item_id)
    keys = name_key(item.subject), name_key(item.object)
    names = deps.store.facts.names(target, keys)
    subject, obj = (
        names[key].entity_id if key in names else entity_id(target.key, key) for key in keys
    )
    deps.store.review.block(target, [fact_id(target.key, subject, item.predicate, obj)])
    deps.store.review.remove(item.id)
    _audit_review(deps, principal, item, "reject")


def _mine(deps: FactDeps, principal: Principal, item_id: str) -> tuple[ReviewItem, Scope]:
    item = deps.store.review.get(item_id)
    if item is None:
        raise NotFound(f"nothing waits under {item_id}")
    target = Scope.parse(item.scope)
    if target.owner != principal.user:
        raise Forbidden("this waits for somebody else")
    return item, target


def withdraw(deps: FactDeps, session: Session) -> int:
    """Take back what was carried over from a session; what others said of it stays. Idempotent."""
    target, origin = target_of(session), origin_of(session.id)
    facts, review = deps.store.facts, deps.store.review
    for item in review.waiting(target, _MOST_WAITING):
        if item.session_id == session.id:
            review.remove(item.id)
    batch_id, revision = f"withdraw-{uuid4().hex}", 0
    found: list[str] = []

    def touches() -> Touches:
        nonlocal revision, found
        revision = facts.counts(target).revision
        found = facts.sessions_facts(target, origin)
        rows = _all_facts(deps, target, tuple(found))
        ends = {end for row in rows for end in (row.subject_id, row.object_id)}
        return removal_touches(batch_id, facts.entities(target, sorted(ends)).values())

    def plan(slice_: Slice) -> Plan:
        if slice_.revision != revision:  # more may have been carried over since it was listed
            raise StaleRevision("the facts changed since they were listed", "try again")
        return plan_removal(target, slice_, found, batch_id, origin=origin)

    found = facts.sessions_facts(target, origin)
    if found:
        write_plan(deps, target, touches, plan)
        _audit(deps, session, "carry_over.withdraw", f"{len(found)} facts")
    return len(found)


def _all_facts(
    deps: FactDeps, scope: Scope, ids: tuple[str, ...] | None = None
) -> Iterator[FactRow]:
    """Facts of a scope, closed ones too: all, or those of ``ids``."""
    if ids == ():
        return
    which, cursor = FactFilter(ids=ids or (), history=True), None
    while True:
        rows, cursor = deps.store.facts.facts(scope, which, Page(_PAGE, cursor))
        yield from rows
        if cursor is None:
            return


def _key(row: StatementRow) -> _Key:
    return _Key(row.order.said_at, row.subject, row.predicate, row.object, row.close)


def _digest(prefix: str, *parts: str) -> str:
    return prefix + blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()


def _audit(deps: FactDeps, session: Session, action: str, detail: str) -> None:
    deps.store.audit.add(
        AuditEntry(
            deps.clock(),
            session.user,
            session.client,
            action,
            target_of(session).key,
            session.id,
            detail,
        )
    )


def _audit_review(deps: FactDeps, principal: Principal, item: ReviewItem, action: str) -> None:
    deps.store.audit.add(
        AuditEntry(
            deps.clock(),
            principal.user,
            principal.client,
            f"review.{action}",
            item.scope,
            item.id,
        )
    )

"""Plans by hand: rows of the graph without any of the rules that make them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from codesynapse.domain.graph import (
    SAME_AS,
    EntityRow,
    FactRow,
    Interval,
    NameRow,
    Order,
    Plan,
    Source,
    StatementRow,
    Touches,
)
from codesynapse.domain.scope import Scope
from codesynapse.domain.turns import Speaker
from codesynapse.store.base import Store

__all__ = [
    "SCOPE",
    "alias",
    "at",
    "entity",
    "fact",
    "keyed",
    "plan",
    "said",
    "touching",
    "write",
]

SCOPE = Scope.repository("r1")
START = datetime(2025, 3, 1, 12, 0, 0, 123_000, tzinfo=UTC)


def at(minutes: float) -> datetime:
    return START + timedelta(minutes=minutes)


def source(**changes: object) -> Source:
    values: dict[str, object] = {"client": "claude-code", "stored_at": at(0), **changes}
    return Source(**values)  # type: ignore[arg-type]


def entity(name: str, type_: str | None = None, *aliases: str) -> EntityRow:
    return EntityRow(f"e-{name.casefold()}", name, type_, aliases)


def keyed(row: EntityRow, key: str | None = None, order: Order | None = None) -> NameRow:
    return NameRow(
        key or row.name.casefold(),
        row.id,
        key or row.name,
        order or Order(at(0), "b0", 0),
        row.type,
        Order(at(1), "b1", 1) if row.type else None,
    )


def fact(
    subject: str,
    predicate: str,
    object_: str,
    *,
    confidence: float = 0.8,
    confirmations: int = 1,
    start: float = 0,
    end: float | None = None,
) -> FactRow:
    interval = Interval(at(start), None if end is None else at(end))
    return FactRow(
        id=f"{subject}|{predicate}|{object_}",
        subject_id=f"e-{subject.casefold()}",
        predicate=predicate,
        object_id=f"e-{object_.casefold()}",
        confidence=confidence,
        confirmations=confirmations,
        intervals=(interval,),
        said_by=Speaker.USER,
        newest=source(session="s1", user="me", model="m", speaker=Speaker.ASSISTANT, origin="o"),
        first_stored_at=at(start),
    )


def said(
    row: FactRow, batch: str, place: int = 0, minutes: float = 0, origin: str | None = None
) -> StatementRow:
    return StatementRow(
        order=Order(at(minutes), batch, place),
        subject=row.subject_id.removeprefix("e-"),
        predicate=row.predicate,
        object=row.object_id.removeprefix("e-"),
        confidence=row.confidence,
        source=source(origin=origin, speaker=Speaker.USER),
        fact_id=row.id,
        replace=True,
        subject_as=row.id.split("|")[0],
        object_as=row.id.split("|")[2],
        object_type="tool",
    )


def alias(subject: str, object_: str, batch: str, minutes: float = 0) -> StatementRow:
    order = Order(at(minutes), batch, 0)
    return StatementRow(order, subject, SAME_AS, object_, 0.9, source(), None)


def plan(batch: str, *facts: FactRow, minutes: float = 0, origin: str | None = None) -> Plan:
    """Facts with their entities, names and one statement each."""
    ends = {end for row in facts for end in (row.id.split("|")[0], row.id.split("|")[2])}
    rows = [entity(name) for name in sorted(ends)]
    return Plan(
        batch_id=batch,
        names=tuple(keyed(row) for row in rows),
        entities=tuple(rows),
        facts=facts,
        statements=tuple(
            said(row, batch, place, minutes, origin) for place, row in enumerate(facts)
        ),
    )


def write(store: Store, *plans: Plan, scope: Scope = SCOPE) -> None:
    """Apply each at the revision the scope is at."""
    for one in plans:
        store.facts.apply(one, scope, store.facts.counts(scope).revision)


def touching(
    *names: str,
    batch: str = "next",
    groups: frozenset[tuple[str, str]] = frozenset(),
    merges: tuple[str, ...] = (),
    facts: frozenset[tuple[str, str, str]] = frozenset(),
) -> Touches:
    return Touches(batch, frozenset(names), groups, frozenset(merges), facts)

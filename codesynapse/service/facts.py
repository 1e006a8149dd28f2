"""Writing facts: every path to the graph ends in ``write_batch``.

A batch is read against the part of the scope it touches, planned purely, and applied in one atomic
write; when somebody else wrote first it is planned again.  What would pass a limit is refused
whole, with the figures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol
from uuid import uuid4

from codesynapse.config import Settings
from codesynapse.domain.graph import Limits, Plan, Slice, Source, Touches
from codesynapse.domain.scope import Principal, Scope
from codesynapse.domain.turns import Speaker
from codesynapse.errors import StaleRevision
from codesynapse.store.base import FactStore, Store

if TYPE_CHECKING:
    from codesynapse.domain.batch import Batch

__all__ = ["FactDeps", "Triple", "WriteResult", "add_triples", "write_batch"]

_ATTEMPTS = 64


class FactDeps(Protocol):
    """What the fact services need of the composition root; ``service.deps.Deps`` has it all."""

    @property
    def store(self) -> Store: ...

    @property
    def settings(self) -> Callable[[], Settings]: ...

    @property
    def clock(self) -> Callable[[], datetime]: ...


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
    """Write a batch; applying one twice changes nothing. Raises LimitExceeded, Invalid."""
    limits = deps.settings().limits
    return _write(
        deps.store.facts,
        scope,
        batch.touches(scope),
        lambda slice_: batch.plan(scope, slice_, limits),
    )


def _write(
    facts: FactStore, scope: Scope, touches: Touches, plan_for: Callable[[Slice], Plan]
) -> WriteResult:
    for _ in range(_ATTEMPTS):
        slice_ = facts.slice(scope, touches)
        if slice_.applied:
            return WriteResult(touches.batch_id, applied=False)
        plan = plan_for(slice_)
        try:
            facts.apply(plan, scope, slice_.revision)
        except StaleRevision:
            continue  # somebody wrote between our read and our write
        return WriteResult(
            touches.batch_id,
            applied=True,
            fact_ids=tuple(row.id for row in plan.facts),
            removed=len(plan.removed_facts),
        )
    raise StaleRevision(
        f"{scope.key} was written by others {_ATTEMPTS} times in a row", "try again"
    )

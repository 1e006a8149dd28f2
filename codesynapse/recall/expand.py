"""From hits to facts: entry entities, one hop around them (two on request), hubs bounded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from codesynapse.domain.graph import FactRow
from codesynapse.domain.scope import Scope
from codesynapse.recall.fuse import fuse, in_order
from codesynapse.recall.legs import LegHits
from codesynapse.store.base import FactFilter, FactStore, Page

__all__ = ["MAX_ENTRIES", "MAX_HOPS", "PER_ENTITY", "Found", "entries_and_hits", "expand"]

MAX_ENTRIES = 8
MAX_HOPS = 2
PER_ENTITY = 12
_SECOND_HOP_ENTITIES = 16


@dataclass(slots=True)
class Found:
    """Facts with their relevance, and the entities they were reached from."""

    facts: dict[str, FactRow] = field(default_factory=dict)
    relevance: dict[str, float] = field(default_factory=dict)
    entries: tuple[str, ...] = ()
    direct: frozenset[str] = frozenset()  # facts whose own words matched

    def add(self, fact: FactRow, relevance: float) -> None:
        """Keep a fact; what several ways lead to counts once for each."""
        self.facts[fact.id] = fact
        self.relevance[fact.id] = self.relevance.get(fact.id, 0.0) + relevance


def expand(
    store: FactStore, scope: Scope, hits: Sequence[LegHits], hops: int, *, per_entity: int
) -> Found:
    """Fuse the legs' hits and gather the current facts within ``hops`` of the entries.

    A fact's relevance is its own fused score plus the score of each entry it touches; a hop
    further away halves it.
    """
    direct, entries = entries_and_hits(store, scope, hits)
    found = Found(entries=tuple(entries), direct=frozenset(row.id for row, _ in direct))
    for row, score in direct:
        found.add(row, score)
    _walk(store, scope, found, entries, per_entity)
    if hops > 1:
        _walk(store, scope, found, _beyond(found, entries), per_entity, known=set(found.facts))
    return found


def entries_and_hits(
    store: FactStore, scope: Scope, hits: Sequence[LegHits]
) -> tuple[list[tuple[FactRow, float]], dict[str, float]]:
    """The matched facts with their fused scores, and at most ``MAX_ENTRIES`` entry entities."""
    fact_scores = dict(fuse(hit.facts for hit in hits))
    rows = _rows(store, scope, fact_scores)
    ranked = [row for id_ in fact_scores if (row := rows.get(id_)) is not None]
    named = fuse(hit.entities for hit in hits)
    if not named:
        # No entity goes by these words; what the matched facts are about is the way in.
        named = fuse([in_order(row.subject_id for row in ranked)])
    return [(row, fact_scores[row.id]) for row in ranked], dict(named[:MAX_ENTRIES])


def _rows(store: FactStore, scope: Scope, ids: Iterable[str]) -> dict[str, FactRow]:
    wanted = tuple(ids)
    if not wanted:
        return {}
    rows, _ = store.facts(scope, FactFilter(ids=wanted), Page(len(wanted)))
    return {row.id: row for row in rows}


def _walk(
    store: FactStore,
    scope: Scope,
    found: Found,
    entries: dict[str, float],
    per_entity: int,
    known: set[str] | frozenset[str] = frozenset(),
) -> None:
    if not entries:
        return
    around = store.neighbours(scope, list(entries), per_entity)
    for entity_id, score in entries.items():
        for fact in around.get(entity_id, []):
            if fact.id not in known:
                found.add(fact, score)


def _beyond(found: Found, entries: dict[str, float]) -> dict[str, float]:
    """The entities at the far ends, the nearest first, with half their facts' relevance."""
    reached: dict[str, float] = {}
    for fact in found.facts.values():
        for end in (fact.subject_id, fact.object_id):
            if end not in entries:
                reached[end] = max(reached.get(end, 0.0), found.relevance[fact.id] / 2)
    ranked = sorted(reached.items(), key=lambda pair: (-pair[1], pair[0]))
    return dict(ranked[:_SECOND_HOP_ENTITIES])

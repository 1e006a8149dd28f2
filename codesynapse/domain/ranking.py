"""How facts are ordered and said. Pure: no clock, no store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from codesynapse.domain.graph import FactRow

__all__ = ["by_strength", "rank_facts", "render_fact", "say", "share_places"]


def say(subject: str, predicate: str, object_: str) -> str:
    """A fact as a plain sentence: ``payments-api depends on PostgreSQL``."""
    return f"{subject} {predicate.lower().replace('_', ' ')} {object_}"


def render_fact(fact: FactRow, names: Mapping[str, str]) -> str:
    """``say`` for a row; ``names`` are display names by entity id."""
    subject, object_ = (names.get(end, end) for end in (fact.subject_id, fact.object_id))
    return say(subject, fact.predicate, object_)


def rank_facts(facts: Iterable[FactRow], relevance: Mapping[str, float]) -> list[FactRow]:
    """Best first: relevance, then confidence, confirmations and age (newest), then id."""
    return sorted(facts, key=lambda fact: (-relevance.get(fact.id, 0.0), *_strength(fact)))


def by_strength(facts: Iterable[FactRow]) -> list[FactRow]:
    """Best first without a query: confidence, confirmations, age (newest), then id."""
    return sorted(facts, key=_strength)


def _strength(fact: FactRow) -> tuple[float, int, float, str]:
    start = fact.intervals[-1].start.timestamp() if fact.intervals else 0.0
    return (-fact.confidence, -fact.confirmations, -start, fact.id)


def share_places(ranked: list[FactRow], limit: int, per_entity: int) -> list[FactRow]:
    """The first ``limit``, where no entity takes more than ``per_entity`` places before others.

    What was passed over comes back at the end where places are left, so a bound never empties an
    answer.
    """
    taken: dict[str, int] = {}
    first, later = [], []
    for fact in ranked:
        ends = {fact.subject_id, fact.object_id}
        if all(taken.get(end, 0) < per_entity for end in ends):
            first.append(fact)
            for end in ends:
                taken[end] = taken.get(end, 0) + 1
        else:
            later.append(fact)
    return (first + later)[:limit]

"""The legs of a search: each gives ranked ids of one scope, from inside the store.

The lexical leg always stands. A leg over vectors is a second one of the same shape; without it,
or when a leg fails, the others answer alone: a broken index never fails a recall.  Only damage of
the data file itself does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Protocol

from codesynapse.domain.scope import Scope
from codesynapse.domain.text import analyse, query_terms
from codesynapse.errors import CodeSynapseError, StoreDamaged
from codesynapse.recall.fuse import by_score
from codesynapse.store.base import FactStore, Hit, Page

__all__ = ["HITS_PER_LEG", "Leg", "LegHits", "LexicalLeg", "Searched", "WordScanLeg", "run_legs"]

HITS_PER_LEG = 30
_SCANNED_PAGES = 10


@dataclass(frozen=True, slots=True)
class LegHits:
    """Ids of one scope with their ranks, 1 for the best; equal matches share a rank."""

    entities: Mapping[str, int] = field(default_factory=dict)
    facts: Mapping[str, int] = field(default_factory=dict)


class Leg(Protocol):
    """One way to search. Raises CodeSynapseError or OSError when it cannot."""

    @property
    def name(self) -> str:
        """How the answer names it when it failed."""
        ...

    def search(self, scope: Scope, query: str) -> LegHits:
        """The best hits of one scope."""
        ...


@dataclass(frozen=True, slots=True)
class LexicalLeg:
    """Full text over names, aliases and types, and over the facts' words."""

    facts: FactStore
    name: str = "lexical"

    def search(self, scope: Scope, query: str) -> LegHits:
        """BM25 as the engine computes it; any text is safe."""
        terms = query_terms(query)
        if not terms:
            return LegHits()
        entities = self.facts.find_entities(scope, terms, HITS_PER_LEG)
        facts = self.facts.find_facts(scope, terms, HITS_PER_LEG)
        return LegHits(_ranks(entities), _ranks(facts))


@dataclass(frozen=True, slots=True)
class WordScanLeg:
    """What stands in for a broken full-text index: a bounded walk over the names."""

    facts: FactStore
    name: str = "scan"

    def search(self, scope: Scope, query: str) -> LegHits:
        """Entities that share the most words with the query, of the first thousand."""
        wanted = {term.text for term in query_terms(query)}
        shared: dict[str, int] = {}
        cursor: str | None = None
        for _ in range(_SCANNED_PAGES):
            rows, cursor = self.facts.list_entities(scope, Page(100, cursor))
            for row in rows:
                words = {word for name in (row.name, *row.aliases) for word in analyse(name)}
                if count := len(words & wanted):
                    shared[row.id] = count
            if cursor is None:
                break
        best = sorted(shared.items(), key=lambda pair: (-pair[1], pair[0]))
        return LegHits(entities=by_score(best[:HITS_PER_LEG]))


def _ranks(hits: Sequence[Hit]) -> dict[str, int]:
    return by_score((hit.id, hit.score) for hit in hits)


@dataclass(frozen=True, slots=True)
class Searched:
    """The hits of every leg that answered, and the names of those that did not."""

    hits: tuple[LegHits, ...]
    failed: tuple[str, ...] = ()


def run_legs(legs: Sequence[Leg], scope: Scope, query: str) -> Searched:
    """Run all legs side by side and keep what answered."""
    if len(legs) == 1:
        return _collect([_attempt(legs[0], scope, query)])
    with ThreadPoolExecutor(len(legs), thread_name_prefix="recall-leg") as pool:
        futures: list[Future[LegHits | str]] = [
            pool.submit(_attempt, leg, scope, query) for leg in legs
        ]
        return _collect([future.result() for future in futures])


def _attempt(leg: Leg, scope: Scope, query: str) -> LegHits | str:
    try:
        return leg.search(scope, query)
    except StoreDamaged:
        raise  # a damaged file is refused loudly, never half served
    except (CodeSynapseError, OSError):
        return leg.name


def _collect(results: list[LegHits | str]) -> Searched:
    return Searched(
        tuple(result for result in results if isinstance(result, LegHits)),
        tuple(result for result in results if isinstance(result, str)),
    )

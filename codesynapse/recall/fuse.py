"""Reciprocal rank fusion: several rankings become one. Pure.

Ranks are compared, never scores, so a leg's own scale cannot outweigh another's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

__all__ = ["RRF_K", "by_score", "fuse", "in_order"]

RRF_K = 60


def in_order(ids: Iterable[str]) -> dict[str, int]:
    """Ranks from 1; an id that is repeated counts at its first place."""
    return {id_: rank for rank, id_ in enumerate(dict.fromkeys(ids), start=1)}


def by_score(scored: Iterable[tuple[str, float]]) -> dict[str, int]:
    """Ranks from 1, best score first; equal scores share a rank, so that no tie is decided here."""
    ranks: dict[str, int] = {}
    rank, before = 0, None
    for place, (id_, score) in enumerate(sorted(scored, key=lambda pair: -pair[1]), start=1):
        rounded = float(f"{score:.9g}")  # the same sum in another order is no better match
        if rounded != before:
            rank, before = place, rounded
        ranks.setdefault(id_, rank)
    return ranks


def fuse(rankings: Iterable[Mapping[str, int]], k: int = RRF_K) -> list[tuple[str, float]]:
    """Each id once, best first: the sum of ``1 / (k + rank)`` over the rankings that hold it.

    With n rankings a score is at most ``n / (k + 1)``; moving an id up in any of them never lowers
    it.  Ties are broken by id.
    """
    scores: dict[str, float] = {}
    for ranking in rankings:
        for id_, rank in ranking.items():
            scores[id_] = scores.get(id_, 0.0) + 1.0 / (k + rank)
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))

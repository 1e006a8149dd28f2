"""Reciprocal rank fusion: several rankings become one. Pure.

Ranks are compared, never scores, so a leg's own scale cannot outweigh another's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["RRF_K", "fuse"]

RRF_K = 60


def fuse(rankings: Iterable[Sequence[str]], k: int = RRF_K) -> list[tuple[str, float]]:
    """Each id once, best first: the sum of ``1 / (k + rank)`` over the rankings that hold it.

    An id that a ranking repeats counts at its first place.  With n rankings a score is at most
    ``n / (k + 1)``; moving an id up in any of them never lowers it.  Ties are broken by id.
    """
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank, id_ in enumerate(dict.fromkeys(ranking), start=1):
            scores[id_] = scores.get(id_, 0.0) + 1.0 / (k + rank)
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))

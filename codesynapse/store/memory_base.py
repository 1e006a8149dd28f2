"""What every engine promises about typed memories; see ``base`` for what holds for every call.

``MemoryChange`` and ``MemoryView`` are the domain's: a change is decided there and written here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from codesynapse.domain.memories.change import MemoryChange, MemoryView
from codesynapse.domain.memories.model import Link, LinkKind, Memory, MemoryStatus, MemoryType
from codesynapse.domain.scope import Scope
from codesynapse.domain.text import Term

__all__ = [
    "MemoryChange",
    "MemoryCounts",
    "MemoryFilter",
    "MemoryHit",
    "MemoryPage",
    "MemoryStore",
    "MemoryView",
    "VectorStore",
]


@dataclass(frozen=True, slots=True)
class MemoryFilter:
    """Which memories. Empty fields do not filter; times are ``said_at`` or else ``created_at``."""

    statuses: tuple[MemoryStatus, ...] = (MemoryStatus.ACTIVE,)
    types: tuple[MemoryType, ...] = ()
    tags: tuple[str, ...] = ()  # all of them
    entity_key: str | None = None
    pinned: bool | None = None
    conflicted: bool | None = None
    since: datetime | None = None
    until: datetime | None = None
    accessed_before: datetime | None = None
    expires_before: datetime | None = None


@dataclass(frozen=True, slots=True)
class MemoryHit:
    """A full-text or vector hit. ``score`` is BM25 (higher is better, unbounded) or a cosine."""

    id: str
    score: float


@dataclass(frozen=True, slots=True)
class MemoryPage:
    """Keyset paging, newest id first; ``cursor`` is opaque."""

    limit: int = 100
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class MemoryCounts:
    """How many of each status a scope holds."""

    by_status: Mapping[MemoryStatus, int]
    by_type: Mapping[MemoryType, int]  # active ones
    conflicted: int


class VectorStore(Protocol):
    """Vectors of memories, kept apart by model: those of different models are never compared."""

    def put(self, model: str, vectors: Mapping[str, bytes]) -> None:
        """Insert or replace: memory id to little-endian float32 of unit length.

        Ids without a row are left out.
        """
        ...

    def missing(self, model: str, limit: int, after: str = "") -> list[Memory]:
        """Recallable memories (active, disputed) without a current vector of this model, by id.

        A memory whose text changed since its vector was made has none.
        """
        ...

    def nearest(
        self,
        scopes: Sequence[Scope],
        model: str,
        vector: bytes,
        which: MemoryFilter,
        limit: int,
    ) -> list[MemoryHit]:
        """By cosine, best first."""
        ...

    def cosines(self, model: str, vector: bytes, ids: Iterable[str]) -> dict[str, float]:
        """The cosine of each of these that has a current vector of this model."""
        ...

    def drop_others(self, model: str) -> int:
        """Remove the vectors of every other model; returns how many."""
        ...


class MemoryStore(Protocol):
    """Typed memories, their links and their full-text index."""

    def change(self, scope: Scope, decide: Callable[[MemoryView], MemoryChange]) -> MemoryChange:
        """Decide on the scope as it is and write the decision, as one transaction.

        ``decide`` is pure and may be called again when somebody else wrote in between; what it
        raises is passed on and nothing is written. Returns what was written.
        """
        ...

    def get(self, ids: Iterable[str]) -> dict[str, Memory]:
        """Those that exist, of any scope and status."""
        ...

    def page_of(
        self, scopes: Sequence[Scope], which: MemoryFilter, page: MemoryPage
    ) -> tuple[list[Memory], str | None]:
        """Newest first, and the next cursor."""
        ...

    def links(self, ids: Collection[str], kinds: Collection[LinkKind] = ()) -> list[Link]:
        """The links of these memories, either side; of every kind when none is named."""
        ...

    def strongest(self, scopes: Sequence[Scope], limit: int, now: datetime) -> list[Memory]:
        """For a digest: active, not conflicted, not expired; pinned first, then by importance

        times confidence, then newest.
        """
        ...

    def search(
        self, scopes: Sequence[Scope], terms: Sequence[Term], which: MemoryFilter, limit: int
    ) -> list[MemoryHit]:
        """Full text over content, tags and entity key; any term matches; BM25, best first.

        Document frequencies are those of the scopes asked. Raises IndexDamaged.
        """
        ...

    def scan(
        self, scopes: Sequence[Scope], words: Sequence[str], which: MemoryFilter, limit: int
    ) -> list[MemoryHit]:
        """Substring matching without any index, scored by how many words are found. Slow."""
        ...

    def rebuild(self) -> None:
        """Make the full-text index anew from the rows. Idempotent; safe beside readers."""
        ...

    def touch(self, ids: Collection[str], at: datetime) -> None:
        """Bump ``last_accessed_at`` (never backwards) and ``access_count``; not durable at once."""
        ...

    def counts(self, scope: Scope) -> MemoryCounts:
        """How much a scope holds, by status and type."""
        ...

    def scopes(self) -> list[Scope]:
        """Every scope that holds a memory of any status."""
        ...

    def each(self, scopes: Sequence[Scope], statuses: Collection[MemoryStatus]) -> Iterator[Memory]:
        """All of them by id, as a stream over one consistent view."""
        ...

    def delete_scope(self, scope: Scope) -> int:
        """Remove every memory of a scope with links, vectors and index entries; how many."""
        ...

"""What deciding on a change of memories reads, and what it produces. Stores carry it out."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Protocol

from codesynapse.domain.memories.model import Link, Memory, MemoryType

__all__ = ["MemoryChange", "MemoryView"]


@dataclass(frozen=True, slots=True)
class MemoryChange:
    """One atomic change of one scope. ``deleted`` rows go for good, with links and index entries.

    ``memories`` are inserted, or replace the row of their id; ``unlinked`` links are removed.
    """

    memories: tuple[Memory, ...] = ()
    links: tuple[Link, ...] = ()
    unlinked: tuple[Link, ...] = ()
    deleted: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether it changes nothing."""
        return not (self.memories or self.links or self.unlinked or self.deleted)


class MemoryView(Protocol):
    """The scope as it is while a change is decided. Reads only."""

    def get(self, ids: Iterable[str]) -> dict[str, Memory]:
        """Those of this scope that exist, whatever their status."""
        ...

    def alike(self, type_: MemoryType, content_key: str) -> list[Memory]:
        """Those with this very text and type that are not deleted or expired, oldest first."""
        ...

    def in_slot(self, entity_key: str) -> list[Memory]:
        """The slot's values of every status but deleted, newest first."""
        ...

    def links(self, ids: Collection[str]) -> list[Link]:
        """The links of these memories, either side."""
        ...

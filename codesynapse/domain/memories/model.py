"""What a typed memory is: one text with a type, its trust, its slot, and where it came from."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

__all__ = [
    "AGENT_IMPORTANCE",
    "MAX_CONTENT",
    "MAX_TAGS",
    "Link",
    "LinkKind",
    "Memory",
    "MemoryStatus",
    "MemoryType",
    "Provenance",
    "Writer",
]

MAX_CONTENT = 8_000  # characters, after normalising
MAX_TAGS = 20
AGENT_IMPORTANCE = 0.8  # the most an agent may claim on any path


class MemoryType(StrEnum):
    """What happened, what is so, how it is done."""

    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    PROCEDURAL = "procedural"


class MemoryStatus(StrEnum):
    """Only active memories are recalled by default; disputed ones when asked for."""

    ACTIVE = "active"
    PENDING = "pending"  # waits for a person's approval
    SUPERSEDED = "superseded"  # an older value of its slot, kept in history
    DISPUTED = "disputed"  # somebody said that it is stale or wrong
    QUARANTINED = "quarantined"  # tries to instruct its reader; shown to a person only
    EXPIRED = "expired"
    DELETED = "deleted"


class LinkKind(StrEnum):
    """How the first memory of a link stands to the second."""

    SUPERSEDES = "supersedes"
    PART_OF = "part_of"
    RELATED_TO = "related_to"
    DERIVED_FROM = "derived_from"
    CONTRADICTS = "contradicts"


class Writer(StrEnum):
    """Who wrote: an agent's importance is capped, and its writes may have to wait."""

    PERSON = "person"
    AGENT = "agent"
    JOB = "job"


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a memory came from. ``origin`` says how: ``written``, ``import``, ``consolidate``…"""

    user: str
    writer: Writer
    origin: str = "written"
    client: str | None = None
    session: str | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Memory:
    """One memory as a store keeps it. ``id`` sorts by time of creation; ``scope`` is a key.

    ``importance``, ``confidence`` and ``decay`` lie in 0 to 1.  ``content_key`` is the same for
    texts that are equal after normalising.  ``changed`` counts the writes to this row; touching is
    not a write.  ``conflicted`` is the open-conflict flag.  ``judged`` counts the feedback given,
    of which each weighs less than the one before.
    """

    id: str
    scope: str
    type: MemoryType
    content: str
    content_key: str
    provenance: Provenance
    created_at: datetime
    updated_at: datetime
    last_accessed_at: datetime
    tags: tuple[str, ...] = ()
    entity_key: str | None = None
    importance: float = 0.5
    confidence: float = 0.8
    status: MemoryStatus = MemoryStatus.ACTIVE
    conflicted: bool = False
    pinned: bool = False
    expires_at: datetime | None = None
    said_at: datetime | None = None
    superseded_at: datetime | None = None
    access_count: int = 0
    decay: float = 0.0
    changed: int = 0
    judged: int = 0


@dataclass(frozen=True, slots=True)
class Link:
    """``source`` stands to ``target`` as ``kind`` says. Both are memories' ids."""

    source: str
    target: str
    kind: LinkKind
    created_at: datetime = field(compare=False)

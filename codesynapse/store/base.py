"""What every engine promises. The contract suite in ``tests/store/contract.py`` holds them to it.

Every call is synchronous, thread-safe and cheap to call from a worker thread.  A write has
returned when it is on the disk, never before; one that is said not to be ``durable`` is seen at
once and is on the disk with the next write that is, in the order in which they were made, so that
nothing later is ever kept without it.  A call about one scope costs what that scope
holds, whatever else the store holds.  Engines store rows and rank text; every rule about facts
lives in ``domain``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from codesynapse.domain.graph import (
    EntityRow,
    FactRow,
    NameRow,
    Plan,
    Slice,
    StatementRow,
    Touches,
)
from codesynapse.domain.scope import Scope
from codesynapse.domain.sessions import Job, Repository, Session, Watermark
from codesynapse.domain.text import Term

__all__ = [
    "AuditEntry",
    "AuditStore",
    "Counts",
    "FactFilter",
    "FactStore",
    "Hit",
    "JobStore",
    "Page",
    "RepoStore",
    "ReviewItem",
    "ReviewStore",
    "SessionStore",
    "Store",
]


@dataclass(frozen=True, slots=True)
class Hit:
    """One full-text result. A higher score is better; scores compare within one call only."""

    id: str
    score: float


@dataclass(frozen=True, slots=True)
class Counts:
    """What a scope holds, for limits and warnings."""

    entities: int
    facts: int
    current_facts: int
    revision: int


@dataclass(frozen=True, slots=True)
class FactFilter:
    """Which facts to list. Empty fields do not filter. ``as_of`` beats ``history``."""

    ids: tuple[str, ...] = ()
    entity_ids: tuple[str, ...] = ()  # on either side
    subject_ids: tuple[str, ...] = ()
    predicate: str | None = None
    history: bool = False  # closed facts too
    as_of: datetime | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """Keyset paging: ``cursor`` is what the last page returned, opaque to callers."""

    limit: int = 100
    cursor: str | None = None


class FactStore(Protocol):
    """The fact graph."""

    def slice(self, scope: Scope, touches: Touches) -> Slice:
        """Read what a batch touches, consistently, with the scope's revision (0 when new)."""
        ...

    def apply(self, plan: Plan, scope: Scope, revision: int) -> None:
        """Write a plan atomically. Raises StaleRevision when the scope is past ``revision``.

        A batch id that is already recorded is a no-op, whatever the revision.
        """
        ...

    def change(self, scope: Scope, touches: Touches, plan: Callable[[Slice], Plan]) -> Plan:
        """Read a slice, plan from it and apply the plan, as one step that no other write divides.

        Returns what was written: nothing when the batch is recorded already, which ``plan`` is not
        asked about then, and nothing of an empty plan, which is not recorded either.  What
        ``plan`` raises passes through and nothing is written.

        Other writers may wait while ``plan`` runs: it is pure, quick, and calls nothing of the
        store.  Where others are held back, each batch is planned once however many write; an
        engine that cannot do so repeats ``slice`` and ``apply`` until the revision fits.
        """
        ...

    def counts(self, scope: Scope) -> Counts:
        """How much a scope holds."""
        ...

    def find_entities(self, scope: Scope, terms: Sequence[Term], limit: int) -> list[Hit]:
        """Entities by name, alias or type; any term matches; best first."""
        ...

    def find_facts(self, scope: Scope, terms: Sequence[Term], limit: int) -> list[Hit]:
        """Current facts by the words of subject, predicate and object; best first."""
        ...

    def names(self, scope: Scope, keys: Iterable[str]) -> dict[str, NameRow]:
        """The rows of those name keys that exist."""
        ...

    def entities(self, scope: Scope, ids: Iterable[str]) -> dict[str, EntityRow]:
        """The rows of those entities that exist."""
        ...

    def list_entities(self, scope: Scope, page: Page) -> tuple[list[EntityRow], str | None]:
        """All entities in a stable order, a page at a time, and the next cursor."""
        ...

    def facts(
        self, scope: Scope, which: FactFilter, page: Page
    ) -> tuple[list[FactRow], str | None]:
        """Facts, newest start of their last interval first, and the next cursor."""
        ...

    def neighbours(
        self, scope: Scope, entity_ids: Sequence[str], per_entity: int
    ) -> dict[str, list[FactRow]]:
        """Up to ``per_entity`` current facts on either side of each entity, best first

        (confidence, then confirmations, then newest), however many the entity has.
        """
        ...

    def strongest(self, scope: Scope, limit: int) -> list[FactRow]:
        """The current facts with the highest confidence, confirmations and recency."""
        ...

    def statements(self, scope: Scope, fact_ids: Sequence[str]) -> list[StatementRow]:
        """Everything said about those facts, oldest first."""
        ...

    def sessions_facts(self, scope: Scope, origin: str) -> list[str]:
        """Ids of facts of which some statement has this ``Source.origin``."""
        ...

    def delete_scope(self, scope: Scope) -> int:
        """Remove everything of a scope, indexes too; returns how many facts. Idempotent."""
        ...


class RepoStore(Protocol):
    """Repositories and how they are recognised."""

    def get(self, repo_id: str) -> Repository | None:
        """One by id."""
        ...

    def match(self, remote: str | None, root: str | None) -> Repository | None:
        """By remote, else by a former remote, else by root among those without another remote."""
        ...

    def save(self, repository: Repository) -> None:
        """Insert or update by id."""
        ...

    def all(self) -> list[Repository]:
        """All, by name."""
        ...


class SessionStore(Protocol):
    """Sessions, their watermarks and the ids of turns already extracted."""

    def get(self, session_id: str) -> Session | None:
        """One by our id."""
        ...

    def by_client(self, client: str, client_session: str) -> Session | None:
        """One by the client's own id."""
        ...

    def add(self, session: Session) -> Session:
        """Insert, or return the one that has this id already, unchanged."""
        ...

    def update(self, session: Session) -> None:
        """Replace the row with this id."""
        ...

    def of_repo(
        self, repo_id: str, user: str | None, page: Page
    ) -> tuple[list[Session], str | None]:
        """Sessions of a repository, newest first."""
        ...

    def due(self, now: datetime, idle_since: datetime) -> list[Session]:
        """Sessions with work due: active and idle since before ``idle_since``; ended after their

        last carry-over; past ``expires_at`` and not yet expired; closed with a scope left.
        """
        ...

    def watermark(self, session_id: str) -> Watermark | None:
        """How far this session was extracted."""
        ...

    def advance(self, mark: Watermark, turn_ids: Iterable[str], *, durable: bool = True) -> None:
        """Move the watermark, never backwards, and remember these turns, atomically."""
        ...

    def rewind(self, session_id: str) -> None:
        """Forget how far this session was extracted; the turns that were stay known."""
        ...

    def extracted(self, turn_ids: Iterable[str]) -> set[str]:
        """Which of these turns were extracted already, in any session."""
        ...


class JobStore(Protocol):
    """Offload jobs: rows without content, the last 200 kept."""

    def add(self, job: Job) -> None:
        """Insert; finished jobs beyond the last 200 are dropped."""
        ...

    def update(self, job: Job, *, durable: bool = True) -> None:
        """Replace the row with this id."""
        ...

    def get(self, job_id: str) -> Job | None:
        """One by id."""
        ...

    def recent(self, session_id: str | None = None, limit: int = 200) -> list[Job]:
        """Newest first."""
        ...

    def unfinished(self) -> list[Job]:
        """Queued and running ones, oldest first: what a restart has to look at."""
        ...


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """A carried fact that waits for a person's approval."""

    id: str
    scope: str  # where it goes when approved
    session_id: str
    subject: str
    predicate: str
    object: str
    confidence: float
    said_at: datetime
    created_at: datetime


class ReviewStore(Protocol):
    """What waits for a person, and what a person deleted so that it is not carried again."""

    def add(self, items: Iterable[ReviewItem]) -> None:
        """Insert those whose id is new."""
        ...

    def waiting(self, scope: Scope, limit: int = 200) -> list[ReviewItem]:
        """What waits, oldest first."""
        ...

    def get(self, item_id: str) -> ReviewItem | None:
        """One by id."""
        ...

    def remove(self, item_id: str) -> None:
        """Decided; gone from the list."""
        ...

    def block(self, scope: Scope, fact_ids: Iterable[str]) -> None:
        """A person deleted or rejected these: never carry them into this scope again."""
        ...

    def blocked(self, scope: Scope, fact_ids: Iterable[str]) -> set[str]:
        """Which of these were deleted or rejected by a person."""
        ...


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """Who did what kind of thing, when, to what id. Never content."""

    at: datetime
    user: str
    client: str | None
    action: str
    scope: str | None = None
    target: str | None = None
    detail: str | None = None  # counts, codes or kinds; never what was said


class AuditStore(Protocol):
    """The trail."""

    def add(self, entry: AuditEntry) -> None:
        """Append one."""
        ...

    def recent(self, page: Page) -> tuple[list[AuditEntry], str | None]:
        """Newest first."""
        ...


class Store(Protocol):
    """One open engine."""

    facts: FactStore
    repos: RepoStore
    sessions: SessionStore
    jobs: JobStore
    review: ReviewStore
    audit: AuditStore

    def verify(self) -> list[str]:
        """Check the whole store: faults in words, empty when sound. May take long."""
        ...

    def backup(self, destination: Path) -> None:
        """A consistent copy, owner-only, made while the store is in use."""
        ...

    def close(self) -> None:
        """Finish what is in hand and close cleanly. Idempotent."""
        ...

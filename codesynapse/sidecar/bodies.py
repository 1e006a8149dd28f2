"""What callers send, and rows as the replies of ``sdk.models`` name them.

Sizes are bounded here so that a refusal names the field; meanings are the services' matter.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from codesynapse.domain.sessions import Job, Repository, Session
from codesynapse.domain.turns import Speaker, Turn
from codesynapse.sdk import models
from codesynapse.service.facts import Triple
from codesynapse.store.base import AuditEntry, FactFilter, ReviewItem

__all__ = [
    "EndBody",
    "EntityBody",
    "FactBody",
    "FactsQuery",
    "OffloadBody",
    "PromoteBody",
    "RecallBody",
    "RegisterBody",
    "ResolveBody",
    "ReviewBody",
    "SubgraphQuery",
    "TriplesBody",
    "audit_reply",
    "job_reply",
    "repository_reply",
    "review_reply",
    "session_reply",
]

Path = Field(default=None, max_length=4_096)


class Body(BaseModel):
    """Any request. An unknown field is refused: it is a slip of the pen, or a wish to go around."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ResolveBody(Body):
    """A folder, and the remote where the caller's machine is not this one."""

    cwd: str = Field(max_length=4_096)
    remote: str | None = Field(default=None, max_length=2_048)


class RegisterBody(Body):
    """What is known of a session besides its headers."""

    cwd: str | None = Path
    transcript: str | None = Path


class EndBody(Body):
    """The end of a session."""

    transcript: str | None = Path


class PromoteBody(Body):
    """The session's facts that shall be the repository's."""

    facts: list[str] = Field(min_length=1, max_length=200)


class RecallBody(Body):
    """A query."""

    query: str = Field(max_length=100_000)
    memory_scope: models.ReadScope = "session"
    hops: int = 1
    limit: int = 20


class TripleBody(Body):
    """One fact as a caller says it."""

    subject: str = Field(max_length=4_000)
    predicate: str = Field(max_length=200)
    object: str = Field(max_length=4_000)
    confidence: float = Field(default=0.8, ge=0, le=1)
    said_at: datetime | None = None
    replace: bool = False
    subject_type: str | None = Field(default=None, max_length=200)
    object_type: str | None = Field(default=None, max_length=200)

    def triple(self) -> Triple:
        """As the service takes it."""
        return Triple(**dict(self))


class TriplesBody(Body):
    """Facts to keep; ``batch_id`` makes sending them twice harmless."""

    triples: list[TripleBody] = Field(min_length=1, max_length=1_000)
    memory_scope: models.MemoryScope = "repository"
    batch_id: str | None = Field(default=None, min_length=1, max_length=128)


class FactBody(Body):
    """What a person decides of one fact."""

    action: Literal["close", "reopen"]


class EntityBody(Body):
    """The entity that is the same as the one in the path, and becomes its alias."""

    merge: str = Field(min_length=1, max_length=128)


class ReviewBody(Body):
    """What a person decides of a fact that waits."""

    action: Literal["approve", "reject"]


class TurnBody(Body):
    """One message."""

    id: str | None = None
    role: Speaker
    text: str = Field(repr=False)
    at: datetime | None = None

    def turn(self) -> Turn:
        """As the service takes it."""
        return Turn(self.role, self.text, self.at, self.id)


class OffloadBody(Body):
    """Older turns. ``start`` and ``end`` are byte offsets in ``transcript``."""

    turns: list[TurnBody] = Field(max_length=20_000, repr=False)
    transcript: str | None = Path
    start: int = 0
    end: int = 0
    done: bool = False
    wait: bool = False


class FactsQuery(Body):
    """Which facts are listed. Without ``history`` or ``as_of``: those that hold now."""

    memory_scope: models.ReadScope = "repository"
    limit: int = Field(default=100, ge=1, le=500)
    cursor: str | None = Field(default=None, max_length=2_000)
    predicate: str | None = Field(default=None, max_length=200)
    entity: str | None = Field(default=None, max_length=128)
    history: bool = False
    as_of: datetime | None = None

    def which(self) -> FactFilter:
        """As the service takes it."""
        return fact_filter(self.predicate, self.history, self.as_of, self.entity)


class SubgraphQuery(Body):
    """Which part of the graph; the strongest facts when no entity is named."""

    memory_scope: models.ReadScope = "repository"
    name: list[str] = Field(default=[], max_length=50)
    hops: int = Field(default=1, ge=1, le=2)
    limit: int = Field(default=100, ge=1, le=500)
    predicate: str | None = Field(default=None, max_length=200)
    history: bool = False
    as_of: datetime | None = None

    def which(self) -> FactFilter | None:
        """As the service takes it: None for what holds now, by strength."""
        if not (self.predicate or self.history or self.as_of):
            return None
        return fact_filter(self.predicate, self.history, self.as_of)


def fact_filter(
    predicate: str | None, history: bool, as_of: datetime | None, entity: str | None = None
) -> FactFilter:
    """The facts that were asked for; a time without a zone is UTC."""
    if as_of is not None and as_of.tzinfo is None:
        as_of = as_of.replace(tzinfo=UTC)
    entities = (entity,) if entity else ()
    return FactFilter(
        entity_ids=entities, predicate=predicate or None, history=history, as_of=as_of
    )


def repository_reply(row: Repository) -> models.Repository:
    """A repository as it is told."""
    return models.Repository(
        id=row.id, name=row.name, root=row.root, remote=row.remote, former=list(row.former)
    )


def session_reply(row: Session) -> models.Session:
    """A session as it is told."""
    return models.Session(
        id=row.id,
        client=row.client,
        session=row.client_session,
        repo=row.repo_id,
        user=row.user,
        state=row.state.value,
        registered_at=row.registered_at,
        expires_at=row.expires_at,
        last_seen_at=row.last_seen_at,
        ended_at=row.ended_at,
    )


def job_reply(row: Job) -> models.Job:
    """A job as it is told."""
    return models.Job(
        id=row.id,
        session=row.session_id,
        repo=row.repo_id,
        state=row.state.value,
        created_at=row.created_at,
        transcript=row.transcript,
        start=row.start,
        end=row.end,
        attempts=row.attempts,
        counts=dict(row.counts),
        duration_ms=row.duration_ms,
        model=row.model,
        error=row.error,
    )


def review_reply(row: ReviewItem) -> models.ReviewRecord:
    """A waiting fact as it is told."""
    return models.ReviewRecord(
        id=row.id,
        session=row.session_id,
        subject=row.subject,
        predicate=row.predicate,
        object=row.object,
        confidence=row.confidence,
        said_at=row.said_at,
        created_at=row.created_at,
    )


def audit_reply(row: AuditEntry) -> models.AuditRecord:
    """A line of the trail as it is told."""
    values: dict[str, Any] = {
        name: getattr(row, name)
        for name in ("at", "user", "client", "action", "scope", "target", "detail")
    }
    return models.AuditRecord(**values)

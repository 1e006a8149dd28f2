"""What the sidecar answers, typed. The sidecar describes its replies with these very models.

A newer sidecar may add fields: what is unknown here is kept and does no harm.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = [
    "Applied",
    "AuditList",
    "AuditRecord",
    "Binding",
    "Context",
    "Deleted",
    "Error",
    "ErrorReply",
    "Fact",
    "FactHistory",
    "FactList",
    "Health",
    "Indexed",
    "Interval",
    "Job",
    "JobList",
    "MemoryScope",
    "Node",
    "NodeList",
    "OffloadPlan",
    "Provenance",
    "ReadScope",
    "Recalled",
    "Repository",
    "RepositoryList",
    "ReviewList",
    "ReviewRecord",
    "Said",
    "Session",
    "SessionList",
    "Stats",
    "Stopping",
    "Subgraph",
]

MemoryScope = Literal["session", "repository", "personal"]
ReadScope = Literal["session", "repository", "personal", "all"]


class Reply(BaseModel):
    """Any answer."""

    model_config = ConfigDict(extra="allow", frozen=True)


class Error(Reply):
    """What went wrong. ``code`` is for programs, ``message`` and ``hint`` for people."""

    code: str
    message: str
    hint: str = ""


class ErrorReply(Reply):
    """The one shape of every refusal."""

    error: Error


class Health(Reply):
    """It serves. Nothing else is told to who has no token."""

    status: str


class Interval(Reply):
    """Half open; ``to`` is null while it holds."""

    from_: str | None = Field(alias="from")
    to: str | None

    model_config = ConfigDict(
        extra="allow", frozen=True, populate_by_name=True, serialize_by_alias=True
    )


class Provenance(Reply):
    """Where a fact came from."""

    client: str
    model: str | None = None
    session: str | None = None
    user: str | None = None
    origin: str | None = None
    stored_at: str | None = None


class Fact(Reply):
    """One fact, with its age and how far to trust it."""

    id: str
    scope: str
    subject: str
    subject_id: str
    predicate: str
    object: str
    object_id: str
    sentence: str
    confidence: float
    confirmations: int
    current: bool
    valid_from: str | None
    valid_to: str | None
    intervals: list[Interval]
    said_by: str | None
    stored_at: str | None
    age_days: int
    qualifiers: str
    source: Provenance


class Node(Reply):
    """One entity."""

    id: str
    scope: str
    name: str
    type: str | None
    aliases: list[str]


class Recalled(Reply):
    """The answer to a query. ``gated``: nothing was searched, for ``reason``."""

    notice: str
    facts: list[Fact]
    entities: list[str]
    gated: bool
    reason: str | None
    failed: list[str]


class FactList(Reply):
    """A page of facts; ``cursor`` asks for the next one."""

    notice: str
    facts: list[Fact]
    cursor: str | None


class NodeList(Reply):
    """A page of entities; ``cursor`` asks for the next one."""

    notice: str
    nodes: list[Node]
    cursor: str | None


class Subgraph(Reply):
    """Facts and the entities they touch. ``more``: a bound left some out."""

    notice: str
    nodes: list[Node]
    facts: list[Fact]
    more: bool


class Said(Reply):
    """One statement about a fact."""

    said_at: str | None
    batch: str
    confidence: float
    replace: bool
    close: bool
    said_by: str | None
    source: Provenance


class FactHistory(Reply):
    """One fact and everything that was said about it, oldest first."""

    notice: str
    fact: Fact
    statements: list[Said]


class Applied(Reply):
    """What a write did. ``applied`` is false when it was stored already."""

    batch_id: str
    applied: bool
    fact_ids: list[str]
    indexed: bool = True


class Deleted(Reply):
    """How many facts are gone."""

    deleted: int


class Indexed(Reply):
    """How much of a repository's memory is in the index."""

    facts: int
    entities: int


class Repository(Reply):
    """A repository; ``id`` is what routes take and never changes."""

    id: str
    name: str
    root: str | None
    remote: str | None
    former: list[str]


class RepositoryList(Reply):
    """Every repository that is known."""

    repositories: list[Repository]


class Session(Reply):
    """One session; ``session`` is the client's own id."""

    id: str
    client: str
    session: str
    repo: str
    user: str
    state: str
    registered_at: datetime
    expires_at: datetime
    last_seen_at: datetime
    ended_at: datetime | None


class SessionList(Reply):
    """A page of sessions, newest first."""

    sessions: list[Session]
    cursor: str | None


class OffloadPlan(Reply):
    """What a hook should read and send."""

    session: str
    transcript: str | None
    cwd: str | None
    offset: int
    turn_id: str | None
    keep_exchanges: int


class Job(Reply):
    """One offload job. Never content."""

    id: str
    session: str
    repo: str
    state: str
    created_at: datetime
    transcript: str | None
    start: int
    end: int
    attempts: int
    counts: dict[str, int]
    duration_ms: int | None
    model: str | None
    error: str | None


class JobList(Reply):
    """The last jobs, newest first."""

    jobs: list[Job]


class Context(Reply):
    """The composed block; ``text`` is empty when there is nothing worth saying."""

    text: str
    items: int
    left_out: int


class Binding(Reply):
    """The session that a tool call came from."""

    client: str
    session: str


class ReviewRecord(Reply):
    """A carried fact that waits for its person."""

    id: str
    session: str
    subject: str
    predicate: str
    object: str
    confidence: float
    said_at: datetime
    created_at: datetime


class ReviewList(Reply):
    """What waits, oldest first."""

    items: list[ReviewRecord]


class AuditRecord(Reply):
    """Who did what kind of thing to what, when. Never content."""

    at: datetime
    user: str
    client: str | None
    action: str
    scope: str | None
    target: str | None
    detail: str | None


class AuditList(Reply):
    """A page of the trail, newest first."""

    entries: list[AuditRecord]
    cursor: str | None


class Stats(Reply):
    """How the sidecar is."""

    version: str
    pid: int
    url: str
    store: str
    uptime_seconds: float
    memory: bool
    carry_over: str
    queue: int
    jobs: dict[str, int]
    requests: int
    failures: int
    config_error: str | None
    faults: list[str]
    model_calls_today: int | None = None


class Stopping(Reply):
    """It takes no more work and ends."""

    pid: int


Json = dict[str, Any]

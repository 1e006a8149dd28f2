"""Sessions, repositories and jobs as the store keeps them. None of them holds content."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

__all__ = ["Job", "JobState", "Repository", "Session", "SessionState", "Watermark"]


class SessionState(StrEnum):
    """Ended comes back with any later work; expired and revoked are closed for good."""

    ACTIVE = "active"
    ENDED = "ended"
    EXPIRED = "expired"
    REVOKED = "revoked"

    @property
    def closed(self) -> bool:
        """Whether all further work is refused."""
        return self in (SessionState.EXPIRED, SessionState.REVOKED)


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository as this store knows it. ``id`` is url-safe and never changes.

    ``remote`` is the normalised origin URL (host/path, no scheme, user or ``.git``), ``root`` the
    resolved main work tree. ``former`` holds remotes it was known by before.
    """

    id: str
    name: str
    root: str | None
    remote: str | None
    former: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Session:
    """``id`` is ours and names the scope; ``client_session`` is the client's own."""

    id: str
    client: str
    client_session: str
    repo_id: str
    user: str
    state: SessionState
    registered_at: datetime
    expires_at: datetime
    last_seen_at: datetime
    ended_at: datetime | None = None
    carried_at: datetime | None = None  # when the last carry-over ran
    transcript: str | None = None
    cwd: str | None = None


@dataclass(frozen=True, slots=True)
class Watermark:
    """How far a session's transcript has been extracted: a byte offset and the last turn's id."""

    session_id: str
    offset: int
    turn_id: str | None


class JobState(StrEnum):
    """``lost``: its turns existed nowhere else and the process that held them is gone."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Job:
    """One offload job. ``start`` and ``end`` are byte offsets in ``transcript``, if any."""

    id: str
    session_id: str
    repo_id: str
    user: str
    client: str
    state: JobState
    created_at: datetime
    transcript: str | None = None
    start: int = 0
    end: int = 0
    last_turn_id: str | None = None
    attempts: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    duration_ms: int | None = None
    model: str | None = None
    error: str | None = None

"""The life of a session: registered, active, ended, active again, and closed for good.

A session expires seven days after it was first registered, whatever happens in between.  Expired
and revoked ones take no more work, and their facts, entities and index entries are deleted; what
is left undone by a crash is done by the next sweep.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Protocol

from codesynapse.domain.scope import Principal, Scope
from codesynapse.domain.sessions import Session, SessionState
from codesynapse.errors import (
    Closed,
    CodeSynapseError,
    Forbidden,
    IdentityMissing,
    Invalid,
    NotFound,
)
from codesynapse.jobs.queue import OffloadQueue
from codesynapse.service import carry_over
from codesynapse.service.access import FactDeps
from codesynapse.store.base import AuditEntry, Page

__all__ = [
    "SessionDeps",
    "carry_if_due",
    "current",
    "end",
    "end_idle",
    "find",
    "is_idle",
    "listing",
    "mark_ended",
    "mark_uncarried",
    "recent",
    "register",
    "revoke",
    "set_transcript",
    "sweep",
    "unsettled",
]

_log = logging.getLogger("codesynapse.sessions")
_SEEN_EVERY = timedelta(minutes=1)
_LONGEST_CLIENT, _LONGEST_SESSION = 64, 200
_RECENT = 50
# A row is read, changed and written as a whole: two changes at once would undo each other, and a
# revoked session could come back. One process owns the store, so its own lock is enough.
_changing = threading.Lock()
# Two carry-overs at once could both take the same statement for new.
_carrying = threading.Lock()


class SessionDeps(FactDeps, Protocol):
    """What sessions and offloading need of the composition root."""

    @property
    def queue(self) -> OffloadQueue:
        """The one queue of offload jobs."""
        ...


def register(
    deps: SessionDeps,
    principal: Principal,
    repo_id: str,
    *,
    cwd: str | None = None,
    transcript: str | None = None,
) -> Session:
    """The caller's session, made or found; never extended. It may be closed: see ``state``.

    Raises IdentityMissing, Invalid, NotFound for an unknown repository, and Forbidden when the
    session belongs to somebody else.
    """
    client, client_session = _identity(principal)
    if deps.store.repos.get(repo_id) is None:
        raise NotFound(f"there is no repository {repo_id}", "resolve it first")
    now = deps.clock()
    fresh = Session(
        id=_id(client, client_session),
        client=client,
        client_session=client_session,
        repo_id=repo_id,
        user=principal.user,
        state=SessionState.ACTIVE,
        registered_at=now,
        expires_at=now + timedelta(days=deps.settings().session_life_days),
        last_seen_at=now,
        transcript=transcript,
        cwd=cwd,
    )
    session = deps.store.sessions.add(fresh)
    _check_owner(session, principal)
    session = _seen(deps, session)
    return set_transcript(deps, session, transcript)


def current(deps: SessionDeps, principal: Principal, *, work: bool) -> Session:
    """The session that the caller is; ``work`` makes an ended one active again.

    Raises IdentityMissing, NotFound, Forbidden and Closed.
    """
    client, client_session = _identity(principal)
    session = deps.store.sessions.by_client(client, client_session)
    if session is None:
        raise NotFound(f"session {client_session} of {client} is not registered", "register it")
    _check_owner(session, principal)
    session = _seen(deps, session) if work else _expired(deps, session)
    if session.state.closed:
        raise _closed(session)
    return session


def find(deps: SessionDeps, principal: Principal, session_id: str) -> Session:
    """One of the caller's own sessions, by our id or the client's. It may be closed.

    Raises NotFound and Forbidden.
    """
    session = deps.store.sessions.get(session_id)
    if session is None and principal.client:
        session = deps.store.sessions.by_client(principal.client, session_id)
    if session is None:
        raise NotFound(f"there is no session {session_id}")
    _check_owner(session, principal)
    return _expired(deps, session)


def listing(
    deps: SessionDeps, principal: Principal, repo_id: str, page: Page | None = None
) -> tuple[list[Session], str | None]:
    """The caller's sessions in a repository, newest first, and the next cursor."""
    rows, cursor = deps.store.sessions.of_repo(repo_id, principal.user, page or Page())
    return [_expired(deps, row) for row in rows], cursor


def end(deps: SessionDeps, principal: Principal, session: Session) -> Session:
    """The session is over for now: carried over at once, or after its last job. Idempotent."""
    _check_owner(session, principal)
    session = mark_ended(deps, session)
    carry_if_due(deps, session.id)
    return deps.store.sessions.get(session.id) or session


def mark_ended(deps: SessionDeps, session: Session) -> Session:
    """The session is over for now; whoever looks next carries it over."""
    return _change(deps, session.id, lambda row: _ended(row, deps.clock()))


def revoke(deps: SessionDeps, principal: Principal, session: Session) -> Session:
    """Close it for good; its facts go, and what was carried over from it. Idempotent."""
    _check_owner(session, principal)
    session = _change(deps, session.id, lambda row: replace(row, state=SessionState.REVOKED))
    scope = Scope.session(session.id).key
    deps.store.audit.add(
        AuditEntry(
            deps.clock(), principal.user, principal.client, "session.revoke", scope, session.id
        )
    )
    _erase(deps, session)
    return session


def is_idle(deps: SessionDeps, session: Session) -> bool:
    """Whether an active session was not at work for so long that it counts as over."""
    now = deps.clock()
    idle_since = now - timedelta(seconds=deps.settings().session_idle_seconds)
    over = session.last_seen_at < idle_since or session.expires_at <= now
    return over and session.state is SessionState.ACTIVE


def end_idle(deps: SessionDeps, session: Session) -> Session:
    """End it, unless it was at work since it was looked at."""
    now = deps.clock()
    return _change(deps, session.id, lambda row: _ended(row, now) if is_idle(deps, row) else row)


def unsettled(deps: SessionDeps, principal: Principal, repo_id: str) -> list[str]:
    """What a session waits for when it starts: its own jobs, and the carry-over of ended ones.

    Other sessions that run are none of its business, only the person's recent ones here that ended.
    """
    return [row.id for row in recent(deps, principal, repo_id) if _is_awaited(deps, principal, row)]


def recent(deps: SessionDeps, principal: Principal, repo_id: str) -> list[Session]:
    """This person's newest sessions in a repository, as they stand."""
    return deps.store.sessions.of_repo(repo_id, principal.user, Page(_RECENT))[0]


def _is_awaited(deps: SessionDeps, principal: Principal, row: Session) -> bool:
    pending = deps.queue.pending(row.id) > 0
    if row.state is SessionState.ENDED:
        return pending or _carry_is_due(row)
    return pending and (row.client, row.client_session) == (principal.client, principal.session)


def carry_if_due(deps: SessionDeps, session_id: str, *, own_jobs: int = 0) -> bool:
    """Carry an ended session over unless that is done, or more than ``own_jobs`` are pending.

    Returns whether nothing is left to carry.
    """
    session = deps.store.sessions.get(session_id)
    if session is None or not _carry_is_due(session):
        return True
    if deps.queue.pending(session_id) > own_jobs:
        return False
    _carry(deps, session)
    return True


def mark_uncarried(deps: SessionDeps, session_id: str) -> None:
    """An ended session is about to get facts that its carry-over has not seen."""
    _change(deps, session_id, lambda row: replace(row, carried_at=None))


def sweep(
    deps: SessionDeps, rest_is_queued: Callable[[SessionDeps, Session], bool] = lambda *_: True
) -> None:
    """Do what is due: end idle sessions, carry over, expire, delete. Safe to run at any time.

    ``rest_is_queued`` is asked before an idle session is ended: what it said last may be in its
    transcript only. A session that cannot be settled is logged, and tried again by the next sweep.
    """
    now = deps.clock()
    idle_since = now - timedelta(seconds=deps.settings().session_idle_seconds)
    for session in deps.store.sessions.due(now, idle_since):
        try:
            if not is_idle(deps, session):
                _settle(deps, session)
            elif rest_is_queued(deps, session):
                _settle(deps, end_idle(deps, session))
        except CodeSynapseError as error:
            _log.warning("session %s could not be settled: %s", session.id, error.code)


def set_transcript(deps: SessionDeps, session: Session, transcript: str | None) -> Session:
    """Remember where its transcript is."""
    if not transcript or transcript == session.transcript:
        return session
    return _change(deps, session.id, lambda row: replace(row, transcript=transcript))


def _settle(deps: SessionDeps, session: Session) -> None:
    """Carry an ended one over, and close it when its life is over; its jobs come first."""
    if session.state is SessionState.ENDED and deps.queue.pending(session.id):
        return
    session = _expired(deps, session)
    if session.state.closed:
        _erase(deps, session)
    else:
        carry_if_due(deps, session.id)


def _erase(deps: SessionDeps, session: Session) -> None:
    """Delete the scope of a closed session; before that, its carry-over is done or undone."""
    if session.state is SessionState.REVOKED:
        carry_over.withdraw(deps, session)
    else:
        _carry(deps, session)
    deps.store.facts.delete_scope(Scope.session(session.id))


def _carry(deps: SessionDeps, session: Session) -> None:
    # Taken before reading, so that an end while this runs is not taken for done.
    now = deps.clock()
    with _carrying:
        carry_over.carry(deps, session)
    session = _change(deps, session.id, lambda row: replace(row, carried_at=now))
    if session.state is SessionState.REVOKED:  # while this ran
        carry_over.withdraw(deps, session)


def _carry_is_due(session: Session) -> bool:
    if session.state is not SessionState.ENDED or session.ended_at is None:
        return False
    return session.carried_at is None or session.carried_at < session.ended_at


def _seen(deps: SessionDeps, session: Session) -> Session:
    """Active, as of now; written at most once a minute while nothing changes."""
    now = deps.clock()

    def change(row: Session) -> Session:
        row = _past_life(row, now)
        if row.state.closed:
            return row
        return replace(row, state=SessionState.ACTIVE, last_seen_at=max(now, row.last_seen_at))

    fresh = now - session.last_seen_at < _SEEN_EVERY and now < session.expires_at
    if session.state.closed or (session.state is SessionState.ACTIVE and fresh):
        return session
    return _change(deps, session.id, change)


def _expired(deps: SessionDeps, session: Session) -> Session:
    now = deps.clock()
    if _past_life(session, now) is session:
        return session
    return _change(deps, session.id, lambda row: _past_life(row, now))


def _past_life(session: Session, now: datetime) -> Session:
    if session.state.closed or now < session.expires_at:
        return session
    return replace(session, state=SessionState.EXPIRED)


def _ended(session: Session, now: datetime) -> Session:
    if session.state.closed:
        return session
    return replace(session, state=SessionState.ENDED, ended_at=now)


def _change(deps: SessionDeps, session_id: str, change: Callable[[Session], Session]) -> Session:
    with _changing:
        row = deps.store.sessions.get(session_id)
        if row is None:
            raise NotFound(f"there is no session {session_id}")
        changed = change(row)
        if row.state.closed and not changed.state.closed:
            changed = row
        if changed != row:
            deps.store.sessions.update(changed)
        return changed


def _identity(principal: Principal) -> tuple[str, str]:
    client, session = principal.client, principal.session
    if not client or not session:
        raise IdentityMissing(
            "a session call needs both identity headers",
            "send X-CodeSynapse-Client and X-CodeSynapse-Session",
        )
    for name, text, longest in (
        ("client", client, _LONGEST_CLIENT),
        ("session", session, _LONGEST_SESSION),
    ):
        if len(text) > longest or not text.isprintable():
            raise Invalid(f"the {name} header is too long or holds control characters")
    return client, session


def _id(client: str, client_session: str) -> str:
    digest = blake2b(f"{client}\0{client_session}".encode("utf-8", "surrogatepass"), digest_size=15)
    return "s" + digest.hexdigest()


def _check_owner(session: Session, principal: Principal) -> None:
    if session.user != principal.user:
        raise Forbidden(f"session {session.client_session} belongs to somebody else")


def _closed(session: Session) -> Closed:
    return Closed(
        f"session {session.client_session} is {session.state}",
        "start a new session; what was carried over or promoted is still there",
    )

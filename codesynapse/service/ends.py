"""Ends that the sidecar was not told of: hooks that met nobody, and clients that died.

Whoever ends a session leaves a mark first (``transcripts.ends``); what is still there when its hook
is gone is settled here, and a session that was idle for long is read to its end before it is ended.
Both read the transcript from the watermark on, as a job that the worker fills itself.
"""

from __future__ import annotations

import logging
import threading
import time
from datetime import UTC, datetime, timedelta
from typing import Protocol

from codesynapse.domain.scope import Principal
from codesynapse.domain.sessions import Session, SessionState
from codesynapse.errors import CodeSynapseError, QueueFull, Unavailable
from codesynapse.service import offload, repositories, sessions
from codesynapse.service.deps import EndMarks
from codesynapse.service.sessions import SessionDeps
from codesynapse.transcripts.ends import RIPE_SECONDS, EndMark, read_marks, take_mark

__all__ = ["EndDeps", "are_awaited", "end_idle", "rest_is_queued", "settle", "settle_by"]

_log = logging.getLogger("codesynapse.ends")
_GONE = "the session has ended, and its transcript is gone"
_TOO_LATE = "the session has expired before its end was heard of"
_LONGEST_DAYS = 30
_POLL_SECONDS = 0.05
_settling = threading.Lock()


class EndDeps(SessionDeps, Protocol):
    """What settling needs of the composition root."""

    @property
    def ends(self) -> EndMarks:
        """Where the marks are."""
        ...


def settle(deps: EndDeps, until: float = float("inf")) -> list[EndMark]:
    """Settle what hooks left behind, newest first; returns what has to wait.

    Begins no other once ``time.monotonic()`` is past ``until``. What waits: marks whose hook may
    still be at work, and all that a full queue had no room for.
    """
    if not deps.settings().allow_memory:
        return []
    waiting: list[EndMark] = []
    with _settling:
        try:
            marks = read_marks(deps.ends.folder)[::-1]
            for number, mark in enumerate(marks):
                if time.monotonic() > until:
                    return waiting + marks[number:]
                if not mark.is_ripe() or not _settled(deps, mark):
                    waiting.append(mark)
                else:
                    take_mark(mark.path, mark.left_at)
        except OSError as error:
            _log.error("the marks of ended sessions cannot be used: %s", error.strerror)
    return waiting


def settle_by(deps: EndDeps, principal: Principal, repo_id: str, deadline: float) -> bool:
    """Settle until no mark of this repository waits, or ``time.monotonic()`` is ``deadline``."""
    while are_awaited(deps, principal, repo_id, settle(deps, deadline)):
        if time.monotonic() + _POLL_SECONDS >= deadline:
            return False
        time.sleep(_POLL_SECONDS)
    return True


def are_awaited(deps: EndDeps, principal: Principal, repo_id: str, marks: list[EndMark]) -> bool:
    """Whether one of these marks is of this person's sessions in this repository."""
    for mark in marks:
        session = deps.store.sessions.by_client(mark.client, mark.session)
        if session is not None:
            here = (session.user, session.repo_id) == (principal.user, repo_id)
        else:
            here = deps.ends.owner == principal.user and _repository(deps, mark) == repo_id
        if here:
            return True
    return False


def end_idle(deps: SessionDeps, principal: Principal, repo_id: str) -> None:
    """End this person's idle sessions in a repository, as the next sweep would."""
    for session in sessions.recent(deps, principal, repo_id):
        if sessions.is_idle(deps, session) and rest_is_queued(deps, session):
            sessions.end_idle(deps, session)


def rest_is_queued(deps: SessionDeps, session: Session) -> bool:
    """Queue what nobody sent of a session whose client is gone; False while there is no room."""
    if not deps.settings().allow_memory:  # unread, so not over before its life is
        return session.expires_at <= deps.clock()
    if session.transcript is None or not offload.is_readable(session.transcript):
        return True
    try:
        offload.submit_rest(deps, session, session.transcript)
    except (QueueFull, Unavailable):
        return False
    return True


def _settled(deps: EndDeps, mark: EndMark) -> bool:
    """Whether this mark may go: its session is ended and the rest of it queued, or refused."""
    if mark.age() > timedelta(days=_LONGEST_DAYS).total_seconds():
        _log.warning("a mark of an ended session is too old and was dropped")
        return True
    try:
        _end(deps, mark)
    except (QueueFull, Unavailable):
        return False
    except CodeSynapseError as error:
        _log.warning("a mark of an ended session was dropped: %s", error.code)
    return True


def _end(deps: EndDeps, mark: EndMark) -> None:
    session = deps.store.sessions.by_client(mark.client, mark.session) or _register(deps, mark)
    path = mark.transcript or session.transcript
    if session.state is SessionState.EXPIRED and path is not None:
        offload.list_lost(deps, session, path, _TOO_LATE)
        return
    if path is not None and offload.is_readable(path):
        offload.submit_rest(deps, sessions.set_transcript(deps, session, path), path)
    elif mark.transcript is not None:
        offload.list_lost(deps, session, mark.transcript, _GONE)
    if not _came_back(session, mark):
        sessions.mark_ended(deps, session)


def _came_back(session: Session, mark: EndMark) -> bool:
    """Whether the session was at work again after the hook that left this mark was gone."""
    gone = datetime.fromtimestamp(mark.left_at + RIPE_SECONDS, UTC)
    return session.state is SessionState.ACTIVE and session.last_seen_at > gone


def _register(deps: EndDeps, mark: EndMark) -> Session:
    principal = Principal(deps.ends.owner, client=mark.client, session=mark.session)
    repository = repositories.resolve(deps, principal, mark.cwd or "")
    return sessions.register(
        deps, principal, repository.id, cwd=mark.cwd, transcript=mark.transcript
    )


def _repository(deps: EndDeps, mark: EndMark) -> str | None:
    try:
        return repositories.resolve(deps, Principal(deps.ends.owner), mark.cwd or "").id
    except CodeSynapseError:
        return None

"""Offloading: turns are taken onto the queue at once, and what failed is tried again.

A job's row never holds content.  Turns of a transcript are read again from it; turns that came
alone are kept in memory until they were extracted, and a job whose turns are gone is ``lost``.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from uuid import uuid4

from codesynapse.domain.scope import Principal
from codesynapse.domain.sessions import Job, JobState, Session
from codesynapse.domain.turns import Turn
from codesynapse.errors import Closed, Forbidden, Invalid, QueueFull, Unavailable
from codesynapse.jobs.queue import Queued
from codesynapse.service.sessions import SessionDeps, carry_if_due, set_transcript

__all__ = [
    "MOST_ATTEMPTS",
    "OffloadPlan",
    "go_on",
    "is_readable",
    "jobs",
    "list_lost",
    "plan",
    "recover",
    "retry_failed",
    "submit",
    "submit_rest",
    "transcript_is_there",
    "wait_for",
]

MOST_ATTEMPTS = 3
_LISTED = 200
_LONGEST_TURN = 100_000
_LONGEST_ID = 200
_FIRST_RETRY = timedelta(minutes=1)
_LOST = "its turns were in memory only, and the process that held them is gone"


@dataclass(frozen=True, slots=True)
class OffloadPlan:
    """Where the next offload of a transcript begins, and the last turn before that."""

    offset: int
    turn_id: str | None


def plan(
    deps: SessionDeps, principal: Principal, session: Session, transcript: str | None
) -> OffloadPlan:
    """From the watermark on, or from the end of what is queued already.

    A transcript that another took the place of begins anew: its watermark means nothing there.
    """
    _check(principal, session)
    mark = deps.store.sessions.watermark(session.id)
    offset, turn_id = (mark.offset, mark.turn_id) if mark else (0, None)
    for job in deps.queue.jobs(session.id):
        if job.transcript == transcript and job.end > offset:
            offset, turn_id = job.end, job.last_turn_id
    if offset and transcript is not None and _was_replaced(transcript, offset):
        deps.store.sessions.rewind(session.id)
        return OffloadPlan(0, None)
    return OffloadPlan(offset, turn_id)


def _was_replaced(transcript: str, offset: int) -> bool:
    """Whether no record ends at ``offset``, where one did: a transcript only ever grows."""
    if not is_readable(transcript):
        return False
    try:
        with open(transcript, "rb") as file:
            if file.seek(0, os.SEEK_END) < offset:
                return True
            file.seek(offset - 1)
            return file.read(1) != b"\n"
    except OSError:
        return False


def submit(
    deps: SessionDeps,
    principal: Principal,
    session: Session,
    turns: Sequence[Turn],
    *,
    transcript: str | None = None,
    start: int = 0,
    end: int = 0,
) -> Job:
    """Queue turns and return at once, with the queued job.

    ``start`` and ``end`` are byte offsets in ``transcript``.  Raises QueueFull, Closed, Forbidden
    and Invalid; nothing was taken then.
    """
    _check(principal, session)
    if not turns and not transcript:
        raise Invalid("there are no turns to offload")
    if start < 0 or end < start:
        raise Invalid(f"the range {start} to {end} is not one", "start at 0 or above, end after it")
    kept = tuple(_turn(turn) for turn in turns)
    last = next((turn.id for turn in reversed(kept) if turn.id), None)
    job = replace(_job(deps, session, transcript, start, end), last_turn_id=last)
    job = replace(job, attempts=_failures_before(deps, job))
    set_transcript(deps, session, transcript)
    _queue(deps, Queued(job, kept))
    return job


def submit_rest(deps: SessionDeps, session: Session, transcript: str) -> Job | None:
    """Queue what nobody sent of a readable transcript, unread; None where that is nothing.

    Raises QueueFull and Closed.
    """
    principal = Principal(session.user, client=session.client, session=session.client_session)
    start = plan(deps, principal, session, transcript).offset
    try:
        end = os.path.getsize(transcript)
    except OSError:
        return None
    if end <= start:
        return None
    job = _job(deps, session, transcript, start, end)
    job = replace(job, attempts=_failures_before(deps, job))
    _queue(deps, Queued(job))
    return job


def list_lost(deps: SessionDeps, session: Session, transcript: str, reason: str) -> None:
    """List that what was said last in this transcript cannot be had any more."""
    job = _job(deps, session, transcript, 0, 0)
    deps.store.jobs.add(replace(job, state=JobState.LOST, error=reason))


def go_on(deps: SessionDeps, done: Job, end: int) -> None:
    """Queue what a job left of its range because it was too much for one."""
    job = Job(
        id=f"j{uuid4().hex}",
        session_id=done.session_id,
        repo_id=done.repo_id,
        user=done.user,
        client=done.client,
        state=JobState.QUEUED,
        created_at=deps.clock(),
        transcript=done.transcript,
        start=done.end,
        end=end,
    )
    deps.store.jobs.add(job)
    with suppress(Unavailable):  # it is stopping: the next start finds the row
        deps.queue.put(Queued(job), reserved=False)


def _job(deps: SessionDeps, session: Session, transcript: str | None, start: int, end: int) -> Job:
    return Job(
        id=f"j{uuid4().hex}",
        session_id=session.id,
        repo_id=session.repo_id,
        user=session.user,
        client=session.client,
        state=JobState.QUEUED,
        created_at=deps.clock(),
        transcript=transcript,
        start=start,
        end=end,
    )


def jobs(deps: SessionDeps, principal: Principal, limit: int = _LISTED) -> list[Job]:
    """The caller's last jobs, newest first."""
    rows = deps.store.jobs.recent(limit=_LISTED)
    return [row for row in rows if row.user == principal.user][:limit]


def wait_for(deps: SessionDeps, session_ids: Iterable[str], deadline: float) -> bool:
    """Wait for these sessions' jobs and carry-over, until ``time.monotonic()`` is ``deadline``.

    Returns whether nothing is left to wait for.
    """
    wanted = list(session_ids)
    if not deps.queue.wait(wanted, deadline):
        return False
    for session_id in wanted:
        if time.monotonic() >= deadline or not carry_if_due(deps, session_id):
            return False
    return True


def recover(deps: SessionDeps, left: Collection[Job] | None = None) -> None:
    """At a start: queue again what a transcript still holds, and list the rest as lost.

    ``left`` are the unfinished jobs that were there before this process took any of its own.
    """
    for job in deps.store.jobs.unfinished() if left is None else left:
        if not transcript_is_there(job):
            deps.store.jobs.update(replace(job, state=JobState.LOST, error=_LOST))
            continue
        # A job that was running may be what ended the process: it does not get to do so for ever.
        crashed = job.state is JobState.RUNNING
        job = replace(job, state=JobState.QUEUED, attempts=job.attempts + crashed)
        deps.store.jobs.update(job)
        deps.queue.put(Queued(job), reserved=False)
    for job in deps.store.jobs.recent(limit=_LISTED):
        if _awaits_retry(job) and job.transcript is None and not deps.queue.keeps(job.id):
            deps.store.jobs.update(replace(job, state=JobState.LOST))


def retry_failed(deps: SessionDeps) -> int:
    """Queue failed jobs again whose time has come; returns how many. A full queue ends it."""
    now, started = deps.clock(), 0
    for job in list(_worth_retrying(deps)):
        if now < job.created_at + _FIRST_RETRY * 4 ** max(0, job.attempts - 1):
            continue
        try:
            started += _retry(deps, job)
        except QueueFull:
            break
    return started


def transcript_is_there(job: Job) -> bool:
    """Whether its turns can be read again."""
    return job.transcript is not None and is_readable(job.transcript)


def is_readable(transcript: str) -> bool:
    """Whether a transcript is there, by its name and its kind."""
    return transcript.endswith(".jsonl") and os.path.isfile(transcript)


def _retry(deps: SessionDeps, job: Job) -> bool:
    item = Queued(replace(job, state=JobState.QUEUED))
    if job.transcript is None:
        kept = deps.queue.give_up(job.id)
        if kept is None:
            return False
        item = Queued(item.job, kept.turns)
    elif not transcript_is_there(job):
        return False
    try:
        _queue(deps, item, new=False)
    except QueueFull:
        if item.turns is not None:
            deps.queue.keep(item)
        raise
    return True


def _worth_retrying(deps: SessionDeps) -> Iterator[Job]:
    """Failed jobs of open sessions whose turns nobody else took or is about to take."""
    failed = [job for job in deps.store.jobs.recent(limit=_LISTED) if _awaits_retry(job)]
    for job in failed:
        session = deps.store.sessions.get(job.session_id)
        if session is None or session.state.closed:
            continue
        if job.transcript is None:
            if deps.queue.keeps(job.id):
                yield job
            continue
        mark = deps.store.sessions.watermark(job.session_id)
        others = [*deps.queue.jobs(job.session_id), *(o for o in failed if o.id != job.id)]
        covered = any(_covers(other, job) for other in others)
        if not covered and (mark is None or mark.offset < job.end):
            yield job


def _awaits_retry(job: Job) -> bool:
    return job.state is JobState.FAILED and "lost_turns" not in job.counts


def _covers(other: Job, job: Job) -> bool:
    """Whether another job has all of this one's range; of two equal ones the newer counts."""
    if other.session_id != job.session_id or other.transcript != job.transcript:
        return False
    if (other.start, other.end) == (job.start, job.end):
        return (other.created_at, other.id) > (job.created_at, job.id)
    return other.start <= job.start and job.end <= other.end


def _failures_before(deps: SessionDeps, job: Job) -> int:
    """How often turns of this range failed already, since the watermark last moved."""
    if job.transcript is None:
        return 0
    mark = deps.store.sessions.watermark(job.session_id)
    done = mark.offset if mark else 0
    return max(
        (
            other.attempts
            for other in deps.store.jobs.recent(job.session_id, _LISTED)
            if other.state is JobState.FAILED
            and other.transcript == job.transcript
            and done < other.end
            and other.start < job.end
            and job.start < other.end
        ),
        default=0,
    )


def _queue(deps: SessionDeps, item: Queued, *, new: bool = True) -> None:
    """The row first, then the queue: what is acknowledged is on the disk and has a place."""
    with _place(deps, item):
        (deps.store.jobs.add if new else deps.store.jobs.update)(item.job)
        deps.queue.put(item)


@contextmanager
def _place(deps: SessionDeps, item: Queued) -> Iterator[None]:
    deps.queue.reserve(item.job.session_id, item.characters)
    written = False
    try:
        yield
        written = True
    finally:
        if not written:
            deps.queue.release(item.job.session_id, item.characters)


def _turn(turn: Turn) -> Turn:
    """Bounded, with a time that can be compared."""
    id_ = turn.id or None
    if id_ is not None and len(id_) > _LONGEST_ID:
        id_ = blake2b(id_.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    at = _utc(turn.at) if turn.at is not None else None
    return replace(turn, text=turn.text[:_LONGEST_TURN], at=at, id=id_)


def _utc(at: datetime) -> datetime | None:
    try:
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    except OverflowError:
        return None


def _check(principal: Principal, session: Session) -> None:
    if session.user != principal.user:
        raise Forbidden("this session belongs to somebody else")
    if session.state.closed:
        raise Closed(f"session {session.client_session} is {session.state}", "start a new session")

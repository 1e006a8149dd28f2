"""What the worker does with a job: read, extract, write, move the watermark, carry over.

Turns are extracted once, whoever sends them again.  A failed job moves nothing; after three
failures ``builtin`` takes its turns, what that loses is counted in the job, and the watermark moves
on.  A job that is put back has written nothing, or writes the same batch again, which changes
nothing.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

from codesynapse.domain.batch import MAX_STATEMENTS, Batch, Statement
from codesynapse.domain.graph import Source
from codesynapse.domain.redaction import redact
from codesynapse.domain.scope import Scope
from codesynapse.domain.sessions import Job, JobState, Session, Watermark
from codesynapse.domain.turns import Turn
from codesynapse.errors import (
    Closed,
    CodeSynapseError,
    Invalid,
    LimitExceeded,
    RouteRefused,
    StaleRevision,
    Unavailable,
)
from codesynapse.extraction.extract import BUILTIN, extract, statements
from codesynapse.extraction.routes import MemoryRoute
from codesynapse.jobs.queue import Queued
from codesynapse.providers.base import ChatModel
from codesynapse.service.facts import write_batch
from codesynapse.service.offload import MOST_ATTEMPTS, go_on, transcript_is_there
from codesynapse.service.rereading import Reread, reread
from codesynapse.service.sessions import SessionDeps, carry_if_due, mark_uncarried
from codesynapse.service.standing import standing_facts
from codesynapse.store.base import Page

__all__ = ["JobRunner"]

_KNOWN_NAMES = 200
# Only the words of these are ours from start to end; of other errors the code alone is kept.
_SPEAKING = (Unavailable, RouteRefused, LimitExceeded, Closed, StaleRevision)


@dataclass(slots=True)
class _Run:
    """One run of one job."""

    job: Job
    session: Session
    turns: Sequence[Turn]
    last: bool  # builtin alone, and the watermark moves whatever happens
    counts: Counter[str]


class JobRunner:
    """Runs jobs, one at a time. ``jobs.worker`` calls it."""

    def __init__(
        self,
        deps: SessionDeps,
        route: MemoryRoute,
        read: Callable[[Job], Reread] = reread,
    ) -> None:
        self._deps = deps
        self._route = route
        self._read = read
        self._interrupted = False

    def run(self, item: Queued) -> None:
        """Run it, and leave the outcome in its row."""
        self._run(item, last=item.job.attempts >= MOST_ATTEMPTS)

    def failed(self, item: Queued, kind: str) -> None:
        """It ended with an unforeseen exception of this kind."""
        self._fail(item, item.job, f"unforeseen: {kind}", Counter())

    def interrupt(self) -> None:
        """The job that runs ends with its next breath, and is put back."""
        self._interrupted = True
        self._route.interrupt()

    def put_back(self, item: Queued) -> None:
        """For the next start, which reads its transcript; without one ``builtin`` takes it now."""
        self._interrupted = True
        if item.turns is None or transcript_is_there(item.job):
            self._deps.store.jobs.update(replace(item.job, state=JobState.QUEUED))
        else:
            self._run(item, last=True)

    def _run(self, item: Queued, *, last: bool) -> None:
        started = time.monotonic()
        job = replace(item.job, state=JobState.RUNNING, error=None)
        # Whether it was queued or running makes no difference to who starts again.
        self._deps.store.jobs.update(job, durable=False)
        counts: Counter[str] = Counter()
        try:
            run = self._prepare(item, job, counts, last)
            model = self._work(run)
            job = replace(run.job, state=JobState.DONE, model=model)
        except CodeSynapseError as error:
            if self._interrupted and not last:
                self.put_back(item)
            else:
                self._fail(item, _timed(job, started), _reason(error), counts)
            return
        if item.turns is None and job.start < job.end < item.job.end:
            go_on(self._deps, job, item.job.end)
        self._deps.store.jobs.update(replace(_timed(job, started), counts=dict(+counts)))
        # A session that ended while its jobs ran is carried over by the last of them.
        carry_if_due(self._deps, job.session_id, own_jobs=1)

    def _prepare(self, item: Queued, job: Job, counts: Counter[str], last: bool) -> _Run:
        session = self._open_session(job)
        turns = item.turns
        if turns is None:
            again = self._read(job)
            turns, counts["skipped_records"] = again.turns, again.skipped
            job = replace(job, end=again.end, last_turn_id=again.last_turn_id or job.last_turn_id)
        counts["turns"] = len(turns)
        fresh = self._fresh(turns)
        counts["turns_known"] = len(turns) - len(fresh)
        return _Run(job, session, fresh, last, counts)

    def _open_session(self, job: Job) -> Session:
        session = self._deps.store.sessions.get(job.session_id)
        if session is None or session.state.closed:
            raise Closed("the session is closed; its turns were not extracted")
        return session

    def _fresh(self, turns: Sequence[Turn]) -> list[Turn]:
        """Without those that were extracted already, here or in a session this one is a copy of."""
        seen = self._deps.store.sessions.extracted({turn.id for turn in turns if turn.id})
        fresh: list[Turn] = []
        for turn in turns:
            if turn.id is None or turn.id not in seen:
                fresh.append(turn)
            if turn.id is not None:
                seen.add(turn.id)
        return fresh

    def _work(self, run: _Run) -> str:
        """Extract and write; returns the name of the extractor."""
        deps, scope = self._deps, Scope.session(run.session.id)
        model = self._model(run)
        names = [row.name for row in deps.store.facts.list_entities(scope, Page(_KNOWN_NAMES))[0]]
        clean = _unchanged if deps.settings().allow_secrets else redact
        standing = standing_facts(deps, run.session) if run.turns else []
        found = extract(run.turns, names, model, clean, run.counts, standing)
        if self._interrupted and not run.last:
            raise Unavailable("the sidecar is stopping")
        source = Source(
            client=run.job.client,
            stored_at=deps.clock(),
            session=run.session.id,
            user=run.job.user,
        )
        said = statements(found, source, run.job.created_at)
        # From here on the session has facts that its carry-over has not seen.
        mark_uncarried(deps, run.session.id)
        try:
            self._write(run, scope, said, source)
        except LimitExceeded:
            if not run.last:
                raise
            run.counts["kept"] = 0
            run.counts["lost_over_limit"] = len(said)
        self._advance(run)
        if self._open_session_is_gone(run):
            deps.store.facts.delete_scope(scope)
        return model.name if model else BUILTIN

    def _model(self, run: _Run) -> ChatModel | None:
        """The configured model, unless it has failed too often: then that is counted."""
        if not run.turns:
            return None
        if not run.last:
            return self._route.model()
        if self._deps.settings().memory_route.provider != BUILTIN:
            run.counts["turns_left_to_builtin"] = len(run.turns)
        return None

    def _write(self, run: _Run, scope: Scope, said: list[Statement], source: Source) -> None:
        good = [one for one in said if _valid(one, source)]
        run.counts["dropped_invalid"] += len(said) - len(good)
        run.counts["kept"] -= len(said) - len(good)
        stem = _batch_stem(run.job)
        for n, first in enumerate(range(0, len(good), MAX_STATEMENTS)):
            part = tuple(good[first : first + MAX_STATEMENTS])
            write_batch(self._deps, scope, Batch(f"{stem}-{n}", part, source))

    def _advance(self, run: _Run) -> None:
        """Never over a gap: what failed before this range is still to be read."""
        sessions, job = self._deps.store.sessions, run.job
        mark = sessions.watermark(job.session_id) or Watermark(job.session_id, 0, None)
        if job.transcript is not None and job.start <= mark.offset < job.end:
            mark = Watermark(job.session_id, job.end, job.last_turn_id or mark.turn_id)
        # On the disk before the job counts as done, with the row that says so.
        sessions.advance(mark, [turn.id for turn in run.turns if turn.id], durable=False)

    def _open_session_is_gone(self, run: _Run) -> bool:
        session = self._deps.store.sessions.get(run.session.id)
        return session is None or session.state.closed

    def _fail(self, item: Queued, job: Job, reason: str, counts: Counter[str]) -> None:
        """Failed, with a reason. Turns without a transcript stay in memory for another attempt."""
        closed = reason.startswith(Closed.code)
        job = replace(
            job,
            state=JobState.FAILED,
            attempts=job.attempts + 1,
            error=reason,
            counts=dict(+counts),
        )
        final = closed or item.job.attempts >= MOST_ATTEMPTS
        if not final and item.turns is not None and not transcript_is_there(job):
            final = not self._deps.queue.keep(Queued(job, item.turns))
        if final:
            job.counts["lost_turns"] = counts["turns"] or len(item.turns or ())
        self._deps.store.jobs.update(job)


def _timed(job: Job, started: float) -> Job:
    return replace(job, duration_ms=round((time.monotonic() - started) * 1000))


def _reason(error: CodeSynapseError) -> str:
    return f"{error.code}: {error.message}" if isinstance(error, _SPEAKING) else error.code


def _valid(said: Statement, source: Source) -> bool:
    try:
        Batch("check", (said,), source)
    except Invalid:
        return False
    return True


def _batch_stem(job: Job) -> str:
    """The same for the same records of the same session, so that running again adds nothing."""
    if job.transcript is None:
        return f"offload-{job.id}"
    # The last turn tells a transcript from the one that took its place.
    place = f"{job.start}\0{job.end}\0{job.last_turn_id}"
    records = f"{job.session_id}\0{job.transcript}\0{place}"
    return "offload-" + blake2b(records.encode("utf-8", "replace"), digest_size=16).hexdigest()


def _unchanged(text: str) -> str:
    return text

"""Repositories, sessions, offloading and what waits for a person, over HTTP."""

from __future__ import annotations

import time
from typing import Annotated, Any

from fastapi import Query

from codesynapse.errors import Forbidden
from codesynapse.sdk import models
from codesynapse.service import carry_over, curation, offload, repositories, sessions
from codesynapse.sidecar.bodies import (
    EndBody,
    OffloadBody,
    PromoteBody,
    RegisterBody,
    ResolveBody,
    ReviewBody,
    job_reply,
    repository_reply,
    review_reply,
    session_reply,
)
from codesynapse.sidecar.calls import Calling, Cursor, Id, Limit, RepoId, page_of

__all__ = [
    "decide",
    "end",
    "list_jobs",
    "list_repositories",
    "list_sessions",
    "promote",
    "register",
    "resolve",
    "review",
    "revoke",
    "take_turns",
    "take_turns_of",
]

_WAIT_SECONDS = 30.0


def resolve(call: Calling, body: ResolveBody) -> Any:
    """Find or make the repository of a folder."""
    known = call.running.known
    row = repositories.resolve(call.deps, call.principal, body.cwd, body.remote, cache=known)
    return repository_reply(row)


def list_repositories(call: Calling) -> Any:
    """Every repository that is known."""
    rows = repositories.listing(call.deps, call.principal)
    return models.RepositoryList(repositories=[repository_reply(row) for row in rows])


def register(call: Calling, repo: RepoId, body: RegisterBody) -> Any:
    """Register the session that the headers name; registering again returns the same record."""
    session = sessions.register(
        call.deps, call.principal, repo, cwd=body.cwd, transcript=body.transcript
    )
    return session_reply(session)


def list_sessions(call: Calling, repo: RepoId, limit: Limit = 100, cursor: Cursor = None) -> Any:
    """The caller's sessions in a repository, newest first."""
    repositories.known(call.deps, call.principal, repo)
    rows, after = sessions.listing(call.deps, call.principal, repo, page_of(limit, cursor))
    return models.SessionList(sessions=[session_reply(row) for row in rows], cursor=after)


def revoke(call: Calling, session: Id) -> Any:
    """Close a session for good; its facts go, and what was carried over from it."""
    row = sessions.find(call.deps, call.principal, session)
    return session_reply(sessions.revoke(call.deps, call.principal, row))


def end(call: Calling, session: Id, body: EndBody) -> Any:
    """The session is over for now: what the person said in it is carried over."""
    row = sessions.find(call.deps, call.principal, session)
    row = sessions.set_transcript(call.deps, row, body.transcript)
    return session_reply(sessions.end(call.deps, call.principal, row))


def promote(call: Calling, session: Id, body: PromoteBody) -> Any:
    """Make chosen facts of a session the repository's."""
    row = sessions.find(call.deps, call.principal, session)
    written = curation.promote(call.deps, call.principal, row, body.facts)
    return models.Applied(
        batch_id=written.batch_id, applied=written.applied, fact_ids=list(written.fact_ids)
    )


def take_turns(call: Calling, body: OffloadBody) -> Any:
    """Queue older turns of the session that the headers name, to be turned into facts."""
    session = sessions.current(call.deps, call.principal, work=True)
    job = offload.submit(
        call.deps,
        call.principal,
        session,
        [turn.turn() for turn in body.turns],
        transcript=body.transcript,
        start=body.start,
        end=body.end,
    )
    if body.wait:
        offload.wait_for(call.deps, [session.id], time.monotonic() + _WAIT_SECONDS)
        job = call.deps.store.jobs.get(job.id) or job
    return job_reply(job)


def take_turns_of(call: Calling, repo: RepoId, body: OffloadBody) -> Any:
    """The same, for a caller that names the repository as well."""
    session = sessions.current(call.deps, call.principal, work=True)
    if session.repo_id != repo:
        raise Forbidden("this session belongs to another repository")
    return take_turns(call, body)


def list_jobs(call: Calling, limit: Annotated[int, Query(ge=1, le=200)] = 200) -> Any:
    """The caller's last jobs, newest first."""
    rows = offload.jobs(call.deps, call.principal, limit)
    return models.JobList(jobs=[job_reply(row) for row in rows])


def review(call: Calling, repo: Annotated[str, Query(max_length=128)]) -> Any:
    """What waits for this person's approval in a repository."""
    repositories.known(call.deps, call.principal, repo)
    rows = carry_over.waiting(call.deps, call.principal, repo)
    return models.ReviewList(items=[review_reply(row) for row in rows])


def decide(call: Calling, item: Id, body: ReviewBody) -> None:
    """Approve or reject what waits."""
    change = carry_over.approve if body.action == "approve" else carry_over.reject
    change(call.deps, call.principal, item)

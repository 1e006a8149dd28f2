"""The sidecar itself over HTTP: health with its proof, the composed block, figures, the trail."""

from __future__ import annotations

import os
import time
from collections import Counter
from typing import Annotated, Any

from fastapi import Header, Query, Request, Response

from codesynapse.link.proof import PROOF_HEADER, proof
from codesynapse.recall.recipes import Moment
from codesynapse.sdk import models
from codesynapse.service import repositories, sessions
from codesynapse.service.context import BlockOptions, compose_block
from codesynapse.sidecar.bodies import audit_reply
from codesynapse.sidecar.calls import Calling, Cursor, Limit, page_of
from codesynapse.sidecar.running import Running

__all__ = ["audit", "context", "health", "stats", "stop"]


async def health(
    request: Request,
    response: Response,
    challenge: Annotated[
        str | None,
        Header(
            alias="X-CodeSynapse-Challenge",
            pattern="^[0-9a-f]{16,128}$",
            description="A nonce, answered in X-CodeSynapse-Proof by who knows the token.",
        ),
    ] = None,
) -> Any:
    """It serves. Open to all, and tells nothing else."""
    running: Running = request.app.state.running
    if challenge is not None:
        port = running.listening.port
        response.headers[PROOF_HEADER] = proof(running.token, challenge, port)
    return models.Health(status="ok")


def context(
    call: Calling,
    repo: Annotated[str, Query(max_length=128)],
    moment: Moment = Moment.STARTUP,
    query: Annotated[str | None, Query(max_length=20_000)] = None,
    tokens: Annotated[int | None, Query(ge=1, le=100_000)] = None,
) -> Any:
    """The block that a session is given at this moment."""
    found = repositories.known(call.deps, call.principal, repo)
    # A closed session is still given the repository's and the person's parts.
    own = call.principal.session
    session = sessions.find(call.deps, call.principal, own) if own else None
    given = call.running.given.of(session.id) if session else frozenset()
    options = BlockOptions(given=given, tokens=tokens)
    block = compose_block(
        call.deps, call.principal, session, found, moment, query=query, options=options
    )
    if session is not None:
        call.running.given.add(session.id, block.given, afresh=moment is Moment.COMPACT)
    return models.Context(text=block.text, items=len(block.items), left_out=block.left_out)


def audit(call: Calling, limit: Limit = 100, cursor: Cursor = None) -> Any:
    """Who did what kind of thing, newest first."""
    rows, after = call.deps.store.audit.recent(page_of(limit, cursor))
    return models.AuditList(entries=[audit_reply(row) for row in rows], cursor=after)


def stats(call: Calling) -> Any:
    """Figures and faults."""
    running, settings = call.running, call.deps.settings()
    states = Counter(job.state.value for job in call.deps.store.jobs.recent())
    return models.Stats(
        version=running.version,
        pid=os.getpid(),
        url=running.listening.url,
        store=str(settings.database),
        uptime_seconds=round(time.monotonic() - running.started, 1),
        memory=settings.allow_memory,
        carry_over=settings.carry_over,
        queue=len(call.deps.queue),
        jobs=dict(states),
        requests=running.counters.requests,
        failures=running.counters.failures,
        config_error=running.config_error(),
        faults=running.faults(),
        model_calls_today=running.model_calls(),
    )


async def stop(call: Calling) -> Any:
    """Take no more work, finish what runs, and end."""
    call.running.stop()
    return models.Stopping(pid=os.getpid())

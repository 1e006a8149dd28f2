"""What hooks ask: they forward their payload unread and print the answer as it comes.

A recall that has to wait for something answers in lines: first what is there already, then the
better one.  Whatever is in the hook's hand at its deadline is a complete output.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Annotated, Any

from anyio import CapacityLimiter, to_thread
from fastapi import Header, Path, Query, Request, Response
from fastapi.responses import StreamingResponse

from codesynapse.domain.scope import Principal
from codesynapse.domain.sessions import Repository, Session
from codesynapse.errors import IdentityMissing, Invalid, NotFound
from codesynapse.harness import claude_code
from codesynapse.recall.block import Block
from codesynapse.recall.recipes import Moment
from codesynapse.sdk import models
from codesynapse.service import ends, repositories, sessions
from codesynapse.service import offload as offloading
from codesynapse.service.context import BlockOptions, compose_block
from codesynapse.service.deps import Deps
from codesynapse.sidecar.calls import Call, Calling, Id
from codesynapse.sidecar.running import Running
from codesynapse.sidecar.shown import shown_since

__all__ = ["bind", "bound", "offload", "recall"]

KEEP_EXCHANGES = 10
_USUAL_MS, _LONGEST_MS = 1_500, 10_000
_SETTLE_SECONDS = 0.2  # of the first answer, for ends that nobody heard
# Waiting takes threads of its own, so that those who wait never hold up those who ask.
_waiting = CapacityLimiter(64)

Client = Annotated[str, Path(pattern="^[a-z0-9][a-z0-9-]{0,63}$")]
Milliseconds = Annotated[
    int | None,
    Header(alias="X-CodeSynapse-Deadline-Ms", description="How long the answer may take."),
]


@dataclass(frozen=True, slots=True)
class _Hook:
    """One hook's call: who, where, and when it has to be over."""

    running: Running
    principal: Principal
    event: claude_code.HookEvent
    session: Session
    repository: Repository
    deadline: float

    @property
    def deps(self) -> Deps:
        return self.running.deps

    @property
    def moment(self) -> Moment:
        if self.event.event == "UserPromptSubmit":
            return Moment.PROMPT
        source = self.event.source or ""
        return Moment(source) if source in set(Moment) - {Moment.PROMPT} else Moment.STARTUP


async def recall(
    call: Calling,
    client: Client,
    request: Request,
    prompt: Annotated[
        bool, Query(description="For one prompt, not for a session's start.")
    ] = False,
    deadline_ms: Milliseconds = None,
) -> Response:
    """What a session is given now: lines, each a complete output of the hook; 204 for nothing."""
    event = claude_code.parse(await request.body())
    deadline = _deadline(deadline_ms)
    hook, first, pending = await to_thread.run_sync(_at_once, call, client, event, deadline)
    if pending:
        return StreamingResponse(_lines(hook, first), media_type="application/x-ndjson")
    _remember(hook, first)
    line = _line(hook, first)
    return Response(line, media_type="application/json") if line else Response(status_code=204)


def _deadline(milliseconds: int | None) -> float:
    allowed = _USUAL_MS if milliseconds is None else milliseconds
    return time.monotonic() + max(0, min(allowed, _LONGEST_MS)) / 1000


def _begin(call: Call, client: str, event: claude_code.HookEvent, deadline: float = 0.0) -> _Hook:
    """Know the session, registered if it is new, and its repository."""
    if event.session is None:
        raise IdentityMissing("the hook's input names no session", "nothing was done")
    principal = replace(call.principal, client=client, session=event.session)
    deps = call.deps
    session = deps.store.sessions.by_client(client, event.session)
    repository = deps.store.repos.get(session.repo_id) if session else None
    if repository is None:
        if event.cwd is None:
            raise Invalid("the hook's input names no working folder", "nothing was done")
        repository = repositories.resolve(deps, principal, event.cwd, cache=call.running.known)
    session = sessions.register(
        deps, principal, repository.id, cwd=event.cwd, transcript=event.transcript
    )
    return _Hook(call.running, principal, event, session, repository, deadline)


def _at_once(
    call: Call, client: str, event: claude_code.HookEvent, deadline: float
) -> tuple[_Hook, Block, bool]:
    """The block as it is now, and whether waiting for other work would make it better."""
    if event.event == "UserPromptSubmit":
        hook = _begin(call, client, event, deadline)
        return hook, _compose(hook), False
    # Before the session is known to be at work again: this may be its own end that nobody heard.
    marks = ends.settle(call.deps, time.monotonic() + _SETTLE_SECONDS)
    hook = _begin(call, client, event, deadline)
    asked = hook.deps, hook.principal, hook.repository.id
    ends.end_idle(*asked)
    pending = ends.are_awaited(*asked, marks) or bool(sessions.unsettled(*asked))
    return hook, _compose(hook), pending


def _compose(hook: _Hook) -> Block:
    options = BlockOptions(
        given=hook.running.given.of(hook.session.id),
        shown_since=shown_since(hook.event.transcript)
        if hook.moment in (Moment.RESUME, Moment.PROMPT)
        else None,
    )
    return compose_block(
        hook.deps,
        hook.principal,
        hook.session,
        hook.repository,
        hook.moment,
        query=hook.event.prompt,
        options=options,
    )


def _line(hook: _Hook, block: Block) -> bytes:
    return claude_code.context_reply(hook.event.event or "SessionStart", block.text)


def _remember(hook: _Hook, block: Block) -> None:
    afresh = hook.moment in (Moment.COMPACT, Moment.CLEAR)
    hook.running.given.add(hook.session.id, block.given, afresh=afresh)


async def _lines(hook: _Hook, first: Block) -> AsyncIterator[bytes]:
    line = _line(hook, first)
    if line:
        yield line
    better = await to_thread.run_sync(_compose_later, hook, limiter=_waiting)
    last = better if better.text else first
    if last.text != first.text:
        yield _line(hook, last)
    _remember(hook, last)


def _compose_later(hook: _Hook) -> Block:
    asked = hook.deps, hook.principal, hook.repository.id
    ends.settle_by(*asked, hook.deadline)
    offloading.wait_for(hook.deps, sessions.unsettled(*asked), hook.deadline)
    return _compose(hook)


async def offload(
    call: Calling,
    client: Client,
    request: Request,
    end: Annotated[bool, Query(description="The session ends: everything is sent.")] = False,
) -> Any:
    """What the hook should read of its transcript, and from where."""
    event = claude_code.parse(await request.body())
    return await to_thread.run_sync(_plan, call, client, event, end)


def _plan(call: Call, client: str, event: claude_code.HookEvent, end: bool) -> models.OffloadPlan:
    hook = _begin(call, client, event)
    transcript = event.transcript or hook.session.transcript
    found = offloading.plan(hook.deps, hook.principal, hook.session, transcript)
    return models.OffloadPlan(
        session=hook.session.client_session,
        transcript=transcript,
        cwd=event.cwd or hook.session.cwd,
        offset=found.offset,
        turn_id=found.turn_id,
        keep_exchanges=0 if end else KEEP_EXCHANGES,
    )


async def bind(call: Calling, client: Client, request: Request) -> Response:
    """Remember which session a call of one of our tools came from."""
    event = claude_code.parse(await request.body())
    if event.session is None or event.tool_use_id is None:
        raise IdentityMissing(
            "the hook's input names no session or no tool call", "nothing was done"
        )
    call.deps.bindings.add(client, event.tool_use_id[:200], event.session)
    return Response(status_code=204)


async def bound(call: Calling, client: Client, tool_use: Id, deadline_ms: Milliseconds = 0) -> Any:
    """The session of a tool call, waited for until the deadline."""
    deadline = _deadline(deadline_ms)
    session = await to_thread.run_sync(
        call.deps.bindings.session_of, client, tool_use, deadline, limiter=_waiting
    )
    if session is None:
        raise NotFound("no hook has said which session this call belongs to")
    return models.Binding(client=client, session=session)

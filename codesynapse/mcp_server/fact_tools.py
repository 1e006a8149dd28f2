"""The tools for facts: recall, offload, write, search, walk."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from codesynapse.domain.scope import Scope
from codesynapse.domain.turns import Speaker, Turn
from codesynapse.mcp_server import prose
from codesynapse.mcp_server.caller import Caller
from codesynapse.service import facts, offload
from codesynapse.service.facts import Triple
from codesynapse.service.recall import recall
from codesynapse.store.base import FactFilter, Page

__all__ = [
    "offload_turns",
    "query_subgraph",
    "recall_context",
    "search_graph_nodes",
    "upsert_graph_triples",
]

_WAIT_SECONDS = 20.0

Query = Annotated[str, Field(max_length=100_000, description="What you want to know, in words.")]
MemoryScope = Annotated[
    Literal["session", "repository", "personal"],
    Field(
        description="session: what was said earlier in this conversation. repository: what the "
        "team knows. personal: what this person said in their earlier sessions here."
    ),
]
Detail = Annotated[bool, Field(description="Confidence, dates, source and ids as well.")]


class GivenTurn(BaseModel):
    """One message of the conversation."""

    model_config = ConfigDict(extra="forbid")

    role: Speaker
    text: str = Field(max_length=400_000, repr=False)
    id: str | None = Field(default=None, max_length=200)
    at: datetime | None = None


class GivenTriple(BaseModel):
    """One fact: subject, PREDICATE, object."""

    model_config = ConfigDict(extra="forbid")

    subject: str = Field(max_length=4_000)
    predicate: str = Field(max_length=200, description="UPPER_SNAKE, such as USES or RUNS_ON.")
    object: str = Field(max_length=4_000)
    confidence: float = Field(default=0.8, ge=0, le=1)
    replace: bool = Field(
        default=False, description="True when this is the new value and the old one is no more."
    )


def recall_context(
    caller: Caller,
    query: Query,
    memory_scope: MemoryScope = "session",
    hops: Annotated[int, Field(ge=1, le=2)] = 1,
    limit: Annotated[int, Field(ge=1, le=100)] = 15,
    detail: Detail = False,
) -> str:
    """Recall facts before you answer from memory: what was decided, preferred, found out."""
    principal, scopes = caller.reader(memory_scope)
    answer = recall(caller.deps, principal, scopes, query, hops=hops, limit=limit)
    return prose.recalled(answer, detail=detail)


def offload_turns(
    caller: Caller,
    turns: Annotated[list[GivenTurn], Field(min_length=1, max_length=2_000)],
    wait: Annotated[bool, Field(description="Answer only when the facts are there.")] = False,
) -> str:
    """Hand over older turns of this conversation, so that their facts outlive a compaction."""
    principal = caller.proven()
    session = caller.session()
    given = [Turn(turn.role, turn.text, turn.at, turn.id) for turn in turns]
    job = offload.submit(caller.deps, principal, session, given)
    if not wait:
        return f"{len(given)} turns are queued as job {job.id}; recall_context finds them soon."
    offload.wait_for(caller.deps, [session.id], time.monotonic() + _WAIT_SECONDS)
    done = caller.deps.store.jobs.get(job.id) or job
    kept = done.counts.get("written", 0)
    return f"{len(given)} turns were handed over: job {job.id} is {done.state}, {kept} facts kept."


def upsert_graph_triples(
    caller: Caller,
    triples: Annotated[list[GivenTriple], Field(min_length=1, max_length=200)],
) -> str:
    """Keep durable facts about this repository for everybody who works on it; when asked to."""
    scope = Scope.repository(caller.repository().id)
    given = [Triple(**triple.model_dump()) for triple in triples]
    written = facts.add_triples(
        caller.deps, caller.principal, scope, given, batch_id=caller.origin.request
    )
    if not written.applied:
        return "Nothing changed: all of that was known."
    return f"Kept {len(given)} facts for this repository ({len(written.fact_ids)} rows changed)."


def search_graph_nodes(
    caller: Caller,
    query: Annotated[str, Field(max_length=20_000)] = "",
    memory_scope: MemoryScope = "repository",
    limit: Annotated[int, Field(ge=1, le=200)] = 20,
) -> str:
    """Find the entities that facts are about, by name, alias or type."""
    principal, scopes = caller.reader(memory_scope)
    return prose.nodes(facts.nodes(caller.deps, principal, scopes, query, Page(limit, None)))


def query_subgraph(
    caller: Caller,
    names: Annotated[
        list[str], Field(max_length=50, description="Entities; none for the strongest facts.")
    ] = [],  # noqa: B006 - the schema needs the default, and nobody changes it
    memory_scope: MemoryScope = "repository",
    hops: Annotated[int, Field(ge=1, le=2)] = 1,
    limit: Annotated[int, Field(ge=1, le=300)] = 40,
    when: Annotated[
        Literal["now", "always"] | datetime,
        Field(description='"always" for what was true before, too; a time for how it was then.'),
    ] = "now",
    detail: Detail = False,
) -> str:
    """The facts around named entities."""
    principal, scopes = caller.reader(memory_scope)
    which = None if when == "now" else _which(when)
    found = facts.subgraph(
        caller.deps, principal, scopes, names, hops=hops, limit=limit, which=which
    )
    return prose.subgraph(found, detail=detail)


def _which(when: str | datetime) -> FactFilter:
    if isinstance(when, str):
        return FactFilter(history=True)
    return FactFilter(as_of=when if when.tzinfo else when.replace(tzinfo=UTC))

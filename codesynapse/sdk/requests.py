"""Every request that the sidecar takes, as a value. Both clients send these and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, Literal, TypeVar
from urllib.parse import quote

from pydantic import BaseModel

from codesynapse.sdk import models
from codesynapse.sdk.models import MemoryScope, ReadScope

__all__ = [
    "Request",
    "add_triples",
    "audit",
    "change_entity",
    "change_fact",
    "context",
    "delete_entity",
    "delete_fact",
    "end_session",
    "facts",
    "history",
    "index",
    "jobs",
    "nodes",
    "offload",
    "promote",
    "recall",
    "register",
    "repositories",
    "resolve",
    "review",
    "review_decision",
    "revoke",
    "session_of_call",
    "sessions",
    "stats",
    "stop",
    "subgraph",
]

Reply = TypeVar("Reply", bound=BaseModel | None)


@dataclass(frozen=True, slots=True)
class Request(Generic[Reply]):
    """What is sent, and what comes back."""

    method: str
    path: str
    reply: type[Reply]
    body: Mapping[str, Any] | None = field(default=None, repr=False)
    query: Mapping[str, Any] = field(default_factory=dict, repr=False)


def _in(*parts: str) -> str:
    return "/v1/" + "/".join(quote(part, safe="") for part in parts)


def _given(**values: Any) -> dict[str, Any]:
    """Without what was left open; times as text."""
    return {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in values.items()
        if value is not None
    }


def resolve(cwd: str, remote: str | None = None) -> Request[models.Repository]:
    """The repository of a folder; its ``id`` is what the other calls take."""
    body = _given(cwd=cwd, remote=remote)
    return Request("POST", _in("repos", "resolve"), models.Repository, body)


def repositories() -> Request[models.RepositoryList]:
    """Every repository that is known."""
    return Request("GET", _in("repos"), models.RepositoryList)


def register(
    repo: str, *, cwd: str | None = None, transcript: str | None = None
) -> Request[models.Session]:
    """Register this client's session; again gives the same record."""
    body = _given(cwd=cwd, transcript=transcript)
    return Request("POST", _in("repos", repo, "sessions"), models.Session, body)


def sessions(
    repo: str, *, limit: int = 100, cursor: str | None = None
) -> Request[models.SessionList]:
    """Your sessions in a repository, newest first."""
    query = _given(limit=limit, cursor=cursor)
    return Request("GET", _in("repos", repo, "sessions"), models.SessionList, query=query)


def revoke(session: str) -> Request[models.Session]:
    """Close a session for good, with all it remembers and what was carried over from it."""
    return Request("DELETE", _in("sessions", session), models.Session)


def end_session(session: str, *, transcript: str | None = None) -> Request[models.Session]:
    """Say that a session is over for now; what you told it is carried over."""
    body = _given(transcript=transcript)
    return Request("POST", _in("sessions", session, "end"), models.Session, body)


def promote(session: str, facts: Sequence[str]) -> Request[models.Applied]:
    """Make chosen facts of a session the repository's."""
    body = {"facts": list(facts)}
    return Request("POST", _in("sessions", session, "promote"), models.Applied, body)


def recall(
    repo: str,
    query: str,
    *,
    memory_scope: ReadScope = "session",
    hops: int = 1,
    limit: int = 20,
) -> Request[models.Recalled]:
    """Ask a memory; by default the session's own, and never another one instead."""
    body = {"query": query, "memory_scope": memory_scope, "hops": hops, "limit": limit}
    return Request("POST", _in("repos", repo, "memory", "recall"), models.Recalled, body)


def add_triples(
    repo: str,
    triples: Sequence[Mapping[str, Any]],
    *,
    memory_scope: MemoryScope = "repository",
    batch_id: str | None = None,
) -> Request[models.Applied]:
    """Keep facts: mappings with subject, predicate, object and what else a triple takes."""
    stated = [_given(**triple) for triple in triples]
    body = _given(triples=stated, memory_scope=memory_scope, batch_id=batch_id)
    return Request("POST", _in("repos", repo, "memory", "triples"), models.Applied, body)


def index(repo: str, *, memory_scope: ReadScope = "repository") -> Request[models.Indexed]:
    """See that what was written is indexed."""
    query = {"memory_scope": memory_scope}
    return Request("POST", _in("repos", repo, "memory", "index"), models.Indexed, {}, query)


def nodes(
    repo: str,
    query: str = "",
    *,
    memory_scope: ReadScope = "repository",
    limit: int = 100,
    cursor: str | None = None,
) -> Request[models.NodeList]:
    """Entities by name, alias or type; all of them, by pages, without a query."""
    asked = _given(query=query, memory_scope=memory_scope, limit=limit, cursor=cursor)
    return Request("GET", _in("repos", repo, "memory", "nodes"), models.NodeList, query=asked)


def subgraph(
    repo: str,
    names: Sequence[str] = (),
    *,
    memory_scope: ReadScope = "repository",
    hops: int = 1,
    limit: int = 100,
    history: bool = False,
    as_of: datetime | None = None,
) -> Request[models.Subgraph]:
    """The facts around named entities, or the strongest ones."""
    asked = _given(
        name=list(names),
        memory_scope=memory_scope,
        hops=hops,
        limit=limit,
        history=_flag(history),
        as_of=as_of,
    )
    return Request("GET", _in("repos", repo, "memory", "subgraph"), models.Subgraph, query=asked)


def facts(
    repo: str,
    *,
    memory_scope: ReadScope = "repository",
    limit: int = 100,
    cursor: str | None = None,
    predicate: str | None = None,
    history: bool = False,
    as_of: datetime | None = None,
) -> Request[models.FactList]:
    """Facts, newest first: those that hold, or with history, or as of a moment."""
    asked = _given(
        memory_scope=memory_scope,
        limit=limit,
        cursor=cursor,
        predicate=predicate,
        history=_flag(history),
        as_of=as_of,
    )
    return Request("GET", _in("repos", repo, "memory", "facts"), models.FactList, query=asked)


def _flag(value: bool) -> str | None:
    return "true" if value else None


def _fact(repo: str, fact: str) -> str:
    return _in("repos", repo, "memory", "facts", fact)


def _entity(repo: str, entity: str) -> str:
    return _in("repos", repo, "memory", "entities", entity)


def history(
    repo: str, fact: str, *, memory_scope: ReadScope = "repository"
) -> Request[models.FactHistory]:
    """Everything that was said about one fact."""
    query = {"memory_scope": memory_scope}
    return Request("GET", _fact(repo, fact) + "/history", models.FactHistory, query=query)


def change_fact(
    repo: str,
    fact: str,
    action: Literal["close", "reopen"],
    *,
    memory_scope: ReadScope = "repository",
) -> Request[models.Fact]:
    """Close a fact that no longer holds, or open it again."""
    query = {"memory_scope": memory_scope}
    return Request("PATCH", _fact(repo, fact), models.Fact, {"action": action}, query)


def delete_fact(
    repo: str, fact: str, *, memory_scope: ReadScope = "repository"
) -> Request[models.Deleted]:
    """Delete a fact as if it had never been said."""
    query = {"memory_scope": memory_scope}
    return Request("DELETE", _fact(repo, fact), models.Deleted, query=query)


def change_entity(
    repo: str, entity: str, merge: str, *, memory_scope: ReadScope = "repository"
) -> Request[models.Node]:
    """Merge another entity into this one."""
    query = {"memory_scope": memory_scope}
    return Request("PATCH", _entity(repo, entity), models.Node, {"merge": merge}, query)


def delete_entity(
    repo: str, entity: str, *, memory_scope: ReadScope = "repository"
) -> Request[models.Deleted]:
    """Delete an entity and every fact on either side of it."""
    query = {"memory_scope": memory_scope}
    return Request("DELETE", _entity(repo, entity), models.Deleted, query=query)


def offload(
    turns: Sequence[Mapping[str, Any]],
    *,
    transcript: str | None = None,
    start: int = 0,
    end: int = 0,
    wait: bool = False,
) -> Request[models.Job]:
    """Hand over older turns of this client's session: mappings with role, text, id and at."""
    stated = [_given(**turn) for turn in turns]
    body = _given(turns=stated, transcript=transcript, start=start, end=end, wait=wait)
    return Request("POST", _in("memory", "offload"), models.Job, body)


def jobs(*, limit: int = 200) -> Request[models.JobList]:
    """The last offload jobs, newest first."""
    return Request("GET", _in("memory", "jobs"), models.JobList, query={"limit": limit})


def context(
    repo: str,
    *,
    moment: str = "startup",
    query: str | None = None,
    tokens: int | None = None,
) -> Request[models.Context]:
    """The block that a session is given at a moment: startup, compact, resume, prompt and such."""
    asked = _given(repo=repo, moment=moment, query=query, tokens=tokens)
    return Request("GET", _in("context"), models.Context, query=asked)


def review(repo: str) -> Request[models.ReviewList]:
    """What waits for your approval in a repository."""
    return Request("GET", _in("review"), models.ReviewList, query={"repo": repo})


def review_decision(item: str, action: Literal["approve", "reject"]) -> Request[None]:
    """Approve or reject what waits."""
    return Request("POST", _in("review", item), type(None), {"action": action})


def session_of_call(client: str, tool_use: str) -> Request[models.Binding]:
    """The session that a hook reported for a call of one of our tools."""
    return Request("GET", _in("hooks", client, "bind", tool_use), models.Binding)


def audit(*, limit: int = 100, cursor: str | None = None) -> Request[models.AuditList]:
    """Who did what kind of thing, newest first."""
    query = _given(limit=limit, cursor=cursor)
    return Request("GET", _in("audit"), models.AuditList, query=query)


def stats() -> Request[models.Stats]:
    """Figures and faults of the sidecar."""
    return Request("GET", _in("stats"), models.Stats)


def stop() -> Request[models.Stopping]:
    """End the sidecar, gracefully."""
    return Request("POST", _in("sidecar", "stop"), models.Stopping)

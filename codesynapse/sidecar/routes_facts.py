"""Facts over HTTP: recall, write, read, curate."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query

from codesynapse.domain.scope import Scope
from codesynapse.sdk import models
from codesynapse.service import curation, facts
from codesynapse.service.recall import recall as search
from codesynapse.sidecar.bodies import (
    EntityBody,
    FactBody,
    FactsQuery,
    RecallBody,
    SubgraphQuery,
    TriplesBody,
)
from codesynapse.sidecar.calls import (
    Calling,
    Cursor,
    Id,
    Limit,
    RepoId,
    ScopeName,
    page_of,
)

__all__ = [
    "add_triples",
    "change_entity",
    "change_fact",
    "delete_entity",
    "delete_fact",
    "history",
    "index",
    "list_facts",
    "nodes",
    "recall",
    "subgraph",
]


def recall(call: Calling, repo: RepoId, body: RecallBody) -> Any:
    """Ask the memory: ranked facts, each with its age and source."""
    scopes = call.scopes(repo, body.memory_scope)
    answer = search(call.deps, call.principal, scopes, body.query, hops=body.hops, limit=body.limit)
    return answer.record()


def add_triples(call: Calling, repo: RepoId, body: TriplesBody) -> Any:
    """Keep facts. In a repository `User` becomes the writer's name."""
    written = facts.add_triples(
        call.deps,
        call.principal,
        call.scope(repo, body.memory_scope),
        [one.triple() for one in body.triples],
        batch_id=body.batch_id,
    )
    return models.Applied(
        batch_id=written.batch_id, applied=written.applied, fact_ids=list(written.fact_ids)
    )


def index(call: Calling, repo: RepoId, memory_scope: ScopeName = "repository") -> Any:
    """Say how much is indexed. Each write indexes its own words: nothing has to catch up."""
    counts = [call.deps.store.facts.counts(one) for one in call.scopes(repo, memory_scope)]
    return models.Indexed(
        facts=sum(one.facts for one in counts), entities=sum(one.entities for one in counts)
    )


def nodes(
    call: Calling,
    repo: RepoId,
    query: Annotated[str, Query(max_length=20_000)] = "",
    memory_scope: ScopeName = "repository",
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Any:
    """Entities by name, alias or type, best first; all of them without a query."""
    scopes = call.scopes(repo, memory_scope)
    return facts.nodes(call.deps, call.principal, scopes, query, page_of(limit, cursor)).record()


def subgraph(call: Calling, repo: RepoId, asked: Annotated[SubgraphQuery, Query()]) -> Any:
    """The facts around the named entities, or the strongest ones, and what they touch."""
    return facts.subgraph(
        call.deps,
        call.principal,
        call.scopes(repo, asked.memory_scope),
        asked.name,
        hops=asked.hops,
        limit=asked.limit,
        which=asked.which(),
    ).record()


def list_facts(call: Calling, repo: RepoId, asked: Annotated[FactsQuery, Query()]) -> Any:
    """Facts, newest first: the current ones, or with history, or as of a moment."""
    scopes = call.scopes(repo, asked.memory_scope)
    page = page_of(asked.limit, asked.cursor)
    return facts.list_facts(call.deps, call.principal, scopes, asked.which(), page).record()


def _holder(call: Calling, repo: str, memory_scope: str, fact: str) -> Scope:
    """A name may stand for several scopes; a fact is in one of them."""
    return facts.holder_of_fact(call.deps, call.scopes(repo, memory_scope), fact)


def history(call: Calling, repo: RepoId, fact: Id, memory_scope: ScopeName = "repository") -> Any:
    """Everything that was said about one fact."""
    scope = _holder(call, repo, memory_scope, fact)
    return facts.history(call.deps, call.principal, scope, fact).record()


def delete_fact(
    call: Calling, repo: RepoId, fact: Id, memory_scope: ScopeName = "repository"
) -> Any:
    """Delete a fact as if it had never been said."""
    scope = _holder(call, repo, memory_scope, fact)
    return models.Deleted(deleted=curation.delete_facts(call.deps, call.principal, scope, [fact]))


def change_fact(
    call: Calling, repo: RepoId, fact: Id, body: FactBody, memory_scope: ScopeName = "repository"
) -> Any:
    """Close a fact that no longer holds, or open it again; its history stays."""
    change = curation.close_fact if body.action == "close" else curation.reopen_fact
    scope = _holder(call, repo, memory_scope, fact)
    return change(call.deps, call.principal, scope, fact).record()


def delete_entity(
    call: Calling, repo: RepoId, entity: Id, memory_scope: ScopeName = "repository"
) -> Any:
    """Delete an entity and every fact on either side of it."""
    scope = facts.holder_of_entity(call.deps, call.scopes(repo, memory_scope), entity)
    return models.Deleted(deleted=curation.delete_entity(call.deps, call.principal, scope, entity))


def change_entity(
    call: Calling,
    repo: RepoId,
    entity: Id,
    body: EntityBody,
    memory_scope: ScopeName = "repository",
) -> Any:
    """Merge another entity into this one, facts included."""
    scope = facts.holder_of_entity(call.deps, call.scopes(repo, memory_scope), entity)
    return curation.merge_entities(call.deps, call.principal, scope, entity, body.merge).record()

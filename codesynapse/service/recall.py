"""Recall: a query in, ranked facts and the notice out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from codesynapse.domain.graph import FactRow
from codesynapse.domain.ranking import rank_facts, share_places
from codesynapse.domain.scope import Principal, Scope
from codesynapse.errors import Invalid
from codesynapse.recall.answer import FactView, RecallAnswer, join_duplicates
from codesynapse.recall.expand import MAX_HOPS, PER_ENTITY, Found, expand
from codesynapse.recall.gate import judge
from codesynapse.recall.legs import Leg, LexicalLeg, Searched, WordScanLeg, run_legs
from codesynapse.service.access import FactDeps, check_readable
from codesynapse.service.overruled import corrections, marked
from codesynapse.service.views import code_of, show_facts, show_node

__all__ = ["DEFAULT_LIMIT", "MAX_LIMIT", "SearchResult", "recall", "search"]

DEFAULT_LIMIT = 20
MAX_LIMIT = 100


def recall(
    deps: FactDeps,
    principal: Principal,
    scope: Scope | Sequence[Scope],
    query: str,
    *,
    hops: int = 1,
    limit: int = DEFAULT_LIMIT,
    vectors: Leg | None = None,
) -> RecallAnswer:
    """Search the scopes (see ``access.scopes_named``) and answer with their current facts.

    A gated query is answered at once with the reason.  Raises what ``check_readable`` raises, and
    Invalid for hops or a limit out of range; a leg that fails is named in the answer.
    """
    if not 1 <= hops <= MAX_HOPS:
        raise Invalid(f"hops cannot be {hops}", f"1 to {MAX_HOPS}")
    if not 1 <= limit <= MAX_LIMIT:
        raise Invalid(f"limit cannot be {limit}", f"1 to {MAX_LIMIT}")
    scopes = (scope,) if isinstance(scope, Scope) else tuple(scope)
    for one in scopes:
        check_readable(deps, principal, one)
    judged = judge(query)
    if judged.reason is not None:
        return RecallAnswer(reason=judged.reason)
    result = search(deps, scopes, judged.query, hops=hops, limit=limit, vectors=vectors)
    corrected = corrections(deps, scopes, result.views, principal.user)
    views = marked(result.views, corrected)
    return RecallAnswer(
        facts=tuple(join_duplicates(views, principal.user)[:limit]),
        failed=result.failed,
        entities=result.entities,
    )


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The best views of all scopes in one ranking; duplicates are not joined yet."""

    views: tuple[FactView, ...]
    failed: tuple[str, ...]
    entities: tuple[str, ...]


def search(
    deps: FactDeps,
    scopes: Sequence[Scope],
    query: str,
    *,
    hops: int = 1,
    limit: int = DEFAULT_LIMIT,
    vectors: Leg | None = None,
) -> SearchResult:
    """Legs, fusion, expansion and ranking. The caller has judged the query and the access."""
    found: list[tuple[Scope, Found]] = []
    failed: list[str] = []
    for scope in scopes:
        searched = _search(deps, scope, query, vectors)
        failed += searched.failed
        around = expand(deps.store.facts, scope, searched.hits, hops, per_entity=PER_ENTITY)
        found.append((scope, around))
    return SearchResult(
        views=tuple(_ranked_views(deps, found, limit)),
        failed=tuple(dict.fromkeys(failed)),
        entities=_entry_names(deps, found),
    )


def _search(deps: FactDeps, scope: Scope, query: str, vectors: Leg | None) -> Searched:
    lexical = LexicalLeg(deps.store.facts)
    legs: tuple[Leg, ...] = (lexical,) if vectors is None else (lexical, vectors)
    searched = run_legs(legs, scope, query)
    if lexical.name not in searched.failed:
        return searched
    stand_in = run_legs((WordScanLeg(deps.store.facts),), scope, query)
    return Searched((*searched.hits, *stand_in.hits), searched.failed + stand_in.failed)


def _ranked_views(deps: FactDeps, found: list[tuple[Scope, Found]], limit: int) -> list[FactView]:
    """The best facts of all scopes in one ranking, a few more than asked since some may join."""
    home: dict[str, Scope] = {}
    facts: list[FactRow] = []
    relevance: dict[str, float] = {}
    for scope, one in found:
        home |= dict.fromkeys(one.facts, scope)
        facts += one.facts.values()
        relevance |= one.relevance
    code = code_of(deps, home.values())
    places = limit * len(found)
    best = share_places(rank_facts(facts, relevance), places, max(2, limit // 2))
    views: dict[str, FactView] = {}
    for scope, _ in found:
        rows = [row for row in best if home[row.id] == scope]
        views |= {view.id: view for view in show_facts(deps, scope, rows, code=code)}
    return [views[row.id] for row in best]


def _entry_names(deps: FactDeps, found: list[tuple[Scope, Found]]) -> tuple[str, ...]:
    names: list[str] = []
    for scope, one in found:
        rows = deps.store.facts.entities(scope, one.entries)
        names += [show_node(deps, scope, rows[id_]).name for id_ in one.entries if id_ in rows]
    return tuple(dict.fromkeys(names))

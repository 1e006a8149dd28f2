"""Rows of a scope as a reader sees them: names filled in, ages counted, stored secrets masked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from typing import Any

from codesynapse.domain.graph import EntityRow, FactRow, StatementRow
from codesynapse.domain.redaction import redact
from codesynapse.domain.scope import Scope, ScopeKind
from codesynapse.recall.answer import NOTICE, FactView, Viewer, source_record, time_text
from codesynapse.recall.code_tree import CodeTree
from codesynapse.recall.words import OUTDATED_AFTER, plain
from codesynapse.service.access import FactDeps

__all__ = [
    "FactHistory",
    "FactList",
    "NodeList",
    "NodeView",
    "Subgraph",
    "code_of",
    "show_facts",
    "show_node",
]


@dataclass(frozen=True, slots=True)
class NodeView:
    """One entity as it is shown."""

    id: str
    scope: str
    name: str
    type: str | None
    aliases: tuple[str, ...]

    def record(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "id": self.id,
            "scope": self.scope,
            "name": self.name,
            "type": self.type,
            "aliases": list(self.aliases),
        }


@dataclass(frozen=True, slots=True)
class FactList:
    """A page of facts."""

    facts: tuple[FactView, ...]
    cursor: str | None = None
    notice: str = field(default=NOTICE)

    def record(self) -> dict[str, Any]:
        """The JSON form."""
        facts = [view.record() for view in self.facts]
        return {"notice": self.notice, "facts": facts, "cursor": self.cursor}


@dataclass(frozen=True, slots=True)
class NodeList:
    """A page of entities."""

    nodes: tuple[NodeView, ...]
    cursor: str | None = None
    notice: str = field(default=NOTICE)

    def record(self) -> dict[str, Any]:
        """The JSON form."""
        nodes = [node.record() for node in self.nodes]
        return {"notice": self.notice, "nodes": nodes, "cursor": self.cursor}


@dataclass(frozen=True, slots=True)
class Subgraph:
    """Facts and every entity they touch. ``more`` says that a bound left some out."""

    nodes: tuple[NodeView, ...]
    facts: tuple[FactView, ...]
    more: bool = False
    notice: str = field(default=NOTICE)

    def record(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "notice": self.notice,
            "nodes": [node.record() for node in self.nodes],
            "facts": [view.record() for view in self.facts],
            "more": self.more,
        }


@dataclass(frozen=True, slots=True)
class FactHistory:
    """Everything that was said about one fact, oldest first."""

    fact: FactView
    statements: tuple[StatementRow, ...]
    notice: str = field(default=NOTICE)

    def record(self) -> dict[str, Any]:
        """The JSON form."""
        statements = [
            {
                "said_at": time_text(row.order.said_at),
                "batch": row.order.batch_id,
                "confidence": round(row.confidence, 4),
                "replace": row.replace,
                "close": row.close,
                "said_by": row.source.speaker,
                "source": source_record(row.source),
            }
            for row in self.statements
        ]
        return {"notice": self.notice, "fact": self.fact.record(), "statements": statements}


def show_facts(
    deps: FactDeps,
    scope: Scope,
    rows: Sequence[FactRow],
    *,
    as_of: datetime | None = None,
    code: CodeTree | None = None,
) -> list[FactView]:
    """Views in the order of the rows; with ``code``, what refers to a missing file says so."""
    if not rows:
        return []
    mask = _unmasked if deps.settings().allow_secrets else _redacted
    viewer = Viewer(now=deps.clock(), mask=mask, as_of=as_of)
    ends = {end for row in rows for end in (row.subject_id, row.object_id)}
    names = {id_: row.name for id_, row in deps.store.facts.entities(scope, sorted(ends)).items()}
    said = _last_said(deps, scope, rows, viewer.now)
    views = [viewer.view(row, names, scope.key, said.get(row.id)) for row in rows]
    return views if code is None else [_checked(view, code) for view in views]


def _checked(view: FactView, code: CodeTree) -> FactView:
    gone = code.gone(f"{view.subject} {view.object}")
    if gone is None:
        return view
    note = f"refers to {gone}, which no longer exists"
    return replace(view, qualifiers=(*view.qualifiers, note))


def code_of(deps: FactDeps, scopes: Iterable[Scope]) -> CodeTree | None:
    """The work tree that facts of these scopes may name files of, if one is known."""
    for scope in scopes:
        repo_id = _repo_id(deps, scope)
        repository = deps.store.repos.get(repo_id) if repo_id else None
        if repository is not None and repository.root:
            return CodeTree(repository.root)
    return None


def _repo_id(deps: FactDeps, scope: Scope) -> str | None:
    if scope.kind is ScopeKind.REPOSITORY:
        return scope.owner
    if scope.kind is ScopeKind.PERSONAL:
        return scope.repo
    session = deps.store.sessions.get(scope.owner)
    return session.repo_id if session else None


def _last_said(
    deps: FactDeps, scope: Scope, rows: Iterable[FactRow], now: datetime
) -> dict[str, datetime]:
    """When old facts were last confirmed; young ones need no look."""
    old = [
        row.id for row in rows if row.current and now - row.intervals[-1].start >= OUTDATED_AFTER
    ]
    said: dict[str, datetime] = {}
    for statement in deps.store.facts.statements(scope, old) if old else ():
        if statement.fact_id is not None and not statement.close:
            before = said.get(statement.fact_id, statement.order.said_at)
            said[statement.fact_id] = max(before, statement.order.said_at)
    return said


def show_node(deps: FactDeps, scope: Scope, row: EntityRow) -> NodeView:
    """One entity, with stored secrets masked."""
    mask = _unmasked if deps.settings().allow_secrets else _redacted
    name, *aliases = (plain(mask(text)) for text in (row.name, *row.aliases))
    return NodeView(row.id, scope.key, name, row.type, tuple(aliases))


# Names repeat from block to block, and looking for secrets is the slow part of showing them.
_redacted = lru_cache(maxsize=8_192)(redact)


def _unmasked(text: str) -> str:
    return text

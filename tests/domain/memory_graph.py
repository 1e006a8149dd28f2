"""A fact graph in memory that keeps every promise of ``Slice`` and ``Plan``, and no other.

It gives exactly what the docstrings in ``domain.graph`` promise and nothing beyond, so that a plan
which leans on anything else fails here.  It is the oracle for other engines as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TypeVar

from codesynapse.domain.graph import (
    EntityRow,
    FactRow,
    NameRow,
    Order,
    Plan,
    Slice,
    StatementRow,
    Touches,
)
from codesynapse.domain.names import entity_id
from codesynapse.domain.scope import Scope
from codesynapse.errors import StaleRevision
from codesynapse.store.base import Counts

__all__ = ["MemoryGraph", "Rows"]

_K = TypeVar("_K")
_V = TypeVar("_V")


@dataclass
class Rows:
    """The rows of one scope. Two scopes are equal when these are, batches and revision aside."""

    names: dict[str, NameRow] = field(default_factory=dict)
    entities: dict[str, EntityRow] = field(default_factory=dict)
    facts: dict[str, FactRow] = field(default_factory=dict)
    statements: dict[Order, StatementRow] = field(default_factory=dict)
    batches: set[str] = field(default_factory=set, compare=False)
    revision: int = field(default=0, compare=False)


class MemoryGraph:
    """``slice``, ``apply`` and ``counts`` of a ``FactStore``."""

    def __init__(self) -> None:
        self._scopes: dict[str, Rows] = {}

    def rows(self, scope: Scope) -> Rows:
        """Everything of one scope, to compare."""
        return self._scopes.setdefault(scope.key, Rows())

    def counts(self, scope: Scope) -> Counts:
        """How much a scope holds."""
        rows = self.rows(scope)
        current = sum(fact.current for fact in rows.facts.values())
        return Counts(len(rows.entities), len(rows.facts), current, rows.revision)

    def slice(self, scope: Scope, touches: Touches) -> Slice:
        """What was asked, and no row more."""
        rows = self.rows(scope)
        asked = _owners(rows, touches.names | touches.merges)
        facts = _facts(rows, touches)
        merged = _owners(rows, touches.merges)
        statements = [
            row
            for row in rows.statements.values()
            if (
                row.fact_id in facts if row.fact_id else rows.names[row.subject].entity_id in merged
            )
        ]
        ends = {end for fact in facts.values() for end in (fact.subject_id, fact.object_id)}
        return Slice(
            revision=rows.revision,
            applied=touches.batch_id in rows.batches,
            entity_count=len(rows.entities),
            fact_count=len(rows.facts),
            names={k: name for k, name in rows.names.items() if name.entity_id in asked},
            entities={id_: rows.entities[id_] for id_ in asked | ends},
            facts=tuple(facts.values()),
            statements=tuple(statements),
        )

    def apply(self, plan: Plan, scope: Scope, revision: int) -> None:
        """Write a plan; a batch that is recorded changes nothing."""
        rows = self.rows(scope)
        if plan.batch_id in rows.batches:
            return
        if rows.revision != revision:
            raise StaleRevision(f"{scope.key} is at {rows.revision}, not {revision}")
        _remove(rows.facts, plan.removed_facts)
        _remove(rows.entities, plan.removed_entities)
        _remove(rows.names, plan.removed_names)
        _remove(rows.statements, plan.removed_statements)
        rows.names.update({name.key: name for name in plan.names})
        rows.entities.update({entity.id: entity for entity in plan.entities})
        rows.facts.update({fact.id: fact for fact in plan.facts})
        for row in plan.statements:
            known = rows.statements.get(row.order)
            rows.statements[row.order] = replace(known, fact_id=row.fact_id) if known else row
        rows.batches.add(plan.batch_id)
        rows.revision += 1

    def verify(self, scope: Scope) -> list[str]:
        """Rows that point at nothing, or that nothing points at, in words."""
        rows = self.rows(scope)
        told = {row.fact_id for row in rows.statements.values() if row.fact_id}
        said = {key for row in rows.statements.values() for key in (row.subject, row.object)}
        owners = {name.entity_id for name in rows.names.values()}
        roots = {entity_id(scope.key, key) for key in rows.names}
        ends = {end for fact in rows.facts.values() for end in (fact.subject_id, fact.object_id)}
        checks = {
            "facts without statements, or the reverse": told ^ rows.facts.keys(),
            "names nobody said, or the reverse": said ^ rows.names.keys(),
            "entities without names, or the reverse": owners ^ rows.entities.keys(),
            "entities that no name represents": rows.entities.keys() - roots,
            "facts without an end": ends - rows.entities.keys(),
        }
        return [fault for fault, found in checks.items() if found]


def _owners(rows: Rows, keys: Iterable[str]) -> set[str]:
    return {rows.names[key].entity_id for key in keys if key in rows.names}


def _facts(rows: Rows, touches: Touches) -> dict[str, FactRow]:
    merged = _owners(rows, touches.merges)
    groups = {
        (rows.names[key].entity_id, predicate)
        for key, predicate in touches.groups
        if key in rows.names
    }
    around = _where(rows, lambda f: f.subject_id in merged or f.object_id in merged)
    groups |= {(fact.subject_id, fact.predicate) for fact in around.values()}
    found = _where(rows, lambda f: (f.subject_id, f.predicate) in groups)
    return found | _asked(rows, touches)


def _asked(rows: Rows, touches: Touches) -> dict[str, FactRow]:
    """The facts asked one by one, and those of their groups that replace."""
    owner = {key: name.entity_id for key, name in rows.names.items()}
    asked = {(owner.get(s), predicate, owner.get(o)) for s, predicate, o in touches.facts}
    groups = {(subject, predicate) for subject, predicate, _ in asked}
    replacing = {row.fact_id for row in rows.statements.values() if row.replace}
    return _where(
        rows,
        lambda f: (
            (f.subject_id, f.predicate, f.object_id) in asked
            or (f.id in replacing and (f.subject_id, f.predicate) in groups)
        ),
    )


def _where(rows: Rows, holds: Callable[[FactRow], bool]) -> dict[str, FactRow]:
    return {id_: fact for id_, fact in rows.facts.items() if holds(fact)}


def _remove(rows: dict[_K, _V], gone: Iterable[_K]) -> None:
    for key in gone:
        del rows[key]

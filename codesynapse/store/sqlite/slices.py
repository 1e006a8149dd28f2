"""The part of a scope that a batch touches, read as ``domain.graph.Slice`` promises."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable

from codesynapse.domain.graph import EntityRow, FactRow, NameRow, Slice, StatementRow, Touches
from codesynapse.store.sqlite.rows import (
    entity_from,
    fact_from,
    json_list,
    name_from,
    statement_from,
)
from codesynapse.store.sqlite.scopes import ScopeRow

__all__ = ["read_slice"]

# The planner takes a primary key that begins with the scope for selective, and would read the whole
# scope for each name or fact: where there is a choice, the index is said.
_NAMES_AROUND = """
    SELECT DISTINCT n.key, n.entity_id, n.display, n.display_said_at, n.display_batch,
        n.display_place, n.type, n.type_said_at, n.type_batch, n.type_place
    FROM json_each(?2) AS wanted
    CROSS JOIN names AS asked ON asked.scope = ?1 AND asked.key = wanted.value
    CROSS JOIN names AS n INDEXED BY names_of_entity
        ON n.scope = ?1 AND n.entity_id = asked.entity_id"""

_GROUPS_AROUND = """
    SELECT f.subject_id, f.predicate FROM json_each(?2) AS wanted
    CROSS JOIN facts AS f ON f.scope = ?1 AND f.subject_id = wanted.value
    UNION
    SELECT f.subject_id, f.predicate FROM json_each(?2) AS wanted
    CROSS JOIN facts AS f INDEXED BY facts_of_object
        ON f.scope = ?1 AND f.object_id = wanted.value"""

_FACTS_OF_GROUPS = """
    SELECT f.id, f.subject_id, f.predicate, f.object_id, f.confidence, f.confirmations,
        f.intervals, f.current, f.last_start, f.said_by, f.first_stored_at, f.client, f.stored_at,
        f.session, f.user, f.model, f.speaker, f.origin
    FROM json_each(?2) AS wanted
    CROSS JOIN facts AS f ON f.scope = ?1
        AND f.subject_id = json_extract(wanted.value, '$[0]')
        AND f.predicate = json_extract(wanted.value, '$[1]')"""

_FACTS_ASKED = """
    SELECT f.id, f.subject_id, f.predicate, f.object_id, f.confidence, f.confirmations,
        f.intervals, f.current, f.last_start, f.said_by, f.first_stored_at, f.client, f.stored_at,
        f.session, f.user, f.model, f.speaker, f.origin
    FROM json_each(?2) AS wanted
    CROSS JOIN facts AS f INDEXED BY facts_of_group ON f.scope = ?1
        AND f.subject_id = json_extract(wanted.value, '$[0]')
        AND f.predicate = json_extract(wanted.value, '$[1]')
        AND f.object_id = json_extract(wanted.value, '$[2]')"""

_FACTS_REPLACING = """
    SELECT f.id, f.subject_id, f.predicate, f.object_id, f.confidence, f.confirmations,
        f.intervals, f.current, f.last_start, f.said_by, f.first_stored_at, f.client, f.stored_at,
        f.session, f.user, f.model, f.speaker, f.origin
    FROM json_each(?2) AS wanted
    CROSS JOIN statements AS s INDEXED BY replacing ON s.scope = ?1 AND s.replaces = 1
        AND s.subject = json_extract(wanted.value, '$[0]')
        AND s.predicate = json_extract(wanted.value, '$[1]')
    CROSS JOIN facts AS f ON f.scope = ?1 AND f.id = s.fact_id
    GROUP BY f.number"""

_STATEMENTS_OF_FACTS = """
    SELECT s.said_at, s.batch_id, s.place, s.subject, s.predicate, s.object, s.subject_as,
        s.object_as, s.subject_type, s.object_type, s.confidence, s.replaces, s.closes, s.fact_id,
        s.client, s.stored_at, s.session, s.user, s.model, s.speaker, s.origin
    FROM json_each(?2) AS wanted
    CROSS JOIN statements AS s INDEXED BY statements_of_fact
        ON s.scope = ?1 AND s.fact_id = wanted.value"""

_SAME_AS_AROUND = """
    SELECT s.said_at, s.batch_id, s.place, s.subject, s.predicate, s.object, s.subject_as,
        s.object_as, s.subject_type, s.object_type, s.confidence, s.replaces, s.closes, s.fact_id,
        s.client, s.stored_at, s.session, s.user, s.model, s.speaker, s.origin
    FROM json_each(?2) AS wanted
    CROSS JOIN statements AS s INDEXED BY same_as_subject
        ON s.scope = ?1 AND s.predicate = 'SAME_AS' AND s.subject = wanted.value"""

_ENTITIES = """
    SELECT e.id, e.name, e.type, e.aliases FROM json_each(?2) AS wanted
    CROSS JOIN entities AS e ON e.scope = ?1 AND e.id = wanted.value"""


def read_slice(connection: sqlite3.Connection, scope: ScopeRow | None, touches: Touches) -> Slice:
    """Everything ``Slice`` promises for these touches, from one snapshot."""
    if scope is None:
        return Slice(revision=0, applied=False, entity_count=0, fact_count=0)
    number = scope.number
    known = connection.execute(
        "SELECT 1 FROM batches WHERE scope = ? AND id = ?", (number, touches.batch_id)
    ).fetchone()
    names = _names(connection, number, touches)
    merged = {names[key].entity_id for key in touches.merges if key in names}
    groups = _groups(connection, number, touches, names, merged)
    facts = _facts(connection, number, groups, touches, names)
    ids = {name.entity_id for name in names.values()}
    ids.update(id_ for fact in facts for id_ in (fact.subject_id, fact.object_id))
    return Slice(
        revision=scope.revision,
        applied=known is not None,
        entity_count=scope.entities,
        fact_count=scope.facts,
        names=names,
        entities=_entities(connection, number, ids),
        facts=tuple(facts),
        statements=tuple(_statements(connection, number, facts, names, merged)),
    )


def _names(connection: sqlite3.Connection, number: int, touches: Touches) -> dict[str, NameRow]:
    keys = {*touches.names, *touches.merges, *(subject for subject, _ in touches.groups)}
    keys.update(key for subject, _, object_ in touches.facts for key in (subject, object_))
    rows = connection.execute(_NAMES_AROUND, (number, json_list(sorted(keys))))
    return {row[0]: name_from(row) for row in rows}


def _groups(
    connection: sqlite3.Connection,
    number: int,
    touches: Touches,
    names: dict[str, NameRow],
    merged: set[str],
) -> set[tuple[str, str]]:
    """The groups of facts to read, by entity: those asked, and all around merged entities."""
    asked = {(names[key].entity_id, name) for key, name in touches.groups if key in names}
    if merged:
        asked.update(connection.execute(_GROUPS_AROUND, (number, json_list(sorted(merged)))))
    return asked


def _facts(
    connection: sqlite3.Connection,
    number: int,
    groups: Iterable[tuple[str, str]],
    touches: Touches,
    names: dict[str, NameRow],
) -> list[FactRow]:
    """The facts of whole groups, those asked one by one, and what replaces in their groups."""
    owner = {key: name.entity_id for key, name in names.items()}
    spelled: defaultdict[str, list[str]] = defaultdict(list)
    for key, id_ in owner.items():
        spelled[id_].append(key)
    asked = {(owner.get(s), predicate, owner.get(o)) for s, predicate, o in touches.facts}
    around = {(subject, predicate) for subject, predicate, _ in asked}
    said = {(key, name) for id_, name in around if id_ for key in spelled[id_]}
    found = [
        fact_from(row)
        for statement, wanted in (
            (_FACTS_OF_GROUPS, groups),
            (_FACTS_ASKED, (one for one in asked if None not in one)),
            (_FACTS_REPLACING, said),
        )
        for row in connection.execute(statement, (number, json.dumps(sorted(wanted))))
    ]
    return list({fact.id: fact for fact in sorted(found, key=lambda fact: fact.id)}.values())


def _statements(
    connection: sqlite3.Connection,
    number: int,
    facts: Iterable[FactRow],
    names: dict[str, NameRow],
    merged: set[str],
) -> list[StatementRow]:
    """What was said about these facts, and what united the names of merged entities."""
    ids = json_list(fact.id for fact in facts)
    rows = connection.execute(_STATEMENTS_OF_FACTS, (number, ids)).fetchall()
    if merged:
        # Both sides of what united two names are names of one entity: one side finds it.
        keys = json_list(key for key, name in names.items() if name.entity_id in merged)
        rows += connection.execute(_SAME_AS_AROUND, (number, keys)).fetchall()
    return sorted(map(statement_from, rows), key=lambda row: row.order)


def _entities(
    connection: sqlite3.Connection, number: int, ids: Iterable[str]
) -> dict[str, EntityRow]:
    rows = connection.execute(_ENTITIES, (number, json_list(sorted(ids))))
    return {row[0]: entity_from(row) for row in rows}

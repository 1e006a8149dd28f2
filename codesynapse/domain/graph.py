"""The rows of the fact graph, and the values that reading and writing pass around. No rules.

What is stored is what was *said*: statements, each with its time, batch and source.  Entities,
facts and validity intervals follow from the set of statements alone (``domain.folding``), so any
order of arrival gives the same graph.  Engines store rows and decide nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from codesynapse.domain.turns import Speaker

__all__ = [
    "SAME_AS",
    "EntityRow",
    "FactRow",
    "Interval",
    "Limits",
    "NameRow",
    "Order",
    "Plan",
    "Slice",
    "Source",
    "StatementRow",
    "Touches",
]

SAME_AS = "SAME_AS"


class Order(NamedTuple):
    """When something was said, with ties broken the same way everywhere. Never arrival."""

    said_at: datetime
    batch_id: str
    place: int  # within its batch


@dataclass(frozen=True, slots=True)
class Source:
    """Provenance. ``client`` always; ``model`` for extracted statements; the rest where known.

    ``origin`` says how it got here when it was not said here: ``promoted:SESSION``,
    ``carried:SESSION``.
    """

    client: str
    stored_at: datetime
    session: str | None = None
    user: str | None = None
    model: str | None = None
    speaker: Speaker | None = None
    origin: str | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """What one scope may hold. A batch that would pass one is refused whole."""

    entities: int = 5_000
    facts: int = 10_000
    warn_at: float = 0.8


class Interval(NamedTuple):
    """Half open: true from ``start``, no longer true at ``end``; ``end`` is None while current."""

    start: datetime
    end: datetime | None


@dataclass(frozen=True, slots=True)
class NameRow:
    """One normalised name. Every spelling that folds to ``key`` is this row."""

    key: str
    entity_id: str
    display: str
    display_order: Order
    type: str | None = None
    type_order: Order | None = None


@dataclass(frozen=True, slots=True)
class EntityRow:
    """A node. ``id`` follows from the scope and the name that represents it (see folding)."""

    id: str
    name: str
    type: str | None
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StatementRow:
    """One thing said, kept as said. ``fact_id`` is None for SAME_AS; ``close`` ends a fact.

    ``*_as`` are the spellings used and ``*_type`` the types given, so that display names and
    types, too, follow from what is left when a person deletes facts.  ``negated`` is carried in
    the predicate (``AVOIDS``, ``DOES_NOT_USE``), never as a flag.
    """

    order: Order
    subject: str  # name key
    predicate: str
    object: str  # name key
    confidence: float
    source: Source
    fact_id: str | None
    replace: bool = False
    close: bool = False
    subject_as: str = ""
    object_as: str = ""
    subject_type: str | None = None
    object_type: str | None = None


@dataclass(frozen=True, slots=True)
class FactRow:
    """An edge, as the statements about it add up. ``current`` when the last interval is open."""

    id: str
    subject_id: str
    predicate: str
    object_id: str
    confidence: float
    confirmations: int
    intervals: tuple[Interval, ...]
    said_by: Speaker | None
    newest: Source
    first_stored_at: datetime

    @property
    def current(self) -> bool:
        """Whether it is true now, as far as anyone said."""
        return bool(self.intervals) and self.intervals[-1].end is None

    def holds_at(self, moment: datetime) -> bool:
        """Whether it was true at ``moment``."""
        return any(i.start <= moment and (i.end is None or moment < i.end) for i in self.intervals)


@dataclass(frozen=True, slots=True)
class Touches:
    """What a batch needs to read before it can be planned, in name keys.

    ``facts`` are (subject, predicate, object) triples.  ``groups`` are (subject, predicate) pairs
    that something replaces a value of, so that all values are needed.  ``merges`` are names on
    either side of a SAME_AS, whose entities must be read with every fact around them.
    """

    batch_id: str
    names: frozenset[str]
    groups: frozenset[tuple[str, str]] = frozenset()
    merges: frozenset[str] = frozenset()
    facts: frozenset[tuple[str, str, str]] = frozenset()


@dataclass(frozen=True, slots=True)
class Slice:
    """The part of a scope that a batch touches, at one revision.

    Promises of an engine, for the ``Touches`` asked:

    * ``names``: the rows of every name asked, and of every other name of the same entities;
    * ``facts``: every fact asked, by any names of its two entities, and every fact of the same
      (subject, predicate) group of which some statement replaces; every fact of a group asked
      (the group of an entity is that of all its names); for ``merges``, every fact with such an
      entity on either side, and then every other fact of those facts' groups;
    * ``statements``: every statement of those facts, and every SAME_AS statement between the
      names of the entities in ``merges``;
    * ``entities``: the rows of all entities that occur in the above.
    """

    revision: int
    applied: bool  # the batch id is already in the store
    entity_count: int
    fact_count: int
    names: dict[str, NameRow] = field(default_factory=dict)
    entities: dict[str, EntityRow] = field(default_factory=dict)
    facts: tuple[FactRow, ...] = ()
    statements: tuple[StatementRow, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """The upserts of one atomic write, with absolute values. Applying it twice is harmless.

    An engine writes in this order: remove facts, entities and statements named by
    ``removed_*``; upsert names, entities, facts; insert statements (those whose order is stored
    already only get their new ``fact_id``); record ``batch_id``; set the revision to one more.
    Full-text entries of every upserted or removed entity and fact are kept in the same write.
    """

    batch_id: str
    names: tuple[NameRow, ...] = ()
    entities: tuple[EntityRow, ...] = ()
    facts: tuple[FactRow, ...] = ()
    statements: tuple[StatementRow, ...] = ()
    removed_facts: frozenset[str] = frozenset()
    removed_entities: frozenset[str] = frozenset()
    removed_names: frozenset[str] = frozenset()
    removed_statements: frozenset[Order] = frozenset()

    @property
    def empty(self) -> bool:
        """Whether applying it would change nothing but the list of known batches."""
        return not (
            self.names
            or self.entities
            or self.facts
            or self.statements
            or self.removed_facts
            or self.removed_entities
            or self.removed_names
            or self.removed_statements
        )

"""Short ways to say things, and strategies that make merges, ties and reopenings happen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st

from codesynapse.domain.batch import Batch
from codesynapse.domain.folding import fold
from codesynapse.domain.graph import SAME_AS, FactRow, Limits, Source
from codesynapse.domain.names import entity_id, fact_id, name_key
from codesynapse.domain.scope import Scope
from codesynapse.domain.statements import Statement
from codesynapse.domain.turns import Speaker
from tests.domain.memory_graph import MemoryGraph, Rows

__all__ = [
    "LIMITS",
    "SCOPE",
    "SOURCE",
    "T0",
    "at",
    "batch",
    "batches",
    "fact_of",
    "folded",
    "graph_of",
    "identity",
    "say",
    "write",
]

SCOPE = Scope.session("s1")
T0 = datetime(2026, 3, 1, 12, tzinfo=UTC)
SOURCE = Source(client="test", stored_at=T0 + timedelta(days=30))
LIMITS = Limits()


def at(minutes: float) -> datetime:
    """A moment, in minutes after T0."""
    return T0 + timedelta(minutes=minutes)


def say(
    text: str,
    minutes: float = 0,
    *,
    confidence: float = 0.8,
    speaker: Speaker | None = None,
    types: tuple[str | None, str | None] = (None, None),
) -> Statement:
    """``"api USES redis"``; ``USES!`` replaces and ``USES-`` closes."""
    subject, predicate, object_ = text.split(" ")
    return Statement(
        subject=subject,
        predicate=predicate.rstrip("!-"),
        object=object_,
        said_at=at(minutes),
        confidence=confidence,
        replace=predicate.endswith("!"),
        close=predicate.endswith("-"),
        subject_type=types[0],
        object_type=types[1],
        speaker=speaker,
    )


def batch(id_: str, *statements: Statement, source: Source = SOURCE) -> Batch:
    """A batch."""
    return Batch(id_, statements, source)


def write(graph: MemoryGraph, *written: Batch, limits: Limits = LIMITS) -> None:
    """Read, plan and apply each batch in turn."""
    for one in written:
        slice_ = graph.slice(SCOPE, one.touches(SCOPE))
        graph.apply(one.plan(SCOPE, slice_, limits), SCOPE, slice_.revision)


def graph_of(*written: Batch) -> MemoryGraph:
    """A graph that holds these batches."""
    graph = MemoryGraph()
    write(graph, *written)
    return graph


def identity(subject: str, predicate: str, object_: str) -> str:
    """The id of the fact between the entities that these names represent."""
    ends = [entity_id(SCOPE.key, name_key(name)) for name in (subject, object_)]
    return fact_id(SCOPE.key, ends[0], predicate, ends[1])


def fact_of(graph: MemoryGraph, text: str) -> FactRow:
    """The fact between the entities with these names, aliases or not."""
    subject, predicate, object_ = text.split(" ")
    rows = graph.rows(SCOPE)
    ends = [rows.names[name_key(name)].entity_id for name in (subject, object_)]
    return rows.facts[fact_id(SCOPE.key, ends[0], predicate, ends[1])]


def folded(written: Iterable[Batch]) -> Rows:
    """The oracle: all statements of these batches, in one batch each, folded from nothing."""
    rows = []
    for one in {each.id: each for each in written}.values():
        plan = one.plan(SCOPE, MemoryGraph().slice(SCOPE, one.touches(SCOPE)), LIMITS)
        rows += [replace(row, fact_id=None) for row in plan.statements]
    graph = fold(SCOPE.key, rows)
    return Rows(graph.names, graph.entities, graph.facts, graph.statements)


_NAMES = ["a", "A", "b", "B", "c", "d", "User", "me", "ﬁ", "fi"]
_TYPES = st.sampled_from([None, None, "tool", "File"])
_SOURCES = [
    replace(SOURCE, session=session, origin=origin, stored_at=SOURCE.stored_at + delay)
    for session in ("x", "y")
    for origin in (None, "carried:x")
    for delay in (timedelta(0), timedelta(days=1))
]


@st.composite
def _statements(draw: st.DrawFn) -> Statement:
    predicate = draw(st.sampled_from(["USES", "USES", "PORT", SAME_AS]))
    effect = draw(st.sampled_from(["", "", "replace", "close"]))
    return Statement(
        subject=draw(st.sampled_from(_NAMES)),
        predicate=predicate,
        object=draw(st.sampled_from(_NAMES)),
        said_at=at(draw(st.integers(0, 3))),
        confidence=draw(st.sampled_from([0.6, 0.8, 1.0])),
        replace=effect == "replace",
        close=effect == "close" and predicate != SAME_AS,
        subject_type=draw(_TYPES),
        object_type=draw(_TYPES),
        speaker=draw(st.sampled_from([None, Speaker.USER, Speaker.ASSISTANT])),
        source=draw(st.sampled_from([None, *_SOURCES])),
    )


@st.composite
def batches(draw: st.DrawFn) -> Sequence[Batch]:
    """Up to eight small batches over few names and moments, each with an id of its own."""
    contents = draw(st.lists(st.lists(_statements(), max_size=4), min_size=1, max_size=8))
    return [
        Batch(f"b{number}", tuple(content), draw(st.sampled_from(_SOURCES)))
        for number, content in enumerate(contents)
    ]

"""Rows of tables to values of the domain and back. Times are integers: milliseconds, UTC."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from codesynapse.domain.graph import (
    EntityRow,
    FactRow,
    Interval,
    NameRow,
    Order,
    Source,
    StatementRow,
)
from codesynapse.domain.turns import Speaker
from codesynapse.errors import Invalid

__all__ = [
    "decode_cursor",
    "encode_cursor",
    "entity_from",
    "entity_to",
    "fact_from",
    "fact_to",
    "from_ms",
    "json_list",
    "maybe_from_ms",
    "maybe_to_ms",
    "name_from",
    "name_to",
    "statement_from",
    "statement_to",
    "to_ms",
]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)

Row = Sequence[Any]


def to_ms(moment: datetime) -> int:
    """Whole milliseconds since 1970; exact for what has no finer part."""
    return (moment - _EPOCH) // _MILLISECOND


def from_ms(ms: int) -> datetime:
    """The inverse of ``to_ms``, in UTC."""
    return _EPOCH + timedelta(milliseconds=ms)


def maybe_to_ms(moment: datetime | None) -> int | None:
    """``to_ms`` where there is a moment."""
    return None if moment is None else to_ms(moment)


def maybe_from_ms(ms: int | None) -> datetime | None:
    """``from_ms`` where there is a moment."""
    return None if ms is None else from_ms(ms)


def json_list(values: Iterable[str]) -> str:
    """Values for ``json_each(?)``: any number of them as one parameter.

    What holds a NUL goes: SQLite would cut it there and find another row, and we store none.
    """
    return json.dumps([value for value in values if "\0" not in value])


def encode_cursor(*place: str | int) -> str:
    """Where a page ended, opaque to callers."""
    return base64.urlsafe_b64encode(json.dumps(place).encode()).decode()


def decode_cursor(cursor: str, *kinds: type) -> tuple[Any, ...]:
    """Where the next page starts. Raises Invalid for what ``encode_cursor`` did not make."""
    try:
        place = json.loads(base64.urlsafe_b64decode(cursor.encode()))
    except (binascii.Error, ValueError, RecursionError):
        place = None
    fits = isinstance(place, list) and [type(value) for value in place] == list(kinds)
    if not fits or any(isinstance(v, int) and abs(v) >= 2**63 for v in place):
        raise Invalid("this is not a cursor of this listing", "use the one the last page gave")
    return tuple(place)


def _speaker(value: str | None) -> Speaker | None:
    return None if value is None else Speaker(value)


def _source_to(source: Source) -> tuple[object, ...]:
    return (
        source.client,
        to_ms(source.stored_at),
        source.session,
        source.user,
        source.model,
        source.speaker,
        source.origin,
    )


def _source_from(row: Row) -> Source:
    client, stored_at, session, user, model, speaker, origin = row
    return Source(client, from_ms(stored_at), session, user, model, _speaker(speaker), origin)


def name_to(name: NameRow) -> tuple[object, ...]:
    """In the order of the columns of ``names``, without the scope."""
    said_at, batch, place = name.display_order
    type_said_at, type_batch, type_place = name.type_order or (None, None, None)
    return (
        name.key,
        name.entity_id,
        name.display,
        to_ms(said_at),
        batch,
        place,
        name.type,
        maybe_to_ms(type_said_at),
        type_batch,
        type_place,
    )


def name_from(row: Row) -> NameRow:
    """The inverse of ``name_to``."""
    key, entity_id, display, said_at, batch, place, type_, *typed = row
    type_order = None if typed[0] is None else Order(from_ms(typed[0]), typed[1], typed[2])
    return NameRow(
        key, entity_id, display, Order(from_ms(said_at), batch, place), type_, type_order
    )


def entity_to(entity: EntityRow) -> tuple[object, ...]:
    """In the order of the columns of ``entities``, without number and scope."""
    aliases = json.dumps(entity.aliases, ensure_ascii=False)
    return entity.id, entity.name, entity.type, aliases


def entity_from(row: Row) -> EntityRow:
    """The inverse of ``entity_to``."""
    return EntityRow(row[0], row[1], row[2], tuple(json.loads(row[3])))


def fact_to(fact: FactRow) -> tuple[object, ...]:
    """In the order of the columns of ``facts``, without number and scope."""
    intervals = [[to_ms(i.start), maybe_to_ms(i.end)] for i in fact.intervals]
    return (
        fact.id,
        fact.subject_id,
        fact.predicate,
        fact.object_id,
        fact.confidence,
        fact.confirmations,
        json.dumps(intervals, separators=(",", ":")),
        int(fact.current),
        intervals[-1][0] if intervals else to_ms(fact.first_stored_at),
        fact.said_by,
        to_ms(fact.first_stored_at),
        *_source_to(fact.newest),
    )


def fact_from(row: Row) -> FactRow:
    """The inverse of ``fact_to``."""
    id_, subject_id, predicate, object_id, confidence, confirmations, intervals = row[:7]
    return FactRow(
        id_,
        subject_id,
        predicate,
        object_id,
        confidence,
        confirmations,
        tuple(Interval(from_ms(s), maybe_from_ms(e)) for s, e in json.loads(intervals)),
        _speaker(row[9]),
        _source_from(row[11:18]),
        from_ms(row[10]),
    )


def statement_to(said: StatementRow) -> tuple[object, ...]:
    """In the order of the columns of ``statements``, without the scope."""
    return (
        to_ms(said.order.said_at),
        said.order.batch_id,
        said.order.place,
        said.subject,
        said.predicate,
        said.object,
        said.subject_as,
        said.object_as,
        said.subject_type,
        said.object_type,
        said.confidence,
        int(said.replace),
        int(said.close),
        said.fact_id,
        *_source_to(said.source),
    )


def statement_from(row: Row) -> StatementRow:
    """The inverse of ``statement_to``."""
    said_at, batch_id, place, subject, predicate, object_, *named = row[:10]
    return StatementRow(
        order=Order(from_ms(said_at), batch_id, place),
        subject=subject,
        predicate=predicate,
        object=object_,
        confidence=row[10],
        source=_source_from(row[14:21]),
        fact_id=row[13],
        replace=bool(row[11]),
        close=bool(row[12]),
        subject_as=named[0],
        object_as=named[1],
        subject_type=named[2],
        object_type=named[3],
    )

"""What is carried over late: said before something that took its place was carried over.

Two sessions may run side by side, and the one that was told the older value may end last.  Neither
saw the other's facts, so nothing that was extracted ends the older value: it is ended here, at the
moment the newer one was said.  What either of them did see, it was weighed against then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from codesynapse.domain.graph import FactRow, StatementRow
from codesynapse.domain.scope import Scope
from codesynapse.domain.succession import Held, rivals
from codesynapse.domain.turns import Speaker
from codesynapse.service.access import FactDeps

__all__ = ["late_rows"]

_LOOKED_AT = 500


def late_rows(
    deps: FactDeps, target: Scope, rows: Sequence[StatementRow]
) -> list[tuple[StatementRow, datetime]]:
    """Those of ``rows`` that something newer in ``target`` took the place of, and since when.

    ``rows`` are about to be carried there.  A row whose fact is there already is left alone.
    """
    said = [row for row in rows if not row.close]
    if not said:
        return []
    there = list(_standing(deps, target))
    known = {(held.subject.casefold(), held.predicate, held.object.casefold()) for held, _ in there}
    found: list[tuple[StatementRow, datetime]] = []
    for row in said:
        old = _held(row)
        if (old.subject.casefold(), old.predicate, old.object.casefold()) in known:
            continue
        since = [new.since for new, fact in there if _late(row, old, new, fact)]
        if since:
            found.append((row, min(since)))
    return found


def _late(row: StatementRow, old: Held, new: Held, fact: FactRow) -> bool:
    unseen = fact.first_stored_at > row.source.stored_at
    return unseen and new.since > old.since and rivals(old, new)


def _held(row: StatementRow) -> Held:
    return Held(
        row.subject_as or row.subject,
        row.predicate,
        row.object_as or row.object,
        row.order.said_at,
    )


def _standing(deps: FactDeps, target: Scope) -> Iterator[tuple[Held, FactRow]]:
    facts = deps.store.facts
    rows: Iterable[FactRow] = facts.strongest(target, _LOOKED_AT)
    rows = [row for row in rows if row.said_by is Speaker.USER]
    ends = {end for row in rows for end in (row.subject_id, row.object_id)}
    names = facts.entities(target, ends)
    for row in rows:
        subject, value = names[row.subject_id].name, names[row.object_id].name
        yield Held(subject, row.predicate, value, row.intervals[-1].start), row

"""What the new statements of a person end: of each other, and of what holds already.

Builtin and models say what is so; here it is found out what therefore is no longer so.  Only a
person's word ends a person's word, a value that is given beside another ends nothing, and two
values of one turn stand together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from codesynapse.domain.names import name_key
from codesynapse.domain.succession import Held, names_value, rivals, same_thing, single_valued
from codesynapse.domain.turns import Speaker
from codesynapse.extraction.candidates import Candidate

__all__ = ["endings", "succeeding"]

# What is no longer used may have been kept as any of these.
_CHOICES = frozenset({"USES", "DECIDED", "DEPENDS_ON", "RUNS_ON", "RUNS_WITH", "IS", "PREFERS"})


def succeeding(candidates: Sequence[Candidate], standing: Sequence[Held]) -> list[Candidate]:
    """The candidates, where a subject holds one value at a time with ``replace`` set.

    Not where a value is only said again: it may stand beside another by now.
    """
    there = {_fact(one.subject, one.predicate, one.object) for one in standing}
    shared = {
        _slot(one)
        for at, one in enumerate(candidates)
        if any(_slot(one) == _slot(other) for other in candidates[:at])
    }
    return [
        replace(one, replace=True)
        if _ends_others(one)
        and _slot(one) not in shared
        and (one.anew or _fact(one.subject, one.predicate, one.object) not in there)
        and single_valued(one.subject, one.predicate)
        else one
        for one in candidates
    ]


def endings(
    candidates: Sequence[Candidate], standing: Sequence[Held]
) -> list[tuple[int, Candidate]]:
    """The closing candidates that follow, each with the place of what ends it.

    ``standing`` is what held before these turns.  What was said later than a candidate, and what
    has no time, is not ended by it.
    """
    there = {_fact(one.subject, one.predicate, one.object) for one in standing}
    found: list[tuple[int, Candidate]] = []
    for at, new in enumerate(candidates):
        again = _fact(new.subject, new.predicate, new.object) in there
        if not _ends_others(new) or (again and not (new.anew or new.replace or new.ended)):
            continue
        for old in (*standing, *_earlier(candidates[:at], new)):
            if _ended_by(old, new):
                found.append((at, _closing(old, new)))
    return found


def _ends_others(candidate: Candidate) -> bool:
    return candidate.speaker is Speaker.USER and not candidate.adds and not candidate.close


def _slot(candidate: Candidate) -> tuple[str, str, object]:
    return name_key(candidate.subject), candidate.predicate, _turn(candidate)


def _turn(candidate: Candidate) -> object:
    """What two candidates of one turn share."""
    return candidate.turn_id or candidate.said_at


def _earlier(candidates: Iterable[Candidate], new: Candidate) -> Iterator[Held]:
    """What was said in turns before the new one."""
    for one in candidates:
        if one.said_at is not None and _turn(one) != _turn(new) and not one.close:
            yield Held(one.subject, one.predicate, one.object, one.said_at)


def _ended_by(old: Held, new: Candidate) -> bool:
    if new.said_at is None or old.since > new.said_at:
        return False
    value = Held(new.subject, new.predicate, new.object, new.said_at)
    if _fact(*old[:3]) == _fact(*value[:3]):
        return False
    if new.ended is not None and old.predicate in {*_CHOICES, new.predicate}:
        named = names_value(old.object, new.ended)
        if named and (same_thing(old.subject, new.subject) or _unplaced(new)):
            return True
    if new.replace and old.predicate == new.predicate and same_thing(old.subject, new.subject):
        return True
    return rivals(old, value, anew=new.anew)


def _unplaced(new: Candidate) -> bool:
    """Whether it was said of the project as a whole, and so of whatever used the old value."""
    return name_key(new.subject) == "project"


def _fact(subject: str, predicate: str, value: str) -> tuple[str, str, str]:
    """What two spellings of one fact share."""
    return name_key(subject), predicate, name_key(value)


def _closing(old: Held, new: Candidate) -> Candidate:
    return replace(
        new,
        subject=old.subject,
        predicate=old.predicate,
        object=old.object,
        replace=False,
        ended=None,
        close=True,
        subject_type=None,
        object_type=None,
    )

"""The last look at what was noted: superseded values, duplicates and secrets are left out."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from codesynapse.domain.redaction import find_secrets
from codesynapse.domain.turns import Speaker
from codesynapse.extraction.builtin import gates, openers
from codesynapse.extraction.builtin.clauses import PROJECT, USER, Draft
from codesynapse.extraction.builtin.lexicon import words
from codesynapse.extraction.builtin.notes import Note
from codesynapse.extraction.candidates import Candidate

__all__ = ["settle"]

_SINGLE = words(
    "VERSION_IS DECIDED RUNS_WITH RUNS_ON LISTENS_ON LOCATED_IN NAMED STAYS_ON OWNED_BY"
)
_SINGLE_OF_ALL = words("VERSION_IS NAMED IS STAYS_ON")
_GONE = re.compile(
    r"\b(?:no longer|anymore|gone|old|leftover|legacy|dead|dropped|is out|are out"
    r"|instead of|superseded|not|never|was too|"
    r"deprecated|retired|replaced|from before|scratch|isn't|doesn't|don't)\b|不对|不要|古い|旧",
    re.I,
)
_MAX_NAME = 120


def settle(notes: Sequence[Note], known: Collection[str] = ()) -> list[Candidate]:
    """The candidates that stand at the end of the talk, in the order said."""
    spellings = {name.casefold(): name for name in sorted(known)}
    kept: list[Note] = []
    for at, note in enumerate(notes):
        if _usable(note) and not _superseded(note, notes[at + 1 :]):
            kept.append(note)
    return [_candidate(n, spellings) for n in _distinct(kept)]


def _usable(note: Note) -> bool:
    subject, said = note.draft.subject, note.draft.object
    text = f"{subject} {said}"
    if not subject.strip() or not said.strip() or subject.casefold() == said.casefold():
        return False
    if max(len(subject), len(said)) > _MAX_NAME:
        return False
    return not (gates.secret_value(text) or gates.injected(text) or find_secrets(text))


def _superseded(note: Note, later: Sequence[Note]) -> bool:
    """Whether a later turn gives another value, or speaks of this one as gone."""
    return any(
        _replaces(o, note) or _denies(o, note.draft.object) for o in later if o.place > note.place
    )


def _replaces(other: Note, note: Note) -> bool:
    new, old = other.draft, note.draft
    if not _same(new.subject, old.subject):
        return False
    if new.ended and new.ended.casefold() == old.object.casefold():
        return True
    if new.predicate != old.predicate or _has_many(old) or _adds(other):
        return False
    single = new.replace or old.predicate in _SINGLE
    return single and new.object.casefold() != old.object.casefold()


def _has_many(draft: Draft) -> bool:
    """Whether the subject has many values at a time: a project uses more than one tool."""
    return draft.subject in (PROJECT, USER) and draft.predicate not in _SINGLE_OF_ALL


def _same(one: str, other: str) -> bool:
    """Whether two subjects are one thing: equal, or one is the other with a word more."""
    a, b = set(one.casefold().split()), set(other.casefold().split())
    return a <= b or b <= a


def _denies(other: Note, value: str) -> bool:
    """Whether a later sentence of the person speaks of the value as gone."""
    spoken = other.spans.restore(other.spoken).casefold()
    value = value.casefold()
    return (
        len(value) > 3
        and value in spoken
        and bool(_GONE.search(spoken))
        and value not in other.draft.object.casefold()
    )


def _distinct(notes: Sequence[Note]) -> list[Note]:
    """One note for each subject and object; the strongest speaker's."""
    best: dict[tuple[str, str], Note] = {}
    for note in notes:
        key = (note.draft.subject.casefold(), note.draft.object.casefold())
        if key not in best or note.draft.strength > best[key].draft.strength:
            best[key] = note
    return [n for n in notes if best[(n.draft.subject.casefold(), n.draft.object.casefold())] is n]


def _candidate(note: Note, spellings: dict[str, str]) -> Candidate:
    draft = note.draft
    return Candidate(
        subject=spellings.get(draft.subject.casefold(), draft.subject),
        predicate=draft.predicate,
        object=spellings.get(draft.object.casefold(), draft.object),
        confidence=draft.strength if note.speaker is Speaker.USER else min(draft.strength, 0.7),
        replace=draft.replace and not _has_many(draft) and not _adds(note),
        said_at=note.turn.at,
        speaker=note.speaker,
        turn_id=note.turn.id,
        ended=draft.ended if draft.ended != draft.object else None,
        adds=_adds(note),
        anew=note.anew and not _adds(note),
    )


def _adds(note: Note) -> bool:
    """Whether the value was given beside others; what is said to replace does not."""
    if note.draft.ended is not None:
        return False
    shared = note.draft.predicate == "OWNED_BY" and openers.shares(note.spoken)
    return shared or openers.adds(note.spoken)

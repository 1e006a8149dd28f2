"""Turns in, statements out: redact, extract, ground, join, lower, drop.

``builtin`` always runs: what people state outright needs no model.  A model, where one is
configured, adds what its answer and the turns bear out.  Nothing here writes, and nothing of what
was said goes into an error or a count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from codesynapse.domain.batch import Statement
from codesynapse.domain.graph import Source
from codesynapse.domain.names import name_key
from codesynapse.domain.succession import Held
from codesynapse.domain.turns import Speaker, Turn
from codesynapse.errors import ProviderFailed
from codesynapse.extraction.builtin import extract as extract_builtin
from codesynapse.extraction.candidates import Candidate
from codesynapse.extraction.endings import endings, succeeding
from codesynapse.extraction.grounding import Grounds
from codesynapse.extraction.parse import Proposed, parse
from codesynapse.extraction.prompts import SCHEMA, ask
from codesynapse.providers.base import ChatModel
from codesynapse.providers.meter import CapReached

__all__ = ["BUILTIN", "LEAST_CONFIDENCE", "Found", "extract", "statements"]

BUILTIN = "builtin"
LEAST_CONFIDENCE = 0.6
_MOST_ASSISTANT = 0.65  # what nobody confirmed stays under what is carried over or said outright
_CHARACTERS_A_CALL = 8_000  # with the answer, inside the window of small local models
_CHARACTERS_A_TURN = 3_900
_KNOWN_NAMES = 100

Clean = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Found:
    """One candidate that is kept, and who found it: ``builtin`` or a model's name."""

    candidate: Candidate
    by: str


def extract(
    turns: Sequence[Turn],
    known: Collection[str],
    model: ChatModel | None,
    clean: Clean,
    counts: Counter[str],
    standing: Sequence[Held] = (),
) -> tuple[Found, ...]:
    """Everything worth keeping in these turns; figures are added to ``counts``.

    ``standing`` is what holds already; what these turns end of it comes last, to be closed.

    They are ``candidates``, ``kept``, ``model_calls`` and ``dropped_REASON``, and stand when this
    raises, too.

    Raises what the model's call raises, and ProviderFailed when its answer could not be used
    twice. When the calls of the day run out on the way, ``builtin`` alone does the rest.
    """
    turns = [replace(turn, text=clean(turn.text)) for turn in turns]
    found = [Found(candidate, BUILTIN) for candidate in extract_builtin(turns, known)]
    if model is not None:
        found += _by_model(turns, known, model, counts)
    counts["candidates"] += len(found)
    kept = list(_kept(found, clean, counts))
    counts["kept"] += len(kept)
    return _with_endings(kept, standing)


def _with_endings(kept: Sequence[Found], standing: Sequence[Held]) -> tuple[Found, ...]:
    """What is said anew, and after it what that ends: facts keep their place in their batch."""
    said = succeeding([item.candidate for item in kept], standing)
    new = [replace(item, candidate=one) for item, one in zip(kept, said, strict=True)]
    ended = [Found(closing, new[at].by) for at, closing in endings(said, standing)]
    return (*new, *ended)


def _by_model(
    turns: Sequence[Turn], known: Collection[str], model: ChatModel, counts: Counter[str]
) -> list[Found]:
    names = sorted(known)[:_KNOWN_NAMES]
    found: list[Found] = []
    left = len(turns)
    for part in _parts(turns):
        try:
            proposed = _answer(part, names, model, counts)
        except CapReached:
            counts["turns_over_daily_cap"] = left
            break
        left -= len(part)
        grounds = Grounds(part)
        for fact in proposed:
            candidate = grounds.candidate(fact)
            if candidate is None:
                counts["candidates"] += 1
                counts["dropped_not_grounded"] += 1
            else:
                found.append(Found(candidate, model.name))
    return found


def _parts(turns: Sequence[Turn]) -> Iterator[list[Turn]]:
    """Turns in order, as many as go into one call; a very long one without its middle."""
    part: list[Turn] = []
    size = 0
    for turn in turns:
        text = turn.text
        if len(text) > _CHARACTERS_A_TURN:
            half = _CHARACTERS_A_TURN // 2
            text = f"{text[:half]}\n[...]\n{text[-half:]}"
        if part and size + len(text) > _CHARACTERS_A_CALL:
            yield part
            part, size = [], 0
        part.append(replace(turn, text=text))
        size += len(text)
    if part:
        yield part


def _answer(
    part: Sequence[Turn], names: Sequence[str], model: ChatModel, counts: Counter[str]
) -> tuple[Proposed, ...]:
    """The model's proposals; asked once more, strictly, when the first answer is of no use."""
    failure = ProviderFailed("the model gave no answer")
    for strict in (False, True):
        counts["model_calls"] += 1
        try:
            text = model.complete(ask(part, names, strict=strict), SCHEMA)
        except ProviderFailed as error:
            failure = error
            continue
        parsed = parse(text)
        counts.update({f"dropped_{reason}": n for reason, n in parsed.counts.items()})
        if parsed.usable:
            return parsed.items
        reasons = ", ".join(sorted(parsed.counts)) or "no list of facts"
        failure = ProviderFailed(f"the model gave nothing usable, twice ({reasons})")
    raise failure


def _kept(found: Iterable[Found], clean: Clean, counts: Counter[str]) -> Iterator[Found]:
    """Redacted, lowered, above the threshold, and each fact once; ``builtin`` comes first."""
    seen: set[tuple[str, str, str, datetime | None]] = set()
    for item in found:
        candidate = _cleaned(item.candidate, clean)
        problem = _problem(candidate, item.by, seen)
        if problem:
            counts[f"dropped_{problem}"] += 1
            continue
        seen.update(_marks(candidate))
        yield Found(_lowered(candidate), item.by)


def _cleaned(candidate: Candidate, clean: Clean) -> Candidate:
    return replace(
        candidate,
        subject=clean(candidate.subject),
        object=clean(candidate.object),
        ended=clean(candidate.ended) if candidate.ended else None,
    )


def _problem(
    candidate: Candidate, by: str, seen: Collection[tuple[str, str, str, datetime | None]]
) -> str | None:
    if not (name_key(candidate.subject) and name_key(candidate.object)):
        return "empty_name"
    if "[redacted:" in candidate.subject or "[redacted:" in candidate.object:
        return "redacted"
    if candidate.confidence < LEAST_CONFIDENCE:
        return "low_confidence"
    exact, alike = _marks(candidate)
    if exact in seen or (by != BUILTIN and alike in seen):
        return "duplicate"
    return None


def _marks(
    candidate: Candidate,
) -> tuple[tuple[str, str, str, datetime | None], tuple[str, str, str, datetime | None]]:
    """The statement itself, and what a model may say again in other words: the object there."""
    subject, obj = name_key(candidate.subject), name_key(candidate.object)
    exact = (subject, candidate.predicate, obj, candidate.said_at)
    return exact, ("", candidate.turn_id or "", obj, candidate.said_at)


def _lowered(candidate: Candidate) -> Candidate:
    """A claim of the assistant alone lies between the threshold and what a person says."""
    if candidate.speaker is Speaker.USER:
        return candidate
    above = (candidate.confidence - LEAST_CONFIDENCE) / (1 - LEAST_CONFIDENCE)
    span = _MOST_ASSISTANT - LEAST_CONFIDENCE
    return replace(candidate, confidence=round(LEAST_CONFIDENCE + span * above, 4))


def statements(found: Iterable[Found], source: Source, said_at: datetime) -> list[Statement]:
    """As a batch takes them; ``said_at`` stands in where a turn has no time."""
    return [
        said
        for item in found
        for said in _said(
            item.candidate,
            item.candidate.said_at or said_at,
            replace(source, model=item.by),
        )
    ]


# What is no longer used may have been kept as either, in a session that runs beside this one.
_CHOICES = ("USES", "DECIDED")


def _said(candidate: Candidate, said_at: datetime, source: Source) -> Iterator[Statement]:
    """The fact itself, before it the end of what it takes the place of."""
    new = Statement(
        subject=candidate.subject,
        predicate=candidate.predicate,
        object=candidate.object,
        said_at=said_at,
        confidence=candidate.confidence,
        replace=candidate.replace,
        close=candidate.close,
        subject_type=candidate.subject_type,
        object_type=candidate.object_type,
        speaker=candidate.speaker,
        source=source,
    )
    if candidate.ended is not None:
        chosen = _CHOICES if candidate.predicate in _CHOICES else ()
        for predicate in dict.fromkeys((candidate.predicate, *chosen)):
            yield replace(
                new, predicate=predicate, object=candidate.ended, replace=False, close=True,
                object_type=None,
            )  # fmt: skip
    yield new

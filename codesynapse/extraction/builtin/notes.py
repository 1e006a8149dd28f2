"""What a listener writes down: drafts with their provenance, and claims that wait for a yes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from codesynapse.domain.turns import Speaker, Turn
from codesynapse.extraction.builtin import causes
from codesynapse.extraction.builtin.clauses import Draft
from codesynapse.extraction.builtin.phrases import MAX_OBJECT
from codesynapse.extraction.builtin.segment import Sentence, Spans

__all__ = ["Note", "Pending", "best_cause"]


@dataclass(frozen=True, slots=True)
class Note:
    """One draft with its provenance. ``spoken`` is the person's sentence it came from.

    ``anew`` when it was said as a change or a correction of what held before.
    """

    draft: Draft
    spans: Spans
    turn: Turn
    place: int
    speaker: Speaker
    spoken: str
    anew: bool = False


@dataclass(slots=True)
class Pending:
    """What an agent said and a person may still confirm.

    ``outright`` when its cause is given as one, ``named`` when it is called the cause.
    """

    drafts: list[tuple[Draft, Spans]] = field(default_factory=list)
    cause: str | None = None
    cause_spans: Spans = field(default_factory=Spans)
    outright: bool = False
    named: bool = False


def best_cause(explained: Sequence[tuple[Sentence, str]]) -> tuple[str, Spans]:
    """The sentence that names a cause outright, else the last two that explain, if they fit."""
    outright = [(s, d) for s, d in explained if causes.explicit_cause(s.text)]
    sentence, text = (outright or list(explained))[-1]
    if not outright and len(explained) > 1:
        before = explained[-2][1]
        joined = f"{before}; {text}"
        if len(sentence.spans.restore(joined)) <= MAX_OBJECT:
            text = joined
    return text, sentence.spans

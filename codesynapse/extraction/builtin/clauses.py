"""Clauses, what rules draft from them, and what a rule may know of the talk around."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from codesynapse.extraction.builtin import gates
from codesynapse.extraction.builtin.lexicon import words
from codesynapse.extraction.builtin.phrases import expand, is_pronoun, strip_lead, subject
from codesynapse.extraction.builtin.segment import Sentence
from codesynapse.extraction.builtin.topics import Asked

__all__ = ["PROJECT", "USER", "Clause", "Draft", "Family", "Talk", "clauses", "resolve"]

PROJECT = "project"
USER = "User"

_CUT = re.compile(
    r"\s*[,;，；、](?:\s+|(?<=[，；、]))|\s+[-–—]{1,2}\s+|\s*\((?=[^)]{12,})|(?<=[^\s(]{3})\)\s*|"
    r"(?<! and)\s+so\s+(?!do\b|does\b|is\b|are\b|that\b|far\b|much\b|many\b|long\b|on\b)(?=\w+ \w)|"
    r"(?<=\w):\s+(?=(?:never|always|don't|do not|we|please|only|anything|everything"
    r"|nothing|nobody)\b)|"
    r"\s+(?=(?:but|because|bc|cuz|weil|denn|aber|sondern|pero|porque|mais|parce que|maar|omdat) )|"
    r"(?<=\S)\.\s+|!+\s+",
    re.I,
)
_AND = re.compile(r"\s+(?:and|und|y|et|en|e)\s+|(?<=\w):\s+", re.I)
_REASON = re.compile(
    r"^(?:because|bc|cuz|cause|since|weil|denn|porque|parce que|car|omdat|as)\s", re.I
)
_MAX_CLAUSES = 24
_OURSELVES = words("we us wir nosotros nous on 我们 私たち")
_EVERYTHING = words("everything all")
_POINTING = words("this that which what there here something nothing anything who")


@dataclass(frozen=True, slots=True)
class Draft:
    """What a rule proposes, still masked. ``strength`` is the confidence it deserves.

    ``ended`` is the value that it takes the place of, where that was named.
    """

    subject: str
    predicate: str
    object: str
    strength: float = 0.85
    replace: bool = False
    ended: str | None = None


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a sentence, without opening fillers and with contractions written out.

    ``turn`` is everything the person said in that turn, masked.
    """

    text: str
    sentence: Sentence
    place: int
    reason: bool = False
    corrects: bool = False
    turn: str = ""


@dataclass(slots=True)
class Talk:
    """What the rules may know: the open question, the last subject, what was said before."""

    asked: Asked | None = None
    topic: str | None = None
    stale: str | None = None  # the topic as it was two turns ago and more: too far for "use X"
    trouble: str | None = None
    answering: bool = False  # a question about a thing is open, and this is its answer
    looked: bool = False  # somebody looked into the trouble, instead of only talking
    proposals: list[str] = field(default_factory=list)

    def close_topic(self) -> str | None:
        """What was spoken of just now, or what the open question is about."""
        asked = self.asked.topic if self.asked else None
        return self.topic if self.topic and self.topic != self.stale else asked


Family = Callable[[Clause, Talk], Sequence[Draft]]


def resolve(text: str, talk: Talk) -> str | None:
    """The subject a phrase stands for: itself, or what a pronoun points at; None when unknown."""
    text = strip_lead(text)
    said = text.casefold()
    if said in _OURSELVES:
        return PROJECT
    if said in _EVERYTHING:
        return talk.topic or PROJECT
    if is_pronoun(text):
        if said in _POINTING:
            return None
        return talk.topic or (talk.asked.topic if talk.asked else None)
    return subject(text)


def clauses(sentence: Sentence, splits: Callable[[str], bool], turn: str = "") -> Iterator[Clause]:
    """The clauses of a sentence; ``splits`` says whether a part after an "and" stands alone.

    ``turn`` is all that was said in the turn, for rules that look for a mark further on.
    """
    corrects = sentence.corrects or gates.refuses(sentence.text)
    place = 0
    for part in _CUT.split(sentence.text)[:_MAX_CLAUSES]:
        for piece in _alone(part, splits):
            text = expand(strip_lead(piece))
            if text:
                yield Clause(
                    text, sentence, place, bool(_REASON.match(piece.strip())), corrects, turn
                )
                place += 1


def _alone(part: str, splits: Callable[[str], bool]) -> Iterator[str]:
    start = 0
    for found in _AND.finditer(part):
        if splits(expand(strip_lead(part[found.end() :]))):
            yield part[start : found.start()]
            start = found.end()
    yield part[start:]

"""What a model proposes counts only as far as the conversation bears it out.

A candidate whose object's words do not occur in the turns was made up and is dropped.  The turn
that has them tells when it was said and by whom, whatever the model claims.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from codesynapse.domain.turns import Speaker, Turn
from codesynapse.extraction.candidates import Candidate
from codesynapse.extraction.parse import Proposed

__all__ = ["Grounds"]

_WORD = re.compile(r"\w+")
_ASSENT = re.compile(
    r"\W*(?:yes|yep|yeah|yup|ok|okay|sure|right|correct|exactly|agreed|perfect|great|good|fine|"
    r"do (?:it|that)|go ahead|sounds good|makes sense|ja|genau|stimmt|passt|oui|d'accord|sí|si|"
    r"vale|sim|certo|はい|そう|对|好|是的|네)(?!\w)",
    re.IGNORECASE,
)
_LONGEST_ASSENT = 60


class Grounds:
    """The words of some turns, to hold proposals against."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self._turns = turns
        self._texts = [_fold(turn.text) for turn in turns]
        self._words = [frozenset(_WORD.findall(text)) for text in self._texts]

    def candidate(self, fact: Proposed) -> Candidate | None:
        """The proposal as a candidate, or None when its object occurs nowhere."""
        at = self._where(fact)
        if at is None:
            return None
        turn = self._turns[at]
        return Candidate(
            subject=fact.subject,
            predicate=fact.predicate,
            object=fact.object,
            confidence=fact.confidence,
            replace=fact.replace,
            said_at=turn.at,
            speaker=self._vouches(at),
            turn_id=turn.id,
            subject_type=fact.subject_type,
            object_type=fact.object_type,
        )

    def _where(self, fact: Proposed) -> int | None:
        """The turn that says it: the one claimed, else the person's newest, else the newest.

        Where no turn has all the words, the newest that completes them.
        """
        words = _WORD.findall(_fold(fact.object))
        if not words:
            return None
        whole = [n for n in range(len(self._turns)) if all(self._has(n, word) for word in words)]
        claimed = (fact.turn or 0) - 1
        if claimed in whole:
            return claimed
        if whole:
            own = [n for n in whole if self._turns[n].role is Speaker.USER]
            return (own or whole)[-1]
        last = [
            next((n for n in reversed(range(len(self._turns))) if self._has(n, word)), None)
            for word in words
        ]
        known = [n for n in last if n is not None]
        return max(known) if len(known) == len(words) else None

    def _has(self, n: int, word: str) -> bool:
        # Scripts without spaces have no word edges to go by.
        return word in self._words[n] or (not word.isascii() and word in self._texts[n])

    def _vouches(self, at: int) -> Speaker:
        """The person, if they said it or agreed at once to an agent that did."""
        if self._turns[at].role is Speaker.USER:
            return Speaker.USER
        following = self._turns[at + 1] if at + 1 < len(self._turns) else None
        if following is None or following.role is not Speaker.USER:
            return Speaker.ASSISTANT
        first = following.text.strip().split("\n", 1)[0][:_LONGEST_ASSENT]
        return Speaker.USER if _ASSENT.match(first) else Speaker.ASSISTANT


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()

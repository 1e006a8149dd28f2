"""The extractor that needs no model: rules, high precision, nothing rather than guess.

It takes what people state outright (decisions, preferences, conventions, commands, versions,
places, owners, corrections, causes of fixed faults, things to avoid) and what they confirm of an
agent's proposal or diagnosis.  It refuses questions, hypotheticals, jokes, hearsay, pasted output,
quotations, orders addressed to programs, and whatever looks like a credential.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from codesynapse.domain.turns import Turn
from codesynapse.extraction.builtin.listener import Listener
from codesynapse.extraction.builtin.settle import settle
from codesynapse.extraction.candidates import Candidate

__all__ = ["extract"]


def extract(turns: Sequence[Turn], known: Collection[str] = ()) -> list[Candidate]:
    """What the turns state, in the order said. ``known`` are names already in the scope.

    The same turns always give the same candidates.  A known name gives its spelling to a subject
    or object that differs from it only in case.
    """
    listener = Listener()
    for turn in turns:
        listener.hear(turn)
    return settle(listener.notes, known)

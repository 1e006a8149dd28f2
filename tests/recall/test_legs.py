"""Legs run side by side; one that fails leaves the others standing."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import pytest

from codesynapse.domain.scope import Scope
from codesynapse.errors import CodeSynapseError, ProviderFailed, StoreDamaged
from codesynapse.recall.legs import LegHits, run_legs

SCOPE = Scope.repository("shop")
HITS = LegHits({"entity": 1}, {"fact": 1})


@dataclass
class Sure:
    """A leg that answers, or raises what it is given."""

    name: str
    error: Exception | None = None

    def search(self, scope: Scope, query: str) -> LegHits:
        if self.error is not None:
            raise self.error
        return HITS


@dataclass
class Meeting:
    """A leg that answers only while another one is under way."""

    name: str
    both: threading.Barrier

    def search(self, scope: Scope, query: str) -> LegHits:
        self.both.wait(10)
        return HITS


def test_two_legs_run_side_by_side() -> None:
    both = threading.Barrier(2)
    searched = run_legs([Meeting("one", both), Meeting("two", both)], SCOPE, "query")
    assert searched.hits == (HITS, HITS)


@pytest.mark.parametrize("error", [ProviderFailed("x"), CodeSynapseError("x"), TimeoutError()])
def test_a_failing_leg_is_named_whether_alone_or_not(error: Exception) -> None:
    assert run_legs([Sure("bad", error)], SCOPE, "query").failed == ("bad",)
    searched = run_legs([Sure("good"), Sure("bad", error)], SCOPE, "query")
    assert searched.hits == (HITS,)
    assert searched.failed == ("bad",)


def test_a_damaged_file_is_not_hidden() -> None:
    with pytest.raises(StoreDamaged):
        run_legs([Sure("good"), Sure("bad", StoreDamaged("x"))], SCOPE, "query")

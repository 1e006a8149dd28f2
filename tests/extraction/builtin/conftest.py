"""Short ways to say a conversation."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from codesynapse.domain.turns import Speaker, Turn
from codesynapse.extraction.builtin import extract
from codesynapse.extraction.candidates import Candidate

__all__ = ["Talk"]

Talk = Callable[..., list[Candidate]]
_ROLES = {"u": Speaker.USER, "a": Speaker.ASSISTANT}


@pytest.fixture
def talk() -> Talk:
    """Extract from lines such as ``"u: we use pnpm"`` and ``"a: Noted."``."""

    def run(*lines: str) -> list[Candidate]:
        turns = [
            Turn(_ROLES[line[0]], line[3:], datetime(2026, 5, 1, 9, at, tzinfo=UTC), f"t{at}")
            for at, line in enumerate(lines)
        ]
        return extract(turns)

    return run

"""The quality on dialogues written for this: one half rules were tuned on, the other kept aside."""

from __future__ import annotations

from pathlib import Path

import pytest

from codesynapse.evals import extraction

_DATA = Path(__file__).parents[2] / "data" / "extraction"


@pytest.mark.parametrize("name", ["tuned", "held_out"])
def test_quality_stays_above_its_targets(name: str) -> None:
    cases = extraction.read_lines(_DATA / f"{name}.jsonl")
    report = extraction.score(cases, extraction.predict(cases))
    assert report.missed_targets() == []

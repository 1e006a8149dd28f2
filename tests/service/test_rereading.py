from __future__ import annotations

from pathlib import Path

import pytest

from codesynapse.domain.sessions import Job, JobState
from codesynapse.errors import Unavailable
from codesynapse.service import rereading
from codesynapse.service.rereading import reread
from tests.service.pipeline_world import NOON, Transcript


def job(transcript: Transcript, start: int, end: int) -> Job:
    path = str(transcript.path)
    return Job("j", "s", "r", "ana", "c", JobState.QUEUED, NOON, path, start, end)


@pytest.fixture
def transcript(tmp_path: Path) -> Transcript:
    return Transcript(tmp_path / "one.jsonl")


def test_the_turns_of_the_range_are_read_and_no_others(transcript: Transcript) -> None:
    transcript.exchange("before", 1)
    start = transcript.size
    transcript.exchange("mine", 2)
    end = transcript.size
    transcript.exchange("after", 3)

    again = reread(job(transcript, start, end))

    assert [turn.text for turn in again.turns] == ["mine", "answer 2"]
    assert (again.end, again.last_turn_id) == (end, "a2")


def test_what_is_too_much_for_one_job_ends_at_a_whole_exchange(
    transcript: Transcript, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rereading, "_CHARACTERS", 5)
    transcript.exchange("first", 1)
    middle = transcript.size
    transcript.exchange("second", 2)

    again = reread(job(transcript, 0, transcript.size))

    assert [turn.id for turn in again.turns] == ["u1", "a1"]
    assert again.end == middle


def test_a_range_without_turns_is_read_to_its_end(transcript: Transcript) -> None:
    with transcript.path.open("a", encoding="utf-8") as file:
        file.write('{"type": "mode"}\nno json\n')

    again = reread(job(transcript, 0, transcript.size))

    assert (again.turns, again.end, again.skipped) == ((), transcript.size, 2)


def test_a_file_that_is_gone_is_unavailable(transcript: Transcript) -> None:
    transcript.path.unlink()

    with pytest.raises(Unavailable, match="cannot be read"):
        reread(job(transcript, 0, 10))

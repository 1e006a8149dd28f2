"""A transcript that another took the place of is read anew, and no turn of it is passed over."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codesynapse.domain.scope import Scope
from codesynapse.service import offload
from tests.service.pipeline_world import PipelineWorld, Transcript, open_world


@pytest.fixture
def world(tmp_path: Path) -> Iterator[PipelineWorld]:
    with open_world(tmp_path) as made:
        made.start()
        yield made


@pytest.fixture
def transcript(tmp_path: Path) -> Transcript:
    return Transcript(tmp_path / "one.jsonl")


def say(transcript: Transcript, *numbers: int) -> None:
    for number in numbers:
        transcript.exchange(f"The module m{number} is owned by Dana.", number)


def owned(*numbers: int) -> set[str]:
    return {f"module m{number} OWNED_BY Dana" for number in numbers}


def take(world: PipelineWorld, transcript: Transcript) -> None:
    """What a hook and the worker do, with all that there is."""
    session = world.session()
    offload.submit_rest(world, session, str(transcript.path))
    world.settled(session)


def test_one_that_is_shorter_and_has_grown_since_is_not_passed_over(
    world: PipelineWorld, transcript: Transcript
) -> None:
    say(transcript, *range(5))
    take(world, transcript)
    transcript.path.write_bytes(b"")
    say(transcript, 10, 11)
    take(world, transcript)
    say(transcript, *range(12, 20))
    take(world, transcript)
    assert world.facts(world.session()) == owned(*range(5), *range(10, 20))


def test_one_that_was_never_seen_while_it_was_shorter_is_noticed_too(
    world: PipelineWorld, transcript: Transcript
) -> None:
    say(transcript, *range(5))
    take(world, transcript)
    transcript.path.write_bytes(b"")
    transcript.add("Hello.", uuid="h")  # so that no record ends where one did
    say(transcript, *range(100, 110))
    take(world, transcript)
    assert world.facts(world.session()) == owned(*range(5), *range(100, 110))


def test_a_copy_of_the_same_turns_is_not_extracted_twice(
    world: PipelineWorld, transcript: Transcript
) -> None:
    say(transcript, *range(6))
    take(world, transcript)
    transcript.path.write_bytes(b"")
    say(transcript, *range(3))
    take(world, transcript)
    say(transcript, *range(3, 8))
    take(world, transcript)
    rows = world.rows(Scope.session(world.session().id))
    assert len(rows) == 8
    assert {row.confirmations for row in rows} == {1}


def test_the_same_range_of_another_transcript_holds_something_else(
    world: PipelineWorld, transcript: Transcript
) -> None:
    say(transcript, 1)
    take(world, transcript)
    transcript.path.write_bytes(b"")
    transcript.add("", uuid="x")
    take(world, transcript)
    transcript.path.write_bytes(b"")
    say(transcript, 2)
    take(world, transcript)
    assert world.facts(world.session()) == owned(1, 2)


def test_one_that_is_gone_leaves_the_watermark_where_it_was(
    world: PipelineWorld, transcript: Transcript
) -> None:
    say(transcript, 1)
    take(world, transcript)
    size = transcript.size
    transcript.path.unlink()
    assert offload.plan(world, world.who(), world.session(), str(transcript.path)).offset == size


STEP = st.tuples(st.booleans(), st.integers(1, 4))


@settings(max_examples=25, deadline=None)
@given(st.lists(STEP, min_size=1, max_size=6))
def test_every_turn_is_taken_once_however_often_the_file_is_replaced(
    steps: list[tuple[bool, int]],
) -> None:
    with tempfile.TemporaryDirectory() as folder, open_world(Path(folder)) as world:
        world.start()
        transcript, said = Transcript(Path(folder) / "one.jsonl"), 0
        for replaced, exchanges in steps:
            if replaced:
                transcript.path.write_bytes(b"")
                transcript.add("x" * (1 + said), uuid=f"other{said}")
            for _ in range(exchanges):
                say(transcript, said)
                said += 1
            take(world, transcript)
        session = world.session()
        assert world.facts(session) == owned(*range(said))
        assert {row.confirmations for row in world.rows(Scope.session(session.id))} == {1}

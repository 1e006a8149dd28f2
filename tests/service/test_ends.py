from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from codesynapse.domain.scope import Scope
from codesynapse.domain.sessions import JobState, Session, SessionState
from codesynapse.service import ends, offload, rereading, sessions
from codesynapse.service.pipeline import upkeep
from codesynapse.transcripts.ends import EndMark, leave_mark, read_marks
from tests.service.pipeline_world import REPO, PipelineWorld, Transcript, open_world, said

DANA = "CI OWNED_BY Dana"


@pytest.fixture
def world(tmp_path: Path) -> Iterator[PipelineWorld]:
    with open_world(tmp_path) as made:
        yield made


@pytest.fixture
def transcript(tmp_path: Path) -> Transcript:
    found = Transcript(tmp_path / "session.jsonl")
    found.exchange("The CI is owned by Dana.", 0)
    return found


def leave(
    world: PipelineWorld, transcript: Path | None, *, name: str = "one", seconds_ago: float = 60.0
) -> str:
    """What the hook of a session leaves that ended when no sidecar answered."""
    os.makedirs(world.ends.folder, exist_ok=True)
    path = str(transcript) if transcript else None
    mark, _ = leave_mark(
        world.ends.folder, EndMark("claude-code", name, path, str(world.root / "project"))
    )
    at = time.time() - seconds_ago
    os.utime(mark, (at, at))
    return mark


def state(world: PipelineWorld, session: Session) -> SessionState:
    row = world.store.sessions.get(session.id)
    assert row is not None
    return row.state


def finish(world: PipelineWorld) -> None:
    """Run everything that is queued, and what is due then."""
    world.start()
    for _ in range(3):
        world.settled(*sessions.recent(world, world.who(), REPO))
        upkeep(world)


def test_an_end_that_nobody_heard_is_carried_over(
    world: PipelineWorld, transcript: Transcript
) -> None:
    one = world.session()
    leave(world, transcript.path)

    assert ends.settle(world) == []

    assert read_marks(world.ends.folder) == []
    assert state(world, one) is SessionState.ENDED
    assert sessions.unsettled(world, world.who("two"), REPO) == [one.id], "who starts now waits"
    finish(world)
    assert world.facts(world.personal) == {DANA}


def test_what_was_sent_before_is_not_read_again(
    world: PipelineWorld, transcript: Transcript
) -> None:
    one = world.session()
    turns = said("The CI is owned by Dana.")
    world.offload(one, turns, transcript=transcript, start=0, end=transcript.size)
    first = transcript.size
    transcript.exchange("The docs are owned by Ben.", 1)
    leave(world, transcript.path)

    ends.settle(world)

    (rest, _) = world.store.jobs.recent()
    assert (rest.start, rest.end) == (first, transcript.size)
    leave(world, transcript.path)
    ends.settle(world)
    assert len(world.store.jobs.recent()) == 2, "all of it is queued already"
    finish(world)
    assert world.facts(world.personal) == {DANA, "docs OWNED_BY Ben"}


def test_a_session_that_never_met_a_sidecar_becomes_known_by_its_end(
    world: PipelineWorld, transcript: Transcript
) -> None:
    (world.root / "project").mkdir()
    leave(world, transcript.path, name="unheard")
    ends.settle(world)
    session = world.store.sessions.by_client("claude-code", "unheard")
    assert session is not None
    assert (session.user, session.state) == ("ana", SessionState.ENDED)
    world.start()
    world.settled(session)
    assert world.facts(session) == {DANA}
    assert world.facts(Scope.personal("ana", session.repo_id)) == {DANA}


def test_an_end_without_a_transcript_ends_the_session_and_loses_nothing(
    world: PipelineWorld,
) -> None:
    one = world.session()
    world.offload(one, said("The CI is owned by Dana."))
    leave(world, None)
    assert ends.settle(world) == []
    finish(world)
    assert world.facts(world.personal) == {DANA}
    assert world.states() == [JobState.DONE]


def test_a_transcript_that_is_gone_is_listed_as_lost(
    world: PipelineWorld, transcript: Transcript
) -> None:
    one = world.session()
    leave(world, transcript.path)
    transcript.path.unlink()
    assert ends.settle(world) == []
    (job,) = offload.jobs(world, world.who())
    assert (job.state, job.session_id) == (JobState.LOST, one.id)
    assert "transcript is gone" in (job.error or "")
    assert read_marks(world.ends.folder) == []
    assert state(world, one) is SessionState.ENDED


@pytest.mark.parametrize("name", ["/dev/zero", "/etc/passwd", "folder.jsonl"])
def test_what_is_no_transcript_is_never_read(world: PipelineWorld, name: str) -> None:
    world.session()
    (world.root / "folder.jsonl").mkdir()
    leave(world, world.root / name)
    ends.settle(world)
    assert world.states() == [JobState.LOST]


def test_a_mark_whose_hook_may_still_be_at_work_waits(
    world: PipelineWorld, transcript: Transcript
) -> None:
    one = world.session()
    leave(world, transcript.path, seconds_ago=0.0)
    (waiting,) = ends.settle(world)
    assert waiting.session == "one"
    assert ends.are_awaited(world, world.who("two"), REPO, [waiting])
    assert not ends.are_awaited(world, world.who("two", user="ben"), REPO, [waiting])
    assert not ends.are_awaited(world, world.who("two"), "other", [waiting])
    assert state(world, one) is SessionState.ACTIVE
    assert not ends.settle_by(world, world.who("two"), REPO, time.monotonic() + 0.1)
    assert ends.settle_by(world, world.who("two"), REPO, time.monotonic() + 20.0)
    assert state(world, one) is SessionState.ENDED


def test_a_full_queue_leaves_the_mark_for_the_next_time(
    world: PipelineWorld, transcript: Transcript
) -> None:
    world.configure(queue_size=1)
    world.offload(world.session("busy"), said("I prefer tabs."))
    one = world.session()
    leave(world, transcript.path)

    assert [mark.session for mark in ends.settle(world)] == ["one"]
    assert state(world, one) is SessionState.ACTIVE

    world.start()
    world.settled(world.session("busy"))
    assert ends.settle(world) == []
    world.settled(one)
    assert DANA in world.facts(world.personal)


def test_while_memory_is_off_no_transcript_is_read(
    world: PipelineWorld, transcript: Transcript
) -> None:
    one = world.session()
    world.store.sessions.update(sessions.set_transcript(world, one, str(transcript.path)))
    leave(world, transcript.path)
    world.configure(allow_memory=False)
    world.clock.pass_(hours=13)
    upkeep(world)
    assert world.states() == []
    assert len(read_marks(world.ends.folder)) == 1
    world.configure(allow_memory=True)
    finish(world)
    assert world.facts(world.personal) == {DANA}


def test_a_session_that_came_back_is_read_and_not_ended(
    world: PipelineWorld, transcript: Transcript
) -> None:
    leave(world, transcript.path)
    world.clock.pass_(days=4_000)  # past the mark's own time
    one = world.session()
    ends.settle(world)
    assert state(world, one) is SessionState.ACTIVE
    assert world.queue.pending(one.id) == 1


@pytest.mark.parametrize("how", ["revoked", "expired", "too old", "nowhere"])
def test_a_mark_that_leads_nowhere_goes(
    world: PipelineWorld, transcript: Transcript, how: str
) -> None:
    one = world.session()
    name, ago = "one", 60.0
    if how == "revoked":
        sessions.revoke(world, world.who(), one)
    elif how == "expired":
        world.clock.pass_(days=8)
        sessions.find(world, world.who(), one.id)
    elif how == "too old":
        ago = 31 * 86_400.0
    else:
        name = "x" * 300
    leave(world, transcript.path, name=name, seconds_ago=ago)
    assert ends.settle(world) == []
    assert read_marks(world.ends.folder) == []
    assert world.states() == ([JobState.LOST] if how == "expired" else [])


def test_settling_begins_no_other_once_its_time_is_up(
    world: PipelineWorld, transcript: Transcript
) -> None:
    world.session()
    leave(world, transcript.path)
    assert len(ends.settle(world, until=time.monotonic() - 1)) == 1
    assert len(read_marks(world.ends.folder)) == 1


def test_a_folder_of_marks_that_cannot_be_read_stops_nobody(world: PipelineWorld) -> None:
    Path(world.ends.folder).write_text("a file")
    assert ends.settle(world) == []


@pytest.mark.parametrize("hours", [13, 24 * 8])
def test_a_client_that_died_is_read_to_its_end_before_it_counts_as_over(
    world: PipelineWorld, transcript: Transcript, hours: int
) -> None:
    """After twelve hours, or when the machine was off until its life was over."""
    one = sessions.set_transcript(world, world.session(), str(transcript.path))
    world.clock.pass_(hours=hours)
    upkeep(world)
    assert state(world, one) is SessionState.ENDED
    assert world.facts(world.personal) == set(), "its job comes first"
    finish(world)
    assert world.facts(world.personal) == {DANA}


def test_a_fresh_session_ends_the_idle_ones_here_and_waits_for_them(
    world: PipelineWorld, transcript: Transcript
) -> None:
    one = sessions.set_transcript(world, world.session(), str(transcript.path))
    world.clock.pass_(hours=13)
    other = world.session("two")
    ends.end_idle(world, world.who("two"), REPO)
    assert sessions.unsettled(world, world.who("two"), REPO) == [one.id]
    assert state(world, other) is SessionState.ACTIVE


def test_an_idle_session_waits_for_room_in_the_queue(
    world: PipelineWorld, transcript: Transcript
) -> None:
    one = sessions.set_transcript(world, world.session(), str(transcript.path))
    world.clock.pass_(hours=13)
    world.configure(queue_size=1)
    world.offload(world.session("busy"), said("I prefer tabs."))
    upkeep(world)
    assert state(world, one) is SessionState.ACTIVE
    finish(world)
    assert DANA in world.facts(world.personal)


def test_what_is_too_much_for_one_job_goes_on_in_another(
    world: PipelineWorld, transcript: Transcript, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rereading, "_CHARACTERS", 10)
    for number in range(1, 4):
        transcript.exchange(f"The module m{number} is owned by Dana.", number)
    one = world.session()
    leave(world, transcript.path)
    finish(world)
    assert world.states() == [JobState.DONE] * 4
    assert len(world.facts(world.personal)) == 4
    assert offload.plan(world, world.who(), one, None).offset == transcript.size

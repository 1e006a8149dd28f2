from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from codesynapse.domain.scope import Principal, Scope
from codesynapse.domain.sessions import JobState, Session, SessionState, Watermark
from codesynapse.domain.turns import Speaker, Turn
from codesynapse.errors import Forbidden, Invalid, QueueFull, Unavailable
from codesynapse.service import offload, sessions
from codesynapse.service.pipeline import upkeep
from codesynapse.store.sqlite import SqliteStore
from tests.providers.server import (
    ModelServer,
    facts,
    hangs,
    model_server,
)
from tests.service.pipeline_world import NOON, PipelineWorld, Transcript, open_world, said

KEY = "AKIA" + "QWERTYUIOPASDFGH"


@pytest.fixture
def world(tmp_path: Path) -> Iterator[PipelineWorld]:
    with open_world(tmp_path) as made:
        yield made


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as running:
        yield running


@pytest.fixture
def transcript(tmp_path: Path) -> Transcript:
    return Transcript(tmp_path / "session.jsonl")


def test_the_call_returns_at_once_while_nothing_is_extracted_yet(world: PipelineWorld) -> None:
    one = world.session()

    job = world.offload(one, said("I prefer tabs."))

    assert job.state is JobState.QUEUED
    assert world.job(job).state is JobState.QUEUED
    assert world.queue.pending(one.id) == 1


def test_a_full_queue_refuses_with_a_time_to_come_back_and_takes_nothing(
    world: PipelineWorld,
) -> None:
    world.configure(queue_size=2)
    one = world.session()
    for _ in range(2):
        world.offload(one, said("I prefer tabs."))

    with pytest.raises(QueueFull) as caught:
        world.offload(one, said("I prefer spaces."))

    assert 1 <= caught.value.retry_after <= 60
    assert len(world.states()) == 2
    assert len(world.queue) == 2


def test_other_sessions_and_people_cannot_offload_into_a_session(world: PipelineWorld) -> None:
    one = world.session()

    with pytest.raises(Forbidden):
        offload.submit(world, Principal("ben"), one, said("x"))
    with pytest.raises(Forbidden):
        offload.plan(world, Principal("ben"), one, None)


@pytest.mark.parametrize(("start", "end"), [(-1, 5), (9, 3)])
def test_a_range_that_is_none_is_refused(
    world: PipelineWorld, transcript: Transcript, start: int, end: int
) -> None:
    with pytest.raises(Invalid):
        world.offload(world.session(), [], transcript=transcript, start=start, end=end)
    with pytest.raises(Invalid):
        world.offload(world.session(), [])


def test_an_offload_begins_at_the_watermark_or_after_what_is_queued(
    world: PipelineWorld, transcript: Transcript
) -> None:
    one, who, path = world.session(), world.who(), str(transcript.path)
    assert offload.plan(world, who, one, path) == offload.OffloadPlan(0, None)

    turn = transcript.add("I prefer tabs.", uuid="u1")
    end = transcript.size
    world.offload(one, [turn], transcript=transcript, end=end)
    assert offload.plan(world, who, one, path) == offload.OffloadPlan(end, "u1")

    world.start()
    world.settled(one)
    assert world.store.sessions.watermark(one.id) == Watermark(one.id, end, "u1")
    assert offload.plan(world, who, one, path) == offload.OffloadPlan(end, "u1")


def test_a_starting_session_waits_for_its_own_jobs_and_for_ended_sessions_only(
    world: PipelineWorld,
) -> None:
    mine, running, ended = (world.session(name) for name in ("mine", "running", "ended"))
    for session in (mine, running, ended):
        world.offload(session, said("I prefer tabs."))
    sessions.end(world, world.who("ended"), ended)

    assert set(sessions.unsettled(world, world.who("mine"), "shop")) == {mine.id, ended.id}
    assert sessions.unsettled(world, world.who("x", "ben"), "shop") == []


def test_turns_known_by_their_id_are_extracted_once_whoever_sends_them(
    world: PipelineWorld, transcript: Transcript
) -> None:
    world.start()
    one, fork = world.session(), world.session("fork")
    turn = transcript.add("I prefer tabs over spaces.", uuid="u1")
    copied = [turn, Turn(Speaker.USER, "The CI is owned by Dana.", NOON, "u2")]

    world.offload(one, [turn, turn], transcript=transcript, end=transcript.size)
    world.offload(one, [turn], transcript=transcript, end=transcript.size)
    again = world.offload(fork, copied)
    world.settled(one, fork)

    assert world.facts(one) == {"User PREFERS tabs"}
    assert [row.confirmations for row in world.rows(Scope.session(one.id))] == [1]
    assert world.facts(fork) == {"CI OWNED_BY Dana"}
    assert world.job(again).counts["turns_known"] == 1


def test_after_a_restart_a_transcript_is_read_again_and_what_had_none_is_lost(
    world: PipelineWorld, transcript: Transcript
) -> None:
    one = world.session()
    turn = transcript.add("I prefer tabs over spaces.", uuid="u1")
    again = world.offload(one, [turn], transcript=transcript, end=transcript.size)
    lost = world.offload(one, said("The CI is owned by Dana."))
    world.die()

    world.start()
    world.settled(one)

    assert world.job(again).state is JobState.DONE
    assert world.job(lost).state is JobState.LOST
    assert world.job(lost).error
    assert world.facts(one) == {"User PREFERS tabs"}


def test_a_job_whose_transcript_is_gone_is_lost(
    world: PipelineWorld, transcript: Transcript
) -> None:
    one = world.session()
    turn = transcript.add("I prefer tabs.", uuid="u1")
    job = world.offload(one, [turn], transcript=transcript, end=transcript.size)
    transcript.path.unlink()
    world.die()

    world.start()

    assert world.job(job).state is JobState.LOST


def test_a_crash_between_the_write_and_the_watermark_adds_nothing_twice(
    world: PipelineWorld, transcript: Transcript, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = world.session()
    turn = transcript.add("I prefer tabs over spaces.", uuid="u1")
    job = world.offload(one, [turn], transcript=transcript, end=transcript.size)

    def crash(*_: object, **__: object) -> None:
        raise RuntimeError("I prefer tabs over spaces.")

    with monkeypatch.context() as patched:
        patched.setattr(world.store.sessions, "advance", crash)
        world.start()
        world.settled(one)
    assert world.job(job).error == "unforeseen: RuntimeError"
    assert world.facts(one) == {"User PREFERS tabs"}

    world.clock.pass_(minutes=2)
    upkeep(world)
    world.settled(one)
    assert world.job(job).state is JobState.DONE
    assert [row.confirmations for row in world.rows(Scope.session(one.id))] == [1]


def test_a_graceful_stop_puts_the_running_job_back_for_the_next_start(
    world: PipelineWorld, server: ModelServer, transcript: Transcript
) -> None:
    server.script(hangs)
    world.use_model(server.url, timeout_seconds=60)
    world.start()
    one = world.session()
    turn = transcript.add("I prefer tabs over spaces.", uuid="u1")
    running = world.offload(one, [turn], transcript=transcript, end=transcript.size)
    assert server.asked.acquire(timeout=10)
    alone = world.offload(one, said("The CI is owned by Dana."))
    started = time.monotonic()

    assert world.stop(1.0)

    assert time.monotonic() - started < 5
    assert world.job(running).state is JobState.QUEUED
    assert world.job(running).attempts == 0
    assert world.job(alone).state is JobState.DONE, "its turns are nowhere else: builtin took them"
    assert world.job(alone).counts["turns_left_to_builtin"] == 1
    with pytest.raises(Unavailable):
        world.offload(one, said("x"))

    server.script(facts())
    world.die()
    world.start()
    world.settled(one)
    assert world.job(running).state is JobState.DONE
    assert world.facts(one) == {"User PREFERS tabs", "CI OWNED_BY Dana"}


def test_ids_and_times_of_any_shape_are_taken(world: PipelineWorld) -> None:
    world.start()
    one = world.session()
    naive = datetime(2026, 2, 3, 4, 5)
    far = datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14)))
    turns = [
        Turn(Speaker.USER, "I prefer tabs over spaces.", naive, "i" * 300),
        Turn(Speaker.USER, "I prefer tabs over spaces.", naive, "i" * 300),
        Turn(Speaker.USER, "The CI is owned by Dana.", far, ""),
    ]

    job = world.offload(one, turns)
    world.settled(one)

    assert world.job(job).counts["turns_known"] == 1
    starts = {row.predicate: row.intervals[0].start for row in world.rows(Scope.session(one.id))}
    assert starts["PREFERS"] == naive.replace(tzinfo=UTC)
    assert starts["OWNED_BY"] == world.job(job).created_at


def test_many_sessions_at_once_lose_nothing_that_was_taken(world: PipelineWorld) -> None:
    world.configure(queue_size=4)
    world.start()
    owned = [world.session(f"s{n}") for n in range(6)]
    refused: list[QueueFull] = []

    def work(session: Session) -> None:
        for n in range(10):
            while True:
                try:
                    world.offload(session, said(f"The module m{n} is owned by Dana.", at=NOON))
                    break
                except QueueFull as full:
                    refused.append(full)
                    world.settled(*owned)  # until there is room, whoever's jobs take it

    threads = [threading.Thread(target=work, args=(session,)) for session in owned]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    world.settled(*owned)

    assert refused
    assert world.states() == [JobState.DONE] * 60
    for session in owned:
        assert len(world.facts(session)) == 10


def test_a_job_waits_for_the_disk_when_it_is_taken_when_it_has_facts_and_when_it_is_done(
    world: PipelineWorld,
) -> None:
    """The states between need no wait of their own: the next one takes them along."""
    one, ran = world.session(), list[str]()
    assert isinstance(world.store, SqliteStore)
    writer = world.store._database._writer
    writer.set_trace_callback(ran.append)
    job = world.offload(one, said("I prefer tabs over spaces."))
    world.start()
    world.settled(one)
    writer.set_trace_callback(None)

    assert world.job(job).state is JobState.DONE
    levels = [line.split()[-1] for line in ran if line.startswith("PRAGMA synchronous")]
    assert levels[0] == "FULL"
    running, facts, mark, done = levels[levels.index("NORMAL") :]
    assert (running, facts, mark, done) == ("NORMAL", "FULL", "NORMAL", "FULL")


def test_the_jobs_of_others_are_not_listed(world: PipelineWorld) -> None:
    mine = world.offload(world.session(), said("I prefer tabs."))
    world.offload(world.session("two", "ben"), said("I prefer spaces."))

    assert [job.id for job in offload.jobs(world, world.who())] == [mine.id]


def test_waiting_ends_when_the_jobs_have_run_or_the_time_is_over(world: PipelineWorld) -> None:
    one = world.session()
    world.offload(one, said("I prefer tabs."))
    assert not offload.wait_for(world, [one.id], time.monotonic() + 0.05)

    world.start()
    assert offload.wait_for(world, [one.id], time.monotonic() + 20)
    assert world.facts(one) == {"User PREFERS tabs"}


def test_a_session_that_ended_is_carried_over_by_its_last_job(world: PipelineWorld) -> None:
    one = world.session()
    world.offload(one, said("I prefer tabs over spaces.", at=NOON))
    world.offload(one, said("The CI is owned by Dana.", at=NOON))
    sessions.end(world, world.who(), one)
    assert world.facts(world.personal) == set()
    assert sessions.unsettled(world, world.who(), "shop") == [one.id]

    world.start()
    assert offload.wait_for(world, [one.id], time.monotonic() + 20)

    assert world.facts(world.personal) == {"User PREFERS tabs", "CI OWNED_BY Dana"}
    assert sessions.unsettled(world, world.who(), "shop") == []
    row = world.store.sessions.get(one.id)
    assert row is not None
    assert row.state is SessionState.ENDED

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from codesynapse.domain.graph import Limits
from codesynapse.domain.scope import Scope
from codesynapse.domain.sessions import JobState
from codesynapse.domain.turns import Speaker
from codesynapse.errors import Closed
from codesynapse.service import offload, sessions
from codesynapse.service.pipeline import upkeep
from tests.providers.server import (
    ModelServer,
    Reply,
    breaks_off,
    drips,
    facts,
    hangs,
    model_server,
    pours,
    raw,
    says,
    speaks_no_http,
    status,
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


def test_what_a_person_states_becomes_a_fact_of_the_session(world: PipelineWorld) -> None:
    world.start()
    one = world.session()

    job = world.run(one, "I prefer tabs over spaces.")

    assert job.state is JobState.DONE
    assert job.model == "builtin"
    assert job.counts["turns"] == 1
    assert job.counts["kept"] == 1
    assert job.duration_ms is not None
    assert world.facts(one) == {"User PREFERS tabs"}
    [row] = world.rows(Scope.session(one.id))
    assert (row.newest.client, row.newest.model) == ("claude-code", "builtin")
    assert (row.newest.session, row.newest.user) == (one.id, "ana")
    assert row.said_by is Speaker.USER


def test_a_fact_is_valid_from_when_it_was_said(world: PipelineWorld) -> None:
    world.start()
    one = world.session()
    last_year = NOON - timedelta(days=400)

    world.offload(one, said("I prefer tabs over spaces.", at=last_year))
    world.settled(one)

    [row] = world.rows(Scope.session(one.id))
    assert row.intervals[0].start == last_year


def test_what_is_replaced_ends_and_what_is_used_beside_it_stays(world: PipelineWorld) -> None:
    world.start()
    one = world.session()

    world.run(one, "We use Redis 7. We use npm.")
    assert world.facts(one) == {"project USES Redis 7", "project USES npm"}
    world.run(one, "Let's go with optimistic locking.")
    world.run(one, "We moved from npm to pnpm.")
    world.run(one, "OK, RQ it is.")

    assert world.facts(one) == {
        "project USES Redis 7",
        "project USES pnpm",
        "project DECIDED optimistic locking",
        "project DECIDED RQ",
    }
    assert "project USES npm" in world.facts(one, history=True)


def test_secrets_are_redacted_again_before_anything_is_extracted(
    world: PipelineWorld, server: ModelServer
) -> None:
    server.script(
        facts(("project", "USES", KEY), ("deploy key", "IS", "[redacted:aws-access-key]"))
    )
    world.use_model(server.url)
    world.start()
    one = world.session()

    job = world.run(one, f"The deploy key is {KEY}")

    assert KEY not in server.requests[0].prompt
    assert "[redacted:" in server.requests[0].prompt
    assert not any(KEY in fact or "redacted" in fact for fact in world.facts(one, history=True))
    assert job.state is JobState.DONE


def test_redaction_is_off_only_where_the_settings_say_so(
    world: PipelineWorld, server: ModelServer
) -> None:
    world.use_model(server.url)
    world.configure(allow_secrets=True)
    world.start()

    world.run(world.session(), f"The deploy key is {KEY}")

    assert KEY in server.requests[0].prompt


def test_a_models_grounded_facts_are_joined_with_those_of_builtin(
    world: PipelineWorld, server: ModelServer
) -> None:
    server.script(
        facts(
            ("reports", "GENERATED_BY", "nightly cron"),
            ("project", "USES", "Kubernetes"),
            ("user", "LIKES", "tabs"),
        )
    )
    world.use_model(server.url)
    world.start()
    one = world.session()

    job = world.run(one, "I prefer tabs over spaces. Reports come out of the nightly cron.")

    assert world.facts(one) == {"User PREFERS tabs", "reports GENERATED_BY nightly cron"}
    assert job.model == "tiny"
    assert job.counts["dropped_not_grounded"] == 1
    assert job.counts["dropped_duplicate"] == 1
    models = {row.predicate: row.newest.model for row in world.rows(Scope.session(one.id))}
    assert models == {"PREFERS": "builtin", "GENERATED_BY": "tiny"}


def test_the_model_is_given_the_names_that_are_known_here(
    world: PipelineWorld, server: ModelServer
) -> None:
    world.use_model(server.url)
    world.start()
    one = world.session()

    world.run(one, "The CI is owned by Dana.")
    world.run(one, "Hello again.")

    assert "Dana" in server.requests[1].prompt


BAD: dict[str, Reply] = {
    "prose": says("I would say you use zanzibar."),
    "thinking only": says("<think>zanzibar [1] {x}"),
    "wrong types": says('{"facts": [{"subject": 1, "predicate": [], "object": {}}, 7]}'),
    "nothing": says(None),
    "cut": says('{"facts": [{"subject": "zanz'),
    "an error": status(500),
    "no completion": raw(b'{"zanzibar": []}'),
    "broken off": breaks_off,
    "garbage": pours,
    "no http": speaks_no_http,
    "too much": says("zanzibar " * 200_000),
}


@pytest.mark.parametrize("reply", BAD.values(), ids=BAD.keys())
def test_a_bad_model_fails_the_job_with_a_reason_and_moves_nothing(
    world: PipelineWorld, server: ModelServer, transcript: Transcript, reply: Reply
) -> None:
    server.script(reply)
    world.use_model(server.url, timeout_seconds=20)
    world.start()
    one = world.session()
    turn = transcript.add("zanzibar is fine. I prefer tabs over spaces.", uuid="u1")

    job = world.job(world.offload(one, [turn], transcript=transcript, end=transcript.size))
    world.settled(one)
    job = world.job(job)

    assert job.state is JobState.FAILED
    assert job.error is not None
    assert job.error.startswith("provider_failed: ")
    assert "zanzibar" not in repr(job)
    assert job.attempts == 1
    assert world.store.sessions.watermark(one.id) is None
    assert world.facts(one) == set()
    assert offload.plan(world, world.who(), one, str(transcript.path)).offset == 0


@pytest.mark.parametrize("reply", [hangs, drips])
def test_a_model_that_never_answers_costs_its_time_and_no_more(
    world: PipelineWorld, server: ModelServer, reply: Reply
) -> None:
    server.script(reply)
    world.use_model(server.url, timeout_seconds=0.3)
    world.start()

    job = world.run(world.session(), "I prefer tabs.")

    assert job.state is JobState.FAILED
    assert job.error is not None
    assert "did not answer within 0.3 s" in job.error
    assert len(server.requests) == 1


def test_an_unusable_answer_is_asked_for_once_more_and_strictly(
    world: PipelineWorld, server: ModelServer
) -> None:
    server.script(says("no idea"), facts(("project", "RUNS_ON", "fly")))
    world.use_model(server.url)
    world.start()
    one = world.session()

    job = world.run(one, "By the way it all runs on fly these days, as you saw")

    assert job.state is JobState.DONE
    assert "project RUNS_ON fly" in world.facts(one)
    assert "could not be used" not in server.requests[0].prompt
    assert "could not be used" in server.requests[1].prompt
    assert len(server.requests) == 2
    assert job.counts["dropped_not_json"] == 1


def test_a_route_that_is_not_local_is_refused_and_asked_nothing(world: PipelineWorld) -> None:
    world.use_model("http://93.184.216.34/v1")
    world.start()

    job = world.run(world.session(), "I prefer tabs.")

    assert job.state is JobState.FAILED
    assert job.error is not None
    assert job.error.startswith("route_refused: ")


def test_after_three_failures_builtin_takes_the_turns_and_the_loss_is_counted(
    world: PipelineWorld, server: ModelServer, transcript: Transcript
) -> None:
    server.script(status(500))
    world.use_model(server.url)
    world.start()
    one = world.session()
    outcomes = []
    turn = transcript.add("I prefer tabs over spaces.", uuid="u1")
    for _ in range(4):
        job = world.offload(one, [turn], transcript=transcript, end=transcript.size)
        world.settled(one)
        outcomes.append(world.job(job))

    assert [job.state for job in outcomes] == [JobState.FAILED] * 3 + [JobState.DONE]
    assert [job.attempts for job in outcomes] == [1, 2, 3, 3]
    assert outcomes[3].model == "builtin"
    assert outcomes[3].counts["turns_left_to_builtin"] == 1
    assert world.facts(one) == {"User PREFERS tabs"}
    mark = world.store.sessions.watermark(one.id)
    assert mark is not None
    assert mark.offset == transcript.size


def test_failed_jobs_are_tried_again_from_the_transcript_without_anybody_asking(
    world: PipelineWorld, server: ModelServer, transcript: Transcript
) -> None:
    server.script(status(500))
    world.use_model(server.url)
    world.start()
    one = world.session()
    turn = transcript.add("I prefer tabs over spaces.", uuid="u1")
    job = world.offload(one, [turn], transcript=transcript, end=transcript.size)
    world.settled(one)
    assert offload.retry_failed(world) == 0, "too early"

    server.script(facts())
    world.clock.pass_(minutes=2)
    upkeep(world)
    world.settled(one)

    assert world.job(job).state is JobState.DONE
    assert world.facts(one) == {"User PREFERS tabs"}
    assert offload.retry_failed(world) == 0, "it is done"


def test_turns_without_a_transcript_are_kept_in_memory_for_the_next_attempts(
    world: PipelineWorld, server: ModelServer
) -> None:
    server.script(status(500))
    world.use_model(server.url)
    world.start()
    one = world.session()
    job = world.run(one, "I prefer tabs over spaces.")
    assert job.state is JobState.FAILED

    for _ in range(3):
        world.clock.pass_(hours=2)
        upkeep(world)
        world.settled(one)

    job = world.job(job)
    assert job.state is JobState.DONE
    assert job.counts["turns_left_to_builtin"] == 1
    assert world.facts(one) == {"User PREFERS tabs"}
    assert not world.queue.keeps(job.id)


def test_a_later_success_does_not_move_the_watermark_over_a_gap(
    world: PipelineWorld, server: ModelServer, transcript: Transcript
) -> None:
    world.use_model(server.url)
    world.start()
    one = world.session()
    first = transcript.add("I prefer tabs over spaces.", uuid="u1")
    middle = transcript.size
    second = transcript.add("The CI is owned by Dana.", uuid="u2")
    end = transcript.size

    server.script(status(503))
    world.offload(one, [first], transcript=transcript, start=0, end=middle)
    world.settled(one)
    server.script(facts())
    world.offload(one, [second], transcript=transcript, start=middle, end=end)
    world.settled(one)
    assert world.facts(one) == {"CI OWNED_BY Dana"}
    assert offload.plan(world, world.who(), one, str(transcript.path)).offset == 0

    world.offload(one, [first, second], transcript=transcript, start=0, end=end)
    world.settled(one)
    assert world.facts(one) == {"CI OWNED_BY Dana", "User PREFERS tabs"}
    assert all(row.confirmations == 1 for row in world.rows(Scope.session(one.id)))
    assert offload.plan(world, world.who(), one, str(transcript.path)).offset == end


def test_no_model_is_called_for_a_session_that_was_revoked(
    world: PipelineWorld, server: ModelServer
) -> None:
    world.use_model(server.url)
    one = world.session()
    job = world.offload(one, said("I prefer tabs over spaces."))
    sessions.revoke(world, world.who(), one)

    world.start()
    world.settled(one)

    assert world.job(job).state is JobState.FAILED
    assert world.job(job).counts["lost_turns"] == 1
    assert not server.requests
    with pytest.raises(Closed):
        world.offload(sessions.find(world, world.who(), one.id), said("more"))


def test_a_session_revoked_while_its_job_runs_keeps_nothing(
    world: PipelineWorld, server: ModelServer
) -> None:
    one = world.session()

    def revoke(handler: object, request: object) -> None:
        sessions.revoke(world, world.who(), one)
        facts()(handler, request)  # type: ignore[arg-type]

    server.script(revoke)
    world.use_model(server.url)
    world.start()

    world.run(one, "I prefer tabs over spaces.")

    assert world.facts(one, history=True) == set()
    assert world.store.facts.counts(Scope.session(one.id)).entities == 0


def test_the_daily_cap_holds_and_builtin_does_the_rest(
    world: PipelineWorld, server: ModelServer
) -> None:
    world.use_model(server.url, daily_calls=3)
    pipeline = world.start()
    one = world.session()

    job = world.offload(one, said(*(f"The part {n} is fine. " + "x" * 900 for n in range(1_000))))
    world.settled(one)
    job = world.job(job)

    assert len(server.requests) == 3
    assert (pipeline.meter().calls_today, pipeline.meter().cap) == (3, 3)
    assert job.state is JobState.DONE
    assert 900 < job.counts["turns_over_daily_cap"] < 1_000


def test_a_batch_over_a_limit_fails_whole_and_is_given_up_at_last(
    world: PipelineWorld, transcript: Transcript
) -> None:
    world.configure(limits=Limits(entities=1, facts=1))
    world.start()
    one = world.session()
    turn = transcript.add("I prefer tabs over spaces.", uuid="u1")
    rows = []
    for _ in range(4):
        job = world.offload(one, [turn], transcript=transcript, end=transcript.size)
        world.settled(one)
        rows.append(world.job(job))

    assert rows[0].error is not None
    assert rows[0].error.startswith("limit_exceeded: ")
    assert [row.state for row in rows] == [JobState.FAILED] * 3 + [JobState.DONE]
    assert rows[3].counts["lost_over_limit"] == 1
    assert world.facts(one) == set()
    assert offload.plan(world, world.who(), one, str(transcript.path)).offset == transcript.size


def test_turns_leave_no_trace_on_the_disk_or_in_a_log(
    world: PipelineWorld,
    server: ModelServer,
    transcript: Transcript,
    caplog: pytest.LogCaptureFixture,
    tmp_path: Path,
) -> None:
    marker = "zanzibar-kumquat"
    elsewhere = Transcript(tmp_path.parent / f"{tmp_path.name}-transcript.jsonl")
    turn = elsewhere.add(f"Hm, {marker}?", uuid="u1")
    server.script(says(marker), status(500), says(marker), raw(marker.encode()), facts())
    world.use_model(server.url)
    world.start()
    one = world.session()

    for _ in range(4):
        world.offload(one, [turn], transcript=elsewhere, end=elsewhere.size)
        world.settled(one)
        world.run(one, f"What about {marker}, {marker}?")
    sessions.end(world, world.who(), one)
    world.stop()
    world.store.close()

    searched = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any(path.name == "memory.db" for path in searched)
    for path in searched:
        assert marker.encode() not in path.read_bytes(), path
    assert marker not in caplog.text
    assert marker not in repr(turn)

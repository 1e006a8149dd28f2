"""Whatever fails on the way, and whoever is killed: every turn is extracted, and once."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from codesynapse.domain.scope import Scope
from codesynapse.domain.sessions import Job, JobState
from codesynapse.service import offload
from codesynapse.service.pipeline import upkeep
from codesynapse.service.rereading import reread
from tests.providers.server import ModelServer, facts, model_server, status
from tests.service.pipeline_world import NOON, PipelineWorld, Transcript, open_world

STEP = st.tuples(st.integers(1, 3), st.sampled_from(["works", "fails", "killed", "retried"]))


def offload_rest(world: PipelineWorld, transcript: Transcript) -> None:
    """What a hook does: ask where to begin, read from there, send it."""
    session, path = world.session(), str(transcript.path)
    start = offload.plan(world, world.who(), session, path).offset
    named = Job(
        "", session.id, "shop", "ana", "c", JobState.QUEUED, NOON, path, start, transcript.size
    )
    turns = reread(named).turns
    world.offload(session, turns, transcript=transcript, start=start, end=transcript.size)


def play(world: PipelineWorld, server: ModelServer, transcript: Transcript, how: str) -> None:
    session = world.session()
    server.script(status(503) if how == "fails" else facts())
    if how == "killed":
        # The worker has not begun: the job is in its row and in memory only.
        world.stop()
        world.die()
        offload_rest(world, transcript)
        world.die()
        world.start()
    else:
        offload_rest(world, transcript)
    world.settled(session)
    if how == "retried":
        world.clock.pass_(hours=1)
        upkeep(world)
        world.settled(session)


@settings(max_examples=15, deadline=None)
@given(st.lists(STEP, min_size=1, max_size=6))
def test_every_turn_is_extracted_once_whatever_fails(steps: list[tuple[int, str]]) -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        model_server() as server,
        open_world(Path(folder)) as world,
    ):
        transcript, said = Transcript(Path(folder) / "one.jsonl"), 0
        world.use_model(server.url)
        world.start()
        for exchanges, how in steps:
            for _ in range(exchanges):
                transcript.exchange(f"The module m{said} is owned by Dana.", said)
                said += 1
            play(world, server, transcript, how)

        server.script(facts())
        offload_rest(world, transcript)
        world.settled(world.session())

        session = world.session()
        assert world.facts(session) == {f"module m{n} OWNED_BY Dana" for n in range(said)}
        assert {row.confirmations for row in world.rows(Scope.session(session.id))} == {1}
        rest = offload.plan(world, world.who(), session, str(transcript.path))
        assert rest.offset == transcript.size

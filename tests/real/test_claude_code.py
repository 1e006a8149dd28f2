"""The main job inside the real Claude Code, against a scripted model on loopback."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from codesynapse.environment import Environment
from codesynapse.sdk import CodeSynapseClient
from tests.real.claude import claude_session
from tests.real.model import Answer, ModelServer, Request, model_server
from tests.real.world import World, make_repository, new_world

pytestmark = [pytest.mark.real, pytest.mark.timeout(240)]

DECISION = "We decided to use PostgreSQL 16 for the ledger database."
PREFERENCE = "I prefer tabs over spaces in this repo."
NO_FACT = "Could you look whether zanzibarquux shows up in any of the files?"


def answer(request: Request) -> Answer:
    return Answer("Understood.")


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with model_server(answer) as server:
        yield server


@pytest.fixture
def world(tmp_path: Path, model: ModelServer) -> Iterator[World]:
    with new_world(tmp_path, model) as made:
        yield made


def add_repository_fact(world: World) -> None:
    world.codesynapse("sidecar", "start")
    with CodeSynapseClient(environment=Environment(world.environment)) as client:
        repo = client.resolve(str(world.project))
        triple = {"subject": "release", "predicate": "RUNS_WITH", "object": "make ship"}
        client.add_triples(repo.id, [triple])


def test_memory_survives_a_compaction_and_reaches_the_next_session(
    world: World, model: ModelServer
) -> None:
    add_repository_fact(world)
    with world.claude() as first:
        first.say(DECISION)
        first.say(NO_FACT)
        first.say(PREFERENCE)
        first.say("Now add a function that rounds amounts.")
        assert "PostgreSQL" not in model.conversation[0].everything.replace(DECISION, "")
        first.say("/compact")
        first.say("Which database do we use?")
        after = model.conversation[-1].everything
        assert DECISION not in after, "the client itself still shows the turn"
        assert "PostgreSQL 16" in after
        assert "make ship" in after

        with world.claude() as second:
            second.say("Hello.")
            seen = model.conversation[-1].everything
            assert "make ship" in seen
            assert "PostgreSQL" not in seen

    world.codesynapse("memory", "jobs", "--json")
    with world.claude() as third:
        third.say("What do you know?")
        remembered = model.conversation[-1].everything
        assert "PostgreSQL 16" in remembered
        assert "make ship" in remembered


def test_the_compaction_prompt_is_the_clients_own(
    world: World, model: ModelServer, tmp_path: Path
) -> None:
    bare = make_repository(tmp_path / "bare")
    environment = {**world.environment, "HOME": str(tmp_path / "other home")}
    (tmp_path / "other home").mkdir()
    with claude_session(bare, environment) as without:
        without.say(DECISION)
        without.say("And now?")
        without.say("/compact")
    with world.claude() as with_us:
        with_us.say(DECISION)
        with_us.say("And now?")
        with_us.say("/compact")
    plain, ours = (request.last_user_text for request in model.summaries)
    assert plain == ours


def test_auto_compaction_at_the_installed_threshold_keeps_the_facts(tmp_path: Path) -> None:
    def nearly_full(request: Request) -> Answer:
        full = "fill it up" in request.last_user_text
        return Answer("Understood.", input_tokens=450_000 if full else None)

    with model_server(nearly_full) as model, new_world(tmp_path, model) as world:
        world.codesynapse("mcp", "hooks", "--compact-at", "30")
        with world.claude() as session:
            session.say(DECISION)
            session.say("Thanks, carry on.")
            session.say("Now fill it up.")
            session.say("Which database do we use?")
            assert model.summaries, "the threshold did not cause a compaction"
            assert "PostgreSQL 16" in model.conversation[-1].everything


def test_nothing_that_was_only_said_is_on_the_disk(world: World) -> None:
    with world.claude() as session:
        session.say(DECISION)
        session.say(NO_FACT)
        session.say("Fine.")
        session.say("/compact")
        session.say("Go on.")
    world.codesynapse("sidecar", "stop")
    files = [path for path in world.memory_home.rglob("*") if path.is_file()]
    assert any(b"postgresql" in path.read_bytes().lower() for path in files)
    assert not [path for path in files if b"zanzibarquux" in path.read_bytes()]


def test_with_the_sidecar_killed_the_session_runs_and_the_next_hook_brings_it_back(
    world: World,
) -> None:
    with world.claude() as session:
        session.say(DECISION)
        os.kill(world.status()["pid"], signal.SIGKILL)
        assert session.say("Still there?")["result"] == "Understood."
        assert session.say("/compact")["is_error"] is False
        assert session.say("And now?")["result"] == "Understood."
    assert world.status()["running"] is True


def test_with_the_sidecar_hung_the_session_runs_as_if_we_were_not_there(world: World) -> None:
    world.codesynapse("sidecar", "start")
    pid = world.status()["pid"]
    os.kill(pid, signal.SIGSTOP)
    try:
        started = time.monotonic()
        with world.claude() as session:
            assert session.say(DECISION)["result"] == "Understood."
            assert session.say("And now?")["result"] == "Understood."
            assert session.say("/compact")["is_error"] is False
            assert session.say("After?")["result"] == "Understood."
        assert time.monotonic() - started < 40
    finally:
        os.kill(pid, signal.SIGCONT)

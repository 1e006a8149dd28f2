"""The plugin inside the real Claude Code, installed from the marketplace file."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.architecture.source import ROOT
from tests.provision import CLAUDE
from tests.real.claude import ClaudeSession, claude_session
from tests.real.model import Answer, ModelServer, Request, model_server
from tests.real.world import World, make_repository

pytestmark = [pytest.mark.real, pytest.mark.timeout(240)]

PREFIX = "mcp__plugin_codesynapse_codesynapse__"
ALLOWED = ("--allowedTools", "mcp__plugin_codesynapse_codesynapse")
CALL = re.compile(r"CALL (\w+) (\S+)")


def answer(request: Request) -> Answer:
    """Calls the tool that the prompt names, then says what it answered."""
    if request.tool_results:
        return Answer("It said: " + request.tool_results)
    asked = CALL.search(request.last_user_text)
    if asked is None:
        return Answer("Understood.")
    triple = {"subject": "release", "predicate": "RUNS_WITH", "object": asked[2]}
    arguments: dict[str, dict[str, Any]] = {
        "recall_context": {"query": asked[2].replace("_", " ")},
        "upsert_graph_triples": {"triples": [triple]},
    }
    return Answer(tool=PREFIX + asked[1], arguments=arguments[asked[1]])


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with model_server(answer) as server:
        yield server


@pytest.fixture
def world(tmp_path: Path, model: ModelServer) -> Iterator[World]:
    """A machine with our program on the PATH and the plugin; the project has no hooks."""
    made = World(tmp_path, make_repository(tmp_path / "work" / "ledger"), model)
    made.home.mkdir()
    claude(made, "plugin", "marketplace", "add", str(ROOT))
    claude(made, "plugin", "install", "codesynapse@codesynapse")
    try:
        yield made
    finally:
        made.codesynapse("sidecar", "stop")


def environment(world: World) -> dict[str, str]:
    found = world.environment
    folder = world.root / "bin"
    if not folder.is_dir():
        folder.mkdir()
        program = folder / "codesynapse"
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m codesynapse "$@"\n')
        program.chmod(0o755)
    return {**found, "PATH": str(folder) + os.pathsep + found["PATH"]}


def claude(world: World, *words: str) -> str:
    done = subprocess.run([str(CLAUDE.program), *words], cwd=world.project, env=environment(world),
                          capture_output=True, text=True, encoding="utf-8", timeout=100,
                          check=False)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_plugin_and_its_marketplace_are_valid_to_the_letter(tmp_path: Path) -> None:
    made = World(tmp_path, make_repository(tmp_path / "p"), ModelServer("http://127.0.0.1:9"))
    made.home.mkdir()
    plugin = str(ROOT / "plugin" / "claude-code")
    assert "Validation passed" in claude(made, "plugin", "validate", plugin, "--strict")
    assert "Validation passed" in claude(made, "plugin", "validate", str(ROOT), "--strict")


def said(session: ClaudeSession, prompt: str) -> str:
    return str(session.say(prompt)["result"])


def test_what_one_session_keeps_a_fresh_one_is_given(world: World, model: ModelServer) -> None:
    with claude_session(world.project, environment(world), *ALLOWED) as first:
        assert "Kept 1 fact" in said(first, "CALL upsert_graph_triples make_ship")
    assert PREFIX + "recall_context" in model.conversation[0].tools
    with claude_session(world.project, environment(world), *ALLOWED) as second:
        said(second, "Hello there.")
    assert "release runs with make_ship" in model.conversation[-1].everything


def test_after_clear_the_new_session_is_asked_about_and_never_the_old(
    world: World, model: ModelServer
) -> None:
    with claude_session(world.project, environment(world), *ALLOWED) as session:
        said(session, "We decided to use PostgreSQL 16 for the ledger database.")
        said(session, "Thanks.")
        said(session, "/compact")
        assert "PostgreSQL 16" in said(session, "CALL recall_context ledger_database")
        said(session, "/clear")
        after = said(session, "CALL recall_context ledger_database")
        assert "Nothing is known" in after

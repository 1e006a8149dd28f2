from __future__ import annotations

import json
from pathlib import Path

import pytest

from codesynapse.install.mcp_clients import CLIENTS
from tests.bridge.pipe import started
from tests.sidecar.home import Home


@pytest.fixture
def project(home: Home) -> Path:
    for folder in (".cursor", ".codex", ".hermes", "project/.git"):
        (home.root / folder).mkdir(parents=True)
    return home.root / "project"


def kept(home: Home) -> dict[str, bytes]:
    return {
        str(path.relative_to(home.root)): path.read_bytes()
        for path in home.root.rglob("*")
        if path.is_file() and "codesynapse" not in path.parts
    }


def test_one_command_sets_a_repository_up_and_another_takes_it_all_out(
    home: Home, project: Path
) -> None:
    (home.root / ".codex" / "config.toml").write_bytes(b'model = "x"')
    before = kept(home)
    done = home.command("setup", str(project), "--yes")
    assert done.returncode == 0, done.stderr.decode()
    said = done.stderr.decode()
    assert "carry_over" in said  # what leaves a session is named
    assert {"project/.claude/settings.local.json", "project/AGENTS.md", ".cursor/mcp.json",
            ".codex/config.toml", ".hermes/config.yaml"} <= set(kept(home))  # fmt: skip
    again = home.command("setup", str(project), "--yes")
    assert (again.returncode, b"nothing to change" in again.stderr) == (0, True)
    assert home.command("setup", str(project), "--remove", "--yes").returncode == 0
    assert kept(home) == before


def test_a_dry_run_shows_each_change_and_makes_none(home: Home, project: Path) -> None:
    done = home.command("setup", str(project), "--dry-run")
    assert done.returncode == 0
    assert "+++ b/.claude/settings.local.json" in done.stdout.decode()
    assert "+++ b/.cursor/mcp.json" in done.stdout.decode()
    assert kept(home) == {}


def test_nobody_who_answers_is_no_consent(home: Home, project: Path) -> None:
    done = home.command("setup", str(project))
    assert done.returncode == 1
    assert kept(home) == {}
    agreed = home.command("setup", str(project), stdin=b"y\n")
    assert agreed.returncode == 0
    assert kept(home)


def test_a_file_that_cannot_be_edited_is_named_and_the_rest_is_done(
    home: Home, project: Path
) -> None:
    (home.root / ".cursor" / "mcp.json").write_bytes(b"{broken")
    done = home.command("setup", str(project), "--yes")
    assert done.returncode == 1
    assert "Cursor: refused" in done.stderr.decode()
    assert (home.root / ".cursor" / "mcp.json").read_bytes() == b"{broken"
    assert (project / "AGENTS.md").exists()


@pytest.mark.parametrize("client", ["claude-code", "cursor"])
def test_the_entry_starts_a_server_that_knows_its_client(
    home: Home, project: Path, client: str
) -> None:
    done = home.command("mcp", "install", client)
    assert done.returncode == 0, done.stderr.decode()
    settings = json.loads(CLIENTS[client].file(home.environment).read_bytes())
    entry = settings["mcpServers"]["codesynapse"]
    assert entry["env"]["CODESYNAPSE_HOME"] == home.environment.get("HOME")
    home.start()
    with started([entry["command"], *entry["args"]], project, entry["env"]) as pipe:
        assert pipe.greet("whatever")["serverInfo"]["name"] == "codesynapse"
        tools = {tool["name"] for tool in pipe.ask("tools/list")["result"]["tools"]}
        assert "recall_context" in tools
        stored = pipe.call(
            "upsert_graph_triples",
            triples=[{"subject": "a", "predicate": "USES", "object": "b"}],
        )
        assert "Kept 1" in stored
    repo = home.repository(project)
    facts = home.ask("GET", f"/v1/repos/{repo}/memory/facts").json["facts"]
    assert facts[0]["source"]["client"] == client


def test_what_to_add_by_hand_is_printed_and_nothing_written(home: Home) -> None:
    done = home.command("mcp", "install", "cursor", "--print")
    assert json.loads(done.stdout)["mcpServers"]["codesynapse"]["command"]
    assert str(home.root / ".cursor" / "mcp.json") in done.stderr.decode()
    assert kept(home) == {}

"""The plugin's files agree with the sources they are written from, and with each other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from codesynapse import __version__
from codesynapse.environment import Environment
from codesynapse.harness.beside import installed_beside
from codesynapse.install.bundled import bundled
from codesynapse.install.hook_command import VERBS, personal_command, shared_command
from codesynapse.install.hook_source import load_hooks
from codesynapse.install.plugin_hooks import plugin_hooks
from tests.architecture.source import ROOT

PLUGIN = ROOT / "plugin" / "claude-code"


def test_the_plugin_s_hooks_are_written_from_the_one_source() -> None:
    text = (PLUGIN / "hooks" / "hooks.json").read_text(encoding="utf-8")
    assert text == plugin_hooks(load_hooks()), "python -m codesynapse.install.plugin_hooks"


def test_plugin_and_program_have_one_version() -> None:
    manifest = json.loads((PLUGIN / ".claude-plugin" / "plugin.json").read_text(encoding="utf-8"))
    assert manifest["version"] == __version__


def test_the_plugin_ships_with_the_program() -> None:
    assert (bundled("plugin") / "claude-code" / ".mcp.json").is_file()


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("name", ["settings.local.json", "settings.json"])
@pytest.mark.parametrize("kind", ["personal", "shared"])
def test_the_plugin_yields_to_hooks_that_a_project_has(
    tmp_path: Path, verb: str, name: str, kind: str
) -> None:
    environment = Environment({"HOME": str(tmp_path), "CLAUDE_PROJECT_DIR": str(tmp_path / "p")})
    assert not installed_beside(verb, environment)
    script = "/a b/it's/codesynapse/harness/hook.py"
    command = shared_command(verb) if kind == "shared" else personal_command("/py", script, verb)
    folder = tmp_path / "p" / ".claude"
    folder.mkdir(parents=True)
    (folder / name).write_text(json.dumps({"hooks": {"X": [{"hooks": [{"command": command}]}]}}))
    assert installed_beside(verb, environment)


def test_hooks_of_others_make_nothing_yield(tmp_path: Path) -> None:
    folder = tmp_path / ".claude"
    folder.mkdir()
    (folder / "settings.json").write_text('{"hooks": {"Stop": [{"hooks": [{"command": "x"}]}]}}')
    environment = Environment({"HOME": str(tmp_path), "CLAUDE_PROJECT_DIR": str(tmp_path)})
    assert not installed_beside("recall", environment)

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import codesynapse
from codesynapse.cli.mcp import mcp_group
from codesynapse.errors import InstallRefused


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "a repository"
    (root / ".git").mkdir(parents=True)
    (root / "src").mkdir()
    monkeypatch.chdir(root / "src")
    return root


def run(repository: Path, *words: str) -> Result:
    home = repository.parent / "home"
    environment = {"CODESYNAPSE_HOME": str(home), "PATH": "/nowhere"}
    return CliRunner(env=environment).invoke(mcp_group, ["hooks", *words])


def test_installing_says_what_was_done_and_what_hooks_cannot_do(repository: Path) -> None:
    result = run(repository)
    assert result.exit_code == 0, result.output
    out = result.stdout
    assert "SessionStart: gives a starting, resumed or compacted session what is known" in out
    assert "cannot change the environment or the headers of an MCP client" in out
    assert "remove messages from a conversation, or force a compaction" in out
    assert "does not touch .gitignore" in out
    config = repository.parent / "home" / "config" / "config.toml"
    assert f'write carry_over = "off" into {config}' in out
    assert not (repository / ".gitignore").exists()


def test_without_a_folder_the_root_of_the_repository_is_used(repository: Path) -> None:
    run(repository)
    assert (repository / ".claude" / "settings.local.json").is_file()
    assert not (repository / "src" / ".claude").exists()


def test_a_folder_that_is_named_is_used_as_it_is(repository: Path) -> None:
    run(repository, str(repository / "src"))
    assert (repository / "src" / ".claude" / "settings.local.json").is_file()
    assert not (repository / ".claude").exists()


def test_the_command_is_the_running_interpreter_and_the_hook_script(repository: Path) -> None:
    run(repository)
    settings = json.loads((repository / ".claude" / "settings.local.json").read_text())
    command = settings["hooks"]["SessionStart"][0]["hooks"][0]["command"]
    script = Path(codesynapse.__file__).parent / "harness" / "hook.py"
    expected = [os.path.abspath(sys.executable), "-I", "-S", str(script), "recall", "||", ":"]
    assert shlex.split(command) == expected
    assert script.is_file()


def test_installing_again_changes_nothing_and_removing_gives_the_first_bytes_back(
    repository: Path,
) -> None:
    path = repository / ".claude" / "settings.local.json"
    path.parent.mkdir()
    path.write_bytes(b'\xef\xbb\xbf{\r\n\t"a" : 1 }')
    run(repository)
    once = path.read_bytes()
    assert "nothing to change" in run(repository).stdout
    assert path.read_bytes() == once
    result = run(repository, "--remove")
    assert result.exit_code == 0
    assert "removed the PreCompact hook" in result.stdout
    assert path.read_bytes() == b'\xef\xbb\xbf{\r\n\t"a" : 1 }'


def test_a_dry_run_prints_a_diff_alone_on_stdout_and_changes_nothing(repository: Path) -> None:
    result = run(repository, "--dry-run", "--per-prompt", "--compact-at", "45")
    assert result.exit_code == 0
    assert result.stdout.startswith("--- /dev/null\n+++ b/.claude/settings.local.json\n")
    assert all(line[0] in "-+@" for line in result.stdout.splitlines())
    assert '+    "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "45"' in result.stdout
    assert "UserPromptSubmit" in result.stdout
    assert "would be changed" in result.stderr
    assert not (repository / ".claude").exists()
    assert not (repository.parent / "home").exists()


def test_a_shared_install_writes_the_file_of_the_team(repository: Path) -> None:
    result = run(repository, "--shared")
    text = (repository / ".claude" / "settings.json").read_text()
    assert "command -v codesynapse >/dev/null 2>&1 && codesynapse memory recall || :" in text
    assert str(repository.parent) not in text
    assert "do nothing where there is none" in result.stdout
    assert "--shared" in run(repository, "--remove").stdout
    assert run(repository, "--remove", "--shared").exit_code == 0
    assert not (repository / ".claude").exists()


def test_a_linked_work_tree_is_named(repository: Path) -> None:
    (repository / ".git").rmdir()
    (repository / ".git").write_text("gitdir: elsewhere\n")
    assert "linked work tree" in run(repository).stdout


def test_a_refusal_leaves_the_file_and_says_where_it_is_wrong(repository: Path) -> None:
    path = repository / ".claude" / "settings.local.json"
    path.parent.mkdir()
    path.write_text('{"a": 1,}')
    for words in ((), ("--remove",), ("--dry-run",)):
        result = run(repository, *words)
        assert result.exit_code == 1
        assert isinstance(result.exception, InstallRefused)
        assert "line 1, column 8" in result.exception.message
        assert path.read_text() == '{"a": 1,}'


@pytest.mark.parametrize("words", [("--compact-at", "101"), ("--compact-at", "x"), ("/missing",)])
def test_wrong_usage_exits_2(repository: Path, words: tuple[str, ...]) -> None:
    assert run(repository, *words).exit_code == 2


def test_removing_where_nothing_is_installed_leaves_no_trace(repository: Path) -> None:
    result = run(repository, "--remove")
    assert result.exit_code == 0
    assert "nothing to change" in result.stdout
    assert not (repository / ".claude").exists()
    assert not (repository.parent / "home").exists()

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from codesynapse.cli.mcp import mcp_group
from codesynapse.errors import InstallRefused


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "repository"
    (root / ".git").mkdir(parents=True)
    monkeypatch.chdir(root)
    return root


def run(repository: Path, *words: str) -> Result:
    environment = {"CODESYNAPSE_HOME": str(repository.parent / "home")}
    return CliRunner(env=environment).invoke(mcp_group, ["agents-md", *words])


def test_the_block_is_written_checked_and_removed(repository: Path) -> None:
    assert run(repository, "--check").exit_code == 1
    assert not (repository / "AGENTS.md").exists()
    assert "AGENTS.md: block written" in run(repository).stdout
    checked = run(repository, "--check")
    assert (checked.exit_code, checked.stdout) == (0, "AGENTS.md: up to date\n")
    assert "nothing to change" in run(repository).stdout
    assert "AGENTS.md: block removed" in run(repository, "--remove").stdout
    assert [path.name for path in repository.iterdir()] == [".git"]


def test_an_outdated_block_fails_the_check_and_is_updated(repository: Path) -> None:
    path = repository / "AGENTS.md"
    path.write_text("<!-- codesynapse:begin v1 -->\nold\n<!-- codesynapse:end -->\n")
    checked = run(repository, "--check")
    assert (checked.exit_code, checked.stdout) == (1, "AGENTS.md: missing or outdated\n")
    assert "AGENTS.md: block updated" in run(repository).stdout
    assert run(repository, "--check").exit_code == 0


def test_the_check_looks_at_claude_md_as_well(repository: Path) -> None:
    run(repository)
    (repository / "CLAUDE.md").write_text("# Rules\n")
    checked = run(repository, "--check")
    assert checked.exit_code == 1
    assert "CLAUDE.md: missing or outdated" in checked.stdout
    assert (repository / "CLAUDE.md").read_text() == "# Rules\n"


def test_a_dry_run_prints_the_diff_and_changes_nothing(repository: Path) -> None:
    result = run(repository, "--dry-run")
    assert result.stdout.startswith("--- /dev/null\n+++ b/AGENTS.md\n")
    assert not (repository / "AGENTS.md").exists()


def test_an_import_is_named_as_the_reason(repository: Path) -> None:
    (repository / "CLAUDE.md").write_text("@AGENTS.md\n")
    assert "CLAUDE.md imports AGENTS.md" in run(repository).stdout


def test_broken_markers_are_refused(repository: Path) -> None:
    path = repository / "AGENTS.md"
    path.write_text("<!-- codesynapse:end -->\n")
    for words in ((), ("--remove",), ("--check",)):
        result = run(repository, *words)
        assert result.exit_code == 1
        assert isinstance(result.exception, InstallRefused)
    assert path.read_text() == "<!-- codesynapse:end -->\n"


def test_checking_and_removing_do_not_go_together(repository: Path) -> None:
    assert run(repository, "--check", "--remove").exit_code == 2

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from codesynapse.errors import InstallRefused
from codesynapse.install.agents_md import block_text, plan_block, plan_block_removal
from codesynapse.install.edit import Plan, carry_out
from codesynapse.install.hook_source import load_hooks
from tests.install.conftest import Workbench

MARK = b"codesynapse:begin"


def install(bench: Workbench) -> Plan:
    return carry_out(bench.project, bench.paths, lambda: plan_block(bench.project, block_text()))


def remove(bench: Workbench) -> Plan:
    return carry_out(bench.project, bench.paths, lambda: plan_block_removal(bench.project))


def count(path: Path) -> int:
    return path.read_bytes().count(MARK)


def test_a_repository_without_either_file_gets_agents_md_and_gives_it_back(
    bench: Workbench,
) -> None:
    install(bench)
    assert count(bench.folder / "AGENTS.md") == 1
    assert not (bench.folder / "CLAUDE.md").exists()
    assert install(bench).changes is False
    remove(bench)
    assert [path.name for path in bench.folder.iterdir()] == [".git"]


def test_an_empty_file_that_was_there_stays(bench: Workbench) -> None:
    (bench.folder / "AGENTS.md").touch()
    install(bench)
    remove(bench)
    assert (bench.folder / "AGENTS.md").read_bytes() == b""


@pytest.mark.parametrize(
    "text",
    [
        "@AGENTS.md\n",
        "See @./AGENTS.md.\n",
        "# Rules\r\n- @AGENTS.md\r\n",
        "\ufeff@AGENTS.md",
        "`code` @AGENTS.md\n",
        "a ` stray\n\n@AGENTS.md\n",
        "```\ncode\n```\n@AGENTS.md\n",
        "@docs/rules.md\n",
    ],
)
def test_claude_md_that_imports_is_left_alone(bench: Workbench, text: str) -> None:
    claude = bench.folder / "CLAUDE.md"
    claude.write_bytes(text.encode())
    (bench.folder / "docs").mkdir()
    (bench.folder / "docs" / "rules.md").write_text("@../AGENTS.md")
    install(bench)
    assert claude.read_bytes() == text.encode()
    assert count(bench.folder / "AGENTS.md") == 1
    remove(bench)
    assert claude.read_bytes() == text.encode()


@pytest.mark.parametrize(
    "text",
    [
        "# Rules\n",
        "",
        "```\n@AGENTS.md\n```\n",
        "Write `@AGENTS.md` to import.\n",
        "<!-- @AGENTS.md -->\n",
        "mail me@AGENTS.md\n",
        "@AGENTS.md.bak @docs/AGENTS.md @missing.md\n",
        "@CLAUDE.md\n",
    ],
)
def test_claude_md_that_does_not_import_gets_the_block_too(bench: Workbench, text: str) -> None:
    claude = bench.folder / "CLAUDE.md"
    claude.write_text(text)
    install(bench)
    assert count(claude) == count(bench.folder / "AGENTS.md") == 1
    remove(bench)
    assert claude.read_text() == text
    assert not (bench.folder / "AGENTS.md").exists()


@pytest.mark.parametrize(("real", "link"), [("AGENTS.md", "CLAUDE.md"), ("CLAUDE.md", "AGENTS.md")])
def test_a_link_between_the_two_holds_one_block(bench: Workbench, real: str, link: str) -> None:
    (bench.folder / real).write_text("# Rules")
    (bench.folder / link).symlink_to(real)
    install(bench)
    assert (bench.folder / link).is_symlink()
    assert count(bench.folder / real) == 1
    assert install(bench).changes is False
    remove(bench)
    assert (bench.folder / real).read_text() == "# Rules"
    assert (bench.folder / link).is_symlink()


def test_a_copy_stays_a_copy(bench: Workbench) -> None:
    agents, claude = bench.folder / "AGENTS.md", bench.folder / "CLAUDE.md"
    agents.write_text("# Rules\n")
    shutil.copy(agents, claude)
    install(bench)
    assert agents.read_bytes() == claude.read_bytes()
    assert count(agents) == 1
    # Copied again with the block in it: still one, and no second is added.
    shutil.copy(agents, claude)
    assert install(bench).changes is False
    remove(bench)
    assert agents.read_text() == claude.read_text() == "# Rules\n"


def test_an_import_written_later_takes_the_second_block_out(bench: Workbench) -> None:
    claude = bench.folder / "CLAUDE.md"
    claude.write_text("# Rules\n")
    install(bench)
    claude.write_bytes(b"@AGENTS.md\n" + claude.read_bytes())
    install(bench)
    assert claude.read_text() == "@AGENTS.md\n# Rules\n"


def test_broken_markers_in_one_file_leave_both_untouched(bench: Workbench) -> None:
    claude = bench.folder / "CLAUDE.md"
    claude.write_text("<!-- codesynapse:begin v1 -->\n")
    with pytest.raises(InstallRefused, match=r"markers in CLAUDE\.md"):
        install(bench)
    assert not (bench.folder / "AGENTS.md").exists()
    assert claude.read_text() == "<!-- codesynapse:begin v1 -->\n"


def test_a_link_out_of_the_repository_leaves_both_untouched(
    bench: Workbench, tmp_path: Path
) -> None:
    outside = tmp_path / "CLAUDE.md"
    outside.write_text("# Mine\n")
    (bench.folder / "CLAUDE.md").symlink_to(outside)
    with pytest.raises(InstallRefused, match="symbolic link out of the repository"):
        install(bench)
    assert outside.read_text() == "# Mine\n"
    assert not (bench.folder / "AGENTS.md").exists()


def test_the_text_is_plain_ascii_and_holds_no_marker() -> None:
    text = block_text()
    assert text.isascii()
    assert "codesynapse:" not in text


def test_the_text_names_only_commands_that_exist() -> None:
    named = set(re.findall(r"`(codesynapse [a-z ]+)", block_text()))
    assert {command.strip() for command in named} == {
        "codesynapse memory recall",
        "codesynapse memory facts",
        "codesynapse memory history",
    }


def test_an_installation_without_its_files_says_so(tmp_path: Path) -> None:
    with pytest.raises(InstallRefused, match="cannot be read"):
        block_text(tmp_path)
    with pytest.raises(InstallRefused, match="is damaged"):
        load_hooks(tmp_path)
    (tmp_path / "events.json").write_text('{"Stop": {"run": "rm", "timeout": 1, "does": "x"}}')
    with pytest.raises(InstallRefused, match="does not exist: rm"):
        load_hooks(tmp_path)

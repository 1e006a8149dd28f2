from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from codesynapse.errors import InstallRefused
from codesynapse.install.edit import FileEdit, Plan, carry_out, open_target, preview
from codesynapse.install.lock import locked
from codesynapse.install.project import Project, find_project
from tests.install.conftest import Workbench

NAME = ".claude/settings.local.json"


def test_a_link_out_of_the_repository_is_refused(bench: Workbench, tmp_path: Path) -> None:
    outside = tmp_path / "outside.json"
    outside.write_text("{}")
    bench.settings().parent.mkdir()
    bench.settings().symlink_to(outside)
    with pytest.raises(InstallRefused, match="symbolic link out of the repository"):
        bench.install()
    assert outside.read_text() == "{}"
    assert bench.settings().is_symlink()


def test_a_linked_folder_that_leads_out_is_refused(bench: Workbench, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    bench.settings().parent.symlink_to(tmp_path / "outside")
    with pytest.raises(InstallRefused, match="symbolic link out of the repository"):
        bench.install()
    assert list((tmp_path / "outside").iterdir()) == []


def test_a_link_within_the_repository_stays_a_link(bench: Workbench) -> None:
    real = bench.folder / "settings.json"
    real.write_bytes(b'{"a": 1}')
    bench.settings().parent.mkdir()
    bench.settings().symlink_to("../settings.json")
    bench.install()
    assert bench.settings().is_symlink()
    assert b"SessionStart" in real.read_bytes()
    bench.remove()
    assert bench.settings().is_symlink()
    assert real.read_bytes() == b'{"a": 1}'


def test_a_link_in_a_circle_is_refused(bench: Workbench) -> None:
    bench.settings().parent.mkdir()
    bench.settings().symlink_to(bench.settings().name)
    with pytest.raises(InstallRefused, match="cannot be read"):
        bench.install()


def test_what_is_no_file_is_refused(bench: Workbench) -> None:
    bench.settings().mkdir(parents=True)
    with pytest.raises(InstallRefused, match="not a regular file"):
        bench.install()
    bench.settings().rmdir()
    os.mkfifo(bench.settings())
    with pytest.raises(InstallRefused, match="not a regular file"):
        bench.install()


def test_a_file_where_a_folder_should_be_is_refused(bench: Workbench) -> None:
    bench.settings().parent.write_text("mine")
    with pytest.raises(InstallRefused):
        bench.install()
    assert bench.settings().parent.read_text() == "mine"


def test_a_read_only_file_is_refused_even_for_root(bench: Workbench) -> None:
    path = bench.write(b"{}")
    path.chmod(0o444)
    with pytest.raises(InstallRefused, match="is read-only"):
        bench.install()
    assert path.read_bytes() == b"{}"


@pytest.mark.parametrize("there", [True, False])
def test_a_read_only_folder_is_refused_even_for_root(bench: Workbench, there: bool) -> None:
    if there:
        bench.write(b"{}")
    folder = bench.settings().parent if there else bench.folder
    folder.chmod(0o555)
    try:
        with pytest.raises(InstallRefused, match="is read-only"):
            bench.install()
    finally:
        folder.chmod(0o755)
    assert not bench.home.exists()


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o755])
def test_the_mode_of_a_file_stays(bench: Workbench, mode: int) -> None:
    path = bench.write(b"{}")
    path.chmod(mode)
    bench.install()
    assert stat.S_IMODE(path.stat().st_mode) == mode
    bench.remove()
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_failure_on_the_way_puts_everything_back(bench: Workbench) -> None:
    first, second = bench.folder / "new" / "first", bench.folder / "second"
    second.mkdir()
    plan = Plan(
        (
            FileEdit(first, "first", None, b"one"),
            # A folder cannot be written over: this fails after the first edit was made.
            FileEdit(second / "x" / "y", "y", None, b"two"),
        )
    )
    (second / "x").write_text("in the way")
    with pytest.raises(InstallRefused, match="cannot be written"):
        carry_out(bench.project, bench.paths, lambda: plan)
    assert not first.parent.exists()
    assert (second / "x").read_text() == "in the way"


def test_a_file_that_changes_meanwhile_is_planned_again(bench: Workbench) -> None:
    path = bench.folder / "file"
    path.write_bytes(b"a")
    written = iter([b"b", b"c"])

    def plan() -> Plan:
        target = open_target(bench.project, "file")
        if (other := next(written, None)) is not None:
            path.write_bytes(other)
        return Plan((FileEdit(target.path, "file", target.data, (target.data or b"") + b"!"),))

    carry_out(bench.project, bench.paths, plan)
    assert path.read_bytes() == b"c!"
    assert [entry.name for entry in bench.folder.iterdir() if entry.is_file()] == ["file"]


def test_a_file_that_never_rests_is_given_up(bench: Workbench) -> None:
    path = bench.folder / "file"
    count = 0

    def plan() -> Plan:
        nonlocal count
        count += 1
        path.write_text(str(count))
        return Plan((FileEdit(path, "file", b"", b"!"),))

    with pytest.raises(InstallRefused, match="keep changing"):
        carry_out(bench.project, bench.paths, plan)
    assert path.read_text() == str(count)


def test_what_a_killed_installer_left_is_cleared(bench: Workbench) -> None:
    path = bench.write(b"{}")
    path.with_name(f".{path.name}.codesynapse-new").write_text("half")
    bench.install()
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_the_lock_is_held_by_one_and_leaves_nothing(bench: Workbench) -> None:
    with (
        locked(bench.folder, bench.paths),
        pytest.raises(InstallRefused, match="another installer"),
        locked(bench.folder, bench.paths, wait_seconds=0.0),
    ):
        pass
    with locked(bench.folder, bench.paths, wait_seconds=0.0):
        assert [entry.name for entry in bench.folder.iterdir()] == [".git"]


def test_a_second_installer_waits_for_the_first(bench: Workbench) -> None:
    order: list[str] = []
    held, waiting = threading.Event(), threading.Event()

    def second() -> None:
        assert held.wait(10)
        waiting.set()
        with locked(bench.folder, bench.paths):
            order.append("second")

    thread = threading.Thread(target=second)
    thread.start()
    with locked(bench.folder, bench.paths):
        held.set()
        assert waiting.wait(10)
        order.append("first")
    thread.join(10)
    assert order == ["first", "second"]


_INSTALL = """
import sys
from codesynapse.cli.mcp import mcp_group
sys.stdin.readline()
mcp_group(sys.argv[1:])
"""


@pytest.mark.processes
def test_two_installers_at_once_both_end_up_in(bench: Workbench) -> None:
    path = bench.write(b'{\n\t"a": 1\n}\n')
    wanted: list[list[str]] = [
        ["hooks", "--per-prompt", "--compact-at", "0"],
        ["hooks", "--compact-at", "40"],
        ["agents-md"],
        ["agents-md"],
    ]
    running = [
        subprocess.Popen(
            [sys.executable, "-c", _INSTALL, *words, str(bench.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "CODESYNAPSE_HOME": str(bench.home)},
        )
        for words in wanted
    ]
    for process in running:
        assert process.stdin is not None
        process.stdin.write(b"\n")
        process.stdin.flush()
    outputs = [process.communicate(timeout=60)[0] for process in running]
    assert [process.returncode for process in running] == [0] * 4, outputs
    data = path.read_bytes()
    assert b'"UserPromptSubmit"' in data
    assert b'"40"' in data
    assert data.count(b"SessionStart") == 1
    assert (bench.folder / "AGENTS.md").read_bytes().count(b"codesynapse:begin") == 1
    bench.remove()
    assert path.read_bytes() == b'{\n\t"a": 1\n}\n'


def test_a_preview_names_what_is_made_and_what_goes() -> None:
    plan = Plan(
        (
            FileEdit(Path("/x"), "x", None, b"one\n"),
            FileEdit(Path("/y"), "y", b"two\r\nthree", None),
            FileEdit(Path("/z"), "z", b"same", b"same"),
            FileEdit(Path("/r"), "r", None, b"record", private=True),
        )
    )
    assert preview(plan) == (
        "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+one\n"
        "--- a/y\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-two\r\n-three\n\\ No newline at end of file\n"
    )


def test_the_repository_is_found_from_a_subfolder(tmp_path: Path) -> None:
    root = tmp_path / "repository"
    (root / ".git").mkdir(parents=True)
    (root / "a" / "b").mkdir(parents=True)
    assert find_project(None, root / "a" / "b") == Project(root, root)
    assert find_project(root / "a", root) == Project(root / "a", root)
    assert find_project(None, tmp_path) == Project(tmp_path, tmp_path)


def test_a_linked_work_tree_is_a_root_and_known_as_one(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / ".git").write_text("gitdir: /elsewhere/.git/worktrees/x\n")
    found = find_project(None, tmp_path / "sub")
    assert found == Project(tmp_path, tmp_path, linked_worktree=True)


def test_a_project_reached_by_a_link_is_the_real_one(tmp_path: Path) -> None:
    (tmp_path / "real" / ".git").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real")
    assert find_project(tmp_path / "link", tmp_path).folder == tmp_path / "real"


def test_what_is_no_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InstallRefused, match="is not a folder"):
        find_project(tmp_path / "missing", tmp_path)

"""The token and state files: who may read them, and what becomes of odd ones."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from codesynapse.environment import Environment
from codesynapse.link.state import Endpoint, clear_state, process_start, read_state, write_state
from codesynapse.link.token import ensure_token, read_token
from codesynapse.paths import Paths
from tests.sidecar.home import wait_until


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    return Environment({"CODESYNAPSE_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)})


@pytest.fixture
def paths(environment: Environment) -> Paths:
    return Paths(environment)


def mode(path: str) -> int:
    return os.stat(path).st_mode & 0o777


def test_a_token_is_made_once_for_its_owner_alone(environment: Environment, paths: Paths) -> None:
    before = os.umask(0o022)
    try:
        token = ensure_token(environment, paths)
    finally:
        os.umask(before)
    assert ensure_token(environment, paths) == token == read_token(environment, paths)
    assert (mode(paths.token_file), mode(paths.config)) == (0o600, 0o700)
    assert os.listdir(paths.config) == ["token"]


def test_ten_makers_at_once_end_with_one_token(environment: Environment, paths: Paths) -> None:
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(ensure_token(environment, paths)))
               for _ in range(10)]  # fmt: skip
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 10
    assert set(found) == {read_token(environment, paths)}


def test_the_environments_token_wins(tmp_path: Path, paths: Paths) -> None:
    given = Environment({"CODESYNAPSE_API_TOKEN": "given", "HOME": str(tmp_path)})
    assert read_token(given, paths) == "given"


def test_a_token_that_others_can_read_is_refused(environment: Environment, paths: Paths) -> None:
    ensure_token(environment, paths)
    os.chmod(paths.token_file, 0o640)
    with pytest.raises(PermissionError, match="can be read by others"):
        read_token(environment, paths)


def test_a_token_behind_a_link_is_not_followed(
    environment: Environment, paths: Paths, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("stolen")
    os.makedirs(paths.config)
    os.symlink(elsewhere, paths.token_file)
    assert read_token(environment, paths) is None


def test_the_state_says_what_was_written_and_only_its_owner_reads_it(paths: Paths) -> None:
    write_state(paths, Endpoint("127.0.0.1", 8787, 42, "1.2.3", 99.5, "777"))
    found = read_state(paths)
    assert found is not None
    assert (found.url, found.pid, found.version, found.started, found.ticks) == (
        "http://127.0.0.1:8787", 42, "1.2.3", 99.5, "777")  # fmt: skip
    assert mode(paths.state_file) == 0o600


@pytest.mark.parametrize("text", ["", "port=abc\npid=1\nhost=x", "\0\0", "pid=1", "=\n=="])
def test_a_state_that_says_nothing_usable_is_none(paths: Paths, text: str) -> None:
    os.makedirs(paths.state)
    Path(paths.state_file).write_text(text)
    assert read_state(paths) is None


def test_only_the_process_that_wrote_the_state_takes_it_away(paths: Paths) -> None:
    write_state(paths, Endpoint("127.0.0.1", 1, 42))
    clear_state(paths, 43)
    assert read_state(paths) is not None
    clear_state(paths, 42)
    clear_state(paths, 42)
    assert read_state(paths) is None


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc here")
def test_a_process_has_a_mark_that_a_gone_one_has_not() -> None:
    assert process_start(os.getpid()).isdigit()
    assert process_start(2**22 + 1) == ""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc here")
def test_a_process_that_has_ended_and_was_not_waited_for_has_no_mark() -> None:
    child = subprocess.Popen([sys.executable, "-S", "-c", "pass"], stdout=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.read()
    try:
        wait_until(lambda: process_start(child.pid) == "", what="its end")
    finally:
        child.communicate(timeout=20)

"""Ends of every kind: killed, told to, idle, without a home. What was acknowledged is kept."""

from __future__ import annotations

import os
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from codesynapse.link.state import read_state
from codesynapse.paths import private_folder
from codesynapse.sidecar.binding import Lock
from tests.sidecar.home import Home, wait_until
from tests.sidecar.life import HOOK, Life
from tests.sidecar.load import Load, kept_facts, register

pytestmark = pytest.mark.processes

BOUND = 12.0  # seconds that an end may take: answers under way, the running job, the store


def jobs(home: Home) -> dict[str, str]:
    answer = home.ask("GET", "/v1/memory/jobs")
    assert answer.status == 200, answer
    return {job["id"]: job["state"] for job in answer.json["jobs"]}


def settled(home: Home) -> bool:
    return not {"queued", "running"} & set(jobs(home).values())


def is_whole(home: Home) -> bool:
    with closing(sqlite3.connect(f"file:{home.paths.database}?mode=ro", uri=True)) as file:
        return bool(file.execute("PRAGMA integrity_check").fetchone() == ("ok",))


def test_kill_9_twenty_times_under_load_loses_nothing_that_was_acknowledged(life: Life) -> None:
    draw = random.Random(20)
    life.hook("recall")
    life.wait_for_one()
    repo = life.repository()
    register(life, repo)
    with Load(life, repo, writers=7) as load:
        for _ in range(20):
            load.wait_for(draw.randrange(1, 25))
            pid = life.endpoint.pid
            os.kill(pid, signal.SIGKILL)
            life.wait_for_end(pid)
            assert life.pids() == [], "nothing that it started outlives it"
            life.hook("recall")
            assert life.wait_for_one() != pid
        load.wait_for(5)
    assert load.facts <= kept_facts(life, repo)
    wait_until(lambda: settled(life), what="the end of every job")
    states = jobs(life)
    assert {states[job] for job in load.jobs if job in states} == {"done"}
    assert len(load.jobs & set(states)) == min(len(load.jobs), 200)
    assert is_whole(life)


def test_a_signal_under_load_ends_it_in_time_and_keeps_what_was_acknowledged(home: Home) -> None:
    process = home.start()
    repo = home.repository()
    register(home, repo)
    with Load(home, repo, writers=6) as load:
        load.wait_for(100)
        process.send_signal(signal.SIGTERM)
        started = time.monotonic()
        assert home.end(process, BOUND)[0] == 0
        assert time.monotonic() - started < BOUND
    assert read_state(home.paths) is None
    home.start()
    assert load.facts <= kept_facts(home, repo)
    wait_until(lambda: settled(home), what="the end of every job")
    states = jobs(home)
    assert {states[job] for job in load.jobs if job in states} == {"done"}
    assert is_whole(home)


def test_a_hook_that_comes_while_one_ends_starts_the_next_one(life: Life) -> None:
    """It serves no more and holds its lock until its store is closed."""
    private_folder(life.paths.state)
    ending = Lock(life.paths.lock_file)
    assert ending.take()
    assert life.hook("recall", "--prompt").out == b""
    (waiting,) = life.pids()
    ending.release()
    assert life.wait_for_one() == waiting


def test_a_second_signal_and_an_open_connection_do_not_keep_it(home: Home) -> None:
    process = home.start()
    with socket.create_connection((home.endpoint.host, home.endpoint.port)) as open_:
        open_.sendall(b"POST /v1/repos/resolve HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Le")
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGTERM)
        assert home.end(process, BOUND)[0] == 0


def test_one_that_ended_idle_is_back_with_the_next_hook(life: Life) -> None:
    life.configure("idle_end_seconds = 0.4\n")
    life.hook("recall")
    wait_until(lambda: read_state(life.paths) is not None, what="its start")
    wait_until(lambda: life.pids() == [], what="its end")
    assert "nobody asked for long" in life.log
    assert read_state(life.paths) is None
    life.configure("")
    life.hook("recall")
    life.wait_for_one()


@pytest.mark.parametrize("how", ["moved", "removed"])
def test_one_whose_home_is_gone_ends_and_the_next_hook_starts_another(life: Life, how: str) -> None:
    life.hook("recall")
    older = life.wait_for_one()
    folder = Path(life.environment.get("HOME") or "")
    if how == "moved":
        folder.rename(folder.with_name("elsewhere"))
    else:
        shutil.rmtree(folder)
    life.hook("offload")
    life.hook("recall")
    life.wait_for_end(older)
    assert life.wait_for_one() != older


def test_one_whose_file_of_facts_is_gone_ends(life: Life) -> None:
    life.hook("recall")
    older = life.wait_for_one()
    Path(life.paths.database).unlink()
    life.wait_for_end(older)
    assert "its home is gone" in life.log


@pytest.fixture(params=["a file", "no place", "read-only"])
def useless(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A home that cannot be written."""
    if request.param == "a file":
        (tmp_path / "file").write_text("")
        return str(tmp_path / "file" / "home")
    if request.param == "no place":
        return "/proc/codesynapse"
    if os.geteuid() == 0:  # to whom no folder is read-only, but a kernel's own file system is
        return "/sys/codesynapse"
    folder = tmp_path / "sealed"
    folder.mkdir(mode=0o500)
    return str(folder / "home")


def test_a_home_that_cannot_be_written_is_said_and_breaks_no_hook(life: Life, useless: str) -> None:
    for words in (("recall",), ("recall", "--prompt"), ("offload",), ("offload", "--end")):
        ran = life.hook(*words, variables={"CODESYNAPSE_HOME": useless})
        assert ran.out == b""
        assert ran.err.startswith(f"codesynapse: {words[0]}: ")
        assert ran.err.count("\n") == 1
    assert life.hook("bind", variables={"CODESYNAPSE_HOME": useless}).out == b""
    done = life.command("sidecar", "run", variables={"CODESYNAPSE_HOME": useless})
    assert done.returncode == 1
    assert b"cannot be used" in done.stderr
    assert b"unforeseen" not in done.stderr
    assert life.pids() == []


def test_a_hook_and_a_sidecar_leave_no_warning(life: Life) -> None:
    """With every warning an error, as python -X dev shows them."""
    variables = {"PYTHONDEVMODE": "1", "PYTHONWARNINGS": "error"}
    process = life.start(**variables)
    for words in ("recall", "offload", "bind"):
        done = subprocess.run(
            [sys.executable, "-X", "dev", "-W", "error", str(HOOK), words], input=life.payload(),
            capture_output=True, env=life.environment.child(**variables), timeout=30, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, b"")
    process.send_signal(signal.SIGTERM)
    code, said = life.end(process)
    assert (code, said.replace("codesynapse: it was told to end\n", "")) == (0, "")

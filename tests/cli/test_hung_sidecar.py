"""The commands of a sidecar that runs and does not answer: quick, clear, and they get rid of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator

import pytest

from tests.sidecar.home import Home

pytestmark = pytest.mark.processes

SLACK = 2.0  # for the interpreter's start on a busy machine


@pytest.fixture
def hung(home: Home) -> Iterator[subprocess.Popen[bytes]]:
    process = home.start()
    process.send_signal(signal.SIGSTOP)
    yield process
    if process.poll() is None:
        process.send_signal(signal.SIGCONT)


def test_status_of_a_hung_one_comes_soon_and_says_so(
    home: Home, hung: subprocess.Popen[bytes]
) -> None:
    started = time.monotonic()
    done = home.command("sidecar", "status")
    assert time.monotonic() - started < 2.0 + SLACK
    assert (done.returncode, done.stdout) == (1, b"")
    said = done.stderr.decode()
    assert f"process {hung.pid}, runs and does not answer" in said
    assert "codesynapse sidecar stop" in said


def test_status_of_a_hung_one_as_json(home: Home, hung: subprocess.Popen[bytes]) -> None:
    done = home.command("sidecar", "status", "--json")
    found = json.loads(done.stdout)
    assert (done.returncode, found["running"]) == (1, False)
    assert str(hung.pid) in found["error"]


def test_stop_ends_a_hung_one_and_the_next_one_starts(
    home: Home, hung: subprocess.Popen[bytes]
) -> None:
    started = time.monotonic()
    done = home.command("sidecar", "stop")
    assert time.monotonic() - started < 8.0 + SLACK
    assert (done.returncode, done.stdout) == (0, b"")
    assert "did not answer and was killed" in done.stderr.decode()
    assert hung.wait(10) == -signal.SIGKILL
    assert home.command("sidecar", "status").returncode == 1
    home.start()
    assert home.command("sidecar", "status").returncode == 0


def test_stop_of_one_elsewhere_that_does_not_answer_leaves_ours_alone(home: Home) -> None:
    ours = home.start()
    done = home.command("sidecar", "stop", variables={"CODESYNAPSE_API_URL": "http://127.0.0.1:9"})
    assert done.returncode == 1
    assert b"does not answer" in done.stderr
    assert ours.poll() is None


def test_stop_never_kills_a_process_that_is_not_known_to_be_ours(home: Home) -> None:
    """A process id that was used again: its start is another one's."""
    home.stop(home.start())
    bystander = subprocess.Popen(["sleep", "60"])
    try:
        text = f"host=127.0.0.1\nport=1\npid={bystander.pid}\nversion=0\nticks=1\nstarted=1\n"
        with open(home.paths.state_file, "w", encoding="ascii") as file:
            file.write(text)
        done = home.command("sidecar", "stop")
        assert (done.returncode, done.stderr) == (0, b"codesynapse: no sidecar runs\n")
        assert bystander.poll() is None
        os.kill(bystander.pid, 0)
    finally:
        bystander.kill()
        bystander.wait()

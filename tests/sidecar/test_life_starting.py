"""Hooks find the sidecar or start one, whatever they find: exit 0, in time, one sidecar."""

from __future__ import annotations

import http.server
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from codesynapse import __version__
from codesynapse.link.state import Endpoint, read_state, write_state
from tests.harness.server import silent_port
from tests.sidecar.home import Home, wait_until
from tests.sidecar.life import HOOK, Life, newer_package

pytestmark = pytest.mark.processes


def remember(home: Home, name: str = "billing") -> str:
    """Keep a fact that a recall injects; returns the repository."""
    repo = home.repository()
    body = {"triples": [{"subject": name, "predicate": "LISTENS_ON", "object": "port 8443"}]}
    answer = home.ask("POST", f"/v1/repos/{repo}/memory/triples", body)
    assert answer.status == 200, answer
    return repo


def test_the_first_hook_after_boot_starts_it_and_the_next_one_knows(life: Life) -> None:
    first = life.hook("recall")
    assert (first.out, first.err) == (b"", "")
    pid = life.wait_for_one()
    remember(life)
    assert "8443" in life.hook("recall").context
    assert life.wait_for_one() == pid
    assert os.stat(f"/proc/{pid}").st_uid == os.getuid()
    assert parent_of(pid) != os.getpid()


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_bytes().rsplit(b") ", 1)[1].split()[1])


@pytest.mark.parametrize("ticks", ["", "1"])
def test_a_stale_state_file_is_passed_over(life: Life, ticks: str) -> None:
    """A port that nobody has; a pid that is gone, or that another process has by now."""
    write_state(life.paths, Endpoint("127.0.0.1", 1, os.getpid(), __version__, 0.0, ticks))
    life.hook("recall")
    life.wait_for_one()


@pytest.fixture
def foreign() -> Iterator[tuple[int, list[str]]]:
    """A server of somebody else that answers 200 to everything, and what it was sent."""
    seen: list[str] = []

    class Friendly(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            seen.append(f"{self.requestline}\n{self.headers}{body!r}")
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            return

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Friendly)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield server.server_address[1], seen
    server.shutdown()
    server.server_close()
    thread.join(10)


@pytest.mark.parametrize("verb", ["recall", "offload"])
def test_a_foreign_server_where_ours_was_is_sent_a_question_and_left_alone(
    life: Life, foreign: tuple[int, list[str]], verb: str
) -> None:
    port, seen = foreign
    write_state(life.paths, Endpoint("127.0.0.1", port, os.getpid(), __version__))
    life.hook(
        verb,
        stdin=life.payload("s", note="zanzibarquux"),
        variables={"CODESYNAPSE_PORT": str(port)},
    )
    life.wait_for_one()
    assert life.endpoint.port != port
    assert seen
    for request in seen:
        assert request.startswith("GET /healthz ")
        assert request.endswith("b''")
        assert life.token not in request
        assert "zanzibarquux" not in request
    life.hook(verb)
    assert life.hook("recall").err == ""


def test_a_silent_server_where_ours_was_keeps_nobody_from_starting_one(life: Life) -> None:
    with silent_port() as port:
        write_state(life.paths, Endpoint("127.0.0.1", port, os.getpid(), __version__))
        life.hook("recall", variables={"CODESYNAPSE_PORT": str(port)})
        life.wait_for_one()
        assert life.endpoint.port != port
        remember(life)
        assert "8443" in life.hook("recall").context


def test_a_state_file_that_is_lost_or_overwritten_is_written_again(life: Life) -> None:
    life.hook("recall")
    pid = life.wait_for_one()
    remember(life)
    Path(life.paths.state_file).unlink()
    assert life.wait_for_one() == pid
    write_state(life.paths, Endpoint("127.0.0.1", 1, os.getpid(), __version__))
    assert life.wait_for_one() == pid
    assert "8443" in life.hook("recall").context


def test_many_hooks_at_once_start_one(life: Life) -> None:
    with ThreadPoolExecutor(6) as pool:
        ran = list(pool.map(lambda n: life.hook("recall", stdin=life.payload(f"s{n}")), range(6)))
    assert {one.out for one in ran} == {b""}
    pid = life.wait_for_one()
    assert life.log.count(" serves on ") == 1
    remember(life)
    assert life.wait_for_one() == pid


def test_a_newer_version_s_hook_takes_the_older_one_s_place_once(
    life: Life, tmp_path: Path
) -> None:
    newer = newer_package(tmp_path)
    script = newer / "codesynapse" / "harness" / "hook.py"
    life.hook("recall")
    older = life.wait_for_one()
    remember(life)
    life.hook("recall", script=script, variables={"PYTHONPATH": str(newer)})
    wait_until(lambda: life.serves() and life.endpoint.version == "99.0", what="the newer one")
    pid = life.wait_for_one()
    assert pid != older
    assert (
        "8443" in life.hook("recall", script=script, variables={"PYTHONPATH": str(newer)}).context
    )
    assert "8443" in life.hook("recall").context, "the older hook uses the newer sidecar"
    for words in (("offload",), ("bind",)):
        life.hook(*words)
    assert life.wait_for_one() == pid
    assert life.log.count(" serves on ") == 2


def test_a_newer_hook_whose_sidecar_stays_old_goes_on_with_that(life: Life, tmp_path: Path) -> None:
    """Its package is not the one that this Python starts."""
    newer = newer_package(tmp_path)
    script = newer / "codesynapse" / "harness" / "hook.py"
    life.hook("recall")
    pid = life.wait_for_one()
    remember(life)
    for _ in range(3):
        assert "8443" in life.hook("recall", script=script).context
    assert life.wait_for_one() == pid
    assert life.log.count(" serves on ") == 1


def test_a_newer_command_takes_the_older_one_s_place(life: Life, tmp_path: Path) -> None:
    newer = newer_package(tmp_path)
    life.hook("recall")
    older = life.wait_for_one()
    done = life.command("sidecar", "start", variables={"PYTHONPATH": str(newer)})
    assert done.returncode == 0, done.stderr
    assert life.endpoint.version == "99.0"
    assert life.wait_for_one() != older


def test_one_that_cannot_start_is_said_at_once_and_costs_no_deadline(life: Life) -> None:
    life.configure("port = 'many'\n")
    ran = life.hook("recall")
    assert ran.out == b""
    assert ran.seconds < 1.7
    assert "recall: " in Path(life.paths.hook_log_file).read_text()
    assert "port" in life.log
    life.configure("")
    life.hook("recall")
    life.wait_for_one()


@pytest.mark.parametrize("locale", ["C", "POSIX", "en_US.ISO-8859-1"])
def test_hooks_speak_utf8_whatever_the_locale(tmp_path: Path, locale: str) -> None:
    life = Life(tmp_path / "Ωmega's [home] (1)")
    life.root.mkdir()
    variables = {"LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    try:
        life.hook("recall", variables=variables)
        life.wait_for_one()
        remember(life, "⟦→你")
        odd = life.payload().replace(b'"session_id"', b'"note": "\\ud800", "session_id"')
        assert "⟦→你" in life.hook("recall", stdin=odd, variables=variables).context
        assert life.hook("offload", stdin=odd, variables=variables).err == ""
    finally:
        life.close()


def test_an_agent_of_our_own_extraction_starts_nothing(life: Life) -> None:
    for words in (("recall",), ("offload",), ("offload", "--end"), ("bind",)):
        ran = life.hook(*words, variables={"CODESYNAPSE_EXTRACTING": "1"})
        assert (ran.out, ran.err) == (b"", "")
    assert life.pids() == []
    assert read_state(life.paths) is None


def test_a_named_server_is_used_by_hooks_and_nothing_is_started(life: Life, tmp_path: Path) -> None:
    life.hook("recall")
    life.wait_for_one()
    remember(life)
    elsewhere = Life(tmp_path / "elsewhere")
    elsewhere.root.mkdir()
    (elsewhere.root / "project").symlink_to(life.root / "project")
    variables = {"CODESYNAPSE_API_URL": life.endpoint.url, "CODESYNAPSE_API_TOKEN": life.token}
    assert "8443" in elsewhere.hook("recall", stdin=life.payload("t"), variables=variables).context
    variables["CODESYNAPSE_API_URL"] = "http://127.0.0.1:1"
    assert elsewhere.hook("recall", variables=variables).out == b""
    assert "API_URL does not answer" in Path(elsewhere.paths.hook_log_file).read_text()
    assert elsewhere.pids() == []


def test_a_starter_that_lives_on_keeps_no_child(life: Life) -> None:
    code = (
        "import gc, os\n"
        "from codesynapse.environment import Environment\n"
        "from codesynapse.link.http import Deadline\n"
        "from codesynapse.link.start import connect\n"
        "from codesynapse.paths import Paths\n"
        "environment = Environment()\n"
        "connect(environment, Paths(environment), Deadline(20)).connection.close()\n"
        "gc.collect()\n"
        "try:\n"
        "    os.waitpid(-1, os.WNOHANG)\n"
        "except ChildProcessError:\n"
        "    print('no child')\n"
    )
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-c", code], capture_output=True, text=True,
        env=life.environment.child(), timeout=60, check=True,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("no child\n", "")
    life.wait_for_one()


def test_a_stopped_sidecar_costs_no_hook_more_than_its_deadline(life: Life) -> None:
    life.hook("recall")
    pid = life.wait_for_one()
    remember(life)
    os.kill(pid, signal.SIGSTOP)
    every = (("recall",), ("recall", "--prompt"), ("offload",), ("offload", "--end"), ("bind",))
    with ThreadPoolExecutor(len(every)) as pool:
        assert {ran.out for ran in pool.map(lambda words: life.hook(*words), every)} == {b""}
    assert life.pids() == [pid], "nothing else was started beside it"
    assert "recall: " in Path(life.paths.hook_log_file).read_text()
    os.kill(pid, signal.SIGCONT)
    assert life.wait_for_one() == pid
    assert "8443" in life.hook("recall").context


def test_a_closed_stderr_or_stdout_is_no_fault(life: Life) -> None:
    life.hook("recall")
    life.wait_for_one()
    for closing in ("2>&-", ">&-", ">&- 2>&-", "<&-"):
        for words in ("recall", "nonsense", "offload"):
            line = f'"{sys.executable}" -I -S "{HOOK}" {words} {closing}'
            done = subprocess.run(
                ["/bin/sh", "-c", line], input=life.payload(), capture_output=True,
                env=life.environment.child(), timeout=30, check=False,
            )  # fmt: skip
            assert (done.returncode, b"Traceback" in done.stderr) == (0, False), done.stderr


def test_a_port_that_is_taken_while_it_was_down_costs_it_only_the_port(life: Life) -> None:
    life.hook("recall")
    pid = life.wait_for_one()
    port = life.endpoint.port
    os.kill(pid, signal.SIGKILL)
    with wait_until(lambda: taken(port), what="the port's release"):
        life.hook("recall", variables={"CODESYNAPSE_PORT": str(port)})
        life.wait_for_one()
        assert life.endpoint.port != port


def taken(port: int) -> socket.socket | None:
    with suppress(OSError):
        return socket.create_server(("127.0.0.1", port))
    return None

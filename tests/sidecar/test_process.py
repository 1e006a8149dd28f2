from __future__ import annotations

import http.server
import os
import socket
import stat
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from codesynapse import __version__
from codesynapse.link.http import Deadline
from codesynapse.link.start import find
from codesynapse.link.state import Endpoint, process_start, read_state, write_state
from codesynapse.sidecar.binding import Lock, TeamTokenMissing, listen
from codesynapse.sidecar.process import login_name
from tests.sidecar.home import Home, wait_until

pytestmark = pytest.mark.processes


def keep(home: Home, name: str) -> str:
    """Write a fact; returns the repository."""
    repo = home.repository()
    body = {"triples": [{"subject": name, "predicate": "IS", "object": "kept"}]}
    answer = home.ask("POST", f"/v1/repos/{repo}/memory/triples", body)
    assert answer.status == 200, answer
    return repo


def kept(home: Home, repo: str) -> set[str]:
    answer = home.ask("GET", f"/v1/repos/{repo}/memory/facts")
    assert answer.status == 200, answer
    return {fact["subject"] for fact in answer.json["facts"]}


def test_it_ends_with_exit_code_0_and_leaves_no_state(home: Home) -> None:
    process = home.start()
    keep(home, "a")
    assert home.stop(process) == 0
    assert read_state(home.paths) is None
    assert home.log.splitlines()[-1].endswith("ended")


def test_two_started_at_once_are_one(home: Home) -> None:
    many = [home.spawn() for _ in range(4)]
    wait_until(home.serves)
    losers = [one for one in many if one.pid != home.endpoint.pid]
    assert len(losers) == 3
    for one in losers:
        code, said = home.end(one)
        assert (code, "another sidecar serves already" in said) == (0, True)
    assert home.serves()


def test_everything_it_makes_is_for_its_owner_only(home: Home) -> None:
    mask = os.umask(0o022)
    try:
        process = home.start()
    finally:
        os.umask(mask)
    keep(home, "a")
    modes = {}
    for path in Path(home.environment.get("HOME") or "").rglob("*"):
        modes[path.name] = stat.S_IMODE(path.stat().st_mode) & 0o077
    assert any(name.endswith("-wal") for name in modes)
    assert {name for name, open_to_others in modes.items() if open_to_others} == set()
    home.stop(process)


def test_a_stale_state_file_misleads_nobody(home: Home) -> None:
    process = home.start()
    process.kill()
    home.end(process)
    assert read_state(home.paths) is not None
    assert not home.serves()
    home.start()


def test_a_pid_that_was_used_again_is_not_taken_for_ours(home: Home) -> None:
    home.spawn().kill()
    other = Endpoint("127.0.0.1", 1, os.getpid(), __version__, 0.0, "1")
    write_state(home.paths, other)
    assert find(home.environment, home.paths, Deadline(5)) is None
    home.start()
    assert home.endpoint.ticks == process_start(home.endpoint.pid)


@pytest.fixture
def foreign() -> Iterator[tuple[int, list[str]]]:
    """A server of somebody else that answers 200 to everything, and what it was sent."""
    seen: list[str] = []

    class Friendly(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.requestline + str(self.headers))
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            return

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Friendly)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_address[1], seen
    server.shutdown()
    server.server_close()
    thread.join(10)


def test_a_taken_port_is_left_to_its_owner(home: Home, foreign: tuple[int, list[str]]) -> None:
    port, seen = foreign
    home.start(CODESYNAPSE_PORT=str(port))
    assert home.endpoint.port != port
    write_state(home.paths, Endpoint("127.0.0.1", port, os.getpid()))
    assert find(home.environment, home.paths, Deadline(5)) is None
    assert seen
    assert home.token not in "".join(seen)


def test_a_free_port_that_is_preferred_is_taken(home: Home) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    home.start("--port", str(port))
    assert home.endpoint.port == port


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.7.7", "example.org"])
def test_other_machines_are_refused_by_name_without_a_team_token(home: Home, host: str) -> None:
    with pytest.raises(TeamTokenMissing):
        listen(host, 0)


def test_the_refusal_to_serve_others_says_why_and_is_exit_code_1(home: Home) -> None:
    code, said = home.end(home.spawn("--host", "0.0.0.0"))
    assert code == 1
    assert "no team token" in said
    assert "Traceback" not in said
    assert read_state(home.paths) is None


def test_it_ends_when_nobody_asks_and_comes_back_when_somebody_does(home: Home) -> None:
    home.configure("idle_end_seconds = 3\n")  # long enough for a start on a busy machine
    process = home.start()
    repo = keep(home, "a")
    code, said = home.end(process)
    assert (code, "nobody asked for long" in said) == (0, True)
    home.configure("")
    assert home.command("sidecar", "start").returncode == 0
    try:
        assert kept(home, repo) == {"a"}
    finally:
        assert home.command("sidecar", "stop").returncode == 0
    assert read_state(home.paths) is None


def test_a_running_job_is_finished_before_it_ends(home: Home) -> None:
    process = home.start()
    repo = home.repository()
    home.ask("POST", f"/v1/repos/{repo}/sessions", {}, session="s")
    turns = [
        {"role": "user", "text": f"The part {n} service listens on port {8000 + n}."}
        for n in range(60)
    ]
    job = home.ask("POST", "/v1/memory/offload", {"turns": turns}, session="s").json
    assert job["state"] == "queued"
    assert home.stop(process) == 0
    home.start()
    done = home.ask("GET", "/v1/memory/jobs").json["jobs"][0]
    assert (done["id"], done["state"]) == (job["id"], "done")


def test_a_job_of_a_transcript_goes_on_after_kill_9(home: Home) -> None:
    process = home.start()
    repo = home.repository()
    home.ask("POST", f"/v1/repos/{repo}/sessions", {}, session="s")
    transcript = home.root / "t.jsonl"
    line = (
        '{"type":"user","uuid":"u1","timestamp":"2026-03-01T10:00:00Z","message":'
        '{"role":"user","content":"The billing service uses PostgreSQL 16."}}\n'
    )
    transcript.write_text(line)
    body = {
        "turns": [{"role": "user", "text": "The billing service uses PostgreSQL 16.", "id": "u1"}],
        "transcript": str(transcript), "start": 0, "end": len(line),
    }  # fmt: skip
    assert home.ask("POST", "/v1/memory/offload", body, session="s").status == 202
    process.kill()
    home.end(process)
    home.start()

    def state() -> bool:
        return str(home.ask("GET", "/v1/memory/jobs").json["jobs"][0]["state"]) == "done"

    wait_until(state)
    path = f"/v1/repos/{repo}/memory/facts?memory_scope=session"
    assert len(home.ask("GET", path, session="s").json["facts"]) == 1


def test_stop_over_http_ends_it_as_a_signal_does(home: Home) -> None:
    process = home.start()
    answer = home.ask("POST", "/v1/sidecar/stop")
    assert (answer.status, answer.json["pid"]) == (202, process.pid)
    assert home.end(process)[0] == 0


def test_a_newer_version_takes_an_older_one_s_place_once(home: Home) -> None:
    older = home.start()
    state = home.endpoint
    state.version = "0.0.9"
    write_state(home.paths, state)
    newer = home.spawn()
    wait_until(lambda: home.serves() and home.endpoint.pid == newer.pid)
    assert home.end(older)[0] == 0
    code, said = home.end(home.spawn())
    assert (code, "another sidecar serves already" in said) == (0, True)
    assert home.endpoint.pid == newer.pid


def test_an_older_version_leaves_a_newer_one_alone(home: Home) -> None:
    newer = home.start()
    state = home.endpoint
    state.version = "99.0"
    write_state(home.paths, state)
    assert home.end(home.spawn())[0] == 0
    assert newer.poll() is None


def stats(home: Home) -> dict[str, object]:
    found: dict[str, object] = home.ask("GET", "/v1/stats").json
    return found


def test_a_changed_config_counts_at_once_and_a_broken_one_is_reported(home: Home) -> None:
    home.start()
    assert stats(home)["carry_over"] == "on"

    def changed(text: str, is_so: object) -> None:
        end = time.monotonic() + 20
        while not is_so():  # type: ignore[operator]
            home.configure(text)
            assert time.monotonic() < end
            time.sleep(0.3)

    changed('carry_over = "review"\n', lambda: stats(home)["carry_over"] == "review")
    changed("carry_over = [\n", lambda: stats(home)["config_error"] is not None)
    assert stats(home)["carry_over"] == "review"
    changed('carry_over = "off"\n', lambda: stats(home)["carry_over"] == "off")
    assert stats(home)["config_error"] is None
    changed("allow_memory = false\n", lambda: home.ask("GET", "/v1/stats").status == 403)


def test_a_config_that_is_broken_from_the_start_is_named(home: Home) -> None:
    home.configure("port = 'many'\n")
    code, said = home.end(home.spawn())
    assert code == 1
    assert "port" in said
    assert "Traceback" not in said


@pytest.mark.parametrize("how", ["option", "variable"])
def test_memory_off_is_silence_for_hooks_and_403_for_all_else(home: Home, how: str) -> None:
    if how == "option":
        process = home.start("--allow-memory=false")
    else:
        process = home.start(CODESYNAPSE_ALLOW_MEMORY="false")
    for verb in ("recall", "offload", "bind"):
        body = {"session_id": "s", "cwd": str(home.root), "hook_event_name": "SessionStart"}
        answer = home.ask("POST", f"/v1/hooks/claude-code/{verb}", body)
        assert (answer.status, answer.body) == (204, b"")
    for path in ("/v1/stats", "/v1/repos", "/v1/memory/jobs", "/openapi.json", "/nowhere"):
        answer = home.ask("GET", path)
        assert (answer.status, answer.code) == (403, "memory_off")
    assert home.ask("GET", "/healthz").status == 200
    assert home.stop(process) == 0


def test_a_damaged_file_is_not_served(home: Home) -> None:
    home.start()
    process = home.processes[-1]
    keep(home, "a")
    home.stop(process)
    Path(home.paths.database).write_bytes(b"not a database at all" * 500)
    code, said = home.end(home.spawn())
    assert code == 1
    assert "damaged" in said or "not" in said
    assert "Traceback" not in said
    assert read_state(home.paths) is None


def test_a_lock_is_held_by_one_and_free_when_left(tmp_path: Path) -> None:
    one, two = Lock(str(tmp_path / "lock")), Lock(str(tmp_path / "lock"))
    assert one.take()
    assert not two.take()
    one.release()
    assert two.take()
    two.release()


def test_the_log_is_bounded(home: Home) -> None:
    home.start()
    with Path(home.paths.log_file).open("ab") as file:
        file.write(b"x" * (1 << 20))
    home.ask("GET", "/v1/stats")
    older = Path(home.paths.log_file + ".1")
    wait_until(older.exists)
    assert Path(home.paths.log_file).stat().st_size < 1 << 20
    assert older.stat().st_mode & 0o077 == 0


def test_the_owner_s_name_can_stand_in_a_scope(home: Home) -> None:
    assert login_name(home.environment)

"""``codesynapse sidecar``: run, start, stop, status, logs."""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import Any

import click

from codesynapse.cli.output import data, json_option, note, record
from codesynapse.environment import Environment
from codesynapse.errors import Unavailable
from codesynapse.link.state import clear_state, process_start, read_state
from codesynapse.paths import Paths

__all__ = ["sidecar_group"]

_STOP_SECONDS = 15.0
_TERM_SECONDS = 5.0  # for one that does not answer, before it is killed
_ANSWER_SECONDS = 1.5  # one that is well answers in milliseconds, and who asks sits and waits


@click.group("sidecar")
def sidecar_group() -> None:
    """The local server that alone owns the data. Whoever needs it starts it."""


@sidecar_group.command("run")
@click.option("--host", help="Address to bind; 127.0.0.1 by default.")
@click.option("--port", type=click.IntRange(0, 65_535), help="Port to prefer; 8787 by default.")
@click.option(
    "--allow-memory",
    type=bool,
    metavar="BOOLEAN",
    help="false switches memory off everywhere.",
)
def run_command(host: str | None, port: int | None, allow_memory: bool | None) -> None:
    """Serve in this terminal until Ctrl-C."""
    from codesynapse.sidecar.process import run

    _speak_utf8()
    given: dict[str, Any] = {"host": host, "port": port, "allow_memory": allow_memory}
    environment = Environment()
    said = {name: value for name, value in given.items() if value is not None}
    note(f"codesynapse: {run(environment, Paths(environment), said)}")


def _speak_utf8() -> None:
    """Start again in UTF-8 mode where the locale would keep paths from being read."""
    if os.name == "posix" and sys.getfilesystemencoding().lower() != "utf-8":
        again = [sys.executable, "-X", "utf8", "-m", "codesynapse", *sys.argv[1:]]
        os.execve(sys.executable, again, Environment().child(PYTHONUTF8="1"))


@sidecar_group.command("start")
def start_command() -> None:
    """Start it in the background, unless it runs."""
    from codesynapse.sdk.client import CodeSynapseClient

    with CodeSynapseClient() as client:
        client.stats()
        note(f"codesynapse: the sidecar serves on {client.url}")


@sidecar_group.command("stop")
def stop_command() -> None:
    """End it: running work is finished or put back first. One that hangs is killed."""
    from codesynapse.sdk.client import CodeSynapseClient

    paths = Paths(Environment())
    try:
        with CodeSynapseClient(start=False, seconds=_ANSWER_SECONDS) as client:
            if not client.connected():
                note("codesynapse: no sidecar runs")
                return
            stopping = client.stop()
    except Unavailable:
        if Environment().get("API_URL") or not _ended_by_force(paths):
            raise
        note("codesynapse: the sidecar did not answer and was killed; what it took is kept")
        return
    end = time.monotonic() + _STOP_SECONDS
    while (state := read_state(paths)) is not None and state.pid == stopping.pid:
        if time.monotonic() > end:
            raise Unavailable(f"the sidecar {stopping.pid} has not ended yet", "try again")
        time.sleep(0.02)
    note("codesynapse: the sidecar has ended")


def _ended_by_force(paths: Paths) -> bool:
    """Kill the process that wrote the state file; False where it cannot be told from another.

    It is asked by a signal first. What it acknowledged is on the disk.
    """
    state = read_state(paths)
    if state is None or not state.ticks or process_start(state.pid) != state.ticks:
        return False
    for name, seconds in (("SIGTERM", _TERM_SECONDS), ("SIGKILL", _STOP_SECONDS)):
        try:
            os.kill(state.pid, getattr(signal, name))
        except ProcessLookupError:
            break
        end = time.monotonic() + seconds
        while (lives := process_start(state.pid) == state.ticks) and time.monotonic() < end:
            time.sleep(0.02)
        if not lives:
            break
    if process_start(state.pid) == state.ticks:
        return False
    clear_state(paths, state.pid)
    return True


@sidecar_group.command("status")
@json_option
def status_command(as_json: bool) -> None:
    """Say whether it runs, where, and how it is. Exit code 1 when it does not run, or hangs."""
    from codesynapse.sdk.client import CodeSynapseClient

    paths = Paths(Environment())
    found: dict[str, Any] | None = None
    hung: Unavailable | None = None
    try:
        with CodeSynapseClient(start=False, seconds=_ANSWER_SECONDS) as client:
            found = client.stats().model_dump() if client.connected() else None
    except Unavailable as error:
        hung = error
    if as_json:
        said = {"running": found is not None, "token_file": paths.token_file, **(found or {})}
        record(said | ({"error": hung.message} if hung else {}))
    elif found is not None:
        _show(found, paths)
    elif hung is None:
        note("codesynapse: no sidecar runs; the next hook or command starts it")
    if hung is not None:
        raise hung
    if found is None:
        raise SystemExit(1)


def _show(stats: dict[str, Any], paths: Paths) -> None:
    jobs = ", ".join(f"{count} {state}" for state, count in sorted(stats["jobs"].items()))
    lines = {
        "url": stats["url"],
        "pid": stats["pid"],
        "version": stats["version"],
        "store": stats["store"],
        "token": paths.token_file,
        "uptime": f"{stats['uptime_seconds']:.0f} s",
        "memory": "on" if stats["memory"] else "off",
        "carry-over": stats["carry_over"],
        "jobs": jobs or "none",
    }
    for name, value in lines.items():
        data(f"{name:<11}{value}")
    if stats["config_error"]:
        note(
            f"codesynapse: the config is broken, the last good one counts: {stats['config_error']}"
        )
    for fault in stats["faults"]:
        note(f"codesynapse: {fault}")


@sidecar_group.command("logs")
@click.option("--lines", "count", type=click.IntRange(1, 10_000), default=50, show_default=True)
def logs_command(count: int) -> None:
    """Print the last lines of its log. A log holds no content."""
    path = Paths(Environment()).log_file
    try:
        with open(path, "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - count * 400))
            text = file.read().decode("utf-8", "replace")
    except FileNotFoundError:
        note("codesynapse: there is no log yet")
        return
    for line in text.splitlines()[-count:]:
        data(line)

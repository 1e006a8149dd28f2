"""``codesynapse sidecar``: run, start, stop, status, logs."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

import click

from codesynapse.cli.output import data, json_option, note, record
from codesynapse.environment import Environment
from codesynapse.errors import Unavailable
from codesynapse.link.state import read_state
from codesynapse.paths import Paths

__all__ = ["sidecar_group"]

_STOP_SECONDS = 15.0


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
    """End it: running work is finished or put back first."""
    from codesynapse.sdk.client import CodeSynapseClient

    with CodeSynapseClient(start=False) as client:
        if not client.connected():
            note("codesynapse: no sidecar runs")
            return
        stopping = client.stop()
    paths, end = Paths(Environment()), time.monotonic() + _STOP_SECONDS
    while (state := read_state(paths)) is not None and state.pid == stopping.pid:
        if time.monotonic() > end:
            raise Unavailable(f"the sidecar {stopping.pid} has not ended yet", "try again")
        time.sleep(0.02)
    note("codesynapse: the sidecar has ended")


@sidecar_group.command("status")
@json_option
def status_command(as_json: bool) -> None:
    """Say whether it runs, where, and how it is. Exit code 1 when it does not run."""
    from codesynapse.sdk.client import CodeSynapseClient

    with CodeSynapseClient(start=False) as client:
        running = client.connected()
        found = client.stats().model_dump() if running else None
    paths = Paths(Environment())
    if as_json:
        record({"running": running, "token_file": paths.token_file, **(found or {})})
    elif found is not None:
        _show(found, paths)
    else:
        note("codesynapse: no sidecar runs; the next hook or command starts it")
    if not running:
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

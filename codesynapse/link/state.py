"""The state file: how to reach the running sidecar. Lines of ``key=value``, 0600.

It is a claim, not a proof: whoever reads it challenges the server before trusting it.
"""

from __future__ import annotations

import os

from codesynapse.paths import Paths, private_folder

__all__ = ["PROTOCOL", "Endpoint", "clear_state", "process_start", "read_state", "write_state"]

PROTOCOL = "1"  # of hooks and sidecar with each other; another one is not understood


class Endpoint:
    """Where a sidecar says it listens, and which process it is."""

    __slots__ = ("host", "pid", "port", "protocol", "started", "ticks", "version")

    def __init__(self, host: str, port: int, pid: int, version: str = "", started: float = 0.0,
                 ticks: str = "", protocol: str = PROTOCOL) -> None:  # fmt: skip
        self.host = host
        self.port = port
        self.protocol = protocol
        self.pid = pid
        self.version = version
        self.started = started
        self.ticks = ticks

    @property
    def url(self) -> str:
        """The base URL."""
        return f"http://{self.host}:{self.port}"


def process_start(pid: int) -> str:
    """A mark that differs when a process id is used again.

    Empty where the system has none, and for one that has ended and was not waited for.
    """
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rsplit(b") ", 1)[1].split()
        return "" if fields[0] in b"ZX" else fields[19].decode()
    except (OSError, IndexError):
        return ""


def write_state(paths: Paths, endpoint: Endpoint) -> None:
    """Say where this sidecar listens, replacing what an earlier one said."""
    private_folder(paths.state)
    lines = "".join(f"{name}={getattr(endpoint, name)}\n" for name in sorted(Endpoint.__slots__))
    partial = f"{paths.state_file}.{os.getpid()}"
    handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.write(handle, lines.encode())
    finally:
        os.close(handle)
    os.replace(partial, paths.state_file)


def read_state(paths: Paths) -> Endpoint | None:
    """What the last sidecar said, or None when there is nothing usable."""
    try:
        with open(paths.state_file, "rb") as file:
            text = file.read(4096).decode("ascii", "replace")
    except OSError:
        return None
    values = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    try:
        return Endpoint(
            values["host"], int(values["port"]), int(values["pid"]), values.get("version", ""),
            float(values.get("started", 0)), values.get("ticks", ""),
            values.get("protocol", "1"),
        )  # fmt: skip
    except (KeyError, ValueError):
        return None


def clear_state(paths: Paths, pid: int) -> None:
    """Take the file away if it still speaks of ``pid``."""
    state = read_state(paths)
    if state is not None and state.pid == pid:
        try:
            os.unlink(paths.state_file)
        except FileNotFoundError:
            return

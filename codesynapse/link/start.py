"""Find the sidecar, and start one where there is none. Standard library only.

Two starters start one: the second waits for the first's. What is found has proved that it knows
the token; a foreign server on the port gets the question and nothing else.
"""

from __future__ import annotations

import os
import sys
from time import sleep

from codesynapse.environment import Environment
from codesynapse.link.http import Connection, Deadline, LinkError
from codesynapse.link.proof import CHALLENGE_HEADER, PROOF_HEADER, make_nonce, proof, same
from codesynapse.link.state import Endpoint, process_start, read_state
from codesynapse.link.token import ensure_token, read_token
from codesynapse.paths import Paths, private_folder

__all__ = ["Link", "challenge", "connect", "find", "start"]

POLL_SECONDS = 0.02


class Link:
    """An open connection to our own sidecar, and the token that it proved to know."""

    __slots__ = ("connection", "endpoint", "token")

    def __init__(self, connection: Connection, endpoint: Endpoint, token: str) -> None:
        self.connection = connection
        self.endpoint = endpoint
        self.token = token

    def headers(self, more: dict[str, str] | None = None) -> dict[str, str]:
        """Headers that a request of ours carries."""
        return {"Authorization": f"Bearer {self.token}", **(more or {})}


def challenge(connection: Connection, token: str, port: int) -> bool:
    """Whether the server on the other end knows ``token``. Raises LinkError."""
    nonce = make_nonce()
    answer = connection.request("GET", "/healthz", {CHALLENGE_HEADER: nonce})
    said = answer.headers.get(PROOF_HEADER.lower(), "")
    return answer.status == 200 and same(said, proof(token, nonce, port))


def find(environment: Environment, paths: Paths, deadline: Deadline) -> Link | None:
    """A connection to the running sidecar, or None when there is none of ours."""
    endpoint = read_state(paths)
    token = read_token(environment, paths)
    if endpoint is None or token is None or not _alive(endpoint):
        return None
    try:
        connection = Connection(endpoint.host, endpoint.port, deadline)
    except LinkError:
        return None
    try:
        if challenge(connection, token, endpoint.port):
            return Link(connection, endpoint, token)
    except LinkError:
        connection.close()
        deadline.left()
        return None
    connection.close()
    return None


def _alive(endpoint: Endpoint) -> bool:
    """Whether the process that wrote the state file still runs, and is not another by now."""
    return not endpoint.ticks or process_start(endpoint.pid) == endpoint.ticks


def connect(environment: Environment, paths: Paths, deadline: Deadline) -> Link:
    """A connection to our sidecar, started first where there is none.

    Raises LinkError when none answers before the deadline, and OSError or PermissionError when
    the folders of state or token cannot be used.
    """
    if link := find(environment, paths, deadline):
        return link
    start(environment, paths)
    while True:
        if link := find(environment, paths, deadline):
            return link
        sleep(min(POLL_SECONDS, deadline.left()))


def start(environment: Environment, paths: Paths) -> bool:
    """Start a sidecar in the background, unless somebody is starting one right now.

    The child holds the start lock until it serves or dies, so a second starter sees the first.
    """
    private_folder(paths.state)
    ensure_token(environment, paths)
    lock = os.open(paths.start_lock_file, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if not _try_lock(lock):
            return False
        _spawn(environment, paths, lock)
        return True
    finally:
        os.close(lock)


def _try_lock(handle: int) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _spawn(environment: Environment, paths: Paths, lock: int) -> None:
    """Start the sidecar detached: own session, no pipe of ours, its output to the log.

    It inherits the handle of the start lock and closes it when it serves (or dies).
    """
    import subprocess

    inherit = os.name == "posix"
    handle = {"CODESYNAPSE_START_LOCK": str(lock)} if inherit else {}

    log = os.open(paths.log_file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        subprocess.Popen(
            [sys.executable, "-m", "codesynapse", "sidecar", "run"],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            cwd=paths.state, env=environment.child(PYTHONSAFEPATH="1", **handle),
            start_new_session=True, pass_fds=(lock,) if inherit else (),
        )  # fmt: skip
    finally:
        os.close(log)

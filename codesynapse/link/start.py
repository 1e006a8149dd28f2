"""Find the sidecar, and start one where there is none. Standard library only.

Two starters start one: the second waits for the first's. What is found has proved that it knows
the token; a foreign server on the port gets the question and nothing else. ``CODESYNAPSE_API_URL``
names a server that is used instead, and then nothing is started.
"""

from __future__ import annotations

import os
import sys
from time import sleep

from codesynapse import __version__
from codesynapse.environment import Environment
from codesynapse.link.http import Connection, Deadline, LinkError
from codesynapse.link.proof import CHALLENGE_HEADER, PROOF_HEADER, make_nonce, proof, same
from codesynapse.link.state import Endpoint, process_start, read_state
from codesynapse.link.token import ensure_token, read_token
from codesynapse.paths import Paths, private_folder

TYPE_CHECKING = False  # so that a hook need not import typing or collections
if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "POLL_SECONDS",
    "Link",
    "Starting",
    "begin",
    "challenge",
    "connect",
    "find",
    "find_local",
    "started",
]

POLL_SECONDS = 0.02
FIRST_SHARE = 0.4  # of the time, for what the state file says, before another is started
PATIENCE = 0.25  # for one answer while one starts; the next try finds it in the same line
LAST_LOOK = 0.3  # after a starter's child has ended: it may have met another that is starting

# A parent of its own ends at once, so that the sidecar is nobody's child and nobody's zombie.
_LAUNCH = "import os, sys\nif not os.fork():\n os.execv(sys.argv[1], sys.argv[1:])"


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
    """A connection to the running sidecar, or None when there is none of ours.

    Raises LinkError where ``CODESYNAPSE_API_URL`` names a server that is not to be had.
    """
    if url := environment.get("API_URL"):
        return _named(url, environment, paths, deadline)
    return find_local(environment, paths, deadline)


def find_local(
    environment: Environment, paths: Paths, deadline: Deadline, seconds: float | None = None
) -> Link | None:
    """The sidecar that the state file speaks of, if it proves itself.

    ``seconds`` is how long what may be a foreign server is waited for. A process that is known to
    have written the file is ours, however busy.
    """
    endpoint = read_state(paths)
    token = read_token(environment, paths)
    if endpoint is None or token is None or not _alive(endpoint):
        return None
    first = deadline if seconds is None or endpoint.ticks else deadline.part(seconds)
    try:
        connection = Connection(endpoint.host, endpoint.port, first)
    except LinkError:
        return None
    return _proved(connection, endpoint, token, deadline)


def _proved(
    connection: Connection, endpoint: Endpoint, token: str, deadline: Deadline
) -> Link | None:
    try:
        if challenge(connection, token, endpoint.port):
            connection.renew(deadline)
            return Link(connection, endpoint, token)
    except LinkError:
        connection.close()
        deadline.left()
        return None
    connection.close()
    return None


def _named(url: str, environment: Environment, paths: Paths, deadline: Deadline) -> Link:
    from codesynapse.link.remote import Address, open_connection

    token = read_token(environment, paths)
    if token is None:
        raise LinkError("there is no token for the sidecar named by CODESYNAPSE_API_URL")
    address = Address(url)
    endpoint = Endpoint(address.host, address.port, 0, __version__)
    link = _proved(open_connection(address, deadline), endpoint, token, deadline)
    if link is None:
        raise LinkError("what CODESYNAPSE_API_URL names does not know this token; it was not sent")
    return link


def _alive(endpoint: Endpoint) -> bool:
    """Whether the process that wrote the state file still runs, and is not another by now."""
    return not endpoint.ticks or process_start(endpoint.pid) == endpoint.ticks


def connect(environment: Environment, paths: Paths, deadline: Deadline) -> Link:
    """A connection to a sidecar that fits this version, started first where there is none.

    Raises LinkError when none answers before the deadline, and OSError or PermissionError when
    the folders of state or token cannot be used.
    """
    if url := environment.get("API_URL"):
        return _named(url, environment, paths, deadline)
    link = find_local(environment, paths, deadline, deadline.left() * FIRST_SHARE)
    if link is None:
        link = started(environment, paths, deadline)
    if link.endpoint.version == __version__:
        return link
    from codesynapse.link.versions import fitting

    return fitting(link, environment, paths, deadline)


def started(environment: Environment, paths: Paths, deadline: Deadline) -> Link:
    """Start a sidecar, unless somebody is about it, and wait for it. Raises LinkError, OSError."""
    starting = begin(environment, paths)
    try:
        while True:
            ended = starting is not None and starting.over
            if link := find_local(environment, paths, deadline, PATIENCE):
                return link
            if ended:
                deadline = deadline.part(LAST_LOOK)
                starting = None
            sleep(min(POLL_SECONDS, deadline.left()))
    finally:
        if starting is not None:
            starting.close()


class Starting:
    """A start that this process has begun, or declined to begin. Close it."""

    __slots__ = ("_handle", "begun")

    def __init__(self, handle: int | None, begun: bool = True) -> None:
        self.begun = begun
        self._handle = handle

    @property
    def over(self) -> bool:
        """Whether the child serves or has ended; never where this system cannot tell."""
        if self._handle is None:
            return False
        try:
            return os.read(self._handle, 1) == b""
        except BlockingIOError:
            return False

    def close(self) -> None:
        """Look no more."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def begin(
    environment: Environment, paths: Paths, wanted: Callable[[], bool] | None = None
) -> Starting | None:
    """Start a sidecar in the background; None when somebody is starting one right now.

    The child holds the start lock until it serves or dies, so a second starter sees the first.
    ``wanted`` is asked under that lock.
    """
    private_folder(paths.state)
    ensure_token(environment, paths)
    lock = os.open(paths.start_lock_file, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if not _try_lock(lock):
            return None
        if wanted is not None and not wanted():
            return Starting(None, begun=False)
        return Starting(_spawn(environment, paths, lock))
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


def _spawn(environment: Environment, paths: Paths, lock: int) -> int | None:
    """Start the sidecar detached: own session, no pipe of ours, its output to the log.

    It inherits the start lock and one end of a pipe, and closes both when it serves (or dies).
    Returns the other end, where this system has that.
    """
    command = [sys.executable, "-m", "codesynapse", "sidecar", "run"]
    log = os.open(paths.log_file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        if sys.platform == "win32":
            return _spawn_on_windows(command, environment, paths, log)
        return _spawn_on_posix(command, environment, paths, (log, lock))
    finally:
        os.close(log)


def _spawn_on_posix(
    command: list[str], environment: Environment, paths: Paths, handles: tuple[int, int]
) -> int:
    import subprocess

    log, lock = handles
    reader, writer = os.pipe()
    marks = {"CODESYNAPSE_START_LOCK": str(lock), "CODESYNAPSE_START_SIGN": str(writer)}
    try:
        subprocess.run(
            [sys.executable, "-I", "-S", "-c", _LAUNCH, *command],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False,
            cwd=paths.state, env=environment.child(PYTHONSAFEPATH="1", **marks),
            start_new_session=True, pass_fds=(lock, writer),
        )  # fmt: skip
    except OSError:
        os.close(reader)
        raise
    finally:
        os.close(writer)
    os.set_blocking(reader, False)
    return reader


def _spawn_on_windows(command: list[str], environment: Environment, paths: Paths, log: int) -> None:
    import subprocess

    child = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
        cwd=paths.state, env=environment.child(PYTHONSAFEPATH="1"),
        creationflags=getattr(subprocess, "DETACHED_PROCESS", 0)
        | getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
    )  # fmt: skip
    child.returncode = 0  # nobody waits for it: there it cannot become a zombie

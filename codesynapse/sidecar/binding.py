"""The one lock and the one port of the sidecar."""

from __future__ import annotations

import ipaddress
import os
import socket
import sys
from pathlib import Path

from codesynapse.errors import Refused
from codesynapse.sidecar.running import Listening

__all__ = ["Lock", "TeamTokenMissing", "listen"]

_ADDRESSES = {"localhost": "127.0.0.1"}


class TeamTokenMissing(Refused):
    """Other machines could ask, and nobody was given a token for that."""

    code = "team_token_missing"


class Lock:
    """Held by one process until it ends, however it ends."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._handle: int | None = None

    def touch(self) -> None:
        """Make the file. Raises OSError where it cannot be made."""
        os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))

    def take(self) -> bool:
        """Whether it is ours now. Never waits."""
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            if sys.platform == "win32":
                import msvcrt

                msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
            else:
                import fcntl

                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(handle)
            return False
        self._handle = handle
        return True

    def holds(self) -> bool:
        """Whether the file at its path is still the one that is locked."""
        if self._handle is None:
            return False
        try:
            return os.path.samestat(os.fstat(self._handle), self._path.stat())
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError:  # a disk that does not answer is not one that is gone
            return True

    def release(self) -> None:
        """Let another have it. The file stays: removing it would let two hold it."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def listen(host: str, port: int) -> tuple[socket.socket, Listening]:
    """Bind the preferred port, or another when it is taken.

    Raises TeamTokenMissing for an address that other machines reach, and OSError.
    """
    address = _loopback(host)
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    for wanted in dict.fromkeys((port, 0)):
        # asyncio switches Nagle off only where the protocol is named; with it, every second
        # answer on a connection waits 40 ms for the client's delayed acknowledgement.
        server = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            _alone(server)
            server.bind((address, wanted))
            server.listen(512)
        except OSError:
            server.close()
            if wanted == 0:
                raise
            continue
        server.setblocking(False)
        return server, Listening(address, server.getsockname()[1])
    raise OSError(f"no port of {address} could be had")


def _loopback(host: str) -> str:
    text = _ADDRESSES.get(host.strip().lower(), host.strip().strip("[]"))
    try:
        is_loopback = ipaddress.ip_address(text).is_loopback
    except ValueError:
        is_loopback = False
    if not is_loopback:
        raise TeamTokenMissing(
            f"{host} can be reached by other machines, and no team token was created",
            "leave host at 127.0.0.1; the owner's token does not count for a team",
        )
    return text


def _alone(server: socket.socket) -> None:
    if sys.platform == "win32":
        server.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
    else:  # a port that was left a moment ago can be had again; a listening one cannot
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)

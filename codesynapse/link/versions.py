"""What becomes of a sidecar of another version: an older one is replaced once, a newer one used.

Only those who have time for it replace one. Each sidecar is asked to make room once by each
version; where that led to nothing it is used as it is.
"""

from __future__ import annotations

import os
from time import sleep

from codesynapse import __version__
from codesynapse.environment import Environment
from codesynapse.link.http import Deadline, LinkError
from codesynapse.link.start import POLL_SECONDS, Link, begin, find_local, started
from codesynapse.link.state import PROTOCOL, Endpoint
from codesynapse.paths import Paths

__all__ = ["fitting", "is_newer"]

RENEW_SECONDS = 1.5  # who has less left uses the older one


def is_newer(version: str, other: str) -> bool:
    """Whether ``version`` comes after ``other``; what is no version comes before all."""
    return _numbers(version) > _numbers(other)


def _numbers(version: str) -> list[int]:
    found = []
    for part in version.split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if digits:
            found.append(int(digits[:9]))
        if digits != part:
            break
    return found


def fitting(link: Link, environment: Environment, paths: Paths, deadline: Deadline) -> Link:
    """``link``, or one to the sidecar of this version that took the place of an older one.

    Raises LinkError where what runs speaks another protocol.
    """
    if is_newer(__version__, link.endpoint.version) and deadline.left() > RENEW_SECONDS:
        return _renewed(link, environment, paths, deadline)
    return _understood(link)


def _understood(link: Link) -> Link:
    if link.endpoint.protocol == PROTOCOL:
        return link
    link.connection.close()
    version = link.endpoint.version or "without a number"
    if is_newer(version, __version__):
        raise LinkError(f"a newer sidecar serves, version {version}: update codesynapse here")
    raise LinkError(f"an older sidecar serves, version {version}: stop it, another will start")


def _renewed(old: Link, environment: Environment, paths: Paths, deadline: Deadline) -> Link:
    starting = begin(environment, paths, lambda: _first_time(paths, old.endpoint))
    if starting is not None and not starting.begun:
        return _understood(old)
    old.connection.close()
    try:
        while starting is None or not starting.over:
            sleep(min(POLL_SECONDS, deadline.left()))
            link = find_local(environment, paths, deadline)
            if link is not None and not is_newer(__version__, link.endpoint.version):
                return _understood(link)
            if link is not None:
                link.connection.close()
    finally:
        if starting is not None:
            starting.close()
    return _understood(
        find_local(environment, paths, deadline) or started(environment, paths, deadline)
    )


def _first_time(paths: Paths, old: Endpoint) -> bool:
    """Whether this version never asked that process before; from now on it has."""
    asked = f"{__version__} {old.pid} {old.ticks} {old.started}\n".encode()
    handle = os.open(paths.renewal_file, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if os.read(handle, 4096) == asked:
            return False
        os.ftruncate(handle, 0)
        os.lseek(handle, 0, os.SEEK_SET)
        os.write(handle, asked)
    finally:
        os.close(handle)
    return True

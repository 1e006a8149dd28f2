"""The owner's token on this machine: one line in a 0600 file, made at the first start.

It is read from ``CODESYNAPSE_API_TOKEN`` or that file, never from an argument.
"""

from __future__ import annotations

import os

from codesynapse.environment import Environment
from codesynapse.paths import Paths, private_folder

__all__ = ["ensure_token", "read_token"]

_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)


def read_token(environment: Environment, paths: Paths) -> str | None:
    """The token, or None where there is none. Raises PermissionError when others can read it."""
    if given := environment.get("API_TOKEN"):
        return given
    try:
        handle = os.open(paths.token_file, os.O_RDONLY | _NOFOLLOW)
    except OSError:
        return None
    try:
        if os.name == "posix" and os.fstat(handle).st_mode & 0o077:
            raise PermissionError(f"{paths.token_file} can be read by others; chmod 600 it")
        return os.read(handle, 4096).decode("ascii", "replace").strip() or None
    finally:
        os.close(handle)


def ensure_token(environment: Environment, paths: Paths) -> str:
    """The token, made first where there is none. Two makers end with the same one."""
    if found := read_token(environment, paths):
        return found
    private_folder(paths.config)
    fresh = "cs_" + os.urandom(32).hex()
    partial = f"{paths.token_file}.{os.urandom(6).hex()}"
    handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW, 0o600)
    try:
        os.write(handle, fresh.encode() + b"\n")
        os.fsync(handle)
    finally:
        os.close(handle)
    try:
        os.link(partial, paths.token_file)  # fails where another was first
    except FileExistsError:
        pass
    finally:
        os.unlink(partial)
    return read_token(environment, paths) or fresh

"""Where config, data and state live. Standard library only, and cheap: hooks import it.

All under ``CODESYNAPSE_HOME`` when that is set; else by each system's conventions. Folders are made
0700 and files 0600 by those who write them (``private_folder``), never by reading a path here.
"""

from __future__ import annotations

import os

from codesynapse.environment import Environment

__all__ = ["Paths", "private_folder"]


class Paths:
    """Every path of ours, as text. One file name is never used for two kinds."""

    __slots__ = ("config", "data", "state")

    def __init__(self, environment: Environment) -> None:
        self.config, self.data, self.state = _folders(environment)

    @property
    def config_file(self) -> str:
        """The TOML config."""
        return os.path.join(self.config, "config.toml")

    @property
    def token_file(self) -> str:
        """The owner's token: one line, 0600."""
        return os.path.join(self.config, "token")

    @property
    def database(self) -> str:
        """The default SQLite file."""
        return os.path.join(self.data, "codesynapse.db")

    @property
    def backups(self) -> str:
        """The folder of backups made before a migration."""
        return os.path.join(self.data, "backups")

    @property
    def state_file(self) -> str:
        """Where the running sidecar says how to reach it."""
        return os.path.join(self.state, "sidecar")

    @property
    def lock_file(self) -> str:
        """Held by the one sidecar that may run."""
        return os.path.join(self.state, "sidecar.lock")

    @property
    def start_lock_file(self) -> str:
        """Held by the one starter while it starts a sidecar."""
        return os.path.join(self.state, "start.lock")

    @property
    def renewal_file(self) -> str:
        """Which sidecar was asked to make room for a newer version."""
        return os.path.join(self.state, "renewal")

    @property
    def log_file(self) -> str:
        """The sidecar's log: no content, ever."""
        return os.path.join(self.state, "sidecar.log")

    @property
    def ends(self) -> str:
        """The folder of marks of ended sessions that the sidecar has not heard of yet."""
        return os.path.join(self.state, "ends")

    @property
    def hook_log_file(self) -> str:
        """Why a hook gave nothing, a line each: no content, ever."""
        return os.path.join(self.state, "hooks.log")


def _folders(environment: Environment) -> tuple[str, str, str]:
    everything = environment.get("HOME")
    if everything:
        root = os.path.abspath(os.path.expanduser(everything))
        return _three(root)
    if environment.platform == "win32":
        local = environment.foreign("LOCALAPPDATA") or os.path.join(
            environment.home, "AppData", "Local"
        )
        return _three(os.path.join(local, "CodeSynapse"))
    if environment.platform == "darwin":
        return _three(
            os.path.join(environment.home, "Library", "Application Support", "CodeSynapse")
        )
    return (
        _xdg(environment, "XDG_CONFIG_HOME", ".config"),
        _xdg(environment, "XDG_DATA_HOME", ".local", "share"),
        _xdg(environment, "XDG_STATE_HOME", ".local", "state"),
    )


def _three(root: str) -> tuple[str, str, str]:
    return os.path.join(root, "config"), os.path.join(root, "data"), os.path.join(root, "state")


def _xdg(environment: Environment, name: str, *fallback: str) -> str:
    base = environment.foreign(name)
    if not base or not os.path.isabs(base):
        base = os.path.join(environment.home, *fallback)
    return os.path.join(base, "codesynapse")


def private_folder(path: str) -> str:
    """Make ``path`` (and parents) if missing, 0700 whatever the umask, and return it."""
    if not os.path.isdir(path):
        os.makedirs(path, mode=0o700, exist_ok=True)
    if os.name == "posix" and os.stat(path).st_mode & 0o077:
        os.chmod(path, 0o700)
    return path

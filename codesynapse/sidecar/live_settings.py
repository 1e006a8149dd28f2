"""The settings as they are now: read again when the file changes, the last good ones otherwise."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from codesynapse.config import Settings, load_settings
from codesynapse.environment import Environment
from codesynapse.errors import Invalid
from codesynapse.paths import Paths

if TYPE_CHECKING:
    import asyncio

__all__ = ["LiveSettings"]

# What a running process is bound to; a change of these counts from the next start on.
_FIXED = ("database", "host", "port")


class LiveSettings:
    """``read`` is what everything is composed with. ``given`` is what the command line said."""

    def __init__(
        self, environment: Environment, paths: Paths, given: Mapping[str, Any] | None = None
    ) -> None:
        """Raises Invalid when there are no good values to begin with."""
        self._environment = environment
        self._paths = paths
        self._given = dict(given or {})
        self.error: str | None = None
        self._now = self._load()

    def read(self) -> Settings:
        """The settings as they are now."""
        return self._now

    def reload(self) -> None:
        """Read the file again; a broken one changes nothing and is kept in ``error``."""
        try:
            fresh = self._load()
        except (Invalid, OSError) as error:
            self.error = str(error)
            return
        self.error = None
        self._now = replace(fresh, **{name: getattr(self._now, name) for name in _FIXED})

    async def watch(self, stop: asyncio.Event) -> None:
        """Reload at each change of the file, until told to stop."""
        from watchfiles import awatch

        name = os.path.basename(self._paths.config_file)

        def ours(_: object, path: str) -> bool:
            return os.path.basename(path) == name

        # The folder is watched, not the file: editors put a new file in the old one's place.
        async for _ in awatch(
            self._paths.config, watch_filter=ours, stop_event=stop, recursive=False,
            debounce=200, step=50, raise_interrupt=False,
        ):  # fmt: skip
            self.reload()

    def _load(self) -> Settings:
        return replace(load_settings(self._environment, self._paths), **self._given)

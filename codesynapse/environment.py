"""The one reader of environment variables. Standard library only, and cheap: hooks import it.

Values are read when asked, never at import, so a test or a program may pass its own mapping.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # so that a hook need not import typing or collections
if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Environment"]

_OFF = frozenset({"0", "false", "no", "off"})
_ON = frozenset({"1", "true", "yes", "on"})


class Environment:
    """A view of environment variables; ``CODESYNAPSE_X`` is ``get("X")``. Empty means unset."""

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, str] | None = None) -> None:
        self._values = os.environ if values is None else values

    def get(self, name: str) -> str | None:
        """The value of ``CODESYNAPSE_<name>``, or None when unset or empty."""
        return self._values.get("CODESYNAPSE_" + name) or None

    def flag(self, name: str, default: bool) -> bool:
        """``CODESYNAPSE_<name>`` as a switch; what is neither on nor off is the default."""
        value = (self.get(name) or "").strip().lower()
        return True if value in _ON else False if value in _OFF else default

    def foreign(self, name: str) -> str | None:
        """A variable that is not ours (``XDG_CONFIG_HOME``, ``CLAUDE_PROJECT_DIR`` …)."""
        return self._values.get(name) or None

    def child(self, **changes: str) -> dict[str, str]:
        """A copy for a child process, with ``changes`` on top."""
        return {**self._values, **changes}

    @property
    def home(self) -> str:
        """The person's home folder."""
        return self.foreign("HOME") or self.foreign("USERPROFILE") or os.path.expanduser("~")

    @property
    def platform(self) -> str:
        """``sys.platform``, here so that tests can stand in for another system."""
        return self._values.get("CODESYNAPSE_TEST_PLATFORM") or sys.platform

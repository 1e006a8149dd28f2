"""Whether files that facts name still exist. Bounded, read-only, and never outside the root.

Nothing is opened and no link is followed: a path is walked by its parts, and where that would lead
elsewhere no claim is made.
"""

from __future__ import annotations

import os
import re
import stat

__all__ = ["CodeTree", "paths_named"]

_MAX_CALLS = 128
_PER_TEXT = 3
# Relative, at least one folder, and a file ending: "and/or", "/v1/users" and "TCP/IP" are no files.
_PATH = re.compile(
    r"(?<![\w/\\.:@~+-])(?:\./)?((?:[\w@.+-]+/)+[\w@+.-]*\.[A-Za-z][A-Za-z0-9]{0,7})(?![\w/\\])"
)
_FOREIGN = frozenset({"node_modules", "site-packages", "dist", "build", "target", ".venv", "venv"})


def paths_named(text: str) -> list[str]:
    """The first few file paths in a text that could be files of a repository."""
    found = (match.group(1) for match in _PATH.finditer(text))
    return [path for path in dict.fromkeys(found) if _could_be_ours(path)][:_PER_TEXT]


def _could_be_ours(path: str) -> bool:
    parts = path.split("/")
    # "github.com/a/b.git" and "docs.python.org/3/x.html" begin with a host.
    is_host = "." in parts[0].lstrip(".")
    return not is_host and ".." not in parts and "." not in parts and not _FOREIGN & set(parts)


class CodeTree:
    """The work tree at ``root``, asked at most ``max_calls`` times in all."""

    def __init__(self, root: str, max_calls: int = _MAX_CALLS) -> None:
        self._root = root
        self._left = max_calls
        self._known: dict[str, bool] = {}

    def gone(self, text: str) -> str | None:
        """The first file that ``text`` names and the tree does not hold; None without a doubt."""
        return next((path for path in paths_named(text) if self._is_gone(path)), None)

    def _is_gone(self, path: str) -> bool:
        if path not in self._known:
            self._known[path] = self._mode(self._root) is not None and self._is_missing(path)
        return self._known[path]

    def _is_missing(self, path: str) -> bool:
        here = self._root
        for part in path.split("/"):
            if self._left <= 0:
                return False
            here = os.path.join(here, part)
            mode = self._mode(here)
            if mode is None:
                return True
            if stat.S_ISLNK(mode):
                return False
        return False

    def _mode(self, path: str) -> int | None:
        """The file's mode, None when there is none; what cannot be asked counts as a link."""
        self._left -= 1
        try:
            return os.lstat(path).st_mode
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError):
            return stat.S_IFLNK

"""Where a folder lies in git's eyes, read from git's own files: no program is run.

Linked worktrees and subfolders lie in the main work tree's repository; symbolic links and other
spellings of a path are resolved.  What is not in a work tree is its own place.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

__all__ = ["Place", "find_place", "normal_remote", "origin_of", "spelled_as_stored"]

_DEFAULT_PORTS = {"https": 443, "http": 80, "ssh": 22, "git": 9418}
# These hosts take a path in any case for the same repository.
_FOLDING_HOSTS = frozenset({"github.com", "gitlab.com", "bitbucket.org", "codeberg.org"})
_SCP = re.compile(r"(?:[^@/\s]+@)?(\[[0-9A-Fa-f:.]+\]|[^:/\\@\s]{2,}):(?!//)(.*)", re.DOTALL)
_SECTION = re.compile(r'\[\s*([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\](.*)', re.DOTALL)
_MOST_CONFIG = 1 << 20


@dataclass(frozen=True, slots=True)
class Place:
    """``root`` is the main work tree (or the folder itself), ``tree`` the one looked from."""

    root: str
    tree: str
    config: str | None = None  # git's config file, where there is a repository

    @property
    def linked(self) -> bool:
        """Whether it was looked at from a linked worktree."""
        return self.root != self.tree


def find_place(cwd: str) -> Place:
    """The place of a folder, which need not exist any more. Never raises for what git wrote."""
    start = spelled_as_stored(os.path.realpath(cwd))
    folder = start
    while True:
        git = os.path.join(folder, ".git")
        if found := _from_folder(folder, git) or _from_file(folder, git):
            return found
        parent = os.path.dirname(folder)
        if parent == folder:
            return Place(start, start)
        folder = parent


def _from_folder(folder: str, git: str) -> Place | None:
    if not os.path.isfile(os.path.join(git, "HEAD")):
        return None
    return Place(folder, folder, os.path.join(git, "config"))


def _from_file(folder: str, git: str) -> Place | None:
    """A ``.git`` file: of a linked worktree, a submodule or a repository kept elsewhere."""
    line = _first_line(git)
    if not line.startswith("gitdir:") or "\0" in line:
        return None
    own = os.path.realpath(os.path.join(folder, line.removeprefix("gitdir:").strip()))
    shared = _common(own)
    if shared is None:
        is_there = os.path.isfile(os.path.join(own, "HEAD"))
        return Place(folder, folder, os.path.join(own, "config")) if is_there else None
    root = os.path.dirname(shared) if os.path.basename(shared) == ".git" else shared
    return Place(spelled_as_stored(root), folder, os.path.join(shared, "config"))


def _common(own: str) -> str | None:
    """The folder that all worktrees share; None when ``own`` is no worktree's."""
    if named := _first_line(os.path.join(own, "commondir")):
        return os.path.realpath(os.path.join(own, named))
    above, shelf = os.path.split(os.path.dirname(own))
    # Pruned by git while the work tree's folder is still there: its path tells what it was.
    if shelf == "worktrees" and os.path.isfile(os.path.join(above, "HEAD")):
        return above
    return None


def _first_line(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return os.fsdecode(file.read(8192).split(b"\n", 1)[0].rstrip(b"\r"))
    except (OSError, ValueError):
        return ""


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _is_same(left: str, right: str) -> bool:
    try:
        return os.path.samefile(left, right)
    except OSError:
        return False


def spelled_as_stored(
    path: str,
    listed: Callable[[str], list[str]] = _listed,
    is_same: Callable[[str, str], bool] = _is_same,
) -> str:
    """The path as the file system spells it, where that takes other spellings as well."""
    other = path.swapcase()
    if other == path or not is_same(path, other):
        return path
    drive, rest = os.path.splitdrive(path)
    built = drive + os.sep
    for part in rest.strip(os.sep).split(os.sep):
        fold = _fold(part)
        names = [name for name in listed(built) if _fold(name) == fold]
        exact = part if part in names or not names else names[0]
        built = os.path.join(built, exact)
    return built


def _fold(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def origin_of(config: str) -> str | None:
    """The URL of ``origin``, or of the only remote there is; None without one."""
    try:
        with open(config, "rb") as file:
            text = file.read(_MOST_CONFIG).decode("utf-8", "replace")
    except OSError:
        return None
    remotes = _remotes(text)
    if "origin" in remotes:
        return remotes["origin"]
    return next(iter(remotes.values())) if len(remotes) == 1 else None


def _remotes(text: str) -> dict[str, str]:
    """The first URL of each remote."""
    found: dict[str, str] = {}
    remote: str | None = None
    for line in text.replace("\\\r\n", "").replace("\\\n", "").splitlines():
        line = line.strip()
        if section := _SECTION.match(line):
            name = re.sub(r"\\(.)", r"\1", section[2] or "")
            remote = name if section[1].lower() == "remote" else None
            line = section[3].strip()
        key, equals, value = line.partition("=")
        if remote is not None and equals and key.strip().lower() == "url":
            url = _value(value)
            if url:
                found.setdefault(remote, url)
    return found


def _value(raw: str) -> str:
    """A value without its quotes and without a comment behind it."""
    parts = re.findall(r'"(?:[^"\\]|\\.)*"|[#;].*|[^"#;]+', raw.strip())
    kept = []
    for part in parts:
        if part[0] in "#;":
            break
        kept.append(part[1:-1] if part[0] == '"' else part)
    return re.sub(r"\\(.)", r"\1", "".join(kept)).strip()


def normal_remote(url: str, base: str | None = None) -> str | None:
    """``host/path`` of a remote, however it is spelled: no scheme, user, ``.git``, usual port.

    A remote on this machine becomes its absolute path, read from ``base``.  None for what names
    nothing.
    """
    text = url.strip()
    if not text or "\0" in text:
        return None
    if "://" in text:
        return _from_url(text)
    scp = _SCP.fullmatch(text)
    if scp and not text.startswith((".", "/")):
        return _joined(scp[1], None, scp[2])
    return _local(text, base)


def _from_url(text: str) -> str | None:
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return None
    scheme = parts.scheme.lower().removeprefix("git+").removesuffix("+git")
    if scheme == "file":
        return _local(unquote(parts.path), None)
    if port == _DEFAULT_PORTS.get(scheme):
        port = None
    return _joined(host, port, unquote(parts.path))


def _joined(host: str, port: int | None, path: str) -> str | None:
    host = host.strip("[]").rstrip(".").lower()
    clean = _bare("/".join(part for part in path.split("/") if part))
    if not host or not clean:
        return None
    if host in _FOLDING_HOSTS:
        clean = clean.lower()
    shown = f"[{host}]" if ":" in host else host
    return f"{shown}:{port}/{clean}" if port else f"{shown}/{clean}"


def _bare(path: str) -> str:
    path = path.rstrip("/")
    return path[:-4].rstrip("/") if path.lower().endswith(".git") else path


def _local(path: str, base: str | None) -> str | None:
    full = os.path.realpath(os.path.join(base or os.sep, path))
    return _bare(full.replace(os.sep, "/")) or None

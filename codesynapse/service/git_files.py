"""What git keeps in files about a work tree. No git program is run: a recall has no time for it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

__all__ = ["WorkTree", "find_work_tree", "normalise_remote"]

_SCP = re.compile(r"(?:[^@/\s]+@)?(?P<host>\[[^\]]+\]|[^:/\s]+):(?P<path>(?!//)\S+)")
_URL = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?:[^@/\s]*@)?(?P<host>\[[^\]]+\]|[^:/\s]*)"
    r"(?::(?P<port>\d+))?/*(?P<path>\S*)"
)
_SECTION = re.compile(r'\s*\[\s*(?P<name>[A-Za-z0-9.-]+)(?:\s+"(?P<sub>(?:[^"\\]|\\.)*)")?\s*\]')
_USUAL_PORTS = {"ssh": "22", "https": "443", "http": "80", "git": "9418"}
_MAX_FILE = 1 << 20


@dataclass(frozen=True, slots=True)
class WorkTree:
    """A folder that belongs together: ``top`` is this work tree, ``main`` the one it is linked to.

    Outside git both are the folder asked about, and there is no ``config``.
    """

    top: Path
    main: Path
    remote: str | None = None
    config: Path | None = None


def find_work_tree(folder: Path) -> WorkTree:
    """The work tree that ``folder`` lies in; symbolic links and spelling variants resolved."""
    start = _real(folder)
    for top in (start, *start.parents):
        entry = top / ".git"
        if entry.is_dir() and (entry / "HEAD").is_file():
            return _described(top, top, entry)
        if entry.is_file() and (linked := _linked(top, entry)):
            return linked
    return WorkTree(start, start)


def _real(folder: Path) -> Path:
    """The folder as the file system spells it. A folder that is gone keeps the rest of its name."""
    resolved = folder.expanduser().resolve()
    parent = resolved.parent
    if resolved.exists() and parent != resolved:
        for name in _listing(parent):
            if name != resolved.name and name.casefold() == resolved.name.casefold():
                other = parent / name
                if other.samefile(resolved) and resolved.name not in _listing(parent):
                    return other
    return resolved


def _listing(folder: Path) -> list[str]:
    try:
        return [entry.name for entry in folder.iterdir()]
    except OSError:
        return []


def _linked(top: Path, pointer: Path) -> WorkTree | None:
    """A linked work tree or a submodule: ``.git`` is a file that names the real folder."""
    text = _read(pointer)
    if not text.startswith("gitdir:"):
        return None
    git_dir = (top / text.removeprefix("gitdir:").strip()).resolve()
    common = _read(git_dir / "commondir").strip()
    if not common:  # a submodule: a repository of its own
        return _described(top, top, git_dir) if (git_dir / "HEAD").is_file() else None
    shared = (git_dir / common).resolve()
    main = shared.parent if shared.name == ".git" else shared
    return _described(top, main, shared)


def _described(top: Path, main: Path, git_dir: Path) -> WorkTree:
    config = git_dir / "config"
    return WorkTree(top, main, _origin(_read(config)), config)


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_MAX_FILE).decode("utf-8", "replace")
    except OSError:
        return ""


def _origin(text: str) -> str | None:
    """The URL of ``origin`` in a git config, normalised; the first remote's where none is so."""
    urls: dict[str, str] = {}
    remote: str | None = None
    for line in text.splitlines():
        if section := _SECTION.match(line):
            remote = section["sub"] if section["name"].lower() == "remote" else None
        elif remote is not None:
            key, equals, value = line.partition("=")
            if equals and key.strip().lower() == "url":
                urls.setdefault(remote, value.strip().strip('"'))
    chosen = urls.get("origin") or next(iter(urls.values()), None)
    return normalise_remote(chosen) if chosen else None


def normalise_remote(url: str) -> str | None:
    """``host/path`` of a remote: no scheme, user, usual port, ``.git`` or trailing slash.

    The host in lower case; None for what names no other machine (a path, ``file:``).
    """
    url = url.strip()
    if found := _URL.fullmatch(url):
        scheme, host, port = found["scheme"].lower(), found["host"], found["port"]
        if scheme == "file" or not host:
            return None
        if port and port != _USUAL_PORTS.get(scheme.removeprefix("git+")):
            host = f"{host}:{port}"
    elif found := _SCP.fullmatch(url):
        host = found["host"]
        if len(host) == 1:  # a drive letter
            return None
    else:
        return None
    path = found["path"].strip("/").removesuffix(".git").rstrip("/")
    return f"{host.lower()}/{path}" if path else None

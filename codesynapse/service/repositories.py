"""Which repository a folder belongs to: one answer for hook, command line, MCP and API.

A repository is known by its normalised origin, else by its root.  Adding, changing or renaming a
remote keeps the id, and a remote of before still leads to it.
"""

from __future__ import annotations

import os
import re
import threading
from collections import OrderedDict
from dataclasses import dataclass, replace
from hashlib import blake2b

from codesynapse.domain.scope import Principal
from codesynapse.domain.sessions import Repository
from codesynapse.errors import Invalid, NotFound
from codesynapse.service.access import FactDeps
from codesynapse.service.git_files import Place, find_place, normal_remote, origin_of
from codesynapse.store.base import RepoStore

__all__ = ["Known", "known", "listing", "resolve"]

_LONGEST_PATH = 4_096
_MOST_FORMER = 20
_recognising = threading.Lock()


@dataclass(frozen=True, slots=True)
class _Seen:
    """What a repository's config file said when it was last read."""

    stamp: tuple[int, int]
    isolated: bool
    id: str


class Known:
    """The repositories that were recognised lately, so that a hook's call need not read again."""

    def __init__(self, size: int = 500) -> None:
        self._size = size
        self._seen: OrderedDict[tuple[str, str], _Seen] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: tuple[str, str], stamp: tuple[int, int], isolated: bool) -> str | None:
        """The id, unless the config file has changed since."""
        with self._lock:
            seen = self._seen.get(key)
        if seen is None or (seen.stamp, seen.isolated) != (stamp, isolated):
            return None
        return seen.id

    def put(self, key: tuple[str, str], stamp: tuple[int, int], isolated: bool, id_: str) -> None:
        """Remember it; the oldest is forgotten."""
        with self._lock:
            self._seen[key] = _Seen(stamp, isolated, id_)
            self._seen.move_to_end(key)
            while len(self._seen) > self._size:
                self._seen.popitem(last=False)


def resolve(
    deps: FactDeps,
    principal: Principal,
    cwd: str,
    remote: str | None = None,
    *,
    cache: Known | None = None,
) -> Repository:
    """The repository of a folder, made known if it is new. Raises Invalid for what is no path.

    ``remote`` stands in for what git's config says, for a caller on another machine.
    """
    _check(cwd)
    isolated = deps.settings().worktrees == "isolated"
    place = find_place(cwd)
    key, stamp = (place.root, place.tree), _stamp(place.config)
    if cache is not None and remote is None and (id_ := cache.get(key, stamp, isolated)):
        repository = deps.store.repos.get(id_)
        if repository is not None:
            return repository
    repository = _recognised(deps.store.repos, _identity(place, remote, isolated))
    if cache is not None and remote is None:
        cache.put(key, stamp, isolated, repository.id)
    return repository


def known(deps: FactDeps, principal: Principal, repo_id: str) -> Repository:
    """The repository with this id. Raises NotFound."""
    repository = deps.store.repos.get(repo_id)
    if repository is None:
        raise NotFound(
            f"there is no repository {repo_id[:128]}", "resolve it from its folder first"
        )
    return repository


def listing(deps: FactDeps, principal: Principal) -> list[Repository]:
    """Every repository that is known, by name."""
    return deps.store.repos.all()


def _check(cwd: str) -> None:
    if not cwd or "\0" in cwd or len(cwd) > _LONGEST_PATH:
        raise Invalid("the working folder is not a usable path")
    if not os.path.isabs(cwd):
        raise Invalid("the working folder must be an absolute path")


def _stamp(config: str | None) -> tuple[int, int]:
    try:
        found = os.stat(config) if config else None
    except OSError:
        found = None
    return (found.st_mtime_ns, found.st_size) if found else (0, 0)


@dataclass(frozen=True, slots=True)
class _Identity:
    root: str
    remote: str | None


def _identity(place: Place, remote: str | None, isolated: bool) -> _Identity:
    if isolated and place.linked:
        return _Identity(place.tree, None)
    url = remote or (origin_of(place.config) if place.config else None)
    return _Identity(place.root, normal_remote(url, place.root) if url else None)


def _recognised(repos: RepoStore, found: _Identity) -> Repository:
    with _recognising:
        before = repos.match(found.remote, found.root) or _at_root(repos, found.root)
        after = _updated(before, found) if before else _new(repos, found)
        if after != before:
            repos.save(after)
        return after


def _at_root(repos: RepoStore, root: str) -> Repository | None:
    """Whatever is known at this root: its remote was changed or taken away."""
    return next((row for row in repos.all() if row.root == root), None)


def _updated(row: Repository, found: _Identity) -> Repository:
    root = row.root if row.root and os.path.isdir(row.root) else found.root
    if found.remote is None or found.remote == row.remote:
        return replace(row, root=root)
    if found.remote in row.former:
        return replace(row, root=root)  # a clone that has not heard of the new name
    former = (*row.former, row.remote) if row.remote else row.former
    former = tuple(dict.fromkeys(former))[-_MOST_FORMER:]
    return replace(row, root=root, remote=found.remote, former=former)


def _new(repos: RepoStore, found: _Identity) -> Repository:
    name = (found.remote or found.root).replace("\\", "/").rstrip("/").rsplit("/", 1)[-1] or "root"
    slug = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")[:40] or "repository"
    id_, salt = "", 0
    while not id_ or repos.get(id_) is not None:
        text = "\0".join((found.remote or "", "" if found.remote else found.root, str(salt)))
        id_ = (
            f"{slug}-{blake2b(text.encode('utf-8', 'surrogateescape'), digest_size=6).hexdigest()}"
        )
        salt += 1
    return Repository(id_, name, found.root, found.remote)

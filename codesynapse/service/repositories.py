"""Which repository a folder is. Everyone who asks gets the same answer: hook, CLI, MCP, API.

Known by its normalised remote, else by the root of its main work tree.  The id is made once and
stays, whatever is renamed later.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

from codesynapse.domain.scope import Principal
from codesynapse.domain.sessions import Repository
from codesynapse.errors import Invalid, NotFound
from codesynapse.service.access import FactDeps
from codesynapse.service.git_files import WorkTree, find_work_tree, normalise_remote

__all__ = ["RepositoryFinder", "known"]

_REMEMBERED = 256


def known(deps: FactDeps, repo_id: str) -> Repository:
    """The repository with this id. Raises NotFound."""
    found = deps.store.repos.get(repo_id)
    if found is None:
        raise NotFound(
            f"there is no repository {repo_id}", "POST /v1/repos/resolve names the one of a folder"
        )
    return found


class RepositoryFinder:
    """Resolves folders, and remembers the answer while the files that it came from are the same."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: OrderedDict[tuple[str, str | None, bool], tuple[object, str]] = OrderedDict()

    def resolve(
        self, deps: FactDeps, principal: Principal, cwd: str, remote: str | None = None
    ) -> Repository:
        """The repository of a folder, made known at its first sight.

        ``remote`` stands in where the folder's own files name none.  Raises Invalid for a folder
        that is not an absolute path.
        """
        if "\0" in cwd or not Path(cwd).is_absolute():
            raise Invalid("the folder is not an absolute path", "send the absolute path")
        isolated = deps.settings().worktrees == "isolated"
        key = (cwd, remote, isolated)
        with self._lock:
            remembered = self._seen.get(key)
        if remembered and remembered[0] == _mark(cwd) and (
            found := deps.store.repos.get(remembered[1])
        ):  # fmt: skip
            return found
        mark = _mark(cwd)
        found = _resolve(deps, find_work_tree(Path(cwd)), remote, isolated)
        with self._lock:
            self._seen[key] = (mark, found.id)
            while len(self._seen) > _REMEMBERED:
                self._seen.popitem(last=False)
        return found


def _mark(cwd: str) -> object:
    """Changes when the answer for this folder may change: the nearest .git and its config."""
    folder = Path(cwd)
    for top in (folder, *folder.parents):
        try:
            entry = (top / ".git").stat()
        except OSError:
            continue
        try:
            config = (top / ".git" / "config").stat().st_mtime_ns
        except OSError:
            config = 0
        return (str(top), entry.st_mtime_ns, entry.st_ino, config)
    return None


def _resolve(
    deps: FactDeps, tree: WorkTree, given: str | None, isolated: bool
) -> Repository:  # fmt: skip
    root = tree.top if isolated else tree.main
    remote = tree.remote or (normalise_remote(given) if given else None)
    if isolated and tree.top != tree.main:
        remote = None
    found = deps.store.repos.match(remote, str(root))
    if found is None:
        found = Repository(_new_id(deps, root, remote), root.name or "root", str(root), remote)
        deps.store.repos.save(found)
        return found
    changed = _updated(found, str(root), remote)
    if changed != found:
        deps.store.repos.save(changed)
    return changed


def _updated(found: Repository, root: str, remote: str | None) -> Repository:
    """The same repository with what is known of it now; a remote it had before stays a name."""
    if remote and remote != found.remote:
        former = tuple(dict.fromkeys((*found.former, *([found.remote] if found.remote else []))))
        found = replace(found, remote=remote, former=tuple(f for f in former if f != remote))
    if root != found.root and (found.root is None or not Path(found.root).exists()):
        found = replace(found, root=root)
    return found


def _new_id(deps: FactDeps, root: Path, remote: str | None) -> str:
    name = re.sub(r"[^A-Za-z0-9]+", "-", (remote or root.name).rsplit("/", 1)[-1]).strip("-")[:40]
    digest = blake2b((remote or str(root)).encode("utf-8", "replace"), digest_size=5).hexdigest()
    made = f"{name or 'repo'}-{digest}".lower()
    if deps.store.repos.get(made) is not None:  # another repository had this remote before
        again = blake2b(f"{remote}\n{root}".encode("utf-8", "replace"), digest_size=5).hexdigest()
        made = f"{name or 'repo'}-{again}".lower()
    return made

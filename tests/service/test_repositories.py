from __future__ import annotations

import os
import shutil
import subprocess
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from codesynapse.domain.scope import Principal, Scope
from codesynapse.domain.sessions import Repository
from codesynapse.errors import Invalid, NotFound
from codesynapse.service.repositories import Known, known, resolve
from tests.service.memory_world import World

ME = Principal("ada")


def git(folder: Path, *words: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=m"]
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


def make(folder: Path, remote: str | None = None) -> Path:
    folder.mkdir(parents=True)
    git(folder, "init")
    git(folder, "commit", "--allow-empty", "-m", "start")
    if remote:
        git(folder, "remote", "add", "origin", remote)
    return folder


def isolate(world: World) -> None:
    world.configured = replace(world.settings(), worktrees="isolated")


def of(world: World, folder: Path, cache: Known | None = None) -> Repository:
    return resolve(world, ME, str(folder), cache=cache)


def test_clones_of_one_remote_are_one_repository(world: World, tmp_path: Path) -> None:
    one = make(tmp_path / "one" / "app", "https://example.org/team/app.git")
    two = make(tmp_path / "two" / "other-name", "git@example.org:team/app")
    assert of(world, one).id == of(world, two).id


def test_two_folders_of_one_name_are_two_repositories(world: World, tmp_path: Path) -> None:
    one, two = make(tmp_path / "one" / "app"), make(tmp_path / "two" / "app")
    assert of(world, one).id != of(world, two).id
    assert of(world, one).name == of(world, two).name == "app"


def test_the_id_can_stand_in_a_route_and_in_a_scope(world: World, tmp_path: Path) -> None:
    found = of(world, make(tmp_path / "a b'[ö]"))
    assert Scope.repository(found.id).owner == found.id


@pytest.mark.parametrize("cached", [False, True])
def test_adding_and_changing_a_remote_keeps_the_id(
    world: World, tmp_path: Path, cached: bool
) -> None:
    cache = Known() if cached else None
    app = make(tmp_path / "app")
    first = of(world, app, cache)
    git(app, "remote", "add", "origin", "https://example.org/old/app")
    second = of(world, app, cache)
    git(app, "remote", "set-url", "origin", "https://example.org/new/app")
    third = of(world, app, cache)
    git(app, "remote", "remove", "origin")
    fourth = of(world, app, cache)
    assert first.id == second.id == third.id == fourth.id
    assert third.remote == "example.org/new/app"
    assert third.former == ("example.org/old/app",)


def test_a_clone_that_knows_the_former_remote_only_is_the_same(
    world: World, tmp_path: Path
) -> None:
    app = make(tmp_path / "app", "https://example.org/old/app")
    first = of(world, app)
    git(app, "remote", "set-url", "origin", "https://example.org/new/app")
    assert of(world, app).id == first.id
    late = make(tmp_path / "late", "https://example.org/old/app")
    assert of(world, late).id == first.id
    assert of(world, late).remote == "example.org/new/app"


def test_a_remote_that_is_called_otherwise_is_the_same(world: World, tmp_path: Path) -> None:
    app = make(tmp_path / "app", "https://example.org/team/app")
    first = of(world, app)
    git(app, "remote", "rename", "origin", "upstream")
    assert of(world, app).id == first.id


def test_what_a_worktree_knows_is_known_in_main_when_the_worktree_is_gone(
    world: World, tmp_path: Path
) -> None:
    app = make(tmp_path / "app")
    tree = tmp_path / "tree"
    git(app, "worktree", "add", str(tree))
    (tree / "deep").mkdir()
    there = of(world, tree / "deep")
    git(app, "worktree", "remove", "--force", str(tree))
    assert of(world, app).id == there.id
    assert there.root == str(app.resolve())


def test_isolated_worktrees_share_nothing(world: World, tmp_path: Path) -> None:
    app = make(tmp_path / "app", "https://example.org/team/app")
    tree, third = tmp_path / "tree", tmp_path / "third"
    git(app, "worktree", "add", str(tree))
    git(app, "worktree", "add", str(third))
    isolate(world)
    ids = {of(world, app).id, of(world, tree).id, of(world, third).id}
    assert len(ids) == 3
    assert of(world, tree).id in ids


def test_a_cached_answer_follows_the_setting(world: World, tmp_path: Path) -> None:
    cache = Known()
    app = make(tmp_path / "app")
    tree = tmp_path / "tree"
    git(app, "worktree", "add", str(tree))
    shared = of(world, tree, cache).id
    isolate(world)
    assert of(world, tree, cache).id != shared


def test_a_link_a_subfolder_and_the_folder_itself_are_one(world: World, tmp_path: Path) -> None:
    app = make(tmp_path / "my-app")
    (app / "src").mkdir()
    link = tmp_path / "link"
    link.symlink_to(app, target_is_directory=True)
    assert of(world, app).id == of(world, link).id == of(world, link / "src").id


def test_a_folder_that_becomes_a_repository_keeps_its_id(world: World, tmp_path: Path) -> None:
    cache, app = Known(), tmp_path / "app"
    app.mkdir()
    before = of(world, app, cache)
    git(app, "init")
    assert of(world, app, cache).id == before.id


def test_a_repository_that_moved_is_known_by_its_remote(world: World, tmp_path: Path) -> None:
    app = make(tmp_path / "app", "https://example.org/team/app")
    first = of(world, app)
    shutil.move(app, tmp_path / "moved")
    second = of(world, tmp_path / "moved")
    assert second.id == first.id
    assert second.root == str((tmp_path / "moved").resolve())


def test_a_caller_elsewhere_may_name_the_remote(world: World, tmp_path: Path) -> None:
    app = make(tmp_path / "app", "https://example.org/team/app")
    elsewhere = resolve(world, ME, "/not/here", "git@example.org:team/app.git")
    assert elsewhere.id == of(world, app).id


def test_many_who_ask_at_once_make_one_repository(world: World, tmp_path: Path) -> None:
    app = make(tmp_path / "app")
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(of(world, app).id)) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(found) == 16
    assert len(set(found)) == 1


def test_the_cache_reads_a_config_once(world: World, tmp_path: Path) -> None:
    cache, app = Known(), make(tmp_path / "app", "https://example.org/team/app")
    first = of(world, app, cache)
    config = app / ".git" / "config"
    stamp = config.stat()
    config.write_text(config.read_text().replace("team", "crew"))
    os.utime(config, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert of(world, app, cache) == first
    os.utime(config)
    assert of(world, app, cache).remote == "example.org/crew/app"


def test_the_cache_forgets_the_oldest() -> None:
    cache = Known(size=2)
    for name in ("a", "b", "c"):
        cache.put((name, name), (1, 1), False, name)
    assert cache.get(("a", "a"), (1, 1), False) is None
    assert cache.get(("c", "c"), (1, 1), False) == "c"


@pytest.mark.parametrize("cwd", ["", "relative", "/a\0b", "/" + "x" * 5000])
def test_what_is_no_absolute_path_is_refused(world: World, cwd: str) -> None:
    with pytest.raises(Invalid):
        resolve(world, ME, cwd)


def test_an_unknown_id_is_not_found(world: World) -> None:
    with pytest.raises(NotFound):
        known(world, ME, "nobody")

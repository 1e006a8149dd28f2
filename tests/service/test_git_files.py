from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codesynapse.service.git_files import find_place, normal_remote, origin_of, spelled_as_stored


def git(folder: Path, *words: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=m"]
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = (tmp_path / "project").resolve()
    root.mkdir()
    git(root, "init")
    git(root, "commit", "--allow-empty", "-m", "start")
    return root


def test_a_subfolder_lies_in_its_repository(repository: Path) -> None:
    deep = repository / "a" / "b"
    deep.mkdir(parents=True)
    assert find_place(str(deep)).root == str(repository)


def test_a_linked_worktree_and_its_subfolders_lie_in_the_main_one(repository: Path) -> None:
    tree = repository.parent / "tree"
    git(repository, "worktree", "add", str(tree))
    (tree / "deep").mkdir()
    place = find_place(str(tree / "deep"))
    assert (place.root, place.tree, place.linked) == (str(repository), str(tree), True)
    assert not find_place(str(repository)).linked


def test_a_worktree_that_git_has_pruned_still_lies_in_the_main_one(repository: Path) -> None:
    tree = repository.parent / "tree"
    git(repository, "worktree", "add", str(tree))
    shutil.rmtree(repository / ".git" / "worktrees")
    assert find_place(str(tree)).root == str(repository)


def test_a_worktree_of_a_bare_repository_lies_in_it(repository: Path) -> None:
    bare = repository.parent / "bare.git"
    git(repository.parent, "clone", "--bare", str(repository), str(bare))
    tree = repository.parent / "tree"
    git(bare, "worktree", "add", str(tree))
    assert find_place(str(tree)).root == str(bare)


def test_a_submodule_is_a_repository_of_its_own(repository: Path) -> None:
    part = repository / "part"
    kept = repository / ".git" / "modules" / "part"
    kept.parent.mkdir()
    git(repository, "init", f"--separate-git-dir={kept}", str(part))
    git(part, "remote", "add", "origin", "https://example.org/part.git")
    place = find_place(str(part))
    assert (place.root, place.linked) == (str(part), False)
    assert origin_of(place.config or "") == "https://example.org/part.git"


def test_a_symbolic_link_leads_to_the_same_place(repository: Path) -> None:
    (repository / "in-side").mkdir()
    link = repository.parent / "linked-name"
    link.symlink_to(repository, target_is_directory=True)
    assert find_place(str(link / "in-side")) == find_place(str(repository / "in-side"))


def test_a_folder_outside_any_repository_is_its_own_place(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()  # without HEAD git itself passes it over
    assert find_place(str(tmp_path)).root == str(tmp_path.resolve())


@pytest.mark.parametrize("text", ["", "nonsense", "gitdir: /nowhere/at/all", "gitdir: \0"])
def test_a_git_file_that_leads_nowhere_is_passed_over(tmp_path: Path, text: str) -> None:
    (tmp_path / ".git").write_text(text)
    assert find_place(str(tmp_path)).root == str(tmp_path.resolve())


def test_a_folder_that_is_gone_keeps_its_name(tmp_path: Path) -> None:
    assert find_place(str(tmp_path / "gone")).root == str(tmp_path.resolve() / "gone")


def test_the_root_of_the_system_is_a_place_like_any_other() -> None:
    assert find_place("/").root == "/"


def test_another_case_is_spelled_as_the_file_system_has_it() -> None:
    folders = {"/": ["Work"], "/Work": ["Café", "other"], "/Work/Café": []}

    def listed(folder: str) -> list[str]:
        return folders.get(folder, [])

    def is_same(left: str, right: str) -> bool:
        return left.casefold() == right.casefold()

    assert spelled_as_stored("/wORK/CAFÉ/new", listed, is_same) == "/Work/Café/new"


def test_where_case_matters_nothing_is_changed() -> None:
    assert spelled_as_stored("/wORK", lambda _: ["Work"], lambda *_: False) == "/wORK"


def config(tmp_path: Path, text: str) -> str:
    path = tmp_path / "config"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_the_origin_is_read_from_among_other_sections(tmp_path: Path) -> None:
    text = """
[core]
\turl = https://not.this/one
[remote "upstream"]
    url = https://example.org/up/stream
[Remote "origin"]  # the one
    fetch = +refs/heads/*:refs/remotes/origin/*
    URL = "https://example.org/o;wner/re po.git" ; a comment
    url = https://example.org/second
[branch "main"]
    remote = origin
"""
    assert origin_of(config(tmp_path, text)) == "https://example.org/o;wner/re po.git"


def test_a_remote_of_another_name_counts_when_it_is_the_only_one(tmp_path: Path) -> None:
    one = '[remote "fork"]\nurl = git@example.org:a/b\n'
    two = one + '[remote "other"]\nurl = git@example.org:c/d\n'
    assert origin_of(config(tmp_path, one)) == "git@example.org:a/b"
    assert origin_of(config(tmp_path, two)) is None


@pytest.mark.parametrize("text", ["", "[remote", '[remote "origin"]\nurl', "\0\x01", "url = a"])
def test_a_config_without_a_usable_remote_has_none(tmp_path: Path, text: str) -> None:
    assert origin_of(config(tmp_path, text)) is None
    assert origin_of(str(tmp_path / "missing")) is None


WORD = st.text("abcdefghijklmnopqrstuvwxyz0123456789-_", min_size=1, max_size=12).filter(
    lambda word: not word.endswith(".git")
)
HOSTS = st.tuples(WORD, WORD).map(lambda parts: f"{parts[0]}x.{parts[1]}.org")
PATHS = st.lists(WORD, min_size=1, max_size=3).map("/".join)
SPELLINGS = st.sampled_from(
    [
        "https://{host}/{path}",
        "https://{host}/{path}/",
        "https://{host}:443/{path}.git",
        "https://user@{host}/{path}.git/",
        "https://user:secret@{host}//{path}.git",
        "http://{host}:80/{path}",
        "ssh://git@{host}/{path}.git",
        "ssh://git@{host}:22/{path}",
        "git+ssh://git@{host}/{path}",
        "git://{host}:9418/{path}.git",
        "git@{host}:{path}.git",
        "{host}:{path}",
        "git@{host}:/{path}/",
        "HTTPS://{upper}/{path}",
        "git@{upper}:{path}",
        " https://{host}./{path}\n",
    ]
)


@given(HOSTS, PATHS, SPELLINGS)
def test_every_spelling_of_a_remote_is_one_name(host: str, path: str, spelling: str) -> None:
    url = spelling.format(host=host, upper=host.upper(), path=path)
    assert normal_remote(url) == f"{host}/{path}"


@given(HOSTS, PATHS, st.integers(1, 65_535))
def test_a_port_of_its_own_makes_another_remote(host: str, path: str, port: int) -> None:
    found = normal_remote(f"https://{host}:{port}/{path}")
    assert found == (f"{host}/{path}" if port == 443 else f"{host}:{port}/{path}")


@given(st.text(max_size=60))
def test_any_text_is_a_remote_or_none_and_never_an_error(text: str) -> None:
    found = normal_remote(text, os.sep)
    assert found is None or (found and "\0" not in found)


@given(HOSTS, PATHS)
def test_a_name_is_its_own_name(host: str, path: str) -> None:
    found = normal_remote(f"https://{host}/{path}")
    assert normal_remote(f"https://{found}") == found


@given(HOSTS, PATHS, WORD)
def test_a_password_in_a_url_is_not_kept(host: str, path: str, word: str) -> None:
    found = normal_remote(f"https://me:0password{word}@{host}/{path}")
    assert found is not None
    assert "password" not in found


def test_two_paths_of_one_host_are_two_remotes() -> None:
    assert normal_remote("git@example.org:a/one") != normal_remote("git@example.org:b/one")


def test_hosts_that_take_any_case_are_folded_and_others_are_not() -> None:
    assert normal_remote("https://GitHub.com/Owner/Repo") == "github.com/owner/repo"
    assert normal_remote("https://example.org/Owner/Repo") == "example.org/Owner/Repo"


def test_a_remote_on_this_machine_is_its_real_path(tmp_path: Path) -> None:
    (tmp_path / "real.git").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real.git")
    real = str(tmp_path.resolve() / "real")
    assert normal_remote("../real.git", str(tmp_path / "clone")) == real
    assert normal_remote(f"file://{tmp_path}/real.git/") == real
    assert normal_remote(str(tmp_path / "link")) == real


@pytest.mark.parametrize("url", ["", "  ", "https://", "https:///x", "http://h:99999/x", "a\0b"])
def test_what_names_nothing_is_no_remote(url: str) -> None:
    assert normal_remote(url) is None

"""Files that facts name are looked for inside the root, and only there."""

from __future__ import annotations

from pathlib import Path

import pytest

from codesynapse.recall.code_tree import CodeTree, paths_named


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    (root / "src").mkdir(parents=True)
    (root / "src" / "here.py").write_text("")
    (tmp_path / "secret.py").write_text("")
    return root


def test_a_missing_file_is_named_and_a_present_one_is_not(tree: Path) -> None:
    code = CodeTree(str(tree))
    assert code.gone("handlers live in src/gone.py.") == "src/gone.py"
    assert code.gone("handlers live in ./src/here.py") is None
    assert code.gone("no/such/folder/x.ts, and src/here.py") == "no/such/folder/x.ts"


@pytest.mark.parametrize(
    "text",
    [
        "and/or",
        "TCP/IP",
        "GET /v1/users.json",
        "https://example.org/a/b.html",
        "github.com/a/b.git",
        "docs.python.org/3/x.html",
        "node_modules/x/index.js",
        "setup.py",
        "feature/login",
        "ana@host.example:src/a.py",
        "C:\\src\\a.py",
        "../secret.py",
        "src/../../secret.py",
        "/etc/passwd.txt",
        "\x00/\x00.py",
    ],
)
def test_what_is_no_file_of_the_repository_is_not_missed(tree: Path, text: str) -> None:
    assert CodeTree(str(tree)).gone(text) is None


def test_a_link_is_not_followed(tree: Path) -> None:
    (tree / "out").symlink_to(tree.parent)
    assert CodeTree(str(tree)).gone("out/nothing.py") is None


def test_the_number_of_looks_is_bounded(tree: Path) -> None:
    code = CodeTree(str(tree), max_calls=10)
    claims = [code.gone(f"src/file{n}.py") for n in range(50)]
    assert 0 < sum(claim is not None for claim in claims) <= 5
    assert claims[-1] is None


def test_a_root_that_is_gone_supports_no_claim(tmp_path: Path) -> None:
    assert CodeTree(str(tmp_path / "away")).gone("src/a.py") is None


def test_a_folder_in_place_of_a_file_name_exists(tree: Path) -> None:
    (tree / "src" / "pkg.d").mkdir()
    assert CodeTree(str(tree)).gone("src/pkg.d") is None
    assert CodeTree(str(tree)).gone("src/here.py/x.py") == "src/here.py/x.py"


def test_few_paths_of_one_text_are_looked_at() -> None:
    assert paths_named("a/1.py a/2.py a/2.py a/3.py a/4.py") == ["a/1.py", "a/2.py", "a/3.py"]

from __future__ import annotations

from pathlib import Path

import pytest

from codesynapse.errors import InstallRefused
from codesynapse.install.bundled import bundled


def test_a_checkout_finds_its_folders_beside_the_package() -> None:
    assert (bundled("hooks") / "events.json").is_file()
    assert (bundled("agents_md") / "memory.md").is_file()
    assert bundled("plugin").is_dir()


def test_a_wheel_finds_its_folders_in_the_package(tmp_path: Path) -> None:
    package = tmp_path / "site-packages" / "codesynapse"
    (package / "_data" / "hooks").mkdir(parents=True)
    # Somebody else's folder of that name beside the package is not ours.
    (package.parent / "hooks").mkdir()
    assert bundled("hooks", package) == package / "_data" / "hooks"


def test_an_installation_without_its_folders_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InstallRefused, match="has no hooks folder"):
        bundled("hooks", tmp_path / "codesynapse")

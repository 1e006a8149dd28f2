"""Every command of the README does what it says, run on the wheel and not on the source tree."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.source import ROOT
from tests.real.world import make_repository

pytestmark = [pytest.mark.real, pytest.mark.timeout(300)]

README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = [
    line
    for block in re.findall(r"```sh\n(.*?)```", README, re.S)
    for line in block.strip().splitlines()
]
# These two are the way in: this very suite is the second, and the first has a test of its own.
ENTRIES = ["make demo", "make test"]
INSTALL = "pipx install ."


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with our wheel in it, and the folder of its programs.

    Dependencies come from the environment that runs the suite; of ourselves only the wheel is seen.
    """
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "--no-deps", "--wheel-dir", str(folder), str(ROOT)], check=True,
                   timeout=200)  # fmt: skip
    (wheel,) = folder.glob("*.whl")
    fresh = folder / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(fresh)], check=True,
                   timeout=60)  # fmt: skip
    site = next((fresh / "lib").glob("python*/site-packages"))
    subprocess.run([*pip, "--python", str(fresh / "bin" / "python"), "install", "--no-deps",
                    str(wheel)], check=True, timeout=100)  # fmt: skip
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return fresh / "bin"


@pytest.fixture(scope="module")
def place(
    installed: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Path, dict[str, str]]]:
    root = tmp_path_factory.mktemp("newcomer")
    project = make_repository(root / "project")
    environment = {
        "HOME": str(root),
        "PATH": str(installed) + os.pathsep + os.defpath,
        "CODESYNAPSE_HOME": str(root / "memory"),
        "CODESYNAPSE_PORT": "0",
    }
    yield project, environment
    subprocess.run([str(installed / "codesynapse"), "sidecar", "stop"], env=environment,
                   cwd=project, check=True, capture_output=True, timeout=60)  # fmt: skip


def test_the_readme_is_short_and_opens_with_the_two_commands() -> None:
    assert len(README.splitlines()) < 150
    assert COMMANDS[:2] == ENTRIES
    assert COMMANDS[2] == INSTALL


def test_the_commands_of_the_readme_run_in_the_order_they_stand(
    place: tuple[Path, dict[str, str]],
) -> None:
    project, environment = place
    for command in COMMANDS[3:]:
        done = subprocess.run(command, shell=True, cwd=project, env=environment, check=False,
                              capture_output=True, encoding="utf-8", timeout=60)  # fmt: skip
        assert done.returncode == 0, f"{command}: {done.stderr}"
        assert "Traceback" not in done.stderr, command


def test_inline_commands_of_the_readme_exist(place: tuple[Path, dict[str, str]]) -> None:
    project, environment = place
    for command in re.findall(r"`(codesynapse [a-z -]+)`", README):
        done = subprocess.run(f"{command} --help", shell=True, cwd=project, env=environment,
                              check=False, capture_output=True, timeout=60)  # fmt: skip
        assert done.returncode == 0, command

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sidecar.home import Home
from tests.sidecar.life import Life


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """One running sidecar for all who only ask; sessions and folders keep them apart."""
    home = Home(tmp_path_factory.mktemp("served"))
    home.start()
    yield home
    home.close()


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """A home for a test that starts and ends its own."""
    made = Home(tmp_path)
    yield made
    made.close()


@pytest.fixture
def life(tmp_path: Path) -> Iterator[Life]:
    """A home for a test in which hooks start the sidecar."""
    if not Path("/proc/self/environ").exists():
        pytest.skip("processes are found by /proc")
    made = Life(tmp_path)
    yield made
    made.close()

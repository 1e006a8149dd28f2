from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sidecar.home import Home


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

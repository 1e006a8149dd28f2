"""One world per test, on a real SQLite file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from codesynapse.store.sqlite import open_store
from tests.service.memory_world import Moving, World


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    time = Moving()
    store = open_store(tmp_path / "memory.db", backups=None, clock=time)
    made = World(store, tmp_path, time)
    made.repository()
    made.session()
    yield made
    store.close()

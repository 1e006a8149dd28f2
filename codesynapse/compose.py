"""The composition root: settings, store, queue and pipeline, wired once. Nothing else wires."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from codesynapse.config import Settings
from codesynapse.domain.sessions import Job
from codesynapse.jobs.queue import OffloadQueue
from codesynapse.paths import Paths, private_folder
from codesynapse.service.deps import Deps, EndMarks
from codesynapse.store.sqlite import SqliteStore, open_store

if TYPE_CHECKING:
    from codesynapse.service.pipeline import Pipeline

__all__ = ["Engine", "compose", "now"]


def now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)


@dataclass(slots=True)
class Engine:
    """An open store and what works on it. ``start`` once, ``close`` once."""

    deps: Deps
    store: SqliteStore
    left: list[Job] = field(default_factory=list)  # by the last process, before this took any
    faults: list[str] = field(default_factory=list)  # what is wrong with the data file, in words
    _pipeline: Pipeline | None = None
    _starting: threading.Lock = field(default_factory=threading.Lock)
    _closed: bool = False

    def start(self) -> None:
        """Begin to extract, and check the whole file if the last process did not close it.

        Apart from opening, since extractors take a while to load and answers need none of them.
        """
        with self._starting:
            if self._closed:
                return
            self._begin()
        if self.store.unclean:
            self.faults += self.store.recover()

    def _begin(self) -> None:
        from codesynapse.service.pipeline import Pipeline

        self._pipeline = Pipeline(self.deps)
        self._pipeline.start(self.left)

    def model_calls(self) -> int | None:
        """How many model calls were made today, once there is a pipeline."""
        return self._pipeline.meter().calls_today if self._pipeline else None

    def close(self, seconds: float = 5.0) -> bool:
        """Finish or put back the running job, then close the store; whether nothing was left."""
        with self._starting:
            self._closed = True
            if self._pipeline is None and len(self.deps.queue):
                self._begin()  # what was accepted a moment ago is not thrown away
            ended = self._pipeline.stop(seconds) if self._pipeline else True
            self.deps.queue.close()
        self.store.close()
        return ended


def compose(
    paths: Paths,
    settings: Callable[[], Settings],
    clock: Callable[[], datetime] = now,
    *,
    owner: str = "owner",
) -> Engine:
    """Open the store and wire it. ``owner`` is whose sessions those are that nobody registered.

    Raises StoreDamaged, StoreNewer or Unavailable, and OSError for its folder.
    """
    path = Path(settings().database)
    is_usual = str(path) == paths.database
    if is_usual:
        private_folder(str(path.parent))
    else:  # a folder that somebody chose keeps its mode
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    backups = Path(paths.backups) if is_usual else None
    store = open_store(path, backups=backups, clock=clock)
    queue = OffloadQueue(lambda: settings().queue_size)
    ends = EndMarks(paths.ends, owner)
    deps = Deps(store=store, settings=settings, clock=clock, queue=queue, ends=ends)
    return Engine(deps, store, store.jobs.unfinished())

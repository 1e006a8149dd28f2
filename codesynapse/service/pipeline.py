"""Everything of the pipeline that has a life: the worker, and the upkeep beside it.

``start`` takes up what the last process left; ``stop`` leaves nothing half done.
"""

from __future__ import annotations

from collections.abc import Collection

from codesynapse.domain.sessions import Job
from codesynapse.extraction.routes import MemoryRoute
from codesynapse.jobs.upkeep import Upkeep
from codesynapse.jobs.worker import Worker
from codesynapse.providers.meter import Reading
from codesynapse.service.ends import EndDeps, rest_is_queued, settle
from codesynapse.service.extracting import JobRunner
from codesynapse.service.offload import recover, retry_failed
from codesynapse.service.sessions import sweep

__all__ = ["Pipeline", "upkeep"]

_EVERY_SECONDS = 30.0


def upkeep(deps: EndDeps) -> None:
    """What is due: ends, carry-over, expiry, deletion, and failed jobs to try again."""
    settle(deps)
    sweep(deps, rest_is_queued)
    retry_failed(deps)


class Pipeline:
    """The worker and its upkeep. ``route`` may be given for another way to resolve names."""

    def __init__(self, deps: EndDeps, route: MemoryRoute | None = None) -> None:
        self._deps = deps
        self._route = route or MemoryRoute(deps.settings, deps.clock)
        self._worker = Worker(deps.queue, JobRunner(deps, self._route))
        self._upkeep = Upkeep(lambda: upkeep(deps), _EVERY_SECONDS)

    def start(self, left: Collection[Job] | None = None) -> None:
        """Queue what the last process left, and begin; without ``left``, all that is unfinished."""
        recover(self._deps, left)
        self._worker.start()
        self._upkeep.start()

    def stop(self, seconds: float = 5.0) -> bool:
        """Take no more work; finish or put back the running job. False if it had to be left."""
        ended = self._worker.stop(seconds)
        return self._upkeep.stop() and ended

    def meter(self) -> Reading:
        """How many model calls were made today, of how many."""
        return self._route.meter()

"""The one worker: a thread that runs queued jobs in order, and ends without losing one.

This is one of the four places where any exception is caught: a job that fails must not stop the
next.  What is logged or kept of it is the kind of the exception, since its text could hold turns.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import Protocol

from codesynapse.jobs.queue import OffloadQueue, Queued

__all__ = ["Runner", "Worker"]

_log = logging.getLogger("codesynapse.worker")


class Runner(Protocol):
    """What is done with a job; implemented where services are known."""

    def run(self, item: Queued) -> None:
        """Do it, and leave the outcome in the job's row."""
        ...

    def failed(self, item: Queued, kind: str) -> None:
        """``run`` raised something unforeseen of this kind."""
        ...

    def interrupt(self) -> None:
        """The job that runs shall end now, and be put back."""
        ...

    def put_back(self, item: Queued) -> None:
        """It did not run; see that it does after the next start, or now if it cannot wait."""
        ...


class Worker:
    """Starts with ``start``, ends with ``stop``; both once."""

    def __init__(self, queue: OffloadQueue, runner: Runner) -> None:
        self._queue = queue
        self._runner = runner
        self._current: Queued | None = None
        self._thread = threading.Thread(target=self._work, name="offload-worker", daemon=True)

    def start(self) -> None:
        """Begin to take jobs."""
        self._thread.start()

    def stop(self, seconds: float = 5.0) -> bool:
        """Take no more work, and finish or put back the running job, inside the given time.

        What there is no time for keeps its row as queued, for the next start to see.  Returns
        whether the thread has ended.
        """
        end = time.monotonic() + seconds
        left = self._queue.close()
        if self._thread.is_alive():
            self._thread.join(seconds / 2)
        if self._thread.is_alive():
            self._runner.interrupt()
            self._thread.join(max(0.0, end - time.monotonic()))
        stuck = self._current if self._thread.is_alive() else None
        for item in (*([stuck] if stuck else ()), *left):
            if item is stuck or time.monotonic() < end:
                self._guarded(item, put_back=True)
        return stuck is None

    def _work(self) -> None:
        while (item := self._queue.take()) is not None:
            self._current = item
            self._guarded(item, put_back=False)
            self._current = None

    def _guarded(self, item: Queued, *, put_back: bool) -> None:
        try:
            (self._runner.put_back if put_back else self._runner.run)(item)
        except Exception as error:  # the edge: see the module
            kind = type(error).__name__
            _log.error("job %s stopped by %s", item.job.id, kind)
            self._record(item, kind)
        finally:
            self._queue.done(item)

    def _record(self, item: Queued, kind: str) -> None:
        try:
            self._runner.failed(item, kind)
        except Exception as error:  # the edge: see the module
            # The store itself is gone, say: the row stays unfinished, for the next start to see.
            _log.error("job %s could not be recorded: %s", item.job.id, type(error).__name__)

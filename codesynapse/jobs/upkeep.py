"""A task that is done again and again beside the worker, at its own pace.

Part of the worker's edge: whatever a round raises is logged by its kind, and the next one may do
better.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

__all__ = ["Upkeep"]

_log = logging.getLogger("codesynapse.upkeep")


class Upkeep:
    """Runs ``task`` at once and then every so many seconds, in a thread of its own."""

    def __init__(self, task: Callable[[], object], seconds: float) -> None:
        self._task = task
        self._seconds = seconds
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._work, name="upkeep", daemon=True)

    def start(self) -> None:
        """Begin with the first round."""
        self._thread.start()

    def stop(self, seconds: float = 1.0) -> bool:
        """Begin no other round; returns whether the running one has ended."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(seconds)
        return not self._thread.is_alive()

    def _work(self) -> None:
        while not self._stopping.is_set():
            try:
                self._task()
            except Exception as error:  # the edge: see the module
                _log.error("upkeep stopped by %s", type(error).__name__)
            self._stopping.wait(self._seconds)

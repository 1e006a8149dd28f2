"""The bounded queue of offload jobs. Turns wait here, in memory, and nowhere else.

Full means refused, with a time to come back.  A place is reserved before a job's row is written, so
that nothing is acknowledged that the queue cannot take.
"""

from __future__ import annotations

import math
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from codesynapse.domain.sessions import Job
from codesynapse.domain.turns import Turn
from codesynapse.errors import QueueFull, Unavailable

__all__ = ["OffloadQueue", "Queued"]

_CHARACTERS = 64 * 1024 * 1024
_SHORTEST_WAIT, _LONGEST_WAIT = 1, 60


@dataclass(frozen=True, slots=True)
class Queued:
    """A job and its turns; without turns they are read again from the job's transcript."""

    job: Job
    turns: tuple[Turn, ...] | None = field(default=None, repr=False)

    @property
    def characters(self) -> int:
        """How much memory it takes, roughly."""
        return sum(len(turn.text) for turn in self.turns or ())


class OffloadQueue:
    """First in, first out, one taker. ``size`` is asked each time, as settings may change."""

    def __init__(self, size: Callable[[], int], characters: int = _CHARACTERS) -> None:
        self._size = size
        self._room = characters
        self._changed = threading.Condition()
        self._waiting: deque[Queued] = deque()
        self._running: Queued | None = None
        self._reserved = 0
        self._held = 0  # characters
        self._kept: dict[str, Queued] = {}
        self._pending: Counter[str] = Counter()  # by session, reserved and running ones too
        self._closed = False
        self._seconds_a_job = 1.0
        self._started = 0.0

    def reserve(self, session_id: str, characters: int = 0) -> None:
        """Keep a place. Raises QueueFull; after this, ``put`` or ``release`` must follow."""
        with self._changed:
            self._check_open()
            taken = len(self._waiting) + self._reserved
            if taken >= self._size() or (taken and self._held + characters > self._room):
                raise QueueFull(
                    "the offload queue is full; nothing was taken",
                    "send the same turns again later",
                    self._wait_for_room(),
                )
            self._reserved += 1
            self._held += characters
            self._pending[session_id] += 1

    def release(self, session_id: str, characters: int = 0) -> None:
        """Give a reserved place back."""
        with self._changed:
            self._reserved -= 1
            self._held -= characters
            self._leave(session_id)

    def put(self, item: Queued, *, reserved: bool = True) -> None:
        """Add at the end, into a reserved place. Without one it always fits: a job put back.

        Raises Unavailable once the queue is closed; a reserved place is still to be released.
        """
        with self._changed:
            self._check_open()
            if reserved:
                self._reserved -= 1
            else:
                self._held += item.characters
                self._pending[item.job.session_id] += 1
            self._waiting.append(item)
            self._changed.notify_all()

    def take(self) -> Queued | None:
        """Wait for the next one; None once the queue is closed. ``done`` must follow."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closed)
            if self._closed:
                return None
            self._running = self._waiting.popleft()
            self._started = time.monotonic()
            return self._running

    def done(self, item: Queued) -> None:
        """What was taken has run, or was given up."""
        with self._changed:
            if self._running is item:
                self._running = None
                seconds = time.monotonic() - self._started
                self._seconds_a_job += (seconds - self._seconds_a_job) / 4
            self._held -= item.characters
            self._leave(item.job.session_id)

    def pending(self, session_id: str) -> int:
        """How many jobs of this session wait or run."""
        with self._changed:
            return self._pending[session_id]

    def jobs(self, session_id: str) -> list[Job]:
        """The jobs of this session that run or wait, in order."""
        with self._changed:
            running = [self._running] if self._running else []
            return [i.job for i in (*running, *self._waiting) if i.job.session_id == session_id]

    def wait(self, session_ids: Iterable[str], deadline: float) -> bool:
        """Until no job of these sessions is left, or ``time.monotonic()`` passes ``deadline``."""
        wanted = set(session_ids)
        with self._changed:
            return self._changed.wait_for(
                lambda: self._closed or not any(self._pending[one] > 0 for one in wanted),
                timeout=max(0.0, deadline - time.monotonic()),
            ) and not any(self._pending[one] > 0 for one in wanted)

    def keep(self, item: Queued) -> bool:
        """Hold the turns of a failed job for another attempt; False when there is no room."""
        with self._changed:
            room = len(self._kept) < self._size() and self._held + item.characters <= self._room
            if room and not self._closed:
                self._kept[item.job.id] = item
                self._held += item.characters
            return room and not self._closed

    def give_up(self, job_id: str) -> Queued | None:
        """The turns that were kept for this job; they are kept no longer."""
        with self._changed:
            item = self._kept.pop(job_id, None)
            self._held -= item.characters if item else 0
            return item

    def keeps(self, job_id: str) -> bool:
        """Whether this job's turns are kept for another attempt."""
        with self._changed:
            return job_id in self._kept

    def close(self) -> list[Queued]:
        """Take nothing more; returns what still waited, or was kept for another attempt."""
        with self._changed:
            self._closed = True
            left = [*self._waiting, *self._kept.values()]
            self._waiting.clear()
            self._kept.clear()
            self._changed.notify_all()
            return left

    @property
    def closed(self) -> bool:
        """Whether ``close`` was called."""
        return self._closed

    def __len__(self) -> int:
        with self._changed:
            return len(self._waiting) + self._reserved

    def _leave(self, session_id: str) -> None:
        self._pending[session_id] -= 1
        if self._pending[session_id] <= 0:
            del self._pending[session_id]
        self._changed.notify_all()

    def _check_open(self) -> None:
        if self._closed:
            raise Unavailable("the sidecar is stopping", "try again in a moment")

    def _wait_for_room(self) -> int:
        """About as long as the running job still takes."""
        running = time.monotonic() - self._started if self._running else 0.0
        return min(_LONGEST_WAIT, max(_SHORTEST_WAIT, math.ceil(self._seconds_a_job - running)))

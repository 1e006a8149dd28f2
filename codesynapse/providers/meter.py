"""How often a model may be called: a cap for each day, and a breaker for a server that is down."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from codesynapse.errors import Unavailable

__all__ = ["CapReached", "Meter", "Reading"]

_FAILURES_TO_OPEN = 5
_OPEN_FOR = timedelta(seconds=30)


class CapReached(Unavailable):
    """The calls of this day are used up."""

    code = "daily_cap"


@dataclass(frozen=True, slots=True)
class Reading:
    """What the meter shows. ``open_until`` is set while the breaker keeps calls from a server."""

    calls_today: int
    cap: int
    open_until: datetime | None


class Meter:
    """Counts calls by UTC day. Every call asks ``spend`` first and reports how it went."""

    def __init__(self, clock: Callable[[], datetime], cap: int) -> None:
        self.cap = cap
        self._clock = clock
        self._lock = threading.Lock()
        self._day: date | None = None
        self._calls = 0
        self._failures = 0
        self._open_until: datetime | None = None

    def spend(self) -> None:
        """Count one call. Raises CapReached, or Unavailable while the breaker is open."""
        with self._lock:
            now = self._clock()
            self._turn(now)
            if self._calls >= self.cap:
                raise CapReached(
                    f"the {self.cap} model calls of today are used up",
                    "raise routes.memory.daily_calls, or wait for tomorrow (UTC)",
                )
            if self._open_until is not None and now < self._open_until:
                raise Unavailable(
                    "the model server has not answered for a while; it is left alone for a moment",
                    "check that it runs",
                )
            self._calls += 1

    def answered(self) -> None:
        """The server answered, well or badly: it is there."""
        with self._lock:
            self._failures = 0
            self._open_until = None

    def unanswered(self) -> None:
        """Nobody answered. After some of these in a row calls are refused for half a minute."""
        with self._lock:
            self._failures += 1
            if self._failures >= _FAILURES_TO_OPEN:
                self._open_until = self._clock() + _OPEN_FOR

    def read(self) -> Reading:
        """The figures of today."""
        with self._lock:
            now = self._clock()
            self._turn(now)
            shown = self._open_until if self._open_until and now < self._open_until else None
            return Reading(self._calls, self.cap, shown)

    def _turn(self, now: datetime) -> None:
        if self._day != now.date():
            self._day, self._calls = now.date(), 0

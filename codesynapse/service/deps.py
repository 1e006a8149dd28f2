"""What the services need, made once by ``compose`` and handed to every call. No globals."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from codesynapse.config import Settings
from codesynapse.jobs.queue import OffloadQueue
from codesynapse.store.base import Store

__all__ = ["Bindings", "Deps", "EndMarks"]


@dataclass(frozen=True, slots=True)
class EndMarks:
    """Where hooks leave marks of ended sessions, and whose the unknown ones are."""

    folder: str
    owner: str


class Bindings:
    """Which session a call of one of our tools came from, as its client's hook reported it.

    Held in memory only, the newest ``size`` of them: a call is asked for within seconds.
    """

    def __init__(self, size: int = 1_000) -> None:
        self._size = size
        self._changed = threading.Condition()
        self._sessions: OrderedDict[tuple[str, str], str] = OrderedDict()

    def add(self, client: str, tool_use_id: str, session: str) -> None:
        """Remember that this call belongs to the client's ``session``."""
        with self._changed:
            self._sessions[client, tool_use_id] = session
            self._sessions.move_to_end((client, tool_use_id))
            while len(self._sessions) > self._size:
                self._sessions.popitem(last=False)
            self._changed.notify_all()

    def session_of(self, client: str, tool_use_id: str, deadline: float = 0.0) -> str | None:
        """The session of a call; waits for its report until ``time.monotonic()`` is past that."""
        with self._changed:
            key = client, tool_use_id
            left = max(0.0, deadline - time.monotonic())
            self._changed.wait_for(lambda: key in self._sessions, timeout=left)
            return self._sessions.get(key)


@dataclass(frozen=True, slots=True)
class Deps:
    """The one store, the settings as they are now, the time, and what waits in memory."""

    store: Store
    settings: Callable[[], Settings]
    clock: Callable[[], datetime]
    queue: OffloadQueue
    ends: EndMarks
    bindings: Bindings = field(default_factory=Bindings)

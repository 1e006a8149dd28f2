"""What every use case is given: the store, the settings as they are now, the time, the queue."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from codesynapse.config import Settings
from codesynapse.jobs.queue import OffloadQueue
from codesynapse.service.repositories import RepositoryFinder
from codesynapse.store.base import Store

__all__ = ["Bindings", "Deps", "GivenMarks"]

_REMEMBERED = 2_000


class Bindings:
    """Which session a tool call belongs to, as a hook reported it. In memory, the newest kept."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sessions: OrderedDict[str, tuple[str, str]] = OrderedDict()

    def bind(self, tool_use_id: str, client: str, session: str) -> None:
        """Remember who makes this call."""
        with self._lock:
            self._sessions[tool_use_id] = (client, session)
            while len(self._sessions) > _REMEMBERED:
                self._sessions.popitem(last=False)

    def find(self, tool_use_id: str) -> tuple[str, str] | None:
        """The (client, session) that makes this call, if a hook said so."""
        with self._lock:
            return self._sessions.get(tool_use_id)


class GivenMarks:
    """What each session was given since its last compaction, so that nothing is given twice."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._marks: OrderedDict[str, frozenset[str]] = OrderedDict()

    def of(self, session_id: str) -> frozenset[str]:
        """The marks of what this session has."""
        with self._lock:
            return self._marks.get(session_id, frozenset())

    def add(self, session_id: str, marks: frozenset[str]) -> None:
        """It was given these too."""
        with self._lock:
            self._marks[session_id] = self._marks.pop(session_id, frozenset()) | marks
            while len(self._marks) > _REMEMBERED:
                self._marks.popitem(last=False)

    def forget(self, session_id: str) -> None:
        """Its context was compacted or cleared: it has nothing any more."""
        with self._lock:
            self._marks.pop(session_id, None)


@dataclass(frozen=True, slots=True)
class Deps:
    """Built once, by ``compose``."""

    store: Store
    settings: Callable[[], Settings]
    clock: Callable[[], datetime]
    queue: OffloadQueue
    repositories: RepositoryFinder = field(default_factory=RepositoryFinder)
    bindings: Bindings = field(default_factory=Bindings)
    given: GivenMarks = field(default_factory=GivenMarks)

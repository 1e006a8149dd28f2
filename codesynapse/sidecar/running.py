"""What the running sidecar holds beside its data: who may ask, where it listens, what it counts."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Set
from dataclasses import dataclass, field

from codesynapse.domain.scope import Principal
from codesynapse.service.deps import Deps
from codesynapse.service.repositories import Known

__all__ = ["Counters", "Given", "Listening", "Running"]


@dataclass(frozen=True, slots=True)
class Listening:
    """Where it is reached."""

    host: str
    port: int

    @property
    def url(self) -> str:
        """The base URL."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"


class Counters:
    """How much was asked, and when last. Changed on the event loop only."""

    def __init__(self) -> None:
        self.requests = 0
        self.failures = 0
        self.open = 0
        self.last = time.monotonic()


class Given:
    """What each session was given since its last compaction: marks only, in memory only."""

    def __init__(self, size: int = 1_000) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._marks: OrderedDict[str, frozenset[str]] = OrderedDict()

    def of(self, session_id: str) -> frozenset[str]:
        """The marks of what this session was given."""
        with self._lock:
            return self._marks.get(session_id, frozenset())

    def add(self, session_id: str, marks: Set[str], *, afresh: bool = False) -> None:
        """Remember more of them; ``afresh`` after a compaction, which took the old ones away."""
        with self._lock:
            before = frozenset() if afresh else self._marks.get(session_id, frozenset())
            self._marks[session_id] = before | marks
            self._marks.move_to_end(session_id)
            while len(self._marks) > self._size:
                self._marks.popitem(last=False)


@dataclass(frozen=True, slots=True)
class Running:
    """One sidecar, as its routes and its guard know it."""

    deps: Deps
    owner: Principal
    token: str = field(repr=False)
    listening: Listening
    version: str
    stop: Callable[[], None]
    faults: Callable[[], list[str]] = list
    config_error: Callable[[], str | None] = lambda: None
    model_calls: Callable[[], int | None] = lambda: None
    started: float = field(default_factory=time.monotonic)
    counters: Counters = field(default_factory=Counters)
    known: Known = field(default_factory=Known)
    given: Given = field(default_factory=Given)

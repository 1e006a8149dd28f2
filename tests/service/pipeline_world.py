"""A pipeline on a real store and real threads, with people, sessions and transcripts."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from dataclasses import replace as changed
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from codesynapse.config import RouteSettings, Settings
from codesynapse.domain.graph import FactRow, StatementRow
from codesynapse.domain.scope import Principal, Scope
from codesynapse.domain.sessions import Job, JobState, Repository, Session
from codesynapse.domain.turns import Speaker, Turn
from codesynapse.jobs.queue import OffloadQueue
from codesynapse.service import offload, sessions
from codesynapse.service.deps import EndMarks
from codesynapse.service.pipeline import Pipeline
from codesynapse.store.base import FactFilter, Page, Store
from codesynapse.store.sqlite import open_store

__all__ = ["NOON", "PipelineWorld", "Ticking", "Transcript", "open_world", "said"]

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
REPO = "shop"


class Ticking:
    """A clock that goes on a millisecond at each look, and further when told to."""

    def __init__(self) -> None:
        self.now = NOON
        self._lock = threading.Lock()

    def __call__(self) -> datetime:
        with self._lock:
            self.now += timedelta(milliseconds=1)
            return self.now

    def pass_(self, **time: float) -> None:
        with self._lock:
            self.now += timedelta(**time)


def said(*texts: str, role: Speaker = Speaker.USER, at: datetime | None = None) -> list[Turn]:
    """Turns without ids, as an agent sends them."""
    return [Turn(role, text, at) for text in texts]


class Transcript:
    """A transcript file as Claude Code writes them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.touch()

    def add(
        self,
        text: str,
        *,
        uuid: str,
        at: datetime = NOON,
        role: Speaker = Speaker.USER,
    ) -> Turn:
        """Append a record; returns its turn."""
        content: Any = text
        if role is Speaker.ASSISTANT:
            content = [{"type": "text", "text": text}]
        record = {
            "type": str(role),
            "uuid": uuid,
            "timestamp": at.isoformat().replace("+00:00", "Z"),
            "isSidechain": False,
            "message": {"role": str(role), "content": content},
        }
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
        return Turn(role, text, at, uuid)

    def exchange(self, text: str, n: int) -> None:
        """A prompt and its answer, numbered."""
        self.add(text, uuid=f"u{n}")
        self.add(f"answer {n}", uuid=f"a{n}", role=Speaker.ASSISTANT)

    @property
    def size(self) -> int:
        return self.path.stat().st_size


@dataclass
class PipelineWorld:
    """The deps of the services, and short ways to use them."""

    root: Path
    clock: Ticking = field(default_factory=Ticking)
    current_settings: Settings = field(init=False)
    store: Store = field(init=False)
    queue: OffloadQueue = field(init=False)
    pipeline: Pipeline | None = None
    ends: EndMarks = field(init=False)

    def __post_init__(self) -> None:
        self.current_settings = Settings(database=self.root / "memory.db")
        self.ends = EndMarks(str(self.root / "ends"), "ana")
        self.open()
        self.store.repos.save(Repository(REPO, REPO, str(self.root), None))

    def open(self) -> None:
        """What a process does at its start."""
        self.store = open_store(self.root / "memory.db", backups=None, clock=self.clock)
        self.queue = OffloadQueue(lambda: self.current_settings.queue_size)

    def settings(self) -> Settings:
        return self.current_settings

    def configure(self, **changes: Any) -> None:
        self.current_settings = changed(self.current_settings, **changes)

    def use_model(self, url: str, **more: Any) -> None:
        self.configure(memory_route=RouteSettings("openai", url, "tiny", **more))

    def start(self) -> Pipeline:
        self.pipeline = Pipeline(self)
        self.pipeline.start()
        return self.pipeline

    def stop(self, seconds: float = 5.0) -> bool:
        pipeline, self.pipeline = self.pipeline, None
        return pipeline is None or pipeline.stop(seconds)

    def die(self) -> None:
        """A kill: what was in memory is gone; the store is opened again as it stands."""
        self.stop()
        self.store.close()
        self.open()

    def who(self, name: str = "one", user: str = "ana") -> Principal:
        return Principal(user, client="claude-code", session=name)

    def session(self, name: str = "one", user: str = "ana") -> Session:
        return sessions.register(self, self.who(name, user), REPO)

    def offload(
        self,
        session: Session,
        turns: Sequence[Turn],
        *,
        transcript: Transcript | None = None,
        **at: int,
    ) -> Job:
        return offload.submit(
            self,
            self.who(session.client_session, session.user),
            session,
            turns,
            transcript=str(transcript.path) if transcript else None,
            **at,
        )

    def settled(self, *named: Session) -> None:
        """Wait until the jobs of these sessions have run, for as long as any job still ends."""
        ids, left = [session.id for session in named], -1
        while not self.queue.wait(ids, time.monotonic() + 20):
            before, left = left, len(self.store.jobs.unfinished())
            assert left != before, "no job ended for twenty seconds"

    def run(self, session: Session, *texts: str) -> Job:
        """Offload what the person says, and wait for the outcome."""
        job = self.offload(session, said(*texts, at=self.clock()))
        self.settled(session)
        return self.job(job)

    def job(self, job: Job) -> Job:
        row = self.store.jobs.get(job.id)
        assert row is not None
        return row

    def states(self) -> list[JobState]:
        """Of all jobs, oldest first."""
        return [job.state for job in reversed(self.store.jobs.recent())]

    def rows(self, scope: Scope, *, history: bool = False) -> list[FactRow]:
        return self.store.facts.facts(scope, FactFilter(history=history), Page(500))[0]

    def facts(self, scope: Scope | Session, *, history: bool = False) -> set[str]:
        """Facts as ``subject PREDICATE object``."""
        scope = Scope.session(scope.id) if isinstance(scope, Session) else scope
        rows = self.rows(scope, history=history)
        ids = {end for row in rows for end in (row.subject_id, row.object_id)}
        names = self.store.facts.entities(scope, ids)
        return {
            f"{names[row.subject_id].name} {row.predicate} {names[row.object_id].name}"
            for row in rows
        }

    def statements(self, scope: Scope) -> list[StatementRow]:
        ids = [row.id for row in self.rows(scope, history=True)]
        return self.store.facts.statements(scope, ids)

    @property
    def personal(self) -> Scope:
        return Scope.personal("ana", REPO)


@contextmanager
def open_world(root: Path) -> Iterator[PipelineWorld]:
    world = PipelineWorld(root)
    try:
        yield world
    finally:
        world.stop()
        world.store.close()

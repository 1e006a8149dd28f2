"""A small world on a real store: a clock that moves by hand, people, a repository, sessions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from codesynapse.config import Settings
from codesynapse.domain.scope import Principal, Role, Scope
from codesynapse.domain.sessions import Repository, Session, SessionState
from codesynapse.service.facts import Triple, WriteResult, add_triples
from codesynapse.store.base import FactFilter, Page, Store

__all__ = ["START", "Moving", "World"]

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


@dataclass
class Moving:
    """A clock that stands until it is moved."""

    now: datetime = START

    def __call__(self) -> datetime:
        return self.now

    def pass_days(self, days: float) -> datetime:
        self.now += timedelta(days=days)
        return self.now


@dataclass
class World:
    """What the services take as their deps, and short ways to fill it."""

    store: Store
    root: Path
    time: Moving = field(default_factory=Moving)
    configured: Settings | None = None

    @property
    def clock(self) -> Callable[[], datetime]:
        return self.time

    @property
    def settings(self) -> Callable[[], Settings]:
        settings = self.configured or Settings(database=self.root / "unused.db")
        return lambda: settings

    def repository(self, repo_id: str = "shop", root: str | None = None) -> Repository:
        repository = Repository(repo_id, repo_id, root or str(self.root), None)
        self.store.repos.save(repository)
        return repository

    def session(self, name: str = "one", user: str = "ana", repo_id: str = "shop") -> Session:
        return self.store.sessions.add(
            Session(
                id=f"s-{name}",
                client="claude-code",
                client_session=name,
                repo_id=repo_id,
                user=user,
                state=SessionState.ACTIVE,
                registered_at=self.time(),
                expires_at=self.time() + timedelta(days=7),
                last_seen_at=self.time(),
            )
        )

    def caller(self, session: str | None = "one", user: str = "ana", role: Role = Role.OWNER
               ) -> Principal:  # fmt: skip
        return Principal(user, role, "claude-code", session)

    def say(self, scope: Scope, *facts: str, who: Principal | None = None,
            confidence: float = 0.8, said_at: datetime | None = None, replace: bool = False
            ) -> WriteResult:  # fmt: skip
        """Each fact is written ``subject PREDICATE object`` with single-word ends as ``a_b``."""
        triples = []
        for fact in facts:
            subject, predicate, object_ = fact.split(" ", 2)
            triples.append(
                Triple(
                    subject.replace("_", " "),
                    predicate,
                    object_,
                    confidence=confidence,
                    said_at=said_at,
                    replace=replace,
                )
            )
        return add_triples(self, who or self.caller(), scope, triples)

    def fact_ids(self, scope: Scope, history: bool = True) -> list[str]:
        rows, _ = self.store.facts.facts(scope, FactFilter(history=history), Page(500))
        return [row.id for row in rows]

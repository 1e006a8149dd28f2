"""Who may read and write which scope. Every fact service asks here first.

A session's scope belongs to the session itself, never to another one, not even of the same
person; what is personal belongs to the person; what is a repository's to all its readers.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Protocol

from codesynapse.config import Settings
from codesynapse.domain.scope import Principal, Role, Scope, ScopeKind
from codesynapse.domain.sessions import Session
from codesynapse.errors import Closed, Forbidden, IdentityMissing, Invalid, NotFound
from codesynapse.store.base import Store

__all__ = ["FactDeps", "check_readable", "check_writable", "own_session", "scopes_named"]


class FactDeps(Protocol):
    """What the fact services need of the composition root; ``service.deps.Deps`` has it all."""

    @property
    def store(self) -> Store:
        """The one open store."""
        ...

    @property
    def settings(self) -> Callable[[], Settings]:
        """The settings as they are now."""
        ...

    @property
    def clock(self) -> Callable[[], datetime]:
        """The time, aware."""
        ...


def own_session(deps: FactDeps, principal: Principal) -> Session:
    """The open session that the caller is. Raises IdentityMissing, NotFound, Forbidden, Closed."""
    if not principal.client or not principal.session:
        raise IdentityMissing(
            "this reads a session's own memory, and the call names no session",
            "send X-CodeSynapse-Client and X-CodeSynapse-Session, or ask for another scope",
        )
    session = deps.store.sessions.by_client(principal.client, principal.session)
    if session is None:
        raise NotFound(
            f"session {principal.session} of {principal.client} is not registered",
            "its client registers it; codesynapse memory sessions lists those of a repository",
        )
    return _usable(session, principal, deps.clock())


def _usable(session: Session, principal: Principal, now: datetime) -> Session:
    if session.user != principal.user:
        raise Forbidden(f"session {session.client_session} belongs to somebody else")
    if session.state.closed or session.expires_at <= now:
        raise Closed(
            f"session {session.client_session} is closed",
            "start a new session; what was carried over or promoted is still there",
        )
    return session


def scopes_named(
    deps: FactDeps, principal: Principal, repo_id: str | None, name: str = "session"
) -> tuple[Scope, ...]:
    """The scopes behind ``session``, ``repository``, ``personal`` or ``all``, most specific first.

    A session never falls back to anything else. Personal inside a repository is what the person
    said there and what they said everywhere.  ``all`` is what the caller may see from here: the
    session's own where the call names one, then the person's, then the repository's.
    """
    if name == "all":
        own = ("session",) if principal.client and principal.session else ()
        names = (*own, "personal", *(("repository",) if repo_id else ()))
        return tuple(one for each in names for one in scopes_named(deps, principal, repo_id, each))
    if name == "session":
        return (Scope.session(own_session(deps, principal).id),)
    if name == "personal":
        everywhere = Scope.personal(principal.user)
        return (Scope.personal(principal.user, repo_id), everywhere) if repo_id else (everywhere,)
    if name != "repository":
        raise Invalid(f"{name!r} is not a scope", "session, repository, personal or all")
    if repo_id is None:
        raise Invalid("the repository's memory was asked for outside any repository")
    return (Scope.repository(repo_id),)


def check_readable(deps: FactDeps, principal: Principal, scope: Scope) -> None:
    """Raise unless the caller may read this scope."""
    if scope.kind is ScopeKind.SESSION:
        if own_session(deps, principal).id != scope.owner:
            raise Forbidden("a session's memory is read by that session alone")
    elif scope.kind is ScopeKind.PERSONAL and scope.owner != principal.user:
        raise Forbidden("this is another person's memory")


def check_writable(deps: FactDeps, principal: Principal, scope: Scope) -> None:
    """Raise unless the caller may write to this scope."""
    check_readable(deps, principal, scope)
    if scope.kind is ScopeKind.REPOSITORY and principal.role is Role.READER:
        raise Forbidden(
            "a reader cannot write to this repository's memory", "ask for a writer's token"
        )

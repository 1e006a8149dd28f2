"""Who calls a tool, from where, and which session is truly meant.

A client that names its session by headers is believed, but for Claude Code: its environment keeps
the old session's id after /clear, so there a hook has to have reported the very call.  What is not
proven is refused with a hint, never guessed.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from codesynapse.domain.scope import Principal, Scope
from codesynapse.domain.sessions import Repository, Session
from codesynapse.errors import IdentityMissing, Invalid
from codesynapse.service import repositories, sessions
from codesynapse.service.access import scopes_named
from codesynapse.service.deps import Deps
from codesynapse.service.repositories import Known

__all__ = ["CLAUDE_CODE", "Caller", "Origin"]

CLAUDE_CODE = "claude-code"
_HOOK_SECONDS = 1.0  # the hook that reports a call runs beside it


@dataclass(frozen=True, slots=True)
class Origin:
    """What came with one call: the caller, the folder it works in, and the call's own id."""

    principal: Principal
    folder: str | None = None
    tool_use: str | None = None
    request: str | None = None  # the same when a client sends the same call again


@dataclass(frozen=True, slots=True)
class Caller:
    """One call of a tool."""

    deps: Deps
    known: Known
    origin: Origin

    @property
    def principal(self) -> Principal:
        """The caller with the session that its client names, proven or not."""
        return self.origin.principal

    def repository(self) -> Repository:
        """The repository that the caller works in. Raises Invalid when nobody has said which."""
        if self.origin.folder is not None:
            return repositories.resolve(
                self.deps, self.principal, self.origin.folder, cache=self.known
            )
        session = self._registered()
        if session is not None:
            return repositories.known(self.deps, self.principal, session.repo_id)
        raise Invalid(
            "it is not known which repository this is about",
            "send the header X-CodeSynapse-Folder with the working folder's absolute path",
        )

    def proven(self) -> Principal:
        """The caller with the session that it truly is. Raises IdentityMissing with a hint."""
        principal = self.principal
        if principal.client != CLAUDE_CODE:
            if principal.client and principal.session:
                return principal
            raise IdentityMissing(
                "this client names no session, so it has no session memory",
                "send X-CodeSynapse-Client and X-CodeSynapse-Session, or use "
                'memory_scope "repository"',
            )
        session = self._told_by_hook()
        if session is None:
            raise IdentityMissing(
                "no hook has told which session this call belongs to",
                'install the hooks (codesynapse mcp hooks), or use memory_scope "repository"',
            )
        return replace(principal, session=session)

    def session(self) -> Session:
        """The caller's own open session, registered if it is new."""
        principal = self.proven()
        session = sessions.register(
            self.deps, principal, self.repository().id, cwd=self.origin.folder
        )
        return sessions.current(self.deps, principal, work=True) if session else session

    def reader(self, scope: str) -> tuple[Principal, tuple[Scope, ...]]:
        """Who reads, and the scopes behind the name."""
        if scope == "session":
            self.session()
            principal = self.proven()
            return principal, scopes_named(self.deps, principal, None, scope)
        principal = self.principal
        return principal, scopes_named(self.deps, principal, self.repository().id, scope)

    def _registered(self) -> Session | None:
        principal = self.principal
        if not principal.client or not principal.session:
            return None
        return self.deps.store.sessions.by_client(principal.client, principal.session)

    def _told_by_hook(self) -> str | None:
        if self.origin.tool_use is None:
            return None
        deadline = time.monotonic() + _HOOK_SECONDS
        return self.deps.bindings.session_of(CLAUDE_CODE, self.origin.tool_use, deadline)

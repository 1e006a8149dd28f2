"""What every handler is given: the caller and the running sidecar; and parameters they share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Header, Path, Query, Request

from codesynapse.domain.scope import Principal, Scope
from codesynapse.sdk.models import ReadScope
from codesynapse.service.access import scopes_named
from codesynapse.service.deps import Deps
from codesynapse.service.repositories import known
from codesynapse.sidecar.guard import PRINCIPAL
from codesynapse.sidecar.running import Running
from codesynapse.store.base import Page

__all__ = [
    "Call",
    "Calling",
    "Cursor",
    "Id",
    "Limit",
    "RepoId",
    "ScopeName",
    "page_of",
]


@dataclass(frozen=True, slots=True)
class Call:
    """One authorised request."""

    running: Running
    principal: Principal

    @property
    def deps(self) -> Deps:
        """What the services need."""
        return self.running.deps

    def scopes(self, repo_id: str, name: str) -> tuple[Scope, ...]:
        """The scopes behind a name, in a repository that is known. Raises NotFound."""
        known(self.deps, self.principal, repo_id)
        return scopes_named(self.deps, self.principal, repo_id, name)

    def scope(self, repo_id: str, name: str) -> Scope:
        """The one scope that a write goes to."""
        return self.scopes(repo_id, name)[0]


async def _call(
    request: Request,
    client_name: Annotated[
        str | None,
        Header(alias="X-CodeSynapse-Client", description="Runtime identity: the client's name."),
    ] = None,
    session_id: Annotated[
        str | None,
        Header(alias="X-CodeSynapse-Session", description="Runtime identity: its session's id."),
    ] = None,
) -> Call:
    """The headers are declared for the description; the guard has read them."""
    return Call(request.app.state.running, request.scope[PRINCIPAL])


Calling = Annotated[Call, Depends(_call)]
RepoId = Annotated[str, Path(max_length=128, description="What `repos/resolve` returned.")]
Id = Annotated[str, Path(max_length=256)]
ScopeName = Annotated[ReadScope, Query(description="Whose memory is meant.")]
Limit = Annotated[int, Query(ge=1, le=500)]
Cursor = Annotated[str | None, Query(max_length=2_000, description="From the page before.")]


def page_of(limit: int, cursor: str | None) -> Page:
    """The page that was asked for."""
    return Page(limit, cursor)

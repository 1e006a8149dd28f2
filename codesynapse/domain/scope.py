"""Who sees what: scope keys, and the principal that every call carries.

A scope key is ``session:ID``, ``repository:ID``, ``personal:USER`` or ``personal:USER@REPO``.
Identity, limits and search cost are per key.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from codesynapse.errors import Invalid

__all__ = ["Principal", "Role", "Scope", "ScopeKind"]

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._~-]{0,127}")


class ScopeKind(StrEnum):
    """The three circles of people who may see something."""

    SESSION = "session"
    REPOSITORY = "repository"
    PERSONAL = "personal"


@dataclass(frozen=True, slots=True)
class Scope:
    """``owner`` is a session id, repository id or user; ``repo`` narrows a personal scope."""

    kind: ScopeKind
    owner: str
    repo: str | None = None

    def __post_init__(self) -> None:
        for part in (self.owner, self.repo):
            if part is not None and not _ID.fullmatch(part):
                raise Invalid(f"{part!r} cannot be part of a scope", "use letters, digits, . _ ~ -")
        if self.repo is not None and self.kind is not ScopeKind.PERSONAL:
            raise Invalid("only a personal scope can be narrowed to a repository")

    @property
    def key(self) -> str:
        """The spelling under which a store keeps this scope."""
        return f"{self.kind}:{self.owner}" + (f"@{self.repo}" if self.repo else "")

    @classmethod
    def parse(cls, key: str) -> Scope:
        """Read a scope key; the inverse of ``key``. Raises Invalid."""
        kind, _, rest = key.partition(":")
        owner, at, repo = rest.partition("@")
        try:
            return cls(ScopeKind(kind), owner, repo if at else None)
        except ValueError:
            raise Invalid(
                f"{key!r} is not a scope", "session:ID, repository:ID or personal:USER"
            ) from None

    @classmethod
    def session(cls, session_id: str) -> Scope:
        """The private scope of one registered session."""
        return cls(ScopeKind.SESSION, session_id)

    @classmethod
    def repository(cls, repo_id: str) -> Scope:
        """What everyone who may read a repository shares."""
        return cls(ScopeKind.REPOSITORY, repo_id)

    @classmethod
    def personal(cls, user: str, repo_id: str | None = None) -> Scope:
        """A person's own, everywhere or in one repository."""
        return cls(ScopeKind.PERSONAL, user, repo_id)


class Role(StrEnum):
    """What a token may do in a repository. The owner is the person of the local default."""

    READER = "reader"
    WRITER = "writer"
    ADMIN = "admin"
    OWNER = "owner"


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks. Every call carries one; ``session`` is the client's own session id."""

    user: str
    role: Role = Role.OWNER
    client: str | None = None
    session: str | None = None

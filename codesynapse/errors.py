"""The one error tree. Every refusal a person or program can meet is a class here.

CodeSynapseError            1  500
├── Refused                 1  400   the request is understood and declined
│   ├── Invalid             1  422   a value breaks a rule; nothing was stored
│   │   └── InvalidPredicate
│   ├── LimitExceeded       1  409   a batch would pass a limit; refused whole
│   ├── SecretRefused       1  422   the text appears to contain a credential
│   ├── IdentityMissing     1  400   a session call without both identity headers
│   ├── Unauthenticated     1  401   no token, or one that is not known
│   ├── Forbidden           1  403   known, but not allowed
│   │   └── MemoryOff       1  403   memory is switched off here
│   ├── NotFound            1  404
│   ├── Closed              1  410   the session is expired or revoked
│   ├── StaleRevision       1  409   somebody wrote first; plan again
│   ├── RouteRefused        1  409   the provider of a local-only route is not local
│   ├── QueueFull           1  429   try again after ``retry_after`` seconds
│   └── InstallRefused      1  409   a file could not be edited safely; untouched
├── Unavailable             1  503   the sidecar or a provider cannot be reached
│   └── ProviderFailed      1  502   a model server answered badly
├── IndexDamaged            1  500   a search index cannot answer; the rows are sound
└── StoreDamaged            1  500   the data file is damaged or newer than this program
    └── StoreNewer          1  500
"""

from __future__ import annotations

__all__ = [
    "Closed",
    "CodeSynapseError",
    "Forbidden",
    "IdentityMissing",
    "IndexDamaged",
    "InstallRefused",
    "Invalid",
    "InvalidPredicate",
    "LimitExceeded",
    "MemoryOff",
    "NotFound",
    "ProviderFailed",
    "QueueFull",
    "Refused",
    "RouteRefused",
    "SecretRefused",
    "StaleRevision",
    "StoreDamaged",
    "StoreNewer",
    "Unauthenticated",
    "Unavailable",
]


class CodeSynapseError(Exception):
    """Something could not be done. ``message`` says what and why, ``hint`` the next step."""

    code = "error"
    exit_code = 1
    http_status = 500

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class Refused(CodeSynapseError):
    """The request was understood and declined."""

    code = "refused"
    http_status = 400


class Invalid(Refused):
    """A value breaks a rule; nothing was stored."""

    code = "invalid"
    http_status = 422


class InvalidPredicate(Invalid):
    """A predicate that is not UPPER_SNAKE_CASE; the hint is the nearest valid spelling."""

    code = "invalid_predicate"


class LimitExceeded(Refused):
    """A batch would pass a limit of its scope; it was refused whole."""

    code = "limit_exceeded"
    http_status = 409


class SecretRefused(Refused):
    """The text appears to contain a credential; nothing was stored."""

    code = "secret_refused"
    http_status = 422


class IdentityMissing(Refused):
    """A session call came without both runtime identity headers."""

    code = "identity_missing"
    http_status = 400


class Unauthenticated(Refused):
    """No bearer token, or one that nobody was given."""

    code = "unauthenticated"
    http_status = 401


class Forbidden(Refused):
    """The caller is known and not allowed to do this."""

    code = "forbidden"
    http_status = 403


class MemoryOff(Forbidden):
    """Memory is switched off on this sidecar."""

    code = "memory_off"


class NotFound(Refused):
    """There is nothing under that name or id."""

    code = "not_found"
    http_status = 404


class Closed(Refused):
    """The session is expired or revoked; it takes no further work."""

    code = "closed"
    http_status = 410


class StaleRevision(Refused):
    """The scope changed since it was read; read it and plan again."""

    code = "stale_revision"
    http_status = 409


class RouteRefused(Refused):
    """A route that must stay on this machine names a provider that is not local."""

    code = "route_refused"
    http_status = 409


class QueueFull(Refused):
    """The offload queue is full; nothing was taken."""

    code = "queue_full"
    http_status = 429

    def __init__(self, message: str, hint: str = "", retry_after: int = 5) -> None:
        super().__init__(message, hint)
        self.retry_after = retry_after


class InstallRefused(Refused):
    """A file could not be edited safely; it was left untouched."""

    code = "install_refused"
    http_status = 409


class Unavailable(CodeSynapseError):
    """The sidecar, or a provider it needs, cannot be reached."""

    code = "unavailable"
    http_status = 503


class ProviderFailed(Unavailable):
    """A model server was reached and answered badly."""

    code = "provider_failed"
    http_status = 502


class IndexDamaged(CodeSynapseError):
    """A search index cannot answer. The rows are sound and the index can be built anew."""

    code = "index_damaged"


class StoreDamaged(CodeSynapseError):
    """The data file is damaged; it is not served."""

    code = "store_damaged"


class StoreNewer(StoreDamaged):
    """The data file was written by a newer version of this program."""

    code = "store_newer"

"""Where the sidecar is. It has to prove that it knows the token before the token is sent."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlsplit

import httpx

from codesynapse.environment import Environment
from codesynapse.errors import Unavailable
from codesynapse.link.http import Deadline, LinkError
from codesynapse.link.proof import CHALLENGE_HEADER, PROOF_HEADER, make_nonce, proof, same
from codesynapse.link.start import Link, connect, find_local
from codesynapse.link.token import read_token
from codesynapse.link.versions import is_newer
from codesynapse.paths import Paths

__all__ = ["Found", "find_sidecar", "is_newer"]

_PORTS = {"http": 80, "https": 443}
_LOGS = "see `codesynapse sidecar logs`"


@dataclass(frozen=True, slots=True)
class Found:
    """A sidecar that proved to be ours."""

    url: str
    token: str = field(repr=False)


def find_sidecar(
    environment: Environment, *, begin: bool = True, seconds: float = 10.0
) -> Found | None:
    """The running sidecar; with ``begin`` one is started, or put in an older one's place.

    ``CODESYNAPSE_API_URL`` names one that is never started from here.  None when there is none;
    raises Unavailable when it cannot be started, or is not ours.
    """
    paths = Paths(environment)
    if url := environment.get("API_URL"):
        return _at(url, environment, paths, seconds)
    try:
        deadline = Deadline(seconds)
        if not begin:
            return _found(find_local(environment, paths, deadline))
        return _found(connect(environment, paths, deadline))
    except LinkError as error:
        raise Unavailable(f"the sidecar did not start: {error}", _LOGS) from error
    except OSError as error:
        raise Unavailable(
            f"the sidecar cannot be used: {error.strerror or error}", "check the folder's owner"
        ) from error


def _found(link: Link | None) -> Found | None:
    if link is None:
        return None
    link.connection.close()
    return Found(link.endpoint.url, link.token)


def _at(url: str, environment: Environment, paths: Paths, seconds: float) -> Found:
    token = read_token(environment, paths)
    if token is None:
        raise Unavailable("there is no token for this sidecar", "set CODESYNAPSE_API_TOKEN")
    nonce = make_nonce()
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme, 0)
        answer = httpx.get(
            url.rstrip("/") + "/healthz", headers={CHALLENGE_HEADER: nonce}, timeout=seconds
        )
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        raise Unavailable(
            "the sidecar named by CODESYNAPSE_API_URL does not answer", "is it running?"
        ) from error
    if not same(answer.headers.get(PROOF_HEADER, ""), proof(token, nonce, port)):
        raise Unavailable(
            "what answers at CODESYNAPSE_API_URL is not a sidecar that knows this token",
            "nothing was sent to it",
        )
    return Found(url.rstrip("/"), token)

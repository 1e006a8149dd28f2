"""Where the sidecar is. It has to prove that it knows the token before the token is sent."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import httpx

from codesynapse.environment import Environment
from codesynapse.errors import Unavailable
from codesynapse.link.http import Deadline, LinkError
from codesynapse.link.proof import CHALLENGE_HEADER, PROOF_HEADER, make_nonce, proof, same
from codesynapse.link.start import Link, connect, find_local
from codesynapse.link.state import read_state
from codesynapse.link.token import read_token
from codesynapse.link.versions import is_newer
from codesynapse.paths import Paths

__all__ = ["FIND_SECONDS", "Found", "find_sidecar", "is_newer"]

FIND_SECONDS = 10.0

_PORTS = {"http": 80, "https": 443}
_SAID = "codesynapse: "  # how a command begins what it says of a failure
_LAST_WORDS = 64_000  # bytes of the log
_LOGS = "see `codesynapse sidecar logs`"


@dataclass(frozen=True, slots=True)
class Found:
    """A sidecar that proved to be ours."""

    url: str
    token: str = field(repr=False)


def find_sidecar(
    environment: Environment, *, begin: bool = True, seconds: float = FIND_SECONDS
) -> Found | None:
    """The running sidecar; with ``begin`` one is started, or put in an older one's place.

    ``CODESYNAPSE_API_URL`` names one that is never started from here.  None when there is none;
    raises Unavailable when it cannot be started, is not ours, or gives no answer in ``seconds``.
    """
    paths = Paths(environment)
    if url := environment.get("API_URL"):
        return _at(url, environment, paths, seconds)
    read_from = _log_size(paths)
    try:
        deadline = Deadline(seconds)
        if not begin:
            return _found(find_local(environment, paths, deadline))
        return _found(connect(environment, paths, deadline))
    except LinkError as error:
        if not begin:
            raise _hung(paths) from error
        why, hint = _last_words(paths, read_from) or (str(error), _LOGS)
        raise Unavailable(f"the sidecar did not start: {why}", hint) from error
    except OSError as error:
        raise Unavailable(
            f"the sidecar cannot be used: {error.strerror or error}", "check the folder's owner"
        ) from error


def _hung(paths: Paths) -> Unavailable:
    endpoint = read_state(paths)
    who = f"the sidecar, process {endpoint.pid}," if endpoint else "the sidecar"
    return Unavailable(f"{who} runs and does not answer", "end it: codesynapse sidecar stop")


def _log_size(paths: Paths) -> int:
    try:
        return os.path.getsize(paths.log_file)
    except OSError:
        return 0


def _last_words(paths: Paths, read_from: int) -> tuple[str, str] | None:
    """What the process that did not start said of itself, and its hint; the log has no content."""
    try:
        with open(paths.log_file, "rb") as file:
            file.seek(read_from)
            lines = file.read(_LAST_WORDS).decode("utf-8", "replace").splitlines()
    except OSError:
        return None
    said = [at for at, line in enumerate(lines) if line.startswith(_SAID)]
    if not said:
        return None
    below = "".join(lines[said[-1] + 1 : said[-1] + 2])
    hint = below.strip() if below.startswith("  ") else _LOGS
    return lines[said[-1]].removeprefix(_SAID), hint


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

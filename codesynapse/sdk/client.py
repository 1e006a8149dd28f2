"""The clients: one method for each route, the same for both, over one list of requests."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, cast

import httpx
from pydantic import BaseModel, ValidationError

from codesynapse.environment import Environment
from codesynapse.errors import CodeSynapseError, QueueFull, Unavailable
from codesynapse.sdk import requests
from codesynapse.sdk.finding import FIND_SECONDS, Found, find_sidecar
from codesynapse.sdk.requests import Request

__all__ = ["AsyncCodeSynapseClient", "CodeSynapseClient"]

Asked = ParamSpec("Asked")
Reply = TypeVar("Reply", bound=BaseModel | None)
_SECONDS = 60.0


class _Base:
    """Who asks, and where. Nothing is looked for before the first call."""

    def __init__(
        self,
        *,
        client: str = "sdk",
        session: str | None = None,
        start: bool = True,
        seconds: float = _SECONDS,
        environment: Environment | None = None,
    ) -> None:
        """``client`` and ``session`` are the runtime identity; ``start``: start one if none runs.

        ``seconds`` is how long one answer may take, and looking for the sidecar where it is less.
        A long living client outlives its sidecar: it looks again when nobody answers any more.
        """
        self._identity = {"X-CodeSynapse-Client": client}
        if session is not None:
            self._identity["X-CodeSynapse-Session"] = session
        self._start = start
        self._seconds = seconds
        self._environment = environment or Environment()
        self._found: Found | None = None

    @property
    def url(self) -> str | None:
        """Where the sidecar is, once it was asked."""
        return self._found.url if self._found else None

    def connected(self) -> bool:
        """Whether a sidecar of ours runs (or could be started). Raises Unavailable if it hangs."""
        seconds = min(self._seconds, FIND_SECONDS)
        self._found = find_sidecar(self._environment, begin=self._start, seconds=seconds)
        return self._found is not None

    def _where(self) -> Found:
        if self._found is None and not self.connected():
            raise Unavailable("no sidecar runs", "start it: codesynapse sidecar start")
        assert self._found is not None
        return self._found

    def _arguments(self, request: Request[Any]) -> dict[str, Any]:
        """What httpx is asked to send."""
        found = self._where()
        return {
            "method": request.method,
            "url": found.url + request.path,
            "json": request.body,
            "params": request.query or None,
            "headers": {**self._identity, "Authorization": f"Bearer {found.token}"},
        }


def _reply(request: Request[Reply], answer: httpx.Response) -> Reply:
    if answer.is_success:
        if not answer.content:
            return cast(Reply, None)
        kind: Any = request.reply
        try:
            return cast(Reply, kind.model_validate_json(answer.content))
        except ValidationError as error:
            raise Unavailable(
                "the sidecar's answer is of another version", "update codesynapse"
            ) from error
    raise _refusal(answer)


def _refusal(answer: httpx.Response) -> CodeSynapseError:
    """The error that the sidecar raised, as the same class."""
    try:
        said = answer.json()["error"]
        code, message, hint = str(said["code"]), str(said["message"]), str(said.get("hint", ""))
    except (ValueError, KeyError, TypeError):
        return Unavailable(f"the sidecar answered {answer.status_code} without a reason")
    kind = next((one for one in _tree(CodeSynapseError) if one.code == code), CodeSynapseError)
    error = kind(message, hint)
    if isinstance(error, QueueFull) and answer.headers.get("retry-after", "").isdigit():
        error.retry_after = int(answer.headers["retry-after"])
    error.code, error.http_status = code, answer.status_code
    return error


def _tree(root: type[CodeSynapseError]) -> Iterator[type[CodeSynapseError]]:
    yield root
    for kind in root.__subclasses__():
        yield from _tree(kind)


def _unreachable() -> Unavailable:
    return Unavailable("the sidecar does not answer", "see `codesynapse sidecar logs`")


class _Sender(_Base):
    """Sends and waits."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._http = httpx.Client(timeout=self._seconds, trust_env=False)

    def close(self) -> None:
        """Hang up."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _send(self, request: Request[Reply]) -> Reply:
        for last in (False, True):
            try:
                return _reply(request, self._http.request(**self._arguments(request)))
            except (httpx.ConnectError, httpx.RemoteProtocolError) as error:
                # It ended since the last call, or hung up before it read this one: look again.
                self._found = None
                if last or (isinstance(error, httpx.RemoteProtocolError) and _writes(request)):
                    raise _unreachable() from error
            except httpx.HTTPError as error:
                raise _unreachable() from error
        raise _unreachable()


class _AsyncSender(_Base):
    """Sends and gives the loop back meanwhile."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._http = httpx.AsyncClient(timeout=self._seconds, trust_env=False)

    async def close(self) -> None:
        """Hang up."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _send(self, request: Request[Reply]) -> Reply:
        for last in (False, True):
            try:
                return _reply(request, await self._http.request(**await self._prepared(request)))
            except (httpx.ConnectError, httpx.RemoteProtocolError) as error:
                self._found = None
                if last or (isinstance(error, httpx.RemoteProtocolError) and _writes(request)):
                    raise _unreachable() from error
            except httpx.HTTPError as error:
                raise _unreachable() from error
        raise _unreachable()

    async def _prepared(self, request: Request[Any]) -> dict[str, Any]:
        """Looking for the sidecar may start one, which takes a thread's time."""
        if self._found is not None:
            return self._arguments(request)
        import asyncio

        return await asyncio.to_thread(self._arguments, request)


def _writes(request: Request[Any]) -> bool:
    return request.method != "GET"


def _now(
    build: Callable[Asked, Request[Reply]],
) -> Callable[Concatenate[_Sender, Asked], Reply]:
    @functools.wraps(build)
    def call(self: _Sender, /, *args: Asked.args, **kwargs: Asked.kwargs) -> Reply:
        return self._send(build(*args, **kwargs))

    return call


def _later(
    build: Callable[Asked, Request[Reply]],
) -> Callable[Concatenate[_AsyncSender, Asked], Awaitable[Reply]]:
    @functools.wraps(build)
    async def call(self: _AsyncSender, /, *args: Asked.args, **kwargs: Asked.kwargs) -> Reply:
        return await self._send(build(*args, **kwargs))

    return call


class CodeSynapseClient(_Sender):
    """The sidecar, from a program. Calls raise the errors of ``codesynapse.errors``."""

    resolve = _now(requests.resolve)
    repositories = _now(requests.repositories)
    register = _now(requests.register)
    sessions = _now(requests.sessions)
    revoke = _now(requests.revoke)
    end_session = _now(requests.end_session)
    promote = _now(requests.promote)
    recall = _now(requests.recall)
    add_triples = _now(requests.add_triples)
    index = _now(requests.index)
    nodes = _now(requests.nodes)
    subgraph = _now(requests.subgraph)
    facts = _now(requests.facts)
    history = _now(requests.history)
    change_fact = _now(requests.change_fact)
    delete_fact = _now(requests.delete_fact)
    change_entity = _now(requests.change_entity)
    delete_entity = _now(requests.delete_entity)
    offload = _now(requests.offload)
    jobs = _now(requests.jobs)
    context = _now(requests.context)
    review = _now(requests.review)
    review_decision = _now(requests.review_decision)
    session_of_call = _now(requests.session_of_call)
    audit = _now(requests.audit)
    stats = _now(requests.stats)
    stop = _now(requests.stop)


class AsyncCodeSynapseClient(_AsyncSender):
    """The same for asyncio: every call is awaited."""

    resolve = _later(requests.resolve)
    repositories = _later(requests.repositories)
    register = _later(requests.register)
    sessions = _later(requests.sessions)
    revoke = _later(requests.revoke)
    end_session = _later(requests.end_session)
    promote = _later(requests.promote)
    recall = _later(requests.recall)
    add_triples = _later(requests.add_triples)
    index = _later(requests.index)
    nodes = _later(requests.nodes)
    subgraph = _later(requests.subgraph)
    facts = _later(requests.facts)
    history = _later(requests.history)
    change_fact = _later(requests.change_fact)
    delete_fact = _later(requests.delete_fact)
    change_entity = _later(requests.change_entity)
    delete_entity = _later(requests.delete_entity)
    offload = _later(requests.offload)
    jobs = _later(requests.jobs)
    context = _later(requests.context)
    review = _later(requests.review)
    review_decision = _later(requests.review_decision)
    session_of_call = _later(requests.session_of_call)
    audit = _later(requests.audit)
    stats = _later(requests.stats)
    stop = _later(requests.stop)

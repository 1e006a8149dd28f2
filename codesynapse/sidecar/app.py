"""The application: the route table, the error table, and the description at ``/openapi.json``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from codesynapse.errors import CodeSynapseError
from codesynapse.sdk import models
from codesynapse.sidecar import hooks, routes_facts, routes_sessions, routes_system
from codesynapse.sidecar.guard import Guard
from codesynapse.sidecar.mcp_endpoint import McpEndpoint
from codesynapse.sidecar.refusals import Refusal, refusal_of
from codesynapse.sidecar.running import Running

__all__ = ["ROUTES", "Route", "create_app"]


class Route(NamedTuple):
    """One line of the table. ``reply`` is None where there is no JSON to describe."""

    method: str
    path: str
    handler: Callable[..., Any]
    reply: Any = None
    status: int = 200


_MEMORY = "/v1/repos/{repo}/memory"
_facts, _sessions, _system = routes_facts, routes_sessions, routes_system

ROUTES = (
    Route("GET", "/healthz", _system.health, models.Health),
    Route("POST", "/v1/repos/resolve", _sessions.resolve, models.Repository),
    Route("GET", "/v1/repos", _sessions.list_repositories, models.RepositoryList),
    Route("POST", "/v1/repos/{repo}/sessions", _sessions.register, models.Session),
    Route("GET", "/v1/repos/{repo}/sessions", _sessions.list_sessions, models.SessionList),
    Route("DELETE", "/v1/sessions/{session}", _sessions.revoke, models.Session),
    Route("POST", "/v1/sessions/{session}/promote", _sessions.promote, models.Applied),
    Route("POST", "/v1/sessions/{session}/end", _sessions.end, models.Session),
    Route("POST", _MEMORY + "/recall", _facts.recall, models.Recalled),
    Route("POST", _MEMORY + "/triples", _facts.add_triples, models.Applied),
    Route("POST", _MEMORY + "/index", _facts.index, models.Indexed),
    Route("GET", _MEMORY + "/nodes", _facts.nodes, models.NodeList),
    Route("GET", _MEMORY + "/subgraph", _facts.subgraph, models.Subgraph),
    Route("GET", _MEMORY + "/facts", _facts.list_facts, models.FactList),
    Route("GET", _MEMORY + "/facts/{fact}/history", _facts.history, models.FactHistory),
    Route("PATCH", _MEMORY + "/facts/{fact}", _facts.change_fact, models.Fact),
    Route("DELETE", _MEMORY + "/facts/{fact}", _facts.delete_fact, models.Deleted),
    Route("PATCH", _MEMORY + "/entities/{entity}", _facts.change_entity, models.Node),
    Route("DELETE", _MEMORY + "/entities/{entity}", _facts.delete_entity, models.Deleted),
    Route("POST", "/v1/memory/offload", _sessions.take_turns, models.Job, 202),
    Route("POST", _MEMORY + "/offload", _sessions.take_turns_of, models.Job, 202),
    Route("GET", "/v1/memory/jobs", _sessions.list_jobs, models.JobList),
    Route("GET", "/v1/context", _system.context, models.Context),
    Route("GET", "/v1/review", _sessions.review, models.ReviewList),
    Route("POST", "/v1/review/{item}", _sessions.decide, None, 204),
    Route("GET", "/v1/audit", _system.audit, models.AuditList),
    Route("GET", "/v1/stats", _system.stats, models.Stats),
    Route("POST", "/v1/hooks/{client}/recall", hooks.recall),
    Route("POST", "/v1/hooks/{client}/offload", hooks.offload, models.OffloadPlan),
    Route("POST", "/v1/hooks/{client}/bind", hooks.bind, None, 204),
    Route("GET", "/v1/hooks/{client}/bind/{tool_use}", hooks.bound, models.Binding),
    Route("POST", "/v1/sidecar/stop", _system.stop, models.Stopping, 202),
)

_ERRORS: dict[int | str, dict[str, Any]] = {
    "4XX": {"model": models.ErrorReply, "description": "Declined, with the reason."},
    "5XX": {"model": models.ErrorReply, "description": "It could not be done."},
}
_PAYLOAD = {
    "requestBody": {
        "description": "What the client gave its hook, unread.",
        "required": True,
        "content": {"application/json": {"schema": {"type": "object"}}},
    }
}
_LINES = {
    "description": "One or more lines, each a complete output of the hook; the last one counts.",
    "content": {"application/x-ndjson": {"schema": {"type": "string"}}},
}
_NOTHING = {"description": "Nothing is to be said."}
_STATUS_CODES = {404: "not_found", 405: "method_not_allowed"}


class _Application(FastAPI):
    """Describes the token as well, which the guard asks for."""

    def openapi(self) -> dict[str, Any]:
        """The description, made once."""
        schema = super().openapi()
        parts = schema.setdefault("components", {})
        parts["securitySchemes"] = {"bearer": {"type": "http", "scheme": "bearer"}}
        return schema


def create_app(running: Running) -> ASGIApp:
    """Everything behind its guard."""
    app = _Application(
        title="CodeSynapse sidecar",
        summary="Memory for coding agents. The same routes answer under /api/v1.",
        version=running.version,
        docs_url=None,
        redoc_url=None,
        exception_handlers={
            CodeSynapseError: _refused,
            RequestValidationError: _invalid,
            HTTPException: _no_route,
            Exception: _unforeseen,
        },
    )
    app.state.running = running
    for route in ROUTES:
        _add(app, route)
    return Guard(McpEndpoint(app, running), running)


def _add(app: FastAPI, route: Route) -> None:
    """Add one line of the table. The guard has checked the token; here it is only described."""
    app.add_api_route(
        route.path,
        route.handler,
        methods=[route.method],
        response_model=route.reply,
        status_code=route.status,
        responses=_responses(route),
        operation_id=_operation(route),
        openapi_extra=_extra(route),
    )


def _responses(route: Route) -> dict[int | str, dict[str, Any]]:
    if route.handler is hooks.recall:
        return {**_ERRORS, 200: _LINES, 204: _NOTHING}
    return _ERRORS


def _extra(route: Route) -> dict[str, Any]:
    if route.path == "/healthz":
        return {}
    secured: dict[str, Any] = {"security": [{"bearer": []}]}
    from_hook = route.method == "POST" and route.path.startswith("/v1/hooks/")
    return {**secured, **_PAYLOAD} if from_hook else secured


def _operation(route: Route) -> str:
    area = route.path.split("/")[2] if route.path.startswith("/v1/") else "system"
    return f"{area}_{route.handler.__name__}"


async def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, CodeSynapseError)
    return _answer(refusal_of(error))


async def _invalid(_: Request, error: Exception) -> Response:
    """Names the fields and the rules; never what was sent."""
    assert isinstance(error, RequestValidationError)
    problems = []
    for one in error.errors()[:5]:
        where = ".".join(str(part) for part in one["loc"][1:]) or str(one["loc"][0])
        problems.append(f"{where[:100]}: {one['msg']}")
    return _answer(Refusal(422, "invalid", "; ".join(problems), "see /openapi.json"))


async def _no_route(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = _STATUS_CODES.get(error.status_code, "refused")
    return _answer(Refusal(error.status_code, code, error.detail, "see /openapi.json"))


async def _unforeseen(_: Request, error: Exception) -> Response:
    return _answer(Refusal(500, "internal", "something unforeseen went wrong here"))


def _answer(refusal: Refusal) -> Response:
    headers = {name.decode(): value.decode() for name, value in refusal.headers}
    return Response(refusal.body, refusal.status, headers, media_type="application/json")

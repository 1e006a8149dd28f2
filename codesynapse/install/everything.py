"""All that one repository needs, in order: hooks, the agents' text, and each client's server."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from codesynapse.environment import Environment
from codesynapse.install.agents_md import block_text, plan_block, plan_block_removal
from codesynapse.install.claude_hooks import HookRequest, Installation, plan_hooks, plan_removal
from codesynapse.install.edit import Plan
from codesynapse.install.hook_source import load_hooks
from codesynapse.install.mcp_clients import CLIENTS, McpClient, find_clients
from codesynapse.install.mcp_entry import Server
from codesynapse.install.mcp_install import place_of, plan_server, plan_server_removal
from codesynapse.install.project import Project
from codesynapse.paths import Paths

__all__ = ["Step", "removal_steps", "setup_steps"]


@dataclass(frozen=True, slots=True)
class Step:
    """One installer: what it is about, where it may write, and how its plan is made.

    ``plan`` raises InstallRefused where a file cannot be edited safely.
    """

    title: str
    project: Project
    plan: Callable[[], Plan]


def setup_steps(
    project: Project, environment: Environment, paths: Paths, python: str
) -> list[Step]:
    """What setting a repository up takes; of the clients those that are in use here."""
    installation = Installation.this(python, environment)
    server = Server.this(python, environment)

    def hooks() -> Plan:
        return plan_hooks(project, paths, HookRequest(), load_hooks(), installation)

    def text() -> Plan:
        return plan_block(project, block_text())

    def entry(client: McpClient) -> Step:
        def plan() -> Plan:
            return plan_server(client, environment, paths, server)

        return Step(client.title, place_of(client, environment)[0], plan)

    return [
        Step("Claude Code hooks", project, hooks),
        Step("what agents read", project, text),
        *(entry(client) for client in find_clients(environment)),
    ]


def removal_steps(project: Project, environment: Environment, paths: Paths) -> list[Step]:
    """What taking all of it out takes; every client is looked at, in use or not."""

    def hooks(shared: bool) -> Callable[[], Plan]:
        return lambda: plan_removal(project, paths, shared=shared)

    def entry(client: McpClient) -> Step:
        def plan() -> Plan:
            return plan_server_removal(client, environment, paths)

        return Step(client.title, place_of(client, environment)[0], plan)

    return [
        Step("Claude Code hooks", project, hooks(False)),
        Step("Claude Code hooks, for everybody", project, hooks(True)),
        Step("what agents read", project, lambda: plan_block_removal(project)),
        *(entry(client) for client in CLIENTS.values()),
    ]

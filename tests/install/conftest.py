"""A repository and a home of one test's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from codesynapse.environment import Environment
from codesynapse.install.claude_hooks import HookRequest, Installation, plan_hooks, plan_removal
from codesynapse.install.edit import Plan, carry_out
from codesynapse.install.hook_source import load_hooks
from codesynapse.install.project import Project
from codesynapse.paths import Paths

__all__ = ["Workbench"]

PYTHON = "/opt/my env/it's/python3"
SCRIPT = "/opt/lib (ü)/codesynapse/harness/hook.py"


class Workbench:
    """Installs into one repository, with one home."""

    def __init__(self, root: Path) -> None:
        self.folder = root / "repository"
        (self.folder / ".git").mkdir(parents=True)
        self.project = Project(self.folder, self.folder)
        self.home = root / "home"
        self.paths = Paths(Environment({"CODESYNAPSE_HOME": str(self.home)}))
        self.installation = Installation(PYTHON, SCRIPT, "")

    def settings(self, *, shared: bool = False) -> Path:
        return self.folder / ".claude" / ("settings.json" if shared else "settings.local.json")

    def write(self, data: bytes, *, shared: bool = False) -> Path:
        path = self.settings(shared=shared)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        return path

    def install(
        self,
        *,
        shared: bool = False,
        compact_at: int | None = None,
        per_prompt: bool | None = None,
        dry_run: bool = False,
    ) -> Plan:
        request = HookRequest(shared, compact_at, per_prompt)

        def plan() -> Plan:
            return plan_hooks(self.project, self.paths, request, load_hooks(), self.installation)

        return carry_out(self.project, self.paths, plan, dry_run=dry_run)

    def remove(self, *, shared: bool = False) -> Plan:
        def plan() -> Plan:
            return plan_removal(self.project, self.paths, shared=shared)

        return carry_out(self.project, self.paths, plan)


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    return Workbench(tmp_path)


@pytest.fixture(scope="session")
def benches(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Workbench]:
    """A new one for each example of a property."""
    return lambda: Workbench(tmp_path_factory.mktemp("bench"))

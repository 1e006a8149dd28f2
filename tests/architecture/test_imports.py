"""Imports point one way: edges, then use cases, then capabilities, then rules."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.architecture.source import Module, modules

# What each area may import besides itself. The order reads from the bottom up.
ALLOWED: dict[str, set[str]] = {
    "errors": set(),
    "environment": set(),
    "paths": {"environment"},
    "domain": {"errors"},
    "config": {"domain", "environment", "errors", "paths"},
    "transcripts": {"domain", "environment"},
    "link": {"environment", "paths", ""},
    "harness": {"domain", "environment", "link", "paths", "transcripts"},
    "store": {"domain", "errors", "paths"},
    "providers": {"config", "domain", "errors"},
    "extraction": {"config", "domain", "errors", "providers"},
    "recall": {"domain", "errors", "store"},
    "jobs": {"domain", "errors", "store", "extraction", "transcripts", "config"},
    "service": {"config", "domain", "errors", "extraction", "jobs", "recall", "store",
                "transcripts", "providers", "paths"},
    "compose": {"config", "domain", "environment", "errors", "extraction", "jobs", "paths",
                "providers", "recall", "service", "store"},
    "bridge": {"environment", "link", "paths"},
    "mcp_server": {"domain", "errors", "recall", "service", "store"},
    "sidecar": {"mcp_server", "compose",
                "config", "domain", "environment", "errors", "harness", "link", "paths",
                "service", "store", "recall", "jobs", "sdk", ""},
    "sdk": {"domain", "environment", "errors", "link", "paths", ""},
    "install": {"environment", "errors", "paths", ""},
    "evals": {"domain", "errors", "extraction", "sdk"},
    "demo": {"environment", "errors", "harness", "install", "link", "paths", "sdk", "transcripts"},
    "cli": {"bridge", "config", "demo", "domain", "environment", "errors", "evals", "harness",
            "install", "link", "paths", "sdk", "sidecar", "transcripts", ""},
    "__main__": {"bridge", "cli", "harness", "environment"},
    "": set(),
}  # fmt: skip

HOOK_PATH = ("environment", "paths", "link", "transcripts", "harness", "bridge")
EDGES = {"harness", "jobs", "sidecar", "cli"}


def _ours(module: Module) -> set[tuple[str, bool]]:
    found = set()
    for name, lazy in module.imports():
        if name.split(".")[0] == "codesynapse":
            parts = name.split(".")
            found.add((parts[1] if len(parts) > 1 and parts[1] != "__version__" else "", lazy))
    return found


@pytest.mark.parametrize("module", modules(), ids=lambda m: m.name)
def test_a_module_imports_only_what_lies_below_it(module: Module) -> None:
    allowed = ALLOWED[module.area] | {module.area}
    above = {area for area, _ in _ours(module)} - allowed
    assert not above, f"{module.name} reaches up to {sorted(above)}"


def test_the_table_of_areas_names_every_area_and_no_other() -> None:
    assert {m.area for m in modules()} <= set(ALLOWED)


def test_the_allowed_arrows_have_no_cycle() -> None:
    done: set[str] = set()

    def visit(area: str, path: tuple[str, ...]) -> None:
        assert area not in path, f"a cycle: {' -> '.join((*path, area))}"
        if area not in done:
            for below in ALLOWED[area]:
                visit(below, (*path, area))
            done.add(area)

    for area in ALLOWED:
        visit(area, ())


@pytest.mark.parametrize(
    "module", [m for m in modules() if m.area in HOOK_PATH], ids=lambda m: m.name
)
def test_the_hook_path_imports_the_standard_library_only(module: Module) -> None:
    for name, _ in module.imports():
        top = name.split(".")[0]
        assert top == "codesynapse" or top in sys.stdlib_module_names, name


def test_importing_the_hook_brings_in_no_third_party_module_and_no_store() -> None:
    code = (
        "import sys\n"
        "import codesynapse.harness.recall, codesynapse.harness.offload\n"
        "tops = {n.split('.')[0] for n in sys.modules}\n"
        "foreign = tops - set(sys.stdlib_module_names) - {'codesynapse', '__main__'}\n"
        "ours = {n for n in sys.modules if n.startswith(('codesynapse.store', 'codesynapse.s'))}\n"
        "print(sorted(n for n in foreign if not n.startswith(('_', 'sitecustomize'))), ours)\n"
    )
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True,
                          env={"PYTHONPATH": str(modules()[0].path.parents[1])}, check=True,
                          timeout=30)  # fmt: skip
    assert done.stdout.strip() == "[] set()"


def _names(module: Module, needle: str) -> bool:
    return needle in module.text


def test_the_environment_is_read_in_one_place() -> None:
    readers = {m.name for m in modules() if _names(m, "os.environ") or _names(m, "getenv(")}
    assert readers <= {"codesynapse.environment"}


def test_sql_lives_in_the_store() -> None:
    verbs = ("SELECT ", "INSERT INTO", "UPDATE ", "DELETE FROM", "CREATE TABLE", "import sqlite3")
    outside = {m.name for m in modules() if m.area != "store"
               and any(v in m.text for v in verbs)}  # fmt: skip
    assert not outside

"""The source tree as syntax, read once for the architecture tests."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = ["PACKAGE", "ROOT", "Module", "functions", "modules", "statements"]

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "codesynapse"
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Module:
    """One file: its dotted name, text and tree."""

    name: str
    path: Path
    text: str
    tree: ast.Module

    @property
    def area(self) -> str:
        """The first part below the package: ``store`` for ``codesynapse.store.sqlite.facts``."""
        parts = self.name.split(".")
        return parts[1] if len(parts) > 1 else ""

    @property
    def lines(self) -> int:
        return self.text.count("\n") + 1

    def imports(self) -> Iterator[tuple[str, bool]]:
        """Every imported module, and whether it is only imported for types or inside a function."""
        lazy = {id(node) for node in ast.walk(self.tree) if _deferred(node)
                for node in ast.walk(node)}  # fmt: skip
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield alias.name, id(node) in lazy
            elif isinstance(node, ast.ImportFrom):
                base = node.module or ""
                if base == "codesynapse":
                    for alias in node.names:
                        yield f"codesynapse.{alias.name}", id(node) in lazy
                else:
                    yield base, id(node) in lazy


def _deferred(node: ast.AST) -> bool:
    if isinstance(node, ast.If):
        return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    return isinstance(node, Function)


@cache
def modules(folder: Path = PACKAGE) -> tuple[Module, ...]:
    """Every Python file below ``folder``, in order of path."""
    found = []
    for path in sorted(folder.rglob("*.py")):
        relative = path.relative_to(ROOT).with_suffix("")
        name = ".".join(relative.parts).removesuffix(".__init__")
        text = path.read_text(encoding="utf-8")
        found.append(Module(name, path, text, ast.parse(text, str(path))))
    return tuple(found)


def functions(module: Module) -> Iterator[Function]:
    """Every function of a module, methods and nested ones too."""
    for node in ast.walk(module.tree):
        if isinstance(node, Function):
            yield node


def statements(function: Function) -> int:
    """Statements of a function's body, nested ones counted, its docstring and inner defs' not."""
    return sum(_count(node) for node in function.body if not _is_docstring(node))


def _count(node: ast.stmt) -> int:
    if isinstance(node, Function | ast.ClassDef):
        return 1
    inner = [child for child in ast.walk(node) if isinstance(child, ast.stmt)]
    nested = [s for f in inner if isinstance(f, Function) for s in ast.walk(f) if s is not f]
    return len(inner) - sum(isinstance(s, ast.stmt) for s in nested)


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)

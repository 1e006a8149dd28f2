"""How every command speaks: data on stdout, the rest on stderr, UTF-8 whatever the locale."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import click

__all__ = ["as_utf8", "data", "fail", "json_option", "note", "prepare_streams", "record", "table"]


def prepare_streams() -> None:
    """Read and write UTF-8; what cannot be written is replaced rather than an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8", errors="replace")


def as_utf8(word: str) -> str:
    """An argument as it was typed, where the locale kept Python from reading it as UTF-8."""
    return os.fsencode(word).decode("utf-8", "replace")


def data(text: str) -> None:
    """Print what was asked for."""
    click.echo(text.encode("utf-8", "replace").decode("utf-8"))


def record(value: Any) -> None:
    """Print one JSON document."""
    data(json.dumps(value, ensure_ascii=False, indent=2))


def note(text: str) -> None:
    """Say something beside the data."""
    click.echo(text, err=True)


def fail(message: str, hint: str = "", exit_code: int = 1) -> int:
    """Say why it could not be done and what to do next; returns the exit code."""
    note(f"codesynapse: {message}")
    if hint:
        note(f"  {hint}")
    return exit_code


def json_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--json`` for a command that reads."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(function)


def table(rows: Iterable[Sequence[str]], *, empty: str) -> None:
    """Print rows with their columns aligned; ``empty`` goes beside the data where there is none."""
    lines = [[" ".join(str(cell).split()) for cell in row] for row in rows]
    if not lines:
        note(empty)
        return
    widths = [max(len(line[at]) for line in lines) for at in range(len(lines[0]))]
    for line in lines:
        padded = [cell.ljust(width) for cell, width in zip(line, widths, strict=True)]
        data("  ".join(padded).rstrip())

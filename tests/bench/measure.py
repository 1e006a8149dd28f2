"""Timing of whole processes, side by side: A B A B …, so that a ratio holds on a noisy machine."""

from __future__ import annotations

import resource
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

__all__ = ["Row", "Run", "pairs", "run", "table"]


@dataclass(frozen=True, slots=True)
class Run:
    """One finished process: wall and CPU time in milliseconds."""

    wall: float
    cpu: float


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. ``met`` is None where there is a figure but no target."""

    work: str
    figure: str
    floor: str
    ratio: float | None
    target: str
    met: bool | None


def run(
    command: Sequence[str] | str,
    *,
    stdin: bytes = b"",
    environment: Mapping[str, str] | None = None,
) -> Run:
    """Run to the end and account for it. A string goes through the shell, as hooks do."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    subprocess.run(
        command, shell=isinstance(command, str), input=stdin, env=environment, check=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60,
    )  # fmt: skip
    wall = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Run(wall * 1000, cpu * 1000)


def pairs(
    work: Callable[[], Run], floor: Callable[[], Run], rounds: int = 25
) -> tuple[float, float, float]:
    """Medians of both walls, and the median of the ratio pair by pair, after one warm-up each."""
    work(), floor()
    measured = [(work().wall, floor().wall) for _ in range(rounds)]
    return (
        statistics.median(a for a, _ in measured),
        statistics.median(b for _, b in measured),
        statistics.median(a / b for a, b in measured),
    )


def table(rows: Sequence[Row]) -> str:
    """The rows as text, columns aligned."""
    head = ("work", "measured", "floor, same run", "ratio", "target", "")
    cells = [head] + [
        (r.work, r.figure, r.floor, "" if r.ratio is None else f"{r.ratio:.2f}", r.target,
         {True: "met", False: "MISSED", None: ""}[r.met])
        for r in rows
    ]  # fmt: skip
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    return "\n".join("  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip()
                     for row in cells)  # fmt: skip

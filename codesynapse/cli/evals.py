"""``codesynapse eval``: measure what this program does, against data with known answers."""

from __future__ import annotations

import json
from pathlib import Path

import click

from codesynapse.errors import CodeSynapseError
from codesynapse.evals import extraction

__all__ = ["eval_group"]

_COLUMNS = (
    "expected",
    "predicted",
    "matched",
    "precision_adj",
    "recall",
    "f1",
    "forbidden",
    "wrong",
)


@click.group("eval")
def eval_group() -> None:
    """Measure extraction against data with known answers."""


@eval_group.command("extraction")
@click.argument("gold", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--predictions",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    help="Where the extracted facts are written, one dialogue a line.",
)
@click.option("--score-only", is_flag=True, help="Score the predictions that are there already.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def extraction_command(gold: Path, predictions: Path, score_only: bool, as_json: bool) -> None:
    """Extract the facts of the dialogues in GOLD with the built-in extractor, and score them.

    The exit code is 1 when a target is missed: precision 0.85, recall 0.50, no secret, no
    injected instruction, nothing from a dialogue without facts.
    """
    try:
        cases = extraction.read_lines(gold)
        if not score_only:
            extraction.write_lines(predictions, extraction.predict(cases))
        report = extraction.score(cases, extraction.read_lines(predictions))
    except CodeSynapseError as error:
        raise click.ClickException(f"{error.message} {error.hint}".strip()) from error
    click.echo(
        json.dumps(report.as_json(), ensure_ascii=False, indent=1) if as_json else _table(report)
    )
    missed = report.missed_targets()
    for line in missed:
        click.echo(line, err=True)
    raise SystemExit(1 if missed else 0)


def _table(report: extraction.Report) -> str:
    rows = {"all": report.overall, **{name: report.groups[name] for name in sorted(report.groups)}}
    lines = [f"{'':20}" + "".join(f"{name:>14}" for name in _COLUMNS)]
    for name, tally in rows.items():
        rates = tally.rates()
        shown = ("-" if rates[c] is None else str(rates[c]) for c in _COLUMNS)
        lines.append(f"{name:20}" + "".join(f"{value:>14}" for value in shown))
    return "\n".join(lines)

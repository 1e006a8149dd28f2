from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from codesynapse.cli.evals import eval_group

_GOLD = Path(__file__).parents[1] / "data" / "extraction" / "tuned.jsonl"


def test_extraction_writes_predictions_and_prints_a_table(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    result = CliRunner().invoke(eval_group, ["extraction", str(_GOLD), "--predictions", str(out)])
    assert result.exit_code == 0, result.output
    assert "precision_adj" in result.output.splitlines()[0]
    assert len(out.read_text(encoding="utf-8").splitlines()) == 40


def test_a_missed_target_is_named_and_sets_the_exit_code(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    out.write_text('{"id": "x", "facts": []}\n', encoding="utf-8")
    arguments = ["extraction", str(_GOLD), "--predictions", str(out), "--score-only", "--json"]
    result = CliRunner().invoke(eval_group, arguments)
    assert result.exit_code == 1
    assert "recall is 0.0, the target 0.5" in result.stderr
    assert json.loads(result.stdout)["unknown_prediction_ids"] == ["x"]


def test_a_file_that_is_not_json_lines_is_refused(tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    gold.write_text("nonsense\n", encoding="utf-8")
    result = CliRunner().invoke(
        eval_group, ["extraction", str(gold), "--predictions", str(tmp_path / "o")]
    )
    assert result.exit_code == 1
    assert "line 1" in result.stderr

"""``make bench``: every figure beside its floor, measured in this one run."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from pathlib import Path

from tests.bench.hooks import hook_rows
from tests.bench.measure import table

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    """Measure, print the table, and leave the same as JSON in ``bench-results/``."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument(
        "--data", help="folder of benchmark sets; recall figures are left out without"
    )
    parser.parse_args()
    rows = hook_rows()
    print(table(rows))
    results = ROOT / "bench-results"
    results.mkdir(exist_ok=True)
    report = json.dumps([dataclasses.asdict(row) for row in rows], indent=1)
    (results / "latest.json").write_text(report + "\n", encoding="utf-8")
    return 0 if all(row.met is not False for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())

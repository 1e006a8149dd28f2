"""Run the suite: ``all`` with every real program, ``quick`` without. The runner's line comes last.

What this machine cannot hold is listed by name as not run; with ``CI=true`` that is a failure.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.provision import provision  # noqa: E402


def main(part: str) -> int:
    missing = provision() if part == "all" else []
    for line in missing:
        print(f"not run: {line}", flush=True)
    if missing and os.environ.get("CI") == "true":
        print(f"{len(missing)} real program(s) missing: this counts as a failure", flush=True)
        return 1
    chosen = [] if part == "all" else ["-m", "not real"]
    command = [sys.executable, "-m", "pytest", "-q", "-n", "auto", "--dist", "worksteal", *chosen]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "all"))

"""What the hooks cost, as installed: the very commands of the settings file, through the shell."""

from __future__ import annotations

import json
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from codesynapse.demo.run import Demo
from codesynapse.demo.sample import write_transcript
from codesynapse.environment import Environment
from tests.bench.measure import Row, Run, pairs, run

__all__ = ["hook_rows"]

FLOOR = [sys.executable, "-S", "-c", "pass"]


@contextmanager
def _world() -> Iterator[Demo]:
    with TemporaryDirectory(prefix="codesynapse-bench-") as folder:
        demo = Demo(Path(folder).resolve(), Environment())
        demo.install()
        try:
            yield demo
        finally:
            demo.codesynapse("sidecar", "stop")


def hook_rows() -> list[Row]:
    """The rows of the table that are about hooks."""
    with _world() as demo:
        first = str(uuid.uuid4())
        write_transcript(demo.transcript(first), first, demo.project, datetime.now(UTC))
        demo.hook("SessionStart", first, source="startup")
        demo.hook("PreCompact", first, trigger="auto")
        demo.hook("SessionEnd", first, reason="other")
        return [_warm_recall(demo), _long_offload(demo)]


def _payload(demo: Demo, session: str, event: str, **more: str) -> bytes:
    body = {"session_id": session, "transcript_path": str(demo.transcript(session)),
            "cwd": str(demo.project), "hook_event_name": event, **more}  # fmt: skip
    return json.dumps(body).encode()


def _warm_recall(demo: Demo) -> Row:
    session = str(uuid.uuid4())
    demo.hook("SessionStart", session, source="startup")
    command = demo.command("SessionStart")
    stdin = _payload(demo, session, "SessionStart", source="startup")

    def work() -> Run:
        return run(command, stdin=stdin, environment=demo.environment)

    wall, floor, ratio = pairs(work, lambda: run(FLOOR))
    return Row("`memory recall` at a session's start, warm", f"{wall:.1f} ms", f"{floor:.1f} ms",
               ratio, "<= 3.00", ratio <= 3)  # fmt: skip


def _long_offload(demo: Demo) -> Row:
    session = str(uuid.uuid4())
    path = demo.transcript(session)
    write_transcript(path, session, demo.project, datetime.now(UTC))
    result = {"tool_use_id": "toolu_0", "type": "tool_result", "content": "x" * 20_000}
    noise = {"type": "user", "sessionId": session, "message": {"role": "user", "content": [result]}}
    lines = path.read_text(encoding="utf-8").splitlines()
    with path.open("w", encoding="utf-8") as file:
        for number in range(1_000):
            file.write(json.dumps({**noise, "uuid": str(uuid.UUID(int=number))}) + "\n")
            if number < len(lines):
                file.write(lines[number] + "\n")
    demo.hook("SessionStart", session, source="resume")
    stdin = _payload(demo, session, "PreCompact", trigger="auto")
    done = run(demo.command("PreCompact"), stdin=stdin, environment=demo.environment)
    size = path.stat().st_size / 1e6
    return Row(f"offload of a {size:.0f} MB transcript, CPU", f"{done.cpu:.0f} ms", "", None,
               "<= 300 ms", done.cpu <= 300)  # fmt: skip

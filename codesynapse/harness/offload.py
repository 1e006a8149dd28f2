"""The offload hook: read the older exchanges, cut secrets out, hand them over. Prints nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from codesynapse.domain.redaction import redact
from codesynapse.environment import Environment
from codesynapse.harness.recall import Options, call, complain, note, read_input, watchdog
from codesynapse.link.http import Answer, Deadline, LinkError
from codesynapse.link.start import Link, connect
from codesynapse.paths import Paths
from codesynapse.transcripts.locate import locate
from codesynapse.transcripts.reader import Exchange, Reading, read_exchanges

__all__ = ["bind", "offload"]

OFFLOAD_SECONDS = 4.8
END_SECONDS = 0.9
BIND_SECONDS = 0.5
PART_CHARACTERS = 500_000  # of one request; the sidecar takes bodies up to 4 MiB
RESERVE = 0.25  # share of the time that is left for handing over what was read


def offload(options: Options, environment: Environment) -> None:
    """Send what is older than the last exchanges; with ``--end`` all, then end the session."""
    seconds = END_SECONDS if options.end else OFFLOAD_SECONDS
    watchdog(seconds + 0.05)
    deadline = Deadline(seconds)
    paths = Paths(environment)
    payload = read_input()
    try:
        link = connect(environment, paths, deadline)
        path = f"/v1/hooks/{options.client}/offload" + ("?end=1" if options.end else "")
        answer = call(link, path, payload, deadline)
        if answer.status != 200:
            complain(answer, paths)
            return
        _hand_over(_Job(link, json.loads(answer.body), options, deadline), environment, seconds)
    except LinkError as error:
        note(paths, f"offload: {error}")
    except OSError as error:
        note(paths, f"offload: {error.strerror or type(error).__name__}")


class _Job:
    """What the sidecar said to do, and how to reach it for one session."""

    def __init__(
        self, link: Link, plan: dict[str, Any], options: Options, deadline: Deadline
    ) -> None:
        self.link = link
        self.plan = plan
        self.options = options
        self.deadline = deadline
        self.session = str(plan["session"])

    def post(self, path: str, body: dict[str, Any]) -> Answer:
        headers = {
            "Content-Type": "application/json",
            "X-CodeSynapse-Client": self.options.client,
            "X-CodeSynapse-Session": self.session,
        }
        raw = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        return self.link.connection.request("POST", path, self.link.headers(headers), raw)


def _hand_over(job: _Job, environment: Environment, seconds: float) -> None:
    named, cwd = job.plan.get("transcript"), job.plan.get("cwd")
    path = locate(named, job.session, cwd, environment)
    if path is not None:
        _send(job, path, stop_at_ms=int(seconds * 1000 * RESERVE))
    if job.options.end:
        transcript = str(path) if path is not None else None
        job.post(f"/v1/sessions/{quote(job.session, safe='')}/end", {"transcript": transcript})


def _send(job: _Job, path: Path, stop_at_ms: int) -> None:
    reading = Reading()
    start = int(job.plan.get("offset") or 0)
    exchanges = read_exchanges(
        path, start, reading,
        keep=int(job.plan.get("keep_exchanges") or 0),
        stop=lambda: job.deadline.milliseconds < stop_at_ms,
    )  # fmt: skip
    for part in _parts(exchanges):
        turns = [
            {
                "id": turn.id,
                "role": turn.role.value,
                "text": redact(turn.text),
                "at": turn.at.isoformat() if turn.at else None,
            }
            for exchange in part
            for turn in exchange.turns
        ]
        end = part[-1].end
        body = {"turns": turns, "transcript": str(path), "start": start, "end": end}
        answer = job.post("/v1/memory/offload", body)
        if answer.status >= 300:
            complain(answer, Paths(Environment()))
            return
        start = end


def _parts(exchanges: Iterator[Exchange]) -> Iterator[list[Exchange]]:
    """Exchanges in lots that one request can carry."""
    lot: list[Exchange] = []
    size = 0
    for exchange in exchanges:
        lot.append(exchange)
        size += sum(len(turn.text) for turn in exchange.turns)
        if size >= PART_CHARACTERS:
            yield lot
            lot, size = [], 0
    if lot:
        yield lot


def bind(options: Options, environment: Environment) -> None:
    """Report which session a call of one of our tools belongs to. Never starts a sidecar."""
    from codesynapse.link.start import find

    watchdog(BIND_SECONDS + 0.05)
    deadline = Deadline(BIND_SECONDS)
    paths = Paths(environment)
    payload = read_input()
    try:
        link = find(environment, paths, deadline)
        if link is not None:
            call(link, f"/v1/hooks/{options.client}/bind", payload, deadline)
    except LinkError as error:
        note(paths, f"bind: {error}")

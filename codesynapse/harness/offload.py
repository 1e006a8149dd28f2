"""The offload hook: read the older exchanges, cut secrets out, hand them over. Prints nothing.

The end of a session comes once, so it leaves a mark before it calls: what the sidecar has not taken
by then, it reads itself as soon as it can.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from codesynapse.domain.redaction import redact
from codesynapse.domain.turns import Turn
from codesynapse.environment import Environment
from codesynapse.harness.claude_code import parse
from codesynapse.harness.recall import Options, call, complain, note, read_input, watchdog
from codesynapse.link.http import Answer, Deadline, LinkError
from codesynapse.link.start import Link, connect
from codesynapse.paths import Paths, private_folder
from codesynapse.transcripts.ends import EndMark, leave_mark, take_mark
from codesynapse.transcripts.locate import locate
from codesynapse.transcripts.reader import Exchange, Reading, read_exchanges

__all__ = ["offload"]

OFFLOAD_SECONDS = 4.8
END_SECONDS = 0.9
PART_BYTES = 1024 * 1024  # of one request, and room for one more piece; the sidecar takes 4 MiB
RESERVE = 0.25  # share of the time that is left for handing over what was read


def offload(options: Options, environment: Environment) -> None:
    """Send what is older than the last exchanges; with ``--end`` all, then end the session."""
    seconds = END_SECONDS if options.end else OFFLOAD_SECONDS
    watchdog(seconds + 0.05)
    deadline = Deadline(seconds)
    paths = Paths(environment)
    payload = read_input()
    mark = _mark(payload, options, environment, paths) if options.end else None
    try:
        link = connect(environment, paths, deadline)
        with closing(link.connection):
            path = f"/v1/hooks/{options.client}/offload" + ("?end=1" if options.end else "")
            answer = call(link, path, payload, deadline)
            settled = _is_final(answer.status)
            if answer.status == 200:
                job = _Job(link, json.loads(answer.body), options, deadline)
                settled = _hand_over(job, environment, seconds, is_marked=mark is not None)
            elif answer.status != 204:  # memory is switched off
                complain(answer, paths)
        if settled and mark is not None:
            take_mark(mark)
    except LinkError as error:
        note(paths, f"offload: {error}")
    except OSError as error:
        note(paths, f"offload: {error.strerror or type(error).__name__}")


def _mark(payload: bytes, options: Options, environment: Environment, paths: Paths) -> str | None:
    """Say on the disk that this session ends; None where nobody on this machine would read it."""
    event = parse(payload)
    if event.session is None or environment.get("API_URL"):
        return None
    found = locate(event.transcript, event.session, event.cwd, environment)
    transcript = os.path.abspath(found) if found is not None else None
    try:
        private_folder(paths.state)
        folder = private_folder(paths.ends)
        mark = EndMark(options.client, event.session, transcript, event.cwd)
        path, gone = leave_mark(folder, mark)
    except OSError:  # the same is said of the folders once the sidecar is looked for
        return None
    if gone:
        note(paths, f"offload: {gone} ended sessions too many wait for a sidecar; dropped")
    return path


def _is_final(status: int) -> bool:
    """Whether asking again would lead to the same."""
    return 200 <= status < 300 or (400 <= status < 500 and status not in (401, 408, 421, 429))


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

    def post(self, path: str, body: bytes) -> Answer:
        headers = {
            "Content-Type": "application/json",
            "X-CodeSynapse-Client": self.options.client,
            "X-CodeSynapse-Session": self.session,
        }
        return self.link.connection.request("POST", path, self.link.headers(headers), body)


def _hand_over(job: _Job, environment: Environment, seconds: float, *, is_marked: bool) -> bool:
    """Send the turns and, at the end, that it is one; whether nothing is left to be sent.

    What could not be sent keeps the session from being ended here where a mark says the rest.
    """
    named, cwd = job.plan.get("transcript"), job.plan.get("cwd")
    path = locate(named, job.session, cwd, environment)
    done = path is None or _send(job, path, stop_at_ms=int(seconds * 1000 * RESERVE))
    if job.options.end and (done or not is_marked):
        body = _json({"transcript": str(path) if path is not None else None})
        answer = job.post(f"/v1/sessions/{quote(job.session, safe='')}/end", body)
        done = done and _is_final(answer.status)
    return done


def _send(job: _Job, path: Path, stop_at_ms: int) -> bool:
    """Send what is to be sent; False where the time or the queue did not allow all of it."""
    reading = Reading()
    exchanges = read_exchanges(
        path, int(job.plan.get("offset") or 0), reading,
        keep=int(job.plan.get("keep_exchanges") or 0),
        stop=lambda: job.deadline.milliseconds < stop_at_ms,
    )  # fmt: skip
    for turns, start, end in _parts(exchanges):
        about = _json({"transcript": str(path), "start": start, "end": end})
        body = b'{"turns":[' + b",".join(turns) + b"]," + about[1:]
        answer = job.post("/v1/memory/offload", body)
        if answer.status >= 300:
            complain(answer, Paths(Environment()))
            return False
    return reading.complete


def _parts(exchanges: Iterator[Exchange]) -> Iterator[tuple[list[bytes], int, int]]:
    """Turns in lots that one request can carry, each with the offsets where it begins and ends."""
    lot: list[bytes] = []
    size = start = end = 0
    for exchange in exchanges:
        turns = [_turn(turn) for turn in exchange.turns]
        more = sum(map(len, turns))
        if lot and size + more > PART_BYTES:
            yield lot, start, end
            lot, size = [], 0
        start = start if lot else exchange.start
        lot += turns
        size += more
        end = exchange.end
    if lot:
        yield lot, start, end


def _turn(turn: Turn) -> bytes:
    at = turn.at.isoformat() if turn.at else None
    return _json({"id": turn.id, "role": turn.role.value, "text": redact(turn.text), "at": at})


def _json(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")

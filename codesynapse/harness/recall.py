"""The recall hook, and what every hook shares: a deadline over all, silence, exit 0.

Warm, it costs little more than an empty interpreter: its input goes to the sidecar unread, and
nothing is imported that this does not need.
"""

from __future__ import annotations

import os
import sys
from time import sleep

from codesynapse.environment import Environment
from codesynapse.link.http import Answer, Deadline, LinkError
from codesynapse.link.start import Link, connect
from codesynapse.paths import Paths, private_folder

TYPE_CHECKING = False  # so that a hook need not import typing or collections
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "Options",
    "call",
    "complain",
    "guarded",
    "note",
    "read_input",
    "recall",
    "say",
    "watchdog",
]

RECALL_SECONDS = 1.9  # the promise is 2 s with the interpreter's own start and end
PROMPT_SECONDS = 0.9
MARGIN_MS = 100  # what the answer's way back and its printing may take
MAX_INPUT = 4 * 1024 * 1024
MAX_LOG = 256 * 1024


class Options:
    """The words after the verb."""

    __slots__ = ("client", "end", "plugin", "prompt")

    def __init__(self, arguments: Sequence[str]) -> None:
        self.end = "--end" in arguments
        self.prompt = "--prompt" in arguments
        self.plugin = "--plugin" in arguments
        self.client = "claude-code"
        if "--client" in arguments[:-1]:
            self.client = arguments[arguments.index("--client") + 1]


def guarded(environment: Environment) -> bool:
    """Whether this hook was started by an agent that our own extraction started."""
    return environment.get("EXTRACTING") is not None


def read_input() -> bytes:
    """Everything on standard input, up to the size that the sidecar takes."""
    parts: list[bytes] = []
    size = 0
    while size <= MAX_INPUT and (part := os.read(0, 1 << 20)):
        parts.append(part)
        size += len(part)
    return b"".join(parts)


def recall(options: Options, environment: Environment) -> None:
    """Ask the sidecar what to inject, and print it. Prints nothing rather than something broken."""
    seconds = PROMPT_SECONDS if options.prompt else RECALL_SECONDS
    watchdog(seconds + 0.05)
    deadline = Deadline(seconds)
    paths = Paths(environment)
    payload = read_input()
    link: Link | None = None
    try:
        link = connect(environment, paths, deadline)
        query = "?prompt=1" if options.prompt else ""
        answer = call(link, f"/v1/hooks/{options.client}/recall{query}", payload, deadline)
        body = _usable(answer, paths)
    except LinkError as error:
        note(paths, f"recall: {error}")
        body = link.connection.received if link is not None else b""
    except OSError as error:
        note(paths, f"recall: {error.strerror or error}")
        body = b""
    _print_last_line(body)
    if link is not None:
        link.connection.close()


def call(link: Link, path: str, body: bytes, deadline: Deadline) -> Answer:
    """Post to the sidecar and tell it how long it may take."""
    headers = {
        "Content-Type": "application/json",
        "X-CodeSynapse-Deadline-Ms": str(max(0, deadline.milliseconds - MARGIN_MS)),
    }
    return link.connection.request("POST", path, link.headers(headers), body)


def _usable(answer: Answer, paths: Paths) -> bytes:
    if answer.status == 200:
        return answer.body
    if answer.status != 204:
        complain(answer, paths)
    return b""


def complain(answer: Answer, paths: Paths) -> None:
    """Say in one line on standard error why the sidecar declined."""
    import json

    try:
        message = str(json.loads(answer.body)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        message = f"the sidecar answered {answer.status}"
    say(" ".join(message.split())[:300])
    note(paths, f"declined {answer.status}")


def say(line: str) -> None:
    """One line on standard error, in UTF-8 whatever the locale, and whether or not it is open."""
    if sys.stderr is None:  # closed: what is number 2 by now could be anything
        return
    try:
        os.write(2, f"codesynapse: {line}\n".encode("utf-8", "replace"))
    except OSError:
        return


def _print_last_line(body: bytes) -> None:
    """Print the last complete line in hand; half a line is never printed."""
    complete, newline, _ = body.rpartition(b"\n")
    if newline:
        line = complete.rpartition(b"\n")[2]
        if line.startswith(b"{") and line.endswith(b"}") and sys.stdout is not None:
            os.write(1, line + b"\n")


def watchdog(seconds: float) -> None:
    """End this process with exit code 0 after ``seconds``, whatever it is doing then.

    A thread, not an alarm: an alarm waits for a call that does not return, such as looking up a
    name or opening a file on a disk that is gone.
    """
    from _thread import start_new_thread

    start_new_thread(_end_after, (seconds,))


def _end_after(seconds: float) -> None:
    sleep(seconds)
    os._exit(0)


def note(paths: Paths, reason: str) -> None:
    """Leave a line in the hooks' log: when and why, never content; else say it."""
    from time import gmtime, strftime

    try:
        private_folder(paths.state)
        if os.path.exists(paths.hook_log_file) and os.path.getsize(paths.hook_log_file) > MAX_LOG:
            os.replace(paths.hook_log_file, paths.hook_log_file + ".1")
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        handle = os.open(paths.hook_log_file, flags, 0o600)
    except OSError:
        say(reason)
        return
    stamp = strftime("%Y-%m-%dT%H:%M:%SZ", gmtime())
    try:
        os.write(handle, f"{stamp} {reason}\n".encode("utf-8", "replace"))
    except OSError:  # the disk is full, say
        say(reason)
    finally:
        os.close(handle)

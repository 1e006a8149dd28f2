"""The sidecar's log: what happened and when, never content; bounded; for its owner only."""

from __future__ import annotations

import io
import logging
import os
import sys
import time
from logging.handlers import RotatingFileHandler

__all__ = ["start_log"]

MAX_BYTES = 1 << 20
BACKUPS = 2


class _PrivateFile(RotatingFileHandler):
    """Opens every file 0600, the rotated ones too."""

    def _open(self) -> io.TextIOWrapper:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        handle = os.open(self.baseFilename, flags, 0o600)
        return io.TextIOWrapper(io.FileIO(handle, "a"), encoding="utf-8", errors="replace")


class _Lines(logging.Formatter):
    """One line for one event. An exception's text or trace could hold content: its kind only."""

    @staticmethod
    def converter(seconds: float | None) -> time.struct_time:
        return time.gmtime(seconds)

    def formatException(self, ei: object) -> str:
        return ""

    def format(self, record: logging.LogRecord) -> str:
        kind = record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else ""
        record.exc_info, record.exc_text, record.stack_info = None, None, None
        line = " ".join(super().format(record).split())
        return f"{line} [{kind}]" if kind else line


def start_log(path: str) -> logging.Logger:
    """Write to ``path`` from now on, and to the terminal where there is one."""
    handlers: list[logging.Handler] = [
        _PrivateFile(path, maxBytes=MAX_BYTES, backupCount=BACKUPS, encoding="utf-8")
    ]
    if sys.stderr is not None and sys.stderr.isatty():
        handlers.append(logging.StreamHandler())
    for handler in handlers:
        handler.setFormatter(
            _Lines("%(asctime)sZ %(levelname)s %(name)s %(message)s", "%Y-%m-%dT%H:%M:%S")
        )
    log = logging.getLogger("codesynapse")
    log.setLevel(logging.INFO)
    log.propagate = False
    # Everybody else, on the root: a library that sets up a log of its own finds one there already.
    others = logging.getLogger()
    others.setLevel(logging.WARNING)
    log.handlers, others.handlers = handlers, handlers
    return log

"""One line of a Claude Code transcript in, a turn's part out, or the reason why there is none."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any, NamedTuple

from codesynapse.domain.turns import Speaker

__all__ = ["MAX_TEXT", "OWN_FENCE", "Part", "Skipped", "read_record"]

OWN_FENCE = re.compile(r"<codesynapse-memory\b.*?(?:</codesynapse-memory>|\Z)", re.S)
_REMINDER = re.compile(r"<system-reminder>.*?(?:</system-reminder>|\Z)", re.S)
# What a client writes in the person's name: commands, their output, notices. Not a turn.
_PSEUDO = re.compile(
    r"\s*(?:<(?:command-(?:name|message|args)|local-command-(?:stdout|stderr|caveat)|"
    r"task-notification|bash-(?:input|stdout|stderr)|user-prompt-submit-hook)\b"
    r"|\[Request interrupted by user|Caveat: The messages below were generated"
    r"|This session is being continued from a previous conversation)"
)
MAX_TEXT = 64_000  # characters of one turn; what is longer is a paste, and its start says enough
MAX_ID = 200  # characters; the clients' own ids have 36

# A record of interest names its kind unescaped; inside a text every quote is escaped, so these
# bytes cannot come from what somebody said.
_USER = re.compile(rb'"type"\s*:\s*"user"')
_ASSISTANT = re.compile(rb'"type"\s*:\s*"assistant"')
_TOOL_RESULT = re.compile(rb'"type"\s*:\s*"tool_result"')
_TEXT_BLOCK = re.compile(rb'"type"\s*:\s*"text"')


class Part(NamedTuple):
    """What one record adds to a turn. Parts of one ``group`` are one message."""

    role: Speaker
    text: str
    id: str | None
    group: str | None
    at: datetime | None


class Skipped(NamedTuple):
    """Why a line is not part of a turn."""

    reason: str


def read_record(line: bytes) -> Part | Skipped:
    """Read one line. Never raises; what cannot be read is skipped with its reason."""
    if _USER.search(line):
        if _TOOL_RESULT.search(line):
            return Skipped("tool_result")
    elif not _ASSISTANT.search(line) or not _TEXT_BLOCK.search(line):
        return Skipped("other")
    try:
        record = json.loads(line)
    except UnicodeDecodeError:
        return _again(line)
    except (ValueError, RecursionError):
        return Skipped("broken")
    return _part(record) if isinstance(record, dict) else Skipped("broken")


def _again(line: bytes) -> Part | Skipped:
    """A line of bad UTF-8: the readable rest is worth having if it is still a record."""
    try:
        record = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return Skipped("broken")
    return _part(record) if isinstance(record, dict) else Skipped("broken")


def _part(record: dict[str, Any]) -> Part | Skipped:
    kind = record.get("type")
    if kind not in ("user", "assistant"):
        return Skipped("other")
    for flag, reason in (
        ("isSidechain", "sidechain"),
        ("isMeta", "meta"),
        ("isCompactSummary", "summary"),
        ("isApiErrorMessage", "error"),
    ):
        if record.get(flag):
            return Skipped(reason)
    message = record.get("message")
    if not isinstance(message, dict):
        return Skipped("broken")
    text = _text(message.get("content"), kind == "user")
    if not text:
        return Skipped("no_text")
    group = message.get("id") if kind == "assistant" else None
    return Part(
        Speaker(kind), text[:MAX_TEXT], _string(record.get("uuid")), _string(group),
        _moment(record.get("timestamp")),
    )  # fmt: skip


def _string(value: Any) -> str | None:
    return value if isinstance(value, str) and 0 < len(value) <= MAX_ID else None


def _text(content: Any, is_user: bool) -> str:
    """The words of a message, without what was injected around them."""
    if isinstance(content, str):
        parts = [content]
    elif isinstance(content, list):
        blocks = [b for b in content if isinstance(b, dict)]
        if is_user and any(b.get("type") == "tool_result" for b in blocks):
            return ""
        parts = [b["text"] for b in blocks
                 if b.get("type") == "text" and isinstance(b.get("text"), str)]  # fmt: skip
    else:
        return ""
    if is_user:
        parts = [p for p in parts if not _PSEUDO.match(p)]
    text = "\n\n".join(parts)
    if "<codesynapse-memory" in text:
        text = OWN_FENCE.sub(" ", text)
    if "<system-reminder>" in text:
        text = _REMINDER.sub(" ", text)
    return text.strip()


def _moment(value: Any) -> datetime | None:
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)

"""Claude Code's hook payloads and replies. Pure: bytes in, values out, and back."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["CLIENT", "HookEvent", "context_reply", "parse"]

CLIENT = "claude-code"
MAX_OUTPUT_UNITS = 10_000  # UTF-16; above it the client shows the model a preview only


class HookEvent:
    """What a payload says, with every field of a usable type or None."""

    __slots__ = ("cwd", "event", "prompt", "session", "source", "tool_use_id", "transcript")

    def __init__(self, payload: dict[str, Any]) -> None:
        self.event = _text(payload, "hook_event_name") or ""
        self.session = _text(payload, "session_id")
        self.transcript = _text(payload, "transcript_path")
        self.cwd = _text(payload, "cwd")
        self.source = _text(payload, "source") or _text(payload, "trigger")
        self.prompt = _text(payload, "prompt")
        self.tool_use_id = _text(payload, "tool_use_id")


def _text(payload: dict[str, Any], name: str) -> str | None:
    value = payload.get(name)
    if not isinstance(value, str) or "\0" in value:
        return None
    return value.encode("utf-8", "replace").decode("utf-8") or None


def parse(raw: bytes) -> HookEvent:
    """Read a payload; whatever is missing or of another type is None. Never raises."""
    try:
        payload = json.loads(raw.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        payload = None
    return HookEvent(payload if isinstance(payload, dict) else {})


def context_reply(event: str, text: str) -> bytes:
    """The one line to print so that ``text`` is given to the model; nothing for an empty text."""
    if not text or len(text.encode("utf-16-le", "replace")) // 2 > MAX_OUTPUT_UNITS:
        return b""
    reply = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}
    return json.dumps(reply, ensure_ascii=False).encode("utf-8", "replace") + b"\n"

"""Transcript lines in the shape that Claude Code writes them."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["assistant", "line", "user"]


def line(record: dict[str, Any]) -> bytes:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def user(content: Any, number: int = 1, **more: Any) -> bytes:
    return line(
        {
            "type": "user",
            "uuid": f"u{number}",
            "timestamp": "2026-03-04T05:06:07.890Z",
            "isSidechain": False,
            "message": {"role": "user", "content": content},
            **more,
        }
    )


def assistant(text: str, number: int = 1, message: str | None = None, **more: Any) -> bytes:
    content = [{"type": "text", "text": text}]
    return line(
        {
            "type": "assistant",
            "uuid": f"a{number}",
            "timestamp": "2026-03-04T05:06:08.000Z",
            "isSidechain": False,
            "message": {"id": message or f"msg_{number}", "role": "assistant", "content": content},
            **more,
        }
    )

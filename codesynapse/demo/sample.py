"""The sample conversation, as the transcript that Claude Code would have written of it."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from importlib import resources
from pathlib import Path
from typing import Any

__all__ = ["conversation", "write_transcript"]

_NAMESPACE = uuid.UUID("6c6f6e67-2d66-6572-7279-2d64656d6f00")
_ROLES = {"U": "user", "A": "assistant"}


def conversation() -> list[tuple[str, str]]:
    """The sample as (role, text), oldest first."""
    text = resources.files("codesynapse.demo").joinpath("talk.txt").read_text(encoding="utf-8")
    return [(_ROLES[part[0]], part[3:].strip()) for part in text.split("\n\n") if part.strip()]


def write_transcript(path: Path, session_id: str, cwd: Path, ended: datetime) -> int:
    """Write the sample's transcript so that its last message stands at ``ended``.

    Returns how many messages it holds. Each is followed by the kinds of record that a real
    transcript is full of, which are not turns.
    """
    said = conversation()
    start = ended - timedelta(minutes=2) * len(said)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        for number, (role, text) in enumerate(said):
            at = start + timedelta(minutes=2) * number
            for record in _records(session_id, cwd, number, role, text, at):
                file.write(json.dumps(record, ensure_ascii=False) + "\n")
    return len(said)


def _records(
    session_id: str, cwd: Path, number: int, role: str, text: str, at: datetime
) -> Iterator[dict[str, Any]]:
    stamp = at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    common = {
        "isSidechain": False,
        "sessionId": session_id,
        "timestamp": stamp,
        "cwd": str(cwd),
        "uuid": str(uuid.uuid5(_NAMESPACE, f"{session_id}:{number}")),
    }
    if role == "user":
        yield {"type": "queue-operation", "operation": "enqueue", "sessionId": session_id,
               "timestamp": stamp, "content": text}  # fmt: skip
        yield {**common, "type": "user", "message": {"role": "user", "content": text}}
    else:
        content = [{"type": "text", "text": text}]
        message = {"id": f"msg_{number:024d}", "role": "assistant", "content": content}
        yield {**common, "type": "assistant", "message": message}
        yield {"type": "last-prompt", "lastPrompt": text[:20], "sessionId": session_id}

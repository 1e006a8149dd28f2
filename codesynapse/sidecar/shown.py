"""From when on a session's transcript still shows its turns: since its last compaction."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime

__all__ = ["shown_since"]

_MARK = b'"compact_boundary"'
_CHUNK = 1 << 20
_FURTHEST = 16 << 20  # from the end; a compaction further back is not looked for


def shown_since(transcript: str | None) -> datetime | None:
    """The time of the last compaction; the beginning of time without one; None if unknown."""
    if not transcript:
        return None
    try:
        with open(transcript, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            at, tail = size, b""
            while at > max(0, size - _FURTHEST):
                start = max(0, at - _CHUNK)
                file.seek(start)
                tail = file.read(at - start) + tail[: 4 * len(_MARK)]
                found = _last_boundary(file, start, tail)
                if found is not None:
                    return found
                at = start
    except OSError:
        return None
    return datetime.min.replace(tzinfo=UTC) if at == 0 else None


def _last_boundary(file: object, start: int, chunk: bytes) -> datetime | None:
    raise NotImplementedError

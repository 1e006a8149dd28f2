"""From when on a session's transcript still shows its turns: since its last compaction."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from typing import BinaryIO

__all__ = ["shown_since"]

_MARK = b'"compact_boundary"'
_CHUNK = 1 << 20
_FURTHEST = 16 << 20  # from the end: a compaction further back is not looked for
_LONGEST_RECORD = 1 << 16
_ALWAYS = datetime.min.replace(tzinfo=UTC)


def shown_since(transcript: str | None) -> datetime | None:
    """The time of the last compaction; the beginning of time without one; None if unknown."""
    if not transcript:
        return None
    try:
        with open(transcript, "rb") as file:
            return _searched(file)
    except (OSError, ValueError):
        return None


def _searched(file: BinaryIO) -> datetime | None:
    """Backwards in pieces, each with the start of the next, as a mark may lie across the cut."""
    end = file.seek(0, os.SEEK_END)
    stop = max(0, end - _FURTHEST)
    overlap = b""
    while end > stop:
        start = max(stop, end - _CHUNK)
        file.seek(start)
        piece = file.read(end - start) + overlap
        at = piece.rfind(_MARK)
        while at >= 0:
            if moment := _moment(file, start + at):
                return moment
            at = piece.rfind(_MARK, 0, at)
        overlap, end = piece[: len(_MARK)], start
    return None if stop else _ALWAYS


def _moment(file: BinaryIO, at: int) -> datetime | None:
    """The time of the boundary record around a mark; None where the words are only quoted."""
    start = max(0, at - _LONGEST_RECORD)
    file.seek(start)
    before = file.read(at - start)
    line = before[before.rfind(b"\n") + 1 :] + file.read(_LONGEST_RECORD).split(b"\n", 1)[0]
    try:
        record = json.loads(line)
        if record["type"] != "system" or record["subtype"] != "compact_boundary":
            return None
        moment = datetime.fromisoformat(record["timestamp"])
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None

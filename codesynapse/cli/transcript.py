"""A transcript as the parts that one offload takes each, secrets cut out before they are sent."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from codesynapse.domain.redaction import redact
from codesynapse.transcripts.reader import Reading, read_exchanges

__all__ = ["turns_of"]

PART_CHARACTERS = 500_000


def turns_of(path: str) -> Iterator[list[dict[str, Any]]]:
    """Turns in lots below the size that the sidecar takes."""
    lot: list[dict[str, Any]] = []
    size = 0
    for exchange in read_exchanges(Path(path), 0, Reading(), keep=0):
        for turn in exchange.turns:
            text = redact(turn.text)
            lot.append({"id": turn.id, "role": turn.role.value, "text": text, "at": turn.at})
            size += len(text)
        if size >= PART_CHARACTERS:
            yield lot
            lot, size = [], 0
    if lot:
        yield lot

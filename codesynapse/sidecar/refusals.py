"""Every error as an answer: one table, one shape ``{"error": {"code", "message", "hint"}}``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from codesynapse.errors import CodeSynapseError, QueueFull

__all__ = ["Refusal", "refusal_of"]


@dataclass(frozen=True, slots=True)
class Refusal:
    """A status and what is said with it."""

    status: int
    code: str
    message: str
    hint: str = ""
    retry_after: int | None = None

    @property
    def record(self) -> Mapping[str, Any]:
        """The JSON form."""
        return {"error": {"code": self.code, "message": self.message, "hint": self.hint}}

    @property
    def body(self) -> bytes:
        """As it is sent; what UTF-8 cannot say is replaced."""
        return json.dumps(self.record, ensure_ascii=False).encode("utf-8", "replace")

    @property
    def headers(self) -> list[tuple[bytes, bytes]]:
        """Beside the usual ones."""
        if self.status == 401:
            return [(b"www-authenticate", b"Bearer")]
        return [(b"retry-after", str(self.retry_after).encode())] if self.retry_after else []


def refusal_of(error: CodeSynapseError) -> Refusal:
    """Each error of the tree carries its own status."""
    after = error.retry_after if isinstance(error, QueueFull) else None
    return Refusal(error.http_status, error.code, error.message, error.hint, after)

"""Whether a body is well formed: bounded, UTF-8, JSON, and not nested without reason."""

from __future__ import annotations

import json
import re
from typing import NoReturn

from codesynapse.errors import CodeSynapseError

__all__ = ["MAX_BODY", "MAX_DEPTH", "Malformed", "TooLarge", "check_json"]

MAX_BODY = 4 * 1024 * 1024
MAX_DEPTH = 64
_TOKENS = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[\[{]|[\]}]', re.DOTALL)


class TooLarge(CodeSynapseError):
    """The body is above the limit."""

    code = "too_large"
    http_status = 413

    def __init__(self) -> None:
        super().__init__("the body is above 4 MiB", "send it in parts")


class Malformed(CodeSynapseError):
    """The body is not JSON that a caller of ours would send."""

    code = "malformed"
    http_status = 400


def check_json(body: bytes) -> None:
    """Raise Malformed, with the reason but nothing of the body."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        raise Malformed("the body is not UTF-8") from None
    if _depth(body) > MAX_DEPTH:
        raise Malformed(f"the body is nested deeper than {MAX_DEPTH}")
    try:
        json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise Malformed("the body is not JSON") from None


def _depth(body: bytes) -> int:
    depth = deepest = 0
    for token in _TOKENS.finditer(body):
        kind = body[token.start()]
        if kind in b"[{":
            depth += 1
            if depth > MAX_DEPTH:
                return depth
            deepest = max(deepest, depth)
        elif kind in b"]}":
            depth -= 1
    return deepest


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")

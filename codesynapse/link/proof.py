"""The challenge that tells our sidecar from a foreign server on its port.

A client sends a nonce; the sidecar answers with an HMAC that only a holder of the token can make.
The token itself is sent only after that. The port is part of the message, so that a foreign server
cannot pass the question on to a sidecar on another port.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing itself costs more to import than all of this module
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["CHALLENGE_HEADER", "PROOF_HEADER", "make_nonce", "proof", "same"]

CHALLENGE_HEADER = "X-CodeSynapse-Challenge"
PROOF_HEADER = "X-CodeSynapse-Proof"
_INNER = bytes(byte ^ 0x36 for byte in range(256))
_OUTER = bytes(byte ^ 0x5C for byte in range(256))


def make_nonce() -> str:
    """32 hex digits that were never used before."""
    import os

    return os.urandom(16).hex()


def proof(token: str, nonce: str, port: int) -> str:
    """Hex HMAC-SHA256 (RFC 2104) with key SHA-256(token) over ``codesynapse:NONCE:PORT``."""
    sha256 = _sha256()
    message = b"codesynapse:" + nonce.encode("ascii", "replace") + b":" + str(port).encode()
    key = sha256(token.encode("utf-8", "replace")).digest().ljust(64, b"\0")
    inner = sha256(key.translate(_INNER) + message).digest()
    return str(sha256(key.translate(_OUTER) + inner).hexdigest())


def _sha256() -> Callable[[bytes], Any]:
    """The interpreter's own SHA-256: ``hashlib`` and ``hmac`` load OpenSSL, which costs 3 ms."""
    for module in ("_sha256", "_sha2"):
        try:
            found: Callable[[bytes], Any] = __import__(module).sha256
        except ImportError:
            continue
        return found
    from hashlib import sha256

    return sha256


def same(left: str, right: str) -> bool:
    """Compare in a time that does not depend on where they differ."""
    from _operator import _compare_digest

    return _compare_digest(left.encode(), right.encode())

"""The challenge that tells our sidecar from a foreign server on its port.

A client sends a nonce; the sidecar answers with an HMAC that only a holder of the token can make.
The token itself is sent only after that. The port is part of the message, so that a foreign server
cannot pass the question on to a sidecar on another port.
"""

from __future__ import annotations

__all__ = ["CHALLENGE_HEADER", "PROOF_HEADER", "make_nonce", "proof", "same"]

CHALLENGE_HEADER = "X-CodeSynapse-Challenge"
PROOF_HEADER = "X-CodeSynapse-Proof"


def make_nonce() -> str:
    """32 hex digits that were never used before."""
    import os

    return os.urandom(16).hex()


def proof(token: str, nonce: str, port: int) -> str:
    """Hex HMAC-SHA256 with key SHA-256(token) over ``codesynapse:NONCE:PORT``."""
    message = b"codesynapse:" + nonce.encode("ascii", "replace") + b":" + str(port).encode()
    try:
        from _hashlib import hmac_digest, openssl_sha256  # 6 ms cheaper than hmac and hashlib
    except ImportError:
        import hashlib
        import hmac

        key = hashlib.sha256(token.encode()).digest()
        return hmac.new(key, message, "sha256").hexdigest()
    return hmac_digest(openssl_sha256(token.encode()).digest(), message, "sha256").hex()


def same(left: str, right: str) -> bool:
    """Compare in a time that does not depend on where they differ."""
    from _operator import _compare_digest

    return _compare_digest(left.encode(), right.encode())

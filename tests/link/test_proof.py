from __future__ import annotations

import hashlib
import hmac

from hypothesis import given
from hypothesis import strategies as st

from codesynapse.link.proof import make_nonce, proof, same


@given(st.text(max_size=80), st.text("0123456789abcdef", max_size=64), st.integers(0, 65_535))
def test_the_proof_is_the_hmac_that_the_standard_library_makes(
    token: str, nonce: str, port: int
) -> None:
    key = hashlib.sha256(token.encode("utf-8", "replace")).digest()
    message = f"codesynapse:{nonce}:{port}".encode()
    assert proof(token, nonce, port) == hmac.new(key, message, "sha256").hexdigest()


def test_a_proof_for_one_port_is_none_for_another() -> None:
    nonce = make_nonce()
    assert not same(proof("t", nonce, 1), proof("t", nonce, 2))


def test_no_two_nonces_are_the_same() -> None:
    assert len({make_nonce() for _ in range(100)}) == 100

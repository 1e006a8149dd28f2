from __future__ import annotations

import http.client
import json
import socket

import pytest

from codesynapse.link.proof import PROOF_HEADER, make_nonce, proof
from codesynapse.sidecar.forms import MAX_BODY, MAX_DEPTH, Malformed, check_json
from tests.sidecar.home import Home

STATS = "/v1/stats"
RESOLVE = "/v1/repos/resolve"


def test_health_is_open_and_tells_nothing(served: Home) -> None:
    answer = served.ask("GET", "/healthz", Authorization=None)
    assert (answer.status, answer.json) == (200, {"status": "ok"})
    assert "server" not in answer.headers


def test_a_challenge_is_answered_with_a_proof_for_this_port(served: Home) -> None:
    nonce = make_nonce()
    answer = served.ask("GET", "/healthz", Authorization=None, X_CodeSynapse_Challenge=nonce)
    port = served.endpoint.port
    assert answer.headers[PROOF_HEADER.lower()] == proof(served.token, nonce, port)
    assert served.token not in answer.body.decode()


@pytest.mark.parametrize("token", [None, "Bearer ", "Bearer wrong", "Basic {token}", "{token}"])
def test_without_the_token_nothing_is_told(served: Home, token: str | None) -> None:
    sent = token.format(token=served.token) if token else None
    answer = served.ask("GET", STATS, Authorization=sent)
    assert (answer.status, answer.code) == (401, "unauthenticated")
    assert answer.headers["www-authenticate"] == "Bearer"


def test_the_scheme_is_read_in_any_case(served: Home) -> None:
    assert served.ask("GET", STATS, Authorization=f"bEARER {served.token}").status == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost:1", ""])
def test_a_foreign_host_is_misdirected(served: Home, host: str) -> None:
    answer = served.ask("GET", STATS, Host=host)
    assert (answer.status, answer.code) == (421, "wrong_host")


@pytest.mark.parametrize("host", ["localhost:{port}", "LOCALHOST:{port}", "127.0.0.1", "[::1]"])
def test_its_own_names_are_served(served: Home, host: str) -> None:
    assert served.ask("GET", STATS, Host=host.format(port=served.endpoint.port)).status == 200


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost:1", ""])
def test_a_foreign_origin_is_forbidden(served: Home, origin: str) -> None:
    answer = served.ask("GET", STATS, Origin=origin)
    assert (answer.status, answer.code) == (403, "forbidden")
    assert not any(name.startswith("access-control") for name in answer.headers)


def test_its_own_origin_is_served(served: Home) -> None:
    own = f"http://127.0.0.1:{served.endpoint.port}"
    assert served.ask("GET", STATS, Origin=own).status == 200


def test_host_goes_before_origin_before_form_before_token(served: Home) -> None:
    bad = {"Host": "evil.example", "Origin": "null", "Authorization": None}
    codes = []
    for name in (None, "Host", "Origin"):
        if name:
            bad.pop(name)
        codes.append(served.ask("POST", RESOLVE, b"{", **bad).status)
    codes.append(served.ask("POST", RESOLVE, b"{}", Authorization=None).status)
    assert codes == [421, 403, 400, 401]


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"nonsense",
        b'{"cwd": "\xff\xfe"}',
        b'{"cwd": NaN}',
        b'{"cwd": ' + b"9" * 5_000 + b"}",
        b"[" * 65 + b"]" * 65,
        b'{"a":' * 100_000,
        b"\xef\xbb\xbf{}",
    ],
    ids=["cut", "words", "bytes", "nan", "number", "deep", "deeper", "bom"],
)
def test_a_malformed_body_is_declined(served: Home, body: bytes) -> None:
    answer = served.ask("POST", RESOLVE, body)
    assert (answer.status, answer.code) == (400, "malformed")


def test_a_body_above_the_limit_is_declined_before_it_is_read(served: Home) -> None:
    found = served.endpoint
    with socket.create_connection((found.host, found.port), timeout=10) as raw:
        head = (
            f"POST {RESOLVE} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {MAX_BODY + 1}\r\n\r\n"
        )
        raw.sendall(head.encode())
        assert raw.recv(64).startswith(b"HTTP/1.1 413")


def test_a_body_without_a_length_is_bounded_as_well(served: Home) -> None:
    found = served.endpoint
    connection = http.client.HTTPConnection(found.host, found.port, timeout=20)
    parts = (b"x" * 65_536 for _ in range(MAX_BODY // 65_536 + 2))
    try:
        connection.request("POST", RESOLVE, parts, encode_chunked=True,
                           headers={"Transfer-Encoding": "chunked"})  # fmt: skip
        status = connection.getresponse().status
    except (BrokenPipeError, ConnectionResetError):
        status = 413  # it hung up while we were still sending
    finally:
        connection.close()
    assert status == 413


def test_a_body_of_the_limit_is_taken(served: Home) -> None:
    text = json.dumps({"cwd": "x" * 10}).encode()
    answer = served.ask("POST", RESOLVE, text + b" " * (MAX_BODY - len(text)))
    assert (answer.status, answer.code) == (422, "invalid")


def test_nesting_is_counted_outside_of_strings_only() -> None:
    check_json(b'{"a": "' + b"[" * 1_000 + b'\\"[[["}')
    check_json(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH)
    with pytest.raises(Malformed):
        check_json(b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1))


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/nowhere", 404),
        ("GET", "/", 404),
        ("PUT", RESOLVE, 405),
        ("GET", "/v1/%ff%00/x", 404),
        ("GET", "/v1/repos/%00/memory/facts", 404),
        ("GET", "/v1/audit?limit=0", 422),
        ("GET", "/v1/audit?cursor=%00%ff", 422),
        ("GET", "/v1/repos/" + "x" * 3_000 + "/memory/facts", 422),
    ],
)
def test_every_refusal_has_the_one_shape(served: Home, method: str, path: str, status: int) -> None:
    answer = served.ask(method, path)
    assert answer.status == status
    assert answer.code


def test_a_refusal_of_a_field_does_not_repeat_what_was_sent(served: Home) -> None:
    answer = served.ask("POST", RESOLVE, {"cwd": 5, "secret-field": "hunter2-value"})
    assert answer.status == 422
    assert b"hunter2" not in answer.body


def test_a_lone_surrogate_is_declined_and_never_an_error(served: Home) -> None:
    repo = served.repository()
    body = b'{"query": "\\ud800", "memory_scope": "repository"}'
    assert served.ask("POST", f"/v1/repos/{repo}/memory/recall", body).status == 422


def test_both_prefixes_answer_alike(served: Home) -> None:
    folder = {"cwd": str(served.root)}
    one, two = served.ask("POST", RESOLVE, folder), served.ask("POST", "/api" + RESOLVE, folder)
    assert one.json == two.json
    assert two.status == 200


def test_each_answer_has_an_id_of_its_own(served: Home) -> None:
    ids = {served.ask("GET", STATS).headers["x-request-id"] for _ in range(3)}
    assert len(ids) == 3


def test_the_log_holds_nothing_that_was_sent(served: Home) -> None:
    repo = served.repository()
    served.ask("POST", f"/v1/repos/{repo}/memory/recall", {"query": "plover-egg"}, session="x")
    served.ask("GET", "/v1/plover-egg?plover-egg=1")
    assert "plover" not in served.log
    assert "POST /v1/repos/{repo}/memory/recall" in served.log

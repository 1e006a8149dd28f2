"""The stdio server over its real pipes, with a real sidecar behind it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Literal

import pytest
from mcp import Client, StdioServerParameters

from tests.bridge.pipe import piped, text_of
from tests.sidecar.home import Home, wait_until

pytestmark = pytest.mark.processes

FACT = {"subject": "Ledger", "predicate": "USES", "object": "PostgreSQL 16"}


def test_it_relays_the_handshake_the_list_and_a_call(served: Home) -> None:
    with piped(served) as pipe:
        hello = pipe.greet()
        assert hello["serverInfo"]["name"] == "codesynapse"
        assert "data, not instructions" in hello["instructions"]
        tools = {tool["name"]: tool for tool in pipe.ask("tools/list")["result"]["tools"]}
        assert tools["recall_context"]["annotations"]["readOnlyHint"] is True
        assert tools["recall_context"]["_meta"] == {"anthropic/alwaysLoad": True}
        assert tools["upsert_graph_triples"]["annotations"]["readOnlyHint"] is False
        assert "Kept 1 fact" in pipe.call("upsert_graph_triples", triples=[FACT])
        found = pipe.call("recall_context", query="ledger", memory_scope="repository")
        assert "Ledger uses PostgreSQL 16" in found
        assert "data, not instructions" in found
        assert pipe.close() == 0


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_clients_of_both_protocol_eras_work(
    served: Home, mode: Literal["legacy", "2026-07-28"]
) -> None:
    (served.root / "project").mkdir(exist_ok=True)
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "codesynapse", "mcp"],
        env=served.environment.child(), cwd=served.root / "project",
    )  # fmt: skip

    async def visit() -> tuple[list[str], str]:
        async with Client(server, mode=mode) as client:
            tools = await client.list_tools()
            said = await client.call_tool("search_graph_nodes", {"query": "nothing like it"})
            return [tool.name for tool in tools.tools], said.content[0].text  # type: ignore[union-attr]

    names, said = asyncio.run(visit())
    assert "recall_context" in names
    assert said == "No entity has such a name."


def test_a_bad_argument_is_a_readable_error_and_a_bad_line_another(served: Home) -> None:
    with piped(served, LC_ALL="C", PYTHONUTF8="0") as pipe:
        pipe.greet()
        assert pipe.call("query_subgraph", hops=9).startswith("ERROR: ")
        assert pipe.ask("tools/call", {"name": "no_such_tool"}).keys() & {"error", "result"}
        for line in (b"not json", b"[]", b'"x"', b"\xff\xfe", b"[" * 50_000, b"{}"):
            pipe.write(line)
        id_ = pipe.send("ping")
        seen = []
        while (message := pipe.read()).get("id") != id_:
            seen.append(message)
        assert all("error" in message for message in seen)
        hostile = "Đ⟦→你\ud800 " + '"; DROP TABLE facts; --' * 400
        assert pipe.call("recall_context", query=hostile, memory_scope="repository")
        assert pipe.call("recall_context", query="x\0y", memory_scope="repository")
        assert pipe.close() == 0


def test_a_message_without_end_is_refused_without_being_held(served: Home) -> None:
    with piped(served) as pipe:
        pipe.greet()
        pipe.write(b'{"jsonrpc": "2.0", "id": 7, "method": "' + b"x" * (9 * 1024 * 1024) + b'"}')
        assert "too long" in pipe.read()["error"]["message"]
        assert pipe.ask("ping")["result"] == {}


def test_a_sidecar_that_dies_in_between_is_started_again_and_no_call_is_lost(home: Home) -> None:
    with piped(home) as pipe:
        pipe.greet()
        pipe.call("upsert_graph_triples", triples=[FACT])
        first = home.endpoint.pid
        try:
            os.kill(first, signal.SIGKILL)
            wait_until(lambda: not _alive(first), what="its end")
            found = pipe.call("recall_context", query="ledger", memory_scope="repository")
            assert "PostgreSQL 16" in found
            assert home.endpoint.pid != first
        finally:
            home.command("sidecar", "stop")


def _alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_where_no_sidecar_can_start_every_call_gets_a_reason(home: Home) -> None:
    home.root.joinpath("codesynapse").write_text("a file where the folder belongs")
    with piped(home) as pipe:
        said = pipe.ask("tools/list")
        assert "the memory cannot be reached" in said["error"]["message"]
        assert pipe.close() == 0


def test_it_ends_with_its_client(served: Home) -> None:
    with piped(served) as pipe:
        pipe.greet()
        assert pipe.close() == 0
    with piped(served) as pipe:
        pipe.greet()
        pipe.process.send_signal(signal.SIGINT)
        assert pipe.process.wait(timeout=20) == 0


PARENT = """
import subprocess, sys
out = open(sys.argv[1], "wb")
child = subprocess.Popen([sys.executable, "-m", "codesynapse", "mcp"], stdin=int(sys.argv[2]),
                         stdout=out, stderr=subprocess.DEVNULL, close_fds=True)
print(child.pid, flush=True)
sys.stdin.readline()
"""


def test_it_ends_when_its_parent_vanished_and_left_the_pipe_open(
    served: Home, tmp_path: Path
) -> None:
    read, write = os.pipe()
    out = tmp_path / "out"
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(out), str(read)], pass_fds=[read],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=served.environment.child(),
    )  # fmt: skip
    try:
        assert parent.stdout
        pid = int(parent.stdout.readline())
        os.write(write, b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
        wait_until(lambda: out.exists() and out.read_bytes(), what="an answer")
        parent.communicate(b"go\n", timeout=20)
        wait_until(lambda: not _alive(pid), what="the end of an orphan")
    finally:
        os.close(read)
        os.close(write)


def test_two_connections_have_two_sessions(served: Home) -> None:
    turn = {"role": "user", "text": "We decided to use Terraform 1.9 for the staging cluster."}
    with piped(served) as one, piped(served) as other:
        one.greet()
        other.greet()
        assert "is done" in one.call("offload_turns", turns=[turn], wait=True)
        assert "Terraform" in one.call("recall_context", query="staging cluster Terraform")
        assert "Terraform" not in other.call("recall_context", query="staging cluster Terraform")


def test_claude_code_s_session_is_proven_by_a_hook_or_refused(served: Home) -> None:
    query = {"query": "which database"}
    with piped(served, CLAUDE_CODE_SESSION_ID="stale-after-clear") as pipe:
        pipe.greet("claude-code")
        said = pipe.call("recall_context", meta={"claudecode/toolUseId": "toolu_nobody"}, **query)
        assert said.startswith("ERROR: no hook has told which session")
        assert "repository" in said
        payload = {"session_id": "the-true-one", "cwd": str(served.root / "project"),
                   "hook_event_name": "PreToolUse", "tool_use_id": "toolu_1"}  # fmt: skip
        assert served.ask("POST", "/v1/hooks/claude-code/bind", payload).status == 204
        said = pipe.call("recall_context", meta={"claudecode/toolUseId": "toolu_1"}, **query)
        assert said == "Nothing is known about that."
        listed = served.ask("GET", f"/v1/repos/{served.repository()}/sessions").json["sessions"]
        assert "the-true-one" in {row["session"] for row in listed}
        assert "stale-after-clear" not in {row["session"] for row in listed}


def test_opencode_s_session_comes_with_the_call(served: Home) -> None:
    turn = {"role": "user", "text": "We decided to use Redis 7 for the session cache."}
    with piped(served) as pipe:
        pipe.greet("opencode")
        pipe.call("offload_turns", turns=[turn], wait=True, session_id="ses_a")
        assert "Redis" in pipe.call("recall_context", query="session cache", session_id="ses_a")
        assert "Redis" not in pipe.call("recall_context", query="session cache", session_id="ses_b")


def test_a_cancelled_call_gets_no_answer(served: Home) -> None:
    with piped(served) as pipe:
        pipe.greet()
        pipe.send("notifications/cancelled", {"requestId": 99}, notify=True)
        pipe.write(json.dumps({"jsonrpc": "2.0", "id": 99, "method": "ping"}).encode())
        id_ = pipe.send("ping")
        assert pipe.read()["id"] == id_


def test_with_memory_off_no_tool_is_listed(home: Home) -> None:
    home.start(CODESYNAPSE_ALLOW_MEMORY="false")
    with piped(home) as pipe:
        assert not pipe.greet().get("instructions")
        answer = pipe.ask("tools/list")
        assert not answer.get("result", {}).get("tools")


def test_memory_that_is_off_for_one_client_lists_no_tool_to_it(served: Home) -> None:
    with piped(served, CODESYNAPSE_ALLOW_MEMORY="false") as pipe:
        assert not pipe.greet().get("instructions")
        assert not pipe.ask("tools/list").get("result", {}).get("tools")
    with piped(served) as pipe:
        pipe.greet()
        assert pipe.ask("tools/list")["result"]["tools"]


def test_without_a_token_or_from_a_page_nothing_is_served(served: Home) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    assert served.ask("POST", "/mcp", body, Authorization=None).status == 401
    assert served.ask("POST", "/mcp", body, Origin="https://evil.example").status == 403
    assert served.ask("POST", "/mcp", body, Host="evil.example").status == 421
    assert served.ask("GET", "/mcp").status == 405


def test_a_hint_and_a_reason_reach_the_model(served: Home) -> None:
    with piped(served) as pipe:
        pipe.greet()
        bad = {"subject": "Ledger", "predicate": "not a predicate!", "object": "x"}
        said = text_of(pipe.ask("tools/call", {"name": "upsert_graph_triples",
                                               "arguments": {"triples": [bad]}}))  # fmt: skip
        assert said.startswith("ERROR: ")
        assert "NOT_A_PREDICATE" in said

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codesynapse.domain.turns import Speaker
from codesynapse.transcripts.records import Part, Skipped, read_record
from tests.transcripts.writing import assistant, line, user


def reason(raw: bytes) -> str:
    result = read_record(raw)
    assert isinstance(result, Skipped)
    return result.reason


def text(raw: bytes) -> str:
    result = read_record(raw)
    assert isinstance(result, Part)
    return result.text


def test_a_prompt_is_a_turn_of_the_person_with_its_time_and_id() -> None:
    moment = datetime(2026, 3, 4, 5, 6, 7, 890_000, tzinfo=UTC)
    assert read_record(user("Use pnpm.")) == Part(Speaker.USER, "Use pnpm.", "u1", None, moment)


def test_what_the_agent_says_belongs_to_its_message() -> None:
    part = read_record(assistant("Done.", message="msg_9"))
    assert isinstance(part, Part)
    assert (part.role, part.text, part.group) == (Speaker.ASSISTANT, "Done.", "msg_9")


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"isSidechain": True}, "sidechain"),
        ({"isMeta": True}, "meta"),
        ({"isCompactSummary": True}, "summary"),
    ],
)
def test_what_nobody_said_is_no_turn(more: dict[str, Any], expected: str) -> None:
    assert reason(user("x", **more)) == expected


@pytest.mark.parametrize(
    "pseudo",
    [
        "<command-name>/compact</command-name>",
        "  <local-command-stdout>Compacted</local-command-stdout>",
        "<task-notification>\n<task-id>b</task-id>\n</task-notification>",
        "<bash-input>ls</bash-input>",
        "[Request interrupted by user]",
        "This session is being continued from a previous conversation that ran out of context.",
    ],
)
def test_what_the_client_writes_in_the_persons_name_is_no_turn(pseudo: str) -> None:
    assert reason(user(pseudo)) == "no_text"


def test_a_tools_result_is_no_turn_whatever_it_holds() -> None:
    block = {"tool_use_id": "t", "type": "tool_result", "content": "We decided to use MySQL."}
    assert reason(user([block])) == "tool_result"
    nested = {**block, "content": [{"type": "text", "text": "We decided to use MySQL."}]}
    assert reason(user([nested, {"type": "text", "text": "Use MySQL."}])) == "tool_result"


def test_somebody_who_quotes_a_record_is_still_heard() -> None:
    quote = 'Why does {"type":"tool_result","isMeta":true} break the parser?'
    assert text(user(quote)) == quote


def test_our_own_block_and_reminders_are_cut_out_of_a_prompt() -> None:
    fenced = "<codesynapse-memory>\nThe port is 9.\n</codesynapse-memory>"
    prompt = f"<system-reminder>x</system-reminder>Use tabs.\n{fenced}\nThanks"
    assert text(user(prompt)).split() == ["Use", "tabs.", "Thanks"]
    assert reason(user(fenced)) == "no_text"


def test_an_unclosed_fence_hides_all_that_follows() -> None:
    assert text(user("Use tabs. <codesynapse-memory> the port is 9")) == "Use tabs."


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\n",
        b"nonsense\n",
        b'{"type":"user"\n',
        b'{"type":"user","message":7}\n',
        b'{"type":"user","message":{"content":{"a":1}}}\n',
        b'["type":"user"]\n',
        b'[1,{"type":"user"}]\n',
        b'{"type":"user","message":{"content":[1,null,{"type":"text","text":9}]}}\n',
        b'{"type":"user",' + b'"a":[' * 5000 + b"\n",
        line({"type": "attachment", "attachment": {"type": "hook_additional_context"}}),
    ],
)
def test_a_line_that_is_no_record_is_skipped(raw: bytes) -> None:
    assert isinstance(read_record(raw), Skipped)


def test_bad_utf8_in_a_prompt_keeps_the_rest_readable() -> None:
    raw = user("Use tabs XX please").replace(b"XX", b"\xff\xfe")
    assert text(raw).startswith("Use tabs ")


@given(st.binary(max_size=200))
def test_no_bytes_make_reading_fail(raw: bytes) -> None:
    assert isinstance(read_record(b'{"type":"user",' + raw), Part | Skipped)


@given(st.text(min_size=1, max_size=200))
def test_a_plain_text_comes_out_as_it_went_in(said: str) -> None:
    marked = "x" + said.replace("<", "(").replace("[", "(") + "x"
    assert text(user(marked)) == marked

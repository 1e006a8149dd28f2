from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codesynapse.errors import InstallRefused
from codesynapse.install.text_block import find_block, with_block, without_block
from tests.install.strategies import PROPERTY, texts

BODY = "## Memory\n\nAsk it.\n"
BLOCK = b"<!-- codesynapse:begin v1 -->\n## Memory\n\nAsk it.\n<!-- codesynapse:end -->"


@PROPERTY
@given(st.none() | texts())
def test_a_block_put_in_twice_and_taken_out_leaves_every_byte(data: bytes | None) -> None:
    once = with_block(data, BODY, "AGENTS.md")
    assert with_block(once, BODY, "AGENTS.md") == once
    assert once.startswith(data or b"")
    assert without_block(once, "AGENTS.md") == data


@PROPERTY
@given(texts())
def test_a_block_of_another_text_is_replaced_in_its_place(data: bytes) -> None:
    old = with_block(data, "Another text.\n\nOlder.", "AGENTS.md")
    assert with_block(old, BODY, "AGENTS.md") == with_block(data, BODY, "AGENTS.md")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, BLOCK + b"\n"),
        (b"", BLOCK),
        (b"# A\n", b"# A\n\n" + BLOCK + b"\n"),
        (b"# A", b"# A\n\n" + BLOCK),
        (b"# A\r\n", b"# A\r\n\r\n" + BLOCK.replace(b"\n", b"\r\n") + b"\r\n"),
        (b"\xef\xbb\xbf# \xe4\xf6\n", b"\xef\xbb\xbf# \xe4\xf6\n\n" + BLOCK + b"\n"),
    ],
)
def test_a_block_stands_at_the_end_after_a_blank_line(before: bytes | None, after: bytes) -> None:
    assert with_block(before, BODY, "AGENTS.md") == after


def test_what_a_person_wrote_around_the_block_stays() -> None:
    data = b"# A\n\n" + BLOCK + b"\nmore\n"
    assert with_block(data, "New.", "AGENTS.md").endswith(b"codesynapse:end -->\nmore\n")
    assert without_block(data, "AGENTS.md") == b"# A\n\nmore\n"
    data = b"# A\n\n" + BLOCK + b"\n\nmore\n"
    assert without_block(data, "AGENTS.md") == b"# A\n\nmore\n"


def test_an_editor_that_adds_the_last_line_end_keeps_it() -> None:
    assert without_block(with_block(b"# A", BODY, "A") + b"\n", "A") == b"# A\n"


BEGIN, END = b"<!-- codesynapse:begin v1 -->\n", b"<!-- codesynapse:end -->\n"


@pytest.mark.parametrize(
    "data",
    [
        BEGIN,
        END,
        END + BEGIN,
        BEGIN + BEGIN + END,
        BEGIN + END + END,
        BEGIN + END + BEGIN + END,
        b"text " + BEGIN + END,
        BEGIN + b"text " + END,
        BEGIN + END.strip() + b" text\n",
        BEGIN.replace(b" v1", b"") + END,
        BEGIN.replace(b"\n", b"\r\n") + END + BEGIN,
    ],
)
def test_markers_that_are_not_one_pair_are_refused(data: bytes) -> None:
    with pytest.raises(InstallRefused, match="markers in A are not one pair"):
        with_block(data, BODY, "A")
    with pytest.raises(InstallRefused, match="markers in A are not one pair"):
        without_block(data, "A")


def test_a_block_of_a_newer_version_is_not_written_over_but_can_go() -> None:
    data = BLOCK.replace(b"v1", b"v2") + b"\n"
    with pytest.raises(InstallRefused, match="newer codesynapse"):
        with_block(data, BODY, "A")
    assert without_block(data, "A") is None


@pytest.mark.parametrize("data", ["text".encode("utf-16"), b"a\x00b", "text".encode("utf-16-be")])
def test_what_is_no_text_of_single_bytes_is_refused(data: bytes) -> None:
    with pytest.raises(InstallRefused, match="not a text file"):
        with_block(data, BODY, "A")


def test_a_block_is_found_with_its_markers() -> None:
    assert find_block(b"# A\n\n" + BLOCK + b"\n", "A") == BLOCK
    assert find_block(b"# A\n", "A") is None

from __future__ import annotations

import os
import stat
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codesynapse.transcripts import ends
from codesynapse.transcripts.ends import EndMark, leave_mark, read_marks, take_mark

words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)


def said(mark: EndMark) -> tuple[str, str, str | None, str | None]:
    return mark.client, mark.session, mark.transcript, mark.cwd


@given(words, words, st.none() | words, st.none() | words)
def test_a_mark_is_read_as_it_was_left(
    tmp_path_factory: pytest.TempPathFactory,
    client: str, session: str, transcript: str | None, cwd: str | None,
) -> None:  # fmt: skip
    folder = str(tmp_path_factory.mktemp("ends"))
    leave_mark(folder, EndMark(client, session, transcript, cwd))
    (mark,) = read_marks(folder)
    assert said(mark) == (client, session, transcript, cwd)
    assert 0 <= mark.age() < 60


def test_a_mark_is_its_owner_s_alone(tmp_path: Path) -> None:
    path, _ = leave_mark(str(tmp_path), EndMark("c", "s"))
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


def test_a_folder_that_is_not_there_has_no_mark(tmp_path: Path) -> None:
    assert read_marks(str(tmp_path / "none")) == []


def test_the_later_end_of_a_session_takes_the_place_of_the_first(tmp_path: Path) -> None:
    leave_mark(str(tmp_path), EndMark("c", "s", "/old.jsonl"))
    leave_mark(str(tmp_path), EndMark("c", "s", "/new.jsonl"))
    assert [mark.transcript for mark in read_marks(str(tmp_path))] == ["/new.jsonl"]


def test_a_mark_that_was_left_anew_is_not_taken_for_the_older_one(tmp_path: Path) -> None:
    leave_mark(str(tmp_path), EndMark("c", "s"))
    (mark,) = read_marks(str(tmp_path))
    os.utime(mark.path, (mark.left_at + 5, mark.left_at + 5))
    take_mark(mark.path, mark.left_at)
    (later,) = read_marks(str(tmp_path))
    take_mark(later.path, later.left_at)
    assert read_marks(str(tmp_path)) == []
    take_mark(later.path, later.left_at)


def test_there_are_never_more_than_so_many_and_the_oldest_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ends, "MOST_MARKS", 3)
    gone = 0
    for number in range(5):
        path, more = leave_mark(str(tmp_path), EndMark("c", f"s{number}"))
        os.utime(path, (1_000 + number, 1_000 + number))
        gone += more
    assert [mark.session for mark in read_marks(str(tmp_path))] == ["s2", "s3", "s4"]
    assert gone == 2


@pytest.mark.parametrize(
    "text",
    [b"", b"{", b"[]", b"null", b"\xff", b'{"client": "c"}', b'{"client": 5, "session": "s"}',
     b'{"client": "c", "session": ""}', b"[" * 30_000, b'{"client": "c", "session": "a\\u0000"}'],
)  # fmt: skip
def test_what_is_no_mark_is_taken_away(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "x.json").write_bytes(text)
    assert read_marks(str(tmp_path)) == []
    assert list(tmp_path.iterdir()) == []


def test_one_that_is_being_written_is_left_alone_for_a_while(tmp_path: Path) -> None:
    fresh, stale = tmp_path / "a.json.1", tmp_path / "b.json.2"
    fresh.write_bytes(b"{")
    stale.write_bytes(b"{")
    os.utime(stale, (time.time() - 7_200,) * 2)
    assert read_marks(str(tmp_path)) == []
    assert list(tmp_path.iterdir()) == [fresh]


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text('{"client": "c", "session": "s"}')
    folder = tmp_path / "ends"
    folder.mkdir()
    (folder / "x.json").symlink_to(tmp_path / "elsewhere")
    assert read_marks(str(folder)) == []


def test_a_mark_is_ripe_after_a_second_and_when_the_clock_was_set_back() -> None:
    mark = EndMark("c", "s", left_at=2_000.0)
    assert not mark.is_ripe(2_000.0)
    assert not mark.is_ripe(2_000.9)
    assert mark.is_ripe(2_001.0)
    assert mark.is_ripe(1_000.0)

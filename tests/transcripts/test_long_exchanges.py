"""Exchanges of any length: one prompt, and an agent that works on it for days."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codesynapse.domain.turns import Turn
from codesynapse.transcripts import reader
from codesynapse.transcripts.reader import MAX_PIECE, Exchange, Reading, read_exchanges
from codesynapse.transcripts.records import MAX_ID, MAX_TEXT
from tests.transcripts.writing import assistant, user


def read(path: Path, offset: int = 0, keep: int = 0) -> list[Exchange]:
    return list(read_exchanges(path, offset, Reading(), keep=keep))


def turns(found: list[Exchange]) -> list[Turn]:
    return [turn for exchange in found for turn in exchange.turns]


def work(prompt: str, count: int, size: int) -> bytes:
    said = (assistant(f"{prompt} {n} " + "y" * size, n) for n in range(count))
    return user(prompt, 0) + b"".join(said)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "session.jsonl"


def test_a_long_exchange_comes_in_pieces_that_follow_each_other(path: Path) -> None:
    path.write_bytes(work("go", 60, 30_000))
    pieces = read(path)
    assert len(pieces) > 3
    assert all(piece.size <= MAX_PIECE + MAX_TEXT for piece in pieces)
    assert [piece.begins for piece in pieces] == [True] + [False] * (len(pieces) - 1)
    assert [piece.start for piece in pieces[1:]] == [piece.end for piece in pieces[:-1]]
    assert len(turns(pieces)) == 61


def test_the_pieces_of_one_exchange_count_as_one_that_stays_behind(path: Path) -> None:
    path.write_bytes(work("first", 40, 30_000) + work("second", 40, 30_000))
    found = read(path, keep=1)
    assert turns(found) == turns(read(path))[:41]
    assert len(found) > 1


def test_what_is_held_beyond_the_room_for_it_is_read_again_and_is_the_same(path: Path) -> None:
    path.write_bytes(b"".join(work(f"p{n}", 30, 30_000) for n in range(5)))
    assert path.stat().st_size > 2 * reader.MAX_HELD
    assert turns(read(path, keep=10)) == turns(read(path))


def test_a_long_exchange_without_an_answer_stays_whole(path: Path) -> None:
    whole = work("done", 40, 30_000)
    path.write_bytes(whole + b"".join(user("wait " + "x" * 60_000, n) for n in range(20)))
    found = read(path, keep=10)
    assert found[-1].end == len(whole)
    assert {turn.text[:4] for turn in turns(found)} == {"done"}


def test_one_message_without_end_becomes_turns_of_a_bounded_size(path: Path) -> None:
    said = (assistant("z" * 20_000, n, "msg") for n in range(200))
    path.write_bytes(user("go", 0) + b"".join(said))
    found = turns(read(path))
    assert max(len(turn.text) for turn in found) <= MAX_TEXT
    assert sum(turn.text.count("z") for turn in found) == 200 * 20_000


def test_reading_stops_and_goes_on_in_the_middle_of_a_long_exchange(path: Path) -> None:
    path.write_bytes(work("go", 60, 30_000))
    asked = itertools.count()
    reading = Reading()
    first = list(read_exchanges(path, 0, reading, stop=lambda: next(asked) > 40))
    assert first
    assert not reading.complete
    rest = read(path, reading.offset, keep=10)
    assert turns(first) + turns(rest) == turns(read(path))


@pytest.mark.parametrize("much", [100_000, 100_000_000])
def test_what_takes_all_the_time_there_is_does_not_take_it_again(
    path: Path, monkeypatch: pytest.MonkeyPatch, much: int
) -> None:
    """Nothing in it is older than the last exchanges, and its end is out of reach."""
    monkeypatch.setattr(reader, "MUCH", much)
    path.write_bytes(work("go", 200, 30_000))
    reading = Reading()
    found: list[Exchange] = []
    for _ in range(20):
        stop = itertools.chain([False] * 50, itertools.repeat(True)).__next__
        reading.complete = False
        found += read_exchanges(path, reading.offset, reading, keep=10, stop=stop)
    if much > path.stat().st_size:
        assert found == []
    else:
        assert turns(found) == turns(read(path))[: len(turns(found))]
        assert len(turns(found)) > 150


def test_an_id_without_measure_is_none(path: Path) -> None:
    path.write_bytes(user("a", uuid="i" * (MAX_ID + 1)) + user("b", uuid="i" * MAX_ID))
    assert [turn.id for turn in turns(read(path))] == [None, "i" * MAX_ID]


@settings(max_examples=60)
@given(
    said=st.lists(st.tuples(st.booleans(), st.integers(1, 40)), max_size=25),
    keep=st.integers(0, 4),
    room=st.integers(1, 400),
    cut=st.integers(0, 25),
)
def test_no_turn_is_lost_or_given_twice_whatever_is_long(
    tmp_path_factory: pytest.TempPathFactory,
    said: list[tuple[bool, int]], keep: int, room: int, cut: int,
) -> None:  # fmt: skip
    path = tmp_path_factory.mktemp("t") / "s.jsonl"
    lines = [user("u" * size, n) if asks else assistant("a" * size, n)
             for n, (asks, size) in enumerate(said)]  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "MAX_PIECE", room)
        patch.setattr(reader, "MAX_HELD", room)
        patch.setattr(reader, "TURN_COST", 1)
        path.write_bytes(b"".join(lines[:cut]))
        reading = Reading()
        first = list(read_exchanges(path, 0, reading, keep=keep))
        path.write_bytes(b"".join(lines))
        second = read(path, reading.offset)
    everything = [(turn.role.value[0], len(turn.text)) for turn in turns(first) + turns(second)]
    assert everything == [("u" if asks else "a", size) for asks, size in said]

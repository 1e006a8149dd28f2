from __future__ import annotations

import itertools
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codesynapse.environment import Environment
from codesynapse.transcripts.locate import locate
from codesynapse.transcripts.reader import MAX_LINE, Exchange, Reading, read_exchanges
from tests.transcripts.writing import assistant, line, user


def exchanges(count: int) -> bytes:
    return b"".join(user(f"p{n}", n) + assistant(f"r{n}", n) for n in range(count))


def prompts(found: list[Exchange]) -> list[str]:
    return [exchange.turns[0].text for exchange in found]


def read(path: Path, offset: int = 0, keep: int = 0) -> tuple[list[Exchange], Reading]:
    reading = Reading()
    return list(read_exchanges(path, offset, reading, keep=keep)), reading


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "session.jsonl"


def test_the_last_ten_exchanges_stay_behind(path: Path) -> None:
    path.write_bytes(exchanges(13))
    found, reading = read(path, keep=10)
    assert prompts(found) == ["p0", "p1", "p2"]
    assert reading.offset == len(exchanges(3))


def test_the_last_ten_stay_behind_however_much_was_taken_before(path: Path) -> None:
    path.write_bytes(exchanges(13))
    _, reading = read(path, keep=10)
    for _ in range(3):
        found, reading = read(path, reading.offset, keep=10)
        assert found == []
    path.write_bytes(exchanges(15))
    assert prompts(read(path, reading.offset, keep=10)[0]) == ["p3", "p4"]


def test_a_session_that_is_still_short_gives_what_came_since(path: Path) -> None:
    path.write_bytes(exchanges(4))
    _, reading = read(path, keep=10)
    path.write_bytes(exchanges(7))
    found, reading = read(path, reading.offset, keep=10)
    assert prompts(found) == ["p4", "p5", "p6"]
    path.write_bytes(exchanges(12))
    assert read(path, reading.offset, keep=10)[0] == []


@pytest.mark.parametrize("count", [1, 9, 10])
def test_a_short_session_gives_every_finished_exchange(path: Path, count: int) -> None:
    path.write_bytes(exchanges(count))
    assert prompts(read(path, keep=10)[0]) == [f"p{n}" for n in range(count)]


def test_the_exchange_in_progress_of_a_short_session_stays(path: Path) -> None:
    path.write_bytes(exchanges(3) + user("still waiting", 99))
    assert prompts(read(path, keep=10)[0]) == ["p0", "p1", "p2"]


def test_at_the_end_everything_is_given_the_unanswered_prompt_too(path: Path) -> None:
    path.write_bytes(exchanges(2) + user("last words", 9))
    assert prompts(read(path)[0]) == ["p0", "p1", "last words"]


def test_reading_goes_on_where_it_stood(path: Path) -> None:
    path.write_bytes(exchanges(3))
    _, first = read(path)
    path.write_bytes(exchanges(5))
    found, _ = read(path, first.offset)
    assert prompts(found) == ["p3", "p4"]


def test_a_half_written_last_line_is_left_for_the_next_time(path: Path) -> None:
    whole = exchanges(2)
    path.write_bytes(whole + user("and then", 7)[:-20])
    found, reading = read(path)
    assert prompts(found) == ["p0", "p1"]
    assert reading.offset == len(whole)
    path.write_bytes(whole + user("and then", 7))
    assert prompts(read(path, reading.offset)[0]) == ["and then"]


def test_a_file_that_became_shorter_is_read_anew(path: Path) -> None:
    path.write_bytes(exchanges(1))
    assert prompts(read(path, 10_000)[0]) == ["p0"]


def test_the_parts_of_one_message_are_one_turn(path: Path) -> None:
    path.write_bytes(user("go") + assistant("one", 1, "m") + assistant("two", 2, "m"))
    found, _ = read(path)
    assert [turn.text for turn in found[0].turns] == ["go", "one\n\ntwo"]


def test_what_is_no_turn_is_counted_by_reason(path: Path) -> None:
    noise = line({"type": "mode"}) + user("x", isMeta=True) + b"garbage\n" + b'{"type":"user"\n'
    path.write_bytes(noise + exchanges(1))
    _, reading = read(path)
    assert reading.skipped == {"other": 2, "meta": 1, "broken": 1}


def test_a_line_without_measure_is_passed_over_and_counted(path: Path) -> None:
    huge = user("x" * (MAX_LINE + 10))
    path.write_bytes(exchanges(1) + huge + exchanges(1))
    found, reading = read(path)
    assert len(found) == 2
    assert reading.skipped["too_long"] == 1
    assert reading.offset == path.stat().st_size


def test_reading_stops_when_told_and_can_go_on(path: Path) -> None:
    path.write_bytes(exchanges(50))
    asked = itertools.count()
    reading = Reading()
    first = list(read_exchanges(path, 0, reading, stop=lambda: next(asked) > 20))
    assert not reading.complete
    assert len(first) == 10, "what was read before the stop is given, whole exchanges only"
    rest, _ = read(path, reading.offset)
    assert prompts(first) + prompts(rest) == [f"p{n}" for n in range(50)]


def test_a_range_of_a_transcript_can_be_read_again(path: Path) -> None:
    path.write_bytes(exchanges(3))
    whole, _ = read(path)
    start, end = whole[0].end, whole[1].end
    reading = Reading()

    again = list(read_exchanges(path, start, reading, until=end))

    assert prompts(again) == ["p1"]
    assert (reading.offset, reading.complete) == (end, True)


@given(
    sizes=st.lists(st.integers(0, 3), max_size=8),
    keep=st.integers(0, 4),
    cut=st.integers(0, 30),
)
def test_reading_in_two_goes_gives_every_exchange_once(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], keep: int, cut: int
) -> None:
    path = tmp_path_factory.mktemp("t") / "s.jsonl"
    parts = [user(f"p{n}", n) + assistant(f"r{n}", n) + line({"type": "mode"}) * size
             for n, size in enumerate(sizes)]  # fmt: skip
    path.write_bytes(b"".join(parts[:cut]))
    first, reading = read(path, keep=keep)
    path.write_bytes(b"".join(parts))
    second, _ = read(path, reading.offset)
    assert prompts(first) + prompts(second) == [f"p{n}" for n in range(len(sizes))]


def test_a_missing_file_is_found_by_its_session(tmp_path: Path) -> None:
    environment = Environment({"HOME": str(tmp_path)})
    folder = tmp_path / ".claude" / "projects" / "-home-dev-p"
    folder.mkdir(parents=True)
    path = folder / "abc.jsonl"
    path.write_bytes(exchanges(1))
    assert locate(None, "abc", "/home/dev/p", environment) == path
    assert locate("/gone/abc.jsonl", "abc", None, environment) == path
    assert locate(str(path), "other", None, environment) == path
    assert locate(None, "nope", "/home/dev/p", environment) is None
    assert locate(None, "../abc", None, environment) is None


@pytest.mark.processes
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")
def test_a_transcript_of_300_megabytes_is_read_in_flat_memory(tmp_path: Path) -> None:
    path = tmp_path / "big.jsonl"
    result = [{"tool_use_id": "t", "type": "tool_result", "content": "x" * 900_000}]
    noise = user(result)
    with path.open("wb") as file:
        file.write(user("x" * 50_000_000))
        for number in range(280):
            file.write(noise + user(f"p{number}", number) + assistant("ok", number))
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from codesynapse.transcripts.reader import Reading, read_exchanges\n"
        "reading = Reading()\n"
        "count = sum(1 for _ in read_exchanges(Path(sys.argv[1]), 0, reading))\n"
        "peak = [l for l in open('/proc/self/status') if l.startswith('VmHWM')][0]\n"
        "print(count, peak.split()[1])\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True,
                          check=True, timeout=60)  # fmt: skip
    os.unlink(path)
    count, kilobytes = map(int, done.stdout.split())
    assert count == 280
    assert kilobytes < 60_000

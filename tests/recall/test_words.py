"""Ages, budgets and plain text."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codesynapse.recall.words import (
    age_in_days,
    age_in_words,
    count_tokens,
    old_in_words,
    plain,
    utf16_units,
)

TOKYO = ZoneInfo("Asia/Tokyo")
BERLIN = ZoneInfo("Europe/Berlin")


def test_today_is_the_local_day_half_an_hour_after_midnight_in_tokyo() -> None:
    now = datetime(2026, 3, 9, 15, 30, tzinfo=UTC)  # 00:30 on the 10th there
    said = datetime(2026, 3, 9, 14, 59, tzinfo=UTC)  # 23:59 on the 9th
    assert age_in_days(said, now, TOKYO) == 1
    assert age_in_days(said, now, ZoneInfo("UTC")) == 0


def test_the_night_of_a_clock_change_is_one_day() -> None:
    now = datetime(2026, 3, 29, 10, tzinfo=BERLIN)
    assert age_in_days(datetime(2026, 3, 28, 23, 30, tzinfo=BERLIN), now, BERLIN) == 1
    assert age_in_days(datetime(2026, 3, 29, 1, 30, tzinfo=BERLIN), now, BERLIN) == 0


def test_what_is_said_in_the_future_is_of_today() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    assert age_in_days(datetime(2026, 1, 3, tzinfo=UTC), now, ZoneInfo("UTC")) == 0


@pytest.mark.parametrize(
    ("days", "words"), [(0, "today"), (1, "1 day ago"), (2, "2 days ago"), (400, "400 days ago")]
)
def test_ages_are_told_in_days(days: int, words: str) -> None:
    assert age_in_words(days) == words


@pytest.mark.parametrize(
    ("days", "words"),
    [(5, "5 days ago"), (30, "1 month ago"), (245, "8 months ago"), (730, "2 years ago")],
)
def test_old_things_are_told_in_months_and_years(days: int, words: str) -> None:
    assert old_in_words(days) == words


@given(st.text(st.characters(), max_size=100))
def test_plain_text_is_stable_and_counted_as_utf_16(text: str) -> None:
    once = plain(text)
    assert plain(once) == once
    assert utf16_units(once) == len(once.encode("utf-16-le")) // 2
    assert count_tokens(once) >= len(once) / 3


def test_hidden_carriers_are_removed_and_accents_stay() -> None:
    assert plain("a\u200b\u202eb\u2066c\ufeff\U000e0041\U000e0101\u115f") == "abc"
    assert plain("\U0001fae8 shakes") == "\U0001fae8 shakes"  # newer than some Unicode tables
    assert plain("café\tñ\r\n 漢字") == "café ñ 漢字"

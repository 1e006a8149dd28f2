"""What is never searched, and what always is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codesynapse.recall.gate import MAX_QUERY, Gated, judge

SMALL_TALK = """
thanks | Thank you very much! | ok do it | OK, do it. | go on | go ahead please | yes
Yes, please continue. | lgtm, ship it | sounds good, thanks! | hello | Hi there!
good morning | let's go | danke | vielen Dank! | mach weiter | alles klar, danke
ja, bitte weiter | merci beaucoup | vas-y, continue | d'accord, merci | s'il te plaît
gracias | muchas gracias, sigue | por favor continúa | obrigado | grazie mille
va bene, vai avanti | dank je, ga door | dzięki, dalej | спасибо, продолжай | да, давай дальше
teşekkürler, devam et | 谢谢 | 谢谢，请继续 | 好的，继续吧 | 謝謝 | ありがとうございます
はい、続けてください | 了解です | 감사합니다 | 네, 계속해주세요 | ขอบคุณครับ | शुक्रिया
شكرا جزيلا | תודה רבה | cảm ơn
"""
QUESTIONS = """
what port does the API use | which database | pnpm | Postgres 16 | go | use X instead of Y
thanks to Redis it is fast | yes, use pnpm | ok, deploy to staging
continue with the payments service | why did we drop Kafka | danke, aber welche Datenbank
数据库 | 谢谢，用哪个端口 | ポート番号は | база данных | next.js | don't mock the clock
"""


def lines(text: str) -> list[str]:
    return [part.strip() for line in text.split("\n") for part in line.split("|") if part.strip()]


@pytest.mark.parametrize("query", lines(SMALL_TALK))
def test_small_talk_in_many_languages_is_gated(query: str) -> None:
    assert judge(query).reason is Gated.SMALL_TALK


@pytest.mark.parametrize("query", lines(QUESTIONS))
def test_what_has_any_content_is_searched(query: str) -> None:
    judged = judge(query)
    assert judged.reason is None
    assert judged.query == query


@pytest.mark.parametrize(
    "query", ["", "   ", "?!…", "👍🎉", "\x00\x1b", "* ( ) \" '", "\ud800", "—"]
)
def test_a_query_without_words_is_gated(query: str) -> None:
    assert judge(query).reason is Gated.NO_WORDS


def test_an_endless_query_is_cut_before_it_is_judged() -> None:
    hidden = "thanks " * 2_000 + "which database do we use"
    judged = judge(hidden)
    assert judged.cut
    assert judged.reason is Gated.SMALL_TALK
    open_ = "which database " + "thanks " * 2_000
    assert judge(open_).reason is None
    assert len(judge(open_).query) <= MAX_QUERY


def test_a_cut_never_leaves_half_a_word() -> None:
    judged = judge("database " * 1_112 + "supercalifragilistic")
    assert judged.query.split()[-1] == "database"
    assert judge("x" * 20_000).query == "x" * MAX_QUERY


@given(st.text(max_size=300))
def test_any_text_is_judged_and_a_word_beside_small_talk_opens_the_gate(text: str) -> None:
    judge(text)
    assert judge(text + " kubernetes").reason is None

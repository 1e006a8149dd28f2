from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codesynapse.domain.graph import Source
from codesynapse.domain.turns import Speaker, Turn
from codesynapse.errors import ProviderFailed, Unavailable
from codesynapse.extraction.extract import LEAST_CONFIDENCE, Found, extract, statements
from codesynapse.extraction.grounding import Grounds
from codesynapse.extraction.parse import Proposed
from codesynapse.providers.base import Message
from codesynapse.providers.meter import CapReached

Clean = Callable[[str], str]
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Scripted:
    """Answers as scripted, the last answer again and again."""

    name = "tiny"

    def __init__(self, *answers: str | Exception) -> None:
        self.answers = list(answers)
        self.prompts: list[Sequence[Message]] = []

    def complete(self, messages: Sequence[Message], schema: Mapping[str, Any]) -> str:
        self.prompts.append(messages)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def interrupt(self) -> None:
        """Never runs long."""


def fact(obj: str, subject: str = "service", confidence: float = 0.9, turn: int = 1) -> str:
    item = {
        "subject": subject,
        "predicate": "RUNS_ON",
        "object": obj,
        "confidence": confidence,
        "turn": turn,
    }
    return json.dumps({"facts": [item]})


def user(text: str, n: int = 1) -> Turn:
    return Turn(Speaker.USER, text, NOON + timedelta(minutes=n), f"u{n}")


def agent(text: str, n: int = 1) -> Turn:
    return Turn(Speaker.ASSISTANT, text, NOON + timedelta(minutes=n), f"a{n}")


def plain(text: str) -> str:
    return text


@dataclass
class Outcome:
    found: tuple[Found, ...]
    counts: Counter[str]


def extracted(turns: Sequence[Turn], model: Scripted | None, clean: Clean = plain) -> Outcome:
    counts: Counter[str] = Counter()
    return Outcome(extract(turns, (), model, clean, counts), +counts)


def run(turns: Sequence[Turn], *answers: str | Exception) -> Outcome:
    return extracted(turns, Scripted(*answers) if answers else None)


def test_without_a_model_builtin_alone_extracts() -> None:
    result = run([user("I prefer tabs over spaces.")])

    assert [(f.candidate.object, f.by) for f in result.found] == [("tabs", "builtin")]
    assert result.counts == {"candidates": 1, "kept": 1}


@pytest.mark.parametrize(("confidence", "kept"), [(0.59, 0), (0.6, 1), (0.95, 1)])
def test_confidence_below_the_threshold_is_dropped(confidence: float, kept: int) -> None:
    result = run(
        [user("hm, and then it is all on fly, you know")], fact("fly", confidence=confidence)
    )

    assert len(result.found) == kept
    assert result.counts["dropped_low_confidence"] == 1 - kept


def test_an_object_that_nobody_mentioned_is_dropped() -> None:
    result = run([user("hm, and then it is all on fly, you know")], fact("kubernetes"))

    assert not result.found
    assert result.counts["dropped_not_grounded"] == 1


def test_the_turn_that_says_it_gives_time_and_speaker_whatever_the_model_claims() -> None:
    turns = [agent("Looks like a heroku thing.", 1), user("hm, that is all on fly, you know", 2)]

    [found] = run(turns, fact("Fly", turn=1)).found

    assert found.candidate.speaker is Speaker.USER
    assert found.candidate.turn_id == "u2"
    assert found.candidate.said_at == turns[1].at


def test_what_only_the_assistant_said_is_kept_lower_than_what_the_person_said() -> None:
    claimed = run([agent("The thing seems to sit on fly, as far as I see")], fact("fly"))
    stated = run([user("hm, that is all on fly, you know")], fact("fly"))

    [low], [high] = claimed.found, stated.found
    assert low.candidate.speaker is Speaker.ASSISTANT
    assert LEAST_CONFIDENCE <= low.candidate.confidence < 0.75 <= high.candidate.confidence


@pytest.mark.parametrize(
    "assent", ["yes", "Yep, do that", "ok, thanks", "Sounds good!", "对", "ja, genau"]
)
def test_a_claim_that_the_person_confirms_at_once_is_theirs(assent: str) -> None:
    turns = [agent("So that is the fly one, then"), user(assent, 2)]

    [found] = run(turns, fact("fly")).found

    assert found.candidate.speaker is Speaker.USER
    assert found.candidate.confidence == 0.9


@pytest.mark.parametrize("answer", ["no", "hm, not sure", "yesterday it failed", "why?"])
def test_any_other_answer_confirms_nothing(answer: str) -> None:
    turns = [agent("So that is the fly one, then"), user(answer, 2)]

    [found] = run(turns, fact("fly")).found

    assert found.candidate.speaker is Speaker.ASSISTANT


@given(st.floats(0.6, 1))
def test_the_same_claim_is_never_higher_from_an_agent(confidence: float) -> None:
    claimed = run([agent("The thing seems to sit on fly")], fact("fly", confidence=confidence))
    stated = run([user("hm, that is all on fly, you know")], fact("fly", confidence=confidence))

    low, high = claimed.found[0].candidate.confidence, stated.found[0].candidate.confidence
    assert LEAST_CONFIDENCE <= low <= min(high, 0.65)
    assert low < high or confidence < 0.601


def test_what_builtin_found_in_a_turn_is_not_said_again_by_a_model() -> None:
    result = run([user("I prefer tabs over spaces.")], fact("tabs", subject="editor"))

    assert [f.by for f in result.found] == ["builtin"]
    assert result.counts["dropped_duplicate"] == 1


def test_the_same_fact_twice_in_one_answer_counts_once() -> None:
    item = json.loads(fact("fly"))["facts"][0]
    answer = json.dumps([item, item])

    result = run([user("hm, that is all on fly, you know")], answer)

    assert len(result.found) == 1


def test_names_are_cleaned_and_a_redacted_one_is_dropped() -> None:
    turns = [user("hm, hunter2 is what they all use, and fly is where it sits")]
    answer = json.dumps(json.loads(fact("hunter2"))["facts"] + json.loads(fact("fly"))["facts"])
    model = Scripted(answer)

    def clean(text: str) -> str:
        return text.replace("hunter2", "[redacted:password]")

    result = extracted(turns, model, clean)

    assert "hunter2" not in repr(model.prompts)
    assert [f.candidate.object for f in result.found] == ["fly"]


def test_an_unusable_answer_is_asked_for_once_more() -> None:
    model = Scripted("no idea", fact("fly"))

    result = extracted([user("hm, that is all on fly, you know")], model)

    assert len(result.found) == 1
    assert ["could not be used" in prompt[0].content for prompt in model.prompts] == [False, True]
    assert result.counts["model_calls"] == 2


def test_two_unusable_answers_fail_with_the_reasons_and_no_text() -> None:
    with pytest.raises(ProviderFailed, match=r"twice \(missing_field\)") as caught:
        run([user("hm, kumquat")], "kumquat", '[{"subject": "kumquat"}]')

    assert "kumquat" not in str(vars(caught.value))


def test_a_server_that_is_not_there_is_not_asked_twice() -> None:
    model = Scripted(Unavailable("not there"))

    with pytest.raises(Unavailable, match="not there"):
        extracted([user("hm")], model)
    assert len(model.prompts) == 1


def test_long_conversations_go_in_parts_and_long_turns_without_their_middle() -> None:
    turns = [user("start " + "x" * 50_000 + " end", n) for n in range(1, 8)]
    model = Scripted('{"facts": []}')

    result = extracted(turns, model)

    assert len(model.prompts) == 4
    assert all(len(prompt[1].content) < 9_000 for prompt in model.prompts)
    assert all(
        "start" in prompt[1].content and "end" in prompt[1].content for prompt in model.prompts
    )
    assert result.counts["model_calls"] == len(model.prompts)


def test_when_the_day_is_used_up_on_the_way_the_rest_is_counted() -> None:
    turns = [user("y" * 3_900, n) for n in range(1, 5)]
    model = Scripted('{"facts": []}', CapReached("used up"))

    result = extracted(turns, model)

    assert result.counts["turns_over_daily_cap"] == 2


def test_known_names_are_offered_in_the_prompt() -> None:
    model = Scripted('{"facts": []}')

    extract([user("hm")], {"Billing API", "Dana"}, model, plain, Counter())

    assert "Billing API; Dana" in model.prompts[0][0].content


def test_a_turn_without_a_time_takes_that_of_the_offload() -> None:
    result = run([Turn(Speaker.USER, "I prefer tabs over spaces.")])

    [said] = statements(result.found, Source("claude-code", NOON), NOON)

    assert said.said_at == NOON
    assert said.source is not None
    assert said.source.model == "builtin"
    assert said.speaker is Speaker.USER


@pytest.mark.parametrize(
    ("text", "obj", "grounded"),
    [
        ("we deploy with Fly.io", "fly.io", True),
        ("we deploy with Fly.io", "fly", True),
        ("butterfly", "fly", False),
        ("run `make test-all` first", "make test-all", True),
        ("ＡＢＣ service", "abc", True),
        ("価格はセントで保存する", "セント", True),
        ("価格はセントで保存する", "ドル", False),
        ("we deploy", "...", False),
    ],
)
def test_an_object_is_grounded_by_its_words(text: str, obj: str, grounded: bool) -> None:
    candidate = Grounds([user(text)]).candidate(Proposed("project", "USES", obj, 0.9))

    assert (candidate is not None) == grounded


def test_words_spread_over_turns_ground_an_object_by_the_newest_of_them() -> None:
    turns = [user("the queue is bullmq", 1), agent("on redis then", 2), user("hm", 3)]

    candidate = Grounds(turns).candidate(Proposed("queue", "IS", "bullmq on redis", 0.9))

    assert candidate is not None
    assert candidate.turn_id == "a2"
    assert candidate.speaker is Speaker.ASSISTANT

"""Decisions said in plain words, and words that only sound like one."""

from __future__ import annotations

import pytest

from codesynapse.domain.turns import Speaker, Turn
from codesynapse.extraction.builtin import extract

TAKEN = [
    ("We decided to use PostgreSQL 16 for the ledger database.", "ledger database",
     "PostgreSQL 16"),
    ("We've decided to use pnpm for the web client.", "web client", "pnpm"),
    ("We decided to store prices as integer cents, floats are out.", "project",
     "store prices as integer cents"),
    ("ok so we finally agreed on Kotlin for the Android client", "Android client", "Kotlin"),
    ("We agreed that every migration needs a rollback script.", "project",
     "migration needs a rollback script"),
    ("It was decided that all endpoints return JSON.", "project", "endpoints return JSON"),
    ("The team agreed to use UTC everywhere.", "project", "UTC everywhere"),
    ("Let's go with optimistic locking.", "project", "optimistic locking"),
    ("Let's go with optimistic locking then, a version column on sailings.", "project",
     "optimistic locking"),
    ("We're going with server-side rendering.", "project", "server-side rendering"),
    ("OK, RQ it is.", "project", "RQ"),
    ("ok, Celery it is then", "project", "Celery"),
]  # fmt: skip

NOT_TAKEN = [
    "We decided to wait until tomorrow.",
    "We decided to do it later.",
    "I decided to look into the flaky test.",
    "Let's go with your suggestion.",
    "Let's go with the second option.",
    "Sounds good, let's go with it.",
    "Have we decided to use Kafka for the events?",
    "Maybe we decided to use Kafka, I am not sure.",
    "We have not decided anything about the queue.",
    "Marta owns the tariff module, ask her before changing it.",
]


def said(text: str) -> list[tuple[str, str, str]]:
    found = extract([Turn(Speaker.USER, text)])
    return [(one.subject, one.predicate, one.object) for one in found]


@pytest.mark.parametrize(("text", "subject", "object_"), TAKEN)
def test_a_decision_in_plain_words_is_taken(text: str, subject: str, object_: str) -> None:
    assert (subject, "DECIDED", object_) in said(text)


@pytest.mark.parametrize("text", NOT_TAKEN)
def test_what_only_sounds_like_a_decision_is_not(text: str) -> None:
    assert not [row for row in said(text) if row[1] in ("DECIDED", "REQUIRES")]


def test_a_decision_against_something_is_kept_as_that() -> None:
    assert said("The team decided against GraphQL.") == [("project", "DECIDED_AGAINST", "GraphQL")]
    assert said("We decided not to use an ORM.") == [("project", "DECIDED_AGAINST", "ORM")]


def test_a_replacement_is_said_of_its_purpose_and_not_of_an_old_topic() -> None:
    talk = [
        Turn(Speaker.USER, "The production database is PostgreSQL 16. SQLite is only for tests."),
        Turn(Speaker.ASSISTANT, "Noted."),
        Turn(Speaker.USER, "Run the tests please."),
        Turn(Speaker.ASSISTANT, "41 passed."),
        Turn(Speaker.USER, "Use pnpm instead of npm for the frontend."),
        Turn(Speaker.ASSISTANT, "Done."),
        Turn(Speaker.USER, "no, use the queue name `post` instead of `mails`."),
    ]
    found = [(one.subject, one.predicate, one.object) for one in extract(talk)]
    assert ("frontend", "USES", "pnpm") in found
    assert ("queue name", "IS", "post") in found


def test_a_confirmed_cause_is_said_of_the_trouble_that_it_names() -> None:
    talk = [
        Turn(Speaker.USER, "Which ones fail?"),
        Turn(Speaker.ASSISTANT, "All six are in tests/test_tariffs.py."),
        Turn(Speaker.USER, "The dispatch screen was slow yesterday. Any idea?"),
        Turn(
            Speaker.ASSISTANT, "The slow dispatch screen was caused by an N+1 query in routes.py."
        ),
        Turn(Speaker.USER, "Great, that is the one. Confirmed on staging too."),
    ]
    (fact,) = [one for one in extract(talk) if one.predicate == "CAUSED_BY"]
    assert fact.subject == "slow dispatch screen"
    assert fact.object == "N+1 query in routes.py"

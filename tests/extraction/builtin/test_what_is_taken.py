from __future__ import annotations

import pytest

from codesynapse.domain.turns import Speaker, Turn
from codesynapse.extraction.builtin import extract
from codesynapse.extraction.candidates import Candidate

from .conftest import Talk


def _triples(found: list[Candidate]) -> list[tuple[str, str, str]]:
    return [(c.subject, c.predicate, c.object) for c in found]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("let's go with zustand for the panel", ("panel", "DECIDED", "zustand")),
        ("i prefer early returns over nested ifs", ("User", "PREFERS", "early returns")),
        ("can we skip the recaps please", ("User", "DISLIKES", "recaps")),
        ("we're stuck on node 18.19 because of the pdf addon", ("node", "VERSION_IS", "18.19")),
        ("sqlalchemy stays on 1.4.46", ("sqlalchemy", "VERSION_IS", "1.4.46")),
        (
            "mail templates live in `services/mailer/`",
            ("mail templates", "LOCATED_IN", "services/mailer/"),
        ),
        ("Priya owns the charts", ("charts", "OWNED_BY", "Priya")),
        ("billing belongs to team falcon", ("billing", "OWNED_BY", "team falcon")),
        ("to lint you run `make lint`", ("lint", "RUNS_WITH", "make lint")),
        ("sessions are stored in postgres", ("sessions", "LOCATED_IN", "postgres")),
        ("handlers must not touch the db", ("handlers", "MUST_NOT", "touch the db")),
        ("no prs into main on fridays", ("project", "AVOIDS", "prs into main on fridays")),
        ("the audit is due by jan 9", ("audit", "DUE_ON", "jan 9")),
        ("when i say prod-lite i mean the fra1 cluster", ("prod-lite", "MEANS", "fra1 cluster")),
        ("i've never written rust before", ("User", "NO_EXPERIENCE_WITH", "rust")),
        ("we moved from yarn to pnpm", ("project", "USES", "pnpm")),
        ("basket-svc → promo over amqp", ("basket-svc", "USES", "promo over amqp")),
        ("das Frontend läuft auf Angular 16", ("Frontend", "RUNS_ON", "Angular 16")),
        ("los secretos salen de vault", ("secretos", "COMES_FROM", "vault")),
        ("les logs sont dans Loki", ("logs", "LOCATED_IN", "Loki")),
        ("one router per resource here", ("router", "CONVENTION", "one router per resource")),
        ("named exports over default exports", ("project", "PREFERS", "named exports")),
        ("when you quote code, include line numbers", ("User", "PREFERS", "include line numbers")),
        ("answer in german please", ("User", "PREFERS", "answers in german")),
        ("prod has no outbound internet", ("prod", "HAS_NO", "outbound internet")),
        ("backups run every night", ("backups", "RUNS_EVERY", "every night")),
        ("the db token is read from vault", ("db token", "COMES_FROM", "vault")),
        ("soft delete via deleted_at", ("soft delete", "GOES_THROUGH", "deleted_at")),
        ("errors end in Error around here", ("project", "CONVENTION", "errors end in Error")),
        ("it's a pnpm monorepo", ("project", "IS", "pnpm monorepo")),
        ("i'm out every second friday", ("User", "UNAVAILABLE", "second friday")),
        ("seguimos en java 11", ("java", "VERSION_IS", "11")),
        ("la recette démarre le 3 mars", ("recette", "STARTS_ON", "3 mars")),
        (
            "the tiles were blank because the csp blocked workers",
            ("tiles were blank", "CAUSED_BY", "csp blocked workers"),
        ),
        ("缓存用 Valkey", ("缓存", "USES", "Valkey")),
    ],
)
def test_what_a_person_states_outright_is_taken(
    talk: Talk, said: str, expected: tuple[str, str, str]
) -> None:
    assert expected in _triples(talk(f"u: {said}"))


def test_a_correction_replaces_the_old_value(talk: Talk) -> None:
    found = talk("a: I mocked it with `sinon`.", "u: no, use `vitest` instead of `sinon`")
    assert [(c.object, c.ended) for c in found] == [("vitest", "sinon")]


def test_a_later_value_leaves_no_trace_of_the_earlier_one(talk: Talk) -> None:
    found = talk("u: the api runs on port 8000", "a: Noted.", "u: the api runs on port 9000")
    assert [c.object for c in found] == ["port 9000"]


def test_what_is_taken_back_is_dropped(talk: Talk) -> None:
    assert talk("u: we use kafka for events", "a: Really?", "u: nvm, forget it") == []
    assert (
        talk(
            "u: search runs on the 7.x cluster",
            "a: OK.",
            "u: scratch what i told you about search.",
        )
        == []
    )


def test_a_confirmed_proposal_is_the_persons_word(talk: Talk) -> None:
    found = talk("a: I'd use `bullmq` for the reminders.", "u: yes")
    assert [(c.object, c.speaker) for c in found] == [("bullmq", Speaker.USER)]
    assert 0.75 <= found[0].confidence <= 0.85


def test_a_refused_proposal_gives_nothing(talk: Talk) -> None:
    assert talk("a: I'd use `bullmq` for the reminders.", "u: no") == []


def test_an_outright_cause_with_its_fix_is_kept_at_an_agents_confidence(talk: Talk) -> None:
    found = talk(
        "u: test_totals fails in CI",
        "a: The cause is the naive `datetime.now()` in the export. Fixed, both runs pass.",
    )
    assert [(c.predicate, c.speaker) for c in found] == [("CAUSED_BY", Speaker.ASSISTANT)]
    assert 0.6 <= found[0].confidence <= 0.7


def test_a_confirmed_diagnosis_names_the_trouble(talk: Talk) -> None:
    found = talk(
        "u: uploads fail for big files",
        "a: The cause is that the ingress caps bodies at `8m`.",
        "u: yep thats it",
    )
    assert [(c.subject, c.predicate) for c in found] == [
        ("uploads fail for big files", "CAUSED_BY")
    ]


def test_a_short_answer_takes_its_subject_from_the_question(talk: Talk) -> None:
    assert _triples(
        talk("a: Where do you keep feature docs?", "u: notion, under Engineering / RFCs")
    )[0][:2] == ("feature docs", "LOCATED_IN")
    assert _triples(talk("a: Who approves schema changes?", "u: Marek does")) == [
        ("schema changes", "OWNED_BY", "Marek")
    ]


def test_an_echo_says_the_same_of_another_thing(talk: Talk) -> None:
    found = talk("u: the courier app depends on geo, and so does the warehouse ui")
    assert _triples(found) == [
        ("courier app", "DEPENDS_ON", "geo"),
        ("warehouse ui", "DEPENDS_ON", "geo"),
    ]


def test_provenance_follows_the_turn(talk: Talk) -> None:
    found = talk("a: Hello.", "u: we use pnpm")[0]
    assert (found.turn_id, found.speaker) == ("t1", Speaker.USER)
    assert found.said_at is not None
    assert found.said_at.minute == 1


def test_an_answer_to_a_choice_is_a_decision(talk: Talk) -> None:
    found = talk("a: Polling or websockets for the live updates?", "u: neither, sse")
    assert [(c.predicate, c.object) for c in found] == [("DECIDED", "sse")]


def test_an_unknown_word_is_explained_by_the_answer(talk: Talk) -> None:
    found = talk('a: What do you mean by "the octopus"?', "u: oh, dispatcher-v2")
    assert _triples(found) == [("the octopus", "MEANS", "dispatcher-v2")]


def test_a_found_cause_may_be_told_with_since(talk: Talk) -> None:
    found = talk("u: mystery solved. the mails went out twice since both pods run the scheduler")
    assert _triples(found) == [("mails went out twice", "CAUSED_BY", "both pods run the scheduler")]


def test_a_known_name_gives_its_spelling() -> None:
    found = extract([Turn(Speaker.USER, "the api uses postgres")], known=["API", "Postgres"])
    assert _triples(found) == [("API", "USES", "Postgres")]


def test_a_thing_an_agent_cannot_find_is_a_question_where(talk: Talk) -> None:
    found = talk("a: I can't find the nginx config.", "u: other repo, edge-config, under sites/")
    assert [(c.subject, c.predicate) for c in found] == [("nginx config", "LOCATED_IN")]


def test_answers_may_pair_things_without_a_verb(talk: Talk) -> None:
    found = talk("a: How do you deploy?", "u: frontends on vercel, apis on fly.io")
    assert ("frontends", "RUNS_ON", "vercel") in _triples(found)

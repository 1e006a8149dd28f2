"""What a person corrects in a later session is no longer told to the sessions after it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from codesynapse.domain.batch import Batch, Statement
from codesynapse.domain.graph import Source
from codesynapse.domain.scope import Scope
from codesynapse.domain.sessions import Session
from codesynapse.domain.turns import Speaker
from codesynapse.recall.recipes import Moment
from codesynapse.service import sessions
from codesynapse.service.context import compose_block
from codesynapse.service.facts import write_batch
from codesynapse.service.recall import recall
from tests.service.pipeline_world import REPO, PipelineWorld, open_world


@pytest.fixture
def world(tmp_path: Path) -> Iterator[PipelineWorld]:
    with open_world(tmp_path) as made:
        made.start()
        yield made


def tell(world: PipelineWorld, name: str, *texts: str) -> Session:
    """A session in which a person says this, one turn a minute."""
    session = world.session(name)
    for text in texts:
        world.run(session, text)
        world.clock.pass_(minutes=1)
    return session


def end(world: PipelineWorld, session: Session) -> None:
    sessions.end(world, world.who(session.client_session, session.user), session)
    world.clock.pass_(days=1)


def keep(world: PipelineWorld, subject: str, predicate: str, value: str) -> None:
    """Somebody else keeps this for the whole repository."""
    now = world.clock()
    source = Source("codex", now, "s-other", "ben", None)
    statement = Statement(subject, predicate, value, now, 0.9)
    batch = Batch(f"kept-{now.isoformat()}", (statement,), source)
    write_batch(world, Scope.repository(REPO), batch)


def given(
    world: PipelineWorld, session: Session, moment: Moment, query: str | None = None
) -> list[str]:
    """The lines of a session's block."""
    repo = world.store.repos.get(REPO)
    assert repo is not None
    who = world.who(session.client_session)
    block = compose_block(world, who, session, repo, moment, query=query)
    return [item.line for item in block.items]


@pytest.mark.parametrize(
    ("before", "correction", "now"),
    [
        ("Anna owns billing.", "Ben has taken over billing from Anna.", "billing OWNED_BY Ben"),
        ("Anna owns billing.", "Correction: Ben owns billing.", "billing OWNED_BY Ben"),
        (
            "Anna owns billing.",
            "Actually no, since last week Tom owns billing.",
            "billing OWNED_BY Tom",
        ),
        ("Anna owns billing.", "Anna handed billing over to Ben.", "billing OWNED_BY Ben"),
        ("Anna owns billing.", "The new owner of billing is Ben.", "billing OWNED_BY Ben"),
        (
            "The API listens on port 8000.",
            "The API listens on port 9000 now.",
            "API LISTENS_ON 9000",
        ),
        (
            "The migrations live in db/migrations.",
            "The migrations live in src/migrations now.",
            "migrations LOCATED_IN src/migrations",
        ),
        ("We deploy on Tuesdays.", "We deploy on Thursdays.", "project CONVENTION deploy on"),
        ("We use Python 3.11.", "We use Python 3.12 now.", "project USES Python 3.12"),
        ("I prefer tabs.", "I prefer spaces.", "User PREFERS spaces"),
        ("Our package manager is npm.", "Our package manager is pnpm.", "package manager USES"),
        (
            "We use Redis for caching.",
            "We use Memcached for caching now.",
            "project USES Memcached for caching",
        ),
        ("We use npm.", "We switched from npm to pnpm.", "project USES pnpm"),
        ("We use Redis for caching.", "We no longer use Redis.", "project DOES_NOT_USE Redis"),
    ],
)
def test_a_correction_in_the_next_session_closes_the_old_value(
    world: PipelineWorld, before: str, correction: str, now: str
) -> None:
    end(world, tell(world, "one", before))
    [old] = world.facts(world.personal)
    end(world, tell(world, "two", correction))

    [current] = world.facts(world.personal)
    assert current.startswith(now)
    assert old in world.facts(world.personal, history=True), "history stays"
    [line] = given(world, world.session("three"), Moment.STARTUP)
    assert "today" not in line


@pytest.mark.parametrize(
    ("before", "more"),
    [
        ("We use Redis.", "We also use Memcached."),
        ("We use Redis.", "We use Postgres now."),
        ("Anna owns billing.", "Ben also owns billing."),
        ("Anna owns billing.", "Ben reviews billing."),
        ("We use Node 18.", "We use Node 20 as well."),
        ("Never push to main.", "Never push to develop."),
    ],
)
def test_a_mere_addition_ends_nothing(world: PipelineWorld, before: str, more: str) -> None:
    end(world, tell(world, "one", before))
    [old] = world.facts(world.personal)
    end(world, tell(world, "two", more))

    assert old in world.facts(world.personal)
    assert len(world.facts(world.personal)) == 2


def test_after_a_compaction_the_session_is_given_its_own_correction_only(
    world: PipelineWorld,
) -> None:
    end(world, tell(world, "one", "Anna owns billing.", "The API listens on port 8000."))
    two = tell(world, "two", "Ben has taken over billing from Anna.")

    lines = given(world, two, Moment.COMPACT)

    assert lines == ["- billing owned by Ben (today)", "- API listens on 8000 (1 day ago)"]
    assert given(world, two, Moment.PROMPT, "who owns billing?") == [lines[0]]


@pytest.mark.parametrize(
    ("early", "later", "now"),
    [
        ("Anna owns billing.", "Ben owns billing.", "billing OWNED_BY Ben"),
        ("The timeout is 30 seconds.", "The timeout is 1 minute.", "timeout IS 1 minute"),
        ("We use Python 3.11.", "We use Python 3.12.", "project USES Python 3.12"),
        (
            "We use Redis for caching.",
            "We use Memcached for caching now.",
            "project USES Memcached for caching",
        ),
        ("We use npm.", "We switched from npm to pnpm.", "project USES pnpm"),
    ],
)
def test_what_was_said_earlier_and_arrives_late_becomes_history(
    world: PipelineWorld, early: str, later: str, now: str
) -> None:
    one = tell(world, "one", early)
    [old] = world.facts(one)
    end(world, tell(world, "two", later))
    end(world, one)

    assert world.facts(world.personal) == {now}
    assert old in world.facts(world.personal, history=True)


def test_of_two_sessions_side_by_side_an_addition_ends_nothing(world: PipelineWorld) -> None:
    end(world, tell(world, "one", "We use Node 18."))
    two = tell(world, "two", "We use Node 20 as well.")
    end(world, two)
    end(world, tell(world, "three", "We use Node 18."))

    assert world.facts(world.personal) == {"project USES Node 18", "project USES Node 20"}


def test_a_private_correction_leaves_the_repositorys_fact_and_marks_it(
    world: PipelineWorld,
) -> None:
    keep(world, "billing", "OWNED_BY", "Anna")
    world.clock.pass_(days=1)
    end(world, tell(world, "one", "Correction: Ben owns billing."))

    assert world.facts(Scope.repository(REPO)) == {"billing OWNED_BY Anna"}
    for moment, query in ((Moment.STARTUP, None), (Moment.PROMPT, "who owns billing?")):
        own, kept = given(world, world.session("two"), moment, query)
        assert own == "- billing owned by Ben (1 day ago)"
        assert kept.startswith("- billing owned by Anna (2 days ago;")
        assert "this person said otherwise on 2026-03-02" in kept


def test_recall_answers_with_the_correction_first(world: PipelineWorld) -> None:
    keep(world, "billing", "OWNED_BY", "Anna")
    world.clock.pass_(days=1)
    end(world, tell(world, "one", "Correction: Ben owns billing."))

    scopes = (Scope.repository(REPO), world.personal)
    answer = recall(world, world.who("two"), scopes, "who owns billing?")

    assert [fact.object for fact in answer.facts] == ["Ben", "Anna"]
    assert answer.facts[1].qualifiers == ("this person said otherwise on 2026-03-02",)


def test_what_the_repository_was_told_later_comes_before_the_persons_older_word(
    world: PipelineWorld,
) -> None:
    end(world, tell(world, "one", "Anna owns billing."))
    keep(world, "billing", "OWNED_BY", "Ben")

    scopes = (world.personal, Scope.repository(REPO))
    answer = recall(world, world.who("two"), scopes, "who owns billing?")

    assert [fact.object for fact in answer.facts] == ["Ben", "Anna"]
    assert "the repository says otherwise on 2026-03-02" in answer.facts[1].qualifiers


def test_an_agents_claim_corrects_nobody(world: PipelineWorld) -> None:
    end(world, tell(world, "one", "The API listens on port 8000."))
    two = world.session("two")
    now = world.clock()
    source = Source("claude-code", now, two.id, "ana", "builtin", Speaker.ASSISTANT)
    claim = Statement("API", "LISTENS_ON", "9000", now, 0.65)
    write_batch(world, Scope.session(two.id), Batch("claim", (claim,), source))

    lines = given(world, two, Moment.COMPACT)

    assert any("8000" in line for line in lines)

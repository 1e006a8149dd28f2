from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from codesynapse.domain.batch import Batch, Statement
from codesynapse.domain.graph import Limits, Source
from codesynapse.domain.scope import Scope
from codesynapse.domain.sessions import Session
from codesynapse.domain.turns import Speaker
from codesynapse.errors import Forbidden, LimitExceeded, NotFound
from codesynapse.service import carry_over, sessions
from codesynapse.service.curation import delete_facts
from codesynapse.service.facts import write_batch
from codesynapse.store.base import Page
from tests.service.pipeline_world import PipelineWorld, open_world


@pytest.fixture
def world(tmp_path: Path) -> Iterator[PipelineWorld]:
    with open_world(tmp_path) as made:
        yield made


def state(
    world: PipelineWorld,
    session: Session,
    subject: str,
    predicate: str,
    obj: str,
    *,
    confidence: float = 0.9,
    speaker: Speaker = Speaker.USER,
    replace: bool = False,
    close: bool = False,
) -> None:
    """Something said in a session, each time in a batch of its own."""
    now = world.clock()
    statement = Statement(
        subject, predicate, obj, now, confidence, replace=replace, close=close, speaker=speaker
    )
    source = Source("claude-code", now, session.id, session.user, "builtin")
    batch = Batch(f"said-{now.isoformat()}", (statement,), source)
    write_batch(world, Scope.session(session.id), batch)


def end(world: PipelineWorld, session: Session) -> None:
    sessions.end(world, world.who(session.client_session, session.user), session)


def test_what_the_person_stated_goes_to_their_own_memory_of_this_repository(
    world: PipelineWorld,
) -> None:
    one = world.session()
    state(world, one, "project", "USES", "uv")
    said_at = world.rows(Scope.session(one.id))[0].intervals[0].start
    world.clock.pass_(hours=5)

    end(world, one)

    assert world.facts(world.personal) == {"project USES uv"}
    assert world.facts(Scope.personal("ana")) == set()
    assert world.facts(Scope.repository("shop")) == set()
    [row] = world.rows(world.personal)
    assert row.intervals[0].start == said_at
    assert row.said_by is Speaker.USER
    assert row.newest.origin == f"carried:{one.id}"
    assert (row.newest.session, row.newest.client, row.newest.model) == (
        one.id,
        "claude-code",
        "builtin",
    )


def test_what_is_unsure_or_only_an_agents_claim_is_not_carried(world: PipelineWorld) -> None:
    one = world.session()
    state(world, one, "project", "USES", "uv", confidence=0.74)
    state(world, one, "project", "RUNS_ON", "fly", speaker=Speaker.ASSISTANT)
    state(world, one, "CI", "OWNED_BY", "Dana", confidence=0.75)

    end(world, one)

    assert world.facts(world.personal) == {"CI OWNED_BY Dana"}


def test_a_claim_that_the_person_confirmed_later_is_carried(world: PipelineWorld) -> None:
    one = world.session()
    state(world, one, "project", "USES", "uv", speaker=Speaker.ASSISTANT, confidence=0.62)
    end(world, one)
    assert world.facts(world.personal) == set()

    state(world, one, "project", "USES", "uv")
    end(world, one)

    assert world.facts(world.personal) == {"project USES uv"}
    assert world.rows(world.personal)[0].confirmations == 1


def test_carrying_over_again_changes_nothing_and_adds_what_is_new(world: PipelineWorld) -> None:
    one = world.session()
    state(world, one, "project", "USES", "uv")
    end(world, one)
    before = world.statements(world.personal)

    sessions.current(world, world.who(), work=True)
    end(world, one)
    assert world.statements(world.personal) == before

    state(world, one, "CI", "OWNED_BY", "Dana")
    end(world, one)
    assert world.facts(world.personal) == {"project USES uv", "CI OWNED_BY Dana"}
    assert [row.confirmations for row in world.rows(world.personal)] == [1, 1]


def test_said_again_in_another_session_a_carried_fact_gains_a_confirmation(
    world: PipelineWorld,
) -> None:
    one, two = world.session(), world.session("two")
    for session in (one, two):
        state(world, session, "project", "USES", "uv")
        end(world, session)

    [row] = world.rows(world.personal)
    assert row.confirmations == 2


def test_corrected_in_another_session_a_carried_fact_is_closed(world: PipelineWorld) -> None:
    one, two = world.session(), world.session("two")
    state(world, one, "project", "USES", "npm")
    end(world, one)
    state(world, two, "project", "USES", "pnpm", replace=True)
    end(world, two)

    assert world.facts(world.personal) == {"project USES pnpm"}
    assert world.facts(world.personal, history=True) == {"project USES pnpm", "project USES npm"}


def test_ended_in_another_session_a_carried_fact_is_closed(world: PipelineWorld) -> None:
    one, two = world.session(), world.session("two")
    state(world, one, "project", "USES", "npm")
    end(world, one)
    state(world, two, "project", "USES", "npm", close=True)
    end(world, two)

    assert world.facts(world.personal) == set()
    assert world.facts(world.personal, history=True) == {"project USES npm"}


def test_what_was_ended_before_it_was_carried_over_does_not_come_back(
    world: PipelineWorld,
) -> None:
    one, two = world.session(), world.session("two")
    state(world, one, "project", "USES", "npm")
    state(world, two, "project", "USES", "npm", close=True)
    end(world, two)
    end(world, one)

    assert world.facts(world.personal) == set()
    assert world.facts(world.personal, history=True) == {"project USES npm"}


def test_what_changed_twice_in_a_session_arrives_with_its_whole_history(
    world: PipelineWorld,
) -> None:
    one = world.session()
    for port in ("8000", "9000", "8000"):
        state(world, one, "api", "LISTENS_ON", port, replace=True)
        end(world, one)
        sessions.current(world, world.who(), work=True)

    assert world.facts(world.personal) == {"api LISTENS_ON 8000"}
    intervals = sorted(
        interval
        for row in world.rows(world.personal, history=True)
        for interval in row.intervals
        if interval.end is not None
    )
    assert len(intervals) == 2


def test_a_carried_fact_that_the_person_deleted_is_not_carried_again(
    world: PipelineWorld,
) -> None:
    one, two = world.session(), world.session("two")
    state(world, one, "project", "USES", "uv")
    end(world, one)
    [row] = world.rows(world.personal)

    delete_facts(world, world.who(), world.personal, [row.id])
    for session in (one, two):
        state(world, session, "project", "USES", "uv")
        end(world, session)

    assert world.facts(world.personal, history=True) == set()


def test_nobody_else_and_no_other_repository_gets_it(world: PipelineWorld) -> None:
    one = world.session()
    state(world, one, "project", "USES", "uv")
    end(world, one)

    assert world.facts(Scope.personal("ben", "shop")) == set()
    assert world.facts(Scope.personal("ana", "other")) == set()


def test_switched_off_nothing_is_carried(world: PipelineWorld) -> None:
    world.configure(carry_over="off")
    one = world.session()
    state(world, one, "project", "USES", "uv")
    end(world, one)

    assert world.facts(world.personal) == set()
    assert carry_over.waiting(world, world.who(), "shop") == []
    assert sessions.unsettled(world, world.who(), "shop") == []


def test_revoking_removes_what_was_carried_and_leaves_what_others_said(
    world: PipelineWorld,
) -> None:
    one, two = world.session(), world.session("two")
    state(world, one, "project", "USES", "uv")
    state(world, one, "CI", "OWNED_BY", "Dana")
    state(world, two, "project", "USES", "uv")
    end(world, one)
    end(world, two)

    sessions.revoke(world, world.who(), one)

    assert world.facts(world.personal, history=True) == {"project USES uv"}
    [row] = world.rows(world.personal)
    assert (row.confirmations, row.newest.origin) == (1, f"carried:{two.id}")
    assert set(world.store.facts.names(world.personal, ["ci", "dana", "uv"])) == {"uv"}


def test_expiry_keeps_what_was_carried(world: PipelineWorld) -> None:
    one = world.session()
    state(world, one, "project", "USES", "uv")
    end(world, one)
    world.clock.pass_(days=8)

    sessions.sweep(world)

    assert world.facts(one, history=True) == set()
    assert world.facts(world.personal) == {"project USES uv"}


def test_in_review_facts_wait_until_the_person_approves_or_rejects(world: PipelineWorld) -> None:
    world.configure(carry_over="review")
    one = world.session()
    state(world, one, "project", "USES", "uv")
    state(world, one, "CI", "OWNED_BY", "Dana")
    end(world, one)
    assert world.facts(world.personal) == set()

    waiting = {item.object: item for item in carry_over.waiting(world, world.who(), "shop")}
    assert set(waiting) == {"uv", "Dana"}
    carry_over.approve(world, world.who(), waiting["uv"].id)
    carry_over.reject(world, world.who(), waiting["Dana"].id)

    assert world.facts(world.personal) == {"project USES uv"}
    [row] = world.rows(world.personal)
    assert row.newest.origin == f"carried:{one.id}"
    assert row.intervals[0].start == waiting["uv"].said_at
    end(world, one)
    assert carry_over.waiting(world, world.who(), "shop") == []
    assert world.facts(world.personal) == {"project USES uv"}


def test_what_was_rejected_does_not_wait_again_from_another_session(world: PipelineWorld) -> None:
    world.configure(carry_over="review")
    one, two = world.session(), world.session("two")
    state(world, one, "project", "USES", "uv")
    end(world, one)
    [item] = carry_over.waiting(world, world.who(), "shop")
    carry_over.reject(world, world.who(), item.id)

    state(world, two, "project", "USES", "uv")
    end(world, two)

    assert carry_over.waiting(world, world.who(), "shop") == []


def test_an_approved_correction_closes_what_it_corrects(world: PipelineWorld) -> None:
    one, two = world.session(), world.session("two")
    state(world, one, "project", "USES", "npm")
    end(world, one)
    world.configure(carry_over="review")
    state(world, two, "project", "USES", "yarn", replace=True)
    state(world, two, "project", "USES", "pnpm", replace=True)
    end(world, two)

    [item] = carry_over.waiting(world, world.who(), "shop")
    assert item.object == "pnpm", "yarn no longer held when the session ended"
    carry_over.approve(world, world.who(), item.id)

    assert world.facts(world.personal) == {"project USES pnpm"}


def test_only_the_person_decides_and_only_once(world: PipelineWorld) -> None:
    world.configure(carry_over="review")
    one = world.session()
    state(world, one, "project", "USES", "uv")
    end(world, one)
    [item] = carry_over.waiting(world, world.who(), "shop")

    for decide in (carry_over.approve, carry_over.reject):
        with pytest.raises(Forbidden):
            decide(world, world.who("x", "ben"), item.id)
    assert carry_over.waiting(world, world.who("x", "ben"), "shop") == []
    carry_over.approve(world, world.who(), item.id)
    with pytest.raises(NotFound):
        carry_over.approve(world, world.who(), item.id)


def test_revoking_takes_back_what_still_waits(world: PipelineWorld) -> None:
    world.configure(carry_over="review")
    one, two = world.session(), world.session("two")
    for session, tool in ((one, "uv"), (two, "ruff")):
        state(world, session, "project", "USES", tool)
        end(world, session)

    sessions.revoke(world, world.who(), one)

    assert [item.object for item in carry_over.waiting(world, world.who(), "shop")] == ["ruff"]


def test_a_full_memory_refuses_with_a_count_that_is_audited(world: PipelineWorld) -> None:
    one = world.session()
    state(world, one, "project", "USES", "uv")
    world.configure(limits=Limits(entities=1, facts=1))

    end(world, one)

    assert world.facts(world.personal) == set()
    entries, _ = world.store.audit.recent(Page(10))
    assert "1 over the limit" in (entries[0].detail or "")
    world.configure(limits=Limits(), carry_over="review")
    sessions.current(world, world.who(), work=True)
    end(world, one)
    [item] = carry_over.waiting(world, world.who(), "shop")
    world.configure(limits=Limits(entities=1, facts=1))
    with pytest.raises(LimitExceeded):
        carry_over.approve(world, world.who(), item.id)
    assert carry_over.waiting(world, world.who(), "shop") == [item]


def test_a_large_session_is_carried_whole(world: PipelineWorld) -> None:
    one = world.session()
    now = world.clock()
    source = Source("claude-code", now, one.id, "ana", "builtin", Speaker.USER)
    for n in range(0, 1_200, 400):
        statements = tuple(
            Statement("project", "USES", f"tool {k}", now + timedelta(milliseconds=k), 0.9)
            for k in range(n, n + 400)
        )
        write_batch(world, Scope.session(one.id), Batch(f"b{n}", statements, source))

    end(world, one)

    assert world.store.facts.counts(world.personal).facts == 1_200
    assert world.store.facts.counts(world.personal).current_facts == 1_200

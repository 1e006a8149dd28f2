from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from codesynapse.domain.scope import Principal, Scope
from codesynapse.domain.sessions import Session, SessionState
from codesynapse.errors import Closed, Forbidden, IdentityMissing, Invalid, NotFound
from codesynapse.service import carry_over, offload, sessions
from tests.service.pipeline_world import PipelineWorld, open_world, said


@pytest.fixture
def world(tmp_path: Path) -> Iterator[PipelineWorld]:
    with open_world(tmp_path) as made:
        made.start()
        yield made


def row(world: PipelineWorld, session: Session) -> Session:
    found = world.store.sessions.get(session.id)
    assert found is not None
    return found


def test_registering_again_gives_the_same_record_and_never_extends_it(
    world: PipelineWorld,
) -> None:
    first = world.session()
    assert first.expires_at - first.registered_at == timedelta(days=7)
    world.clock.pass_(days=3)

    again = world.session()

    assert (again.id, again.registered_at, again.expires_at) == (
        first.id,
        first.registered_at,
        first.expires_at,
    )
    assert again.last_seen_at > first.last_seen_at


def test_a_session_is_known_by_client_and_its_own_id_together(world: PipelineWorld) -> None:
    other = Principal("ana", client="opencode", session="one")

    assert world.session().id != sessions.register(world, other, "shop").id
    assert world.session().id != world.session("two").id


def test_the_transcript_of_a_session_is_remembered_when_it_becomes_known(
    world: PipelineWorld,
) -> None:
    world.session()

    sessions.register(world, world.who(), "shop", transcript="/somewhere/one.jsonl")

    assert row(world, world.session()).transcript == "/somewhere/one.jsonl"


@pytest.mark.parametrize(
    "principal",
    [Principal("ana"), Principal("ana", client="c"), Principal("ana", client="", session="s")],
)
@pytest.mark.parametrize(
    "call",
    [
        lambda world, who: sessions.register(world, who, "shop"),
        lambda world, who: sessions.current(world, who, work=True),
    ],
)
def test_a_call_without_both_parts_of_the_identity_is_refused(
    world: PipelineWorld, principal: Principal, call: Callable[[PipelineWorld, Principal], Session]
) -> None:
    with pytest.raises(IdentityMissing):
        call(world, principal)


@pytest.mark.parametrize(("client", "session"), [("c" * 65, "s"), ("c", "s" * 201), ("c", "a\nb")])
def test_an_identity_that_cannot_be_one_is_refused(
    world: PipelineWorld, client: str, session: str
) -> None:
    with pytest.raises(Invalid):
        sessions.register(world, Principal("ana", client=client, session=session), "shop")


def test_an_unknown_session_or_repository_is_not_found(world: PipelineWorld) -> None:
    with pytest.raises(NotFound):
        sessions.current(world, world.who("never"), work=False)
    with pytest.raises(NotFound):
        sessions.find(world, world.who(), "never")
    with pytest.raises(NotFound):
        sessions.register(world, world.who(), "nowhere")


def test_the_session_of_another_person_is_forbidden(world: PipelineWorld) -> None:
    one, ben = world.session(), world.who("one", "ben")

    calls: list[Callable[[], object]] = [
        lambda: sessions.register(world, ben, "shop"),
        lambda: sessions.current(world, ben, work=True),
        lambda: sessions.find(world, ben, one.id),
        lambda: sessions.end(world, ben, one),
        lambda: sessions.revoke(world, ben, one),
    ]
    for call in calls:
        with pytest.raises(Forbidden):
            call()
    assert row(world, one).state is SessionState.ACTIVE


def test_only_ones_own_sessions_are_listed(world: PipelineWorld) -> None:
    mine = {world.session(name).id for name in ("one", "two")}
    world.session("three", "ben")

    listed, _ = sessions.listing(world, world.who(), "shop")

    assert {session.id for session in listed} == mine


def test_a_session_is_found_by_our_id_and_by_the_clients(world: PipelineWorld) -> None:
    one = world.session()

    assert sessions.find(world, world.who(), one.id).id == one.id
    assert sessions.find(world, world.who(), "one").id == one.id


def test_ended_becomes_active_by_later_work_and_not_by_looking(world: PipelineWorld) -> None:
    one = world.session()
    ended = sessions.end(world, world.who(), one)
    assert ended.state is SessionState.ENDED

    assert sessions.current(world, world.who(), work=False).state is SessionState.ENDED
    assert sessions.current(world, world.who(), work=True).state is SessionState.ACTIVE
    assert row(world, one).state is SessionState.ACTIVE


def test_after_seven_days_all_further_work_is_refused(world: PipelineWorld) -> None:
    one = world.session()
    world.clock.pass_(days=6, hours=23)
    sessions.current(world, world.who(), work=True)
    world.clock.pass_(hours=2)

    for work in (True, False):
        with pytest.raises(Closed, match="expired"):
            sessions.current(world, world.who(), work=work)
    assert world.session().state is SessionState.EXPIRED
    with pytest.raises(Closed):
        offload.submit(world, world.who(), world.session(), said("x"))
    assert sessions.end(world, world.who(), one).state is SessionState.EXPIRED


def test_a_revoked_session_takes_no_more_work_and_cannot_come_back(world: PipelineWorld) -> None:
    one = world.session()
    sessions.revoke(world, world.who(), one)

    assert world.session().state is SessionState.REVOKED
    assert sessions.end(world, world.who(), one).state is SessionState.REVOKED
    with pytest.raises(Closed, match="revoked"):
        sessions.current(world, world.who(), work=True)
    assert sessions.revoke(world, world.who(), one).state is SessionState.REVOKED


def test_revoking_deletes_everything_of_the_session_and_is_audited(world: PipelineWorld) -> None:
    one = world.session()
    world.run(one, "The CI is owned by Dana.")

    sessions.revoke(world, world.who(), one)

    counts = world.store.facts.counts(Scope.session(one.id))
    assert (counts.entities, counts.facts) == (0, 0)
    assert world.store.sessions.due(world.clock(), world.clock()) == []


def test_an_expired_session_is_carried_over_and_then_deleted(world: PipelineWorld) -> None:
    one = world.session()
    world.run(one, "The CI is owned by Dana.")
    world.clock.pass_(days=8)

    sessions.sweep(world)

    assert row(world, one).state is SessionState.EXPIRED
    assert world.store.facts.counts(Scope.session(one.id)).entities == 0
    assert world.facts(world.personal) == {"CI OWNED_BY Dana"}


def test_deletion_that_a_crash_left_undone_is_done_by_the_next_sweep(
    world: PipelineWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = world.session()
    world.run(one, "The CI is owned by Dana.")
    sessions.end(world, world.who(), one)

    def crash(*_: object) -> None:
        raise OSError("the process ends here")

    with monkeypatch.context() as patched:
        patched.setattr(world.store.facts, "delete_scope", crash)
        with pytest.raises(OSError, match="ends here"):
            sessions.revoke(world, world.who(), one)
    world.die()
    assert world.facts(one)

    sessions.sweep(world)

    assert world.facts(one, history=True) == set()
    assert world.facts(world.personal, history=True) == set()


def test_twelve_idle_hours_end_a_session_and_carry_it_over(world: PipelineWorld) -> None:
    one = world.session()
    world.run(one, "I prefer tabs over spaces.")
    world.clock.pass_(hours=11)
    sessions.sweep(world)
    assert row(world, one).state is SessionState.ACTIVE
    assert world.facts(world.personal) == set()

    world.clock.pass_(hours=2)
    sessions.sweep(world)

    assert row(world, one).state is SessionState.ENDED
    assert world.facts(world.personal) == {"User PREFERS tabs"}


def test_work_keeps_a_session_from_ending(world: PipelineWorld) -> None:
    one = world.session()
    for _ in range(3):
        world.clock.pass_(hours=8)
        sessions.current(world, world.who(), work=True)
        sessions.sweep(world)

    assert row(world, one).state is SessionState.ACTIVE


def test_carry_over_that_fell_due_while_nothing_ran_happens_at_the_next_start(
    world: PipelineWorld,
) -> None:
    one = world.session()
    world.run(one, "I prefer tabs over spaces.")
    world.die()
    world.clock.pass_(hours=13)

    sessions.sweep(world)

    assert world.facts(world.personal) == {"User PREFERS tabs"}
    assert sessions.unsettled(world, world.who(), "shop") == []


def test_a_session_that_cannot_be_settled_does_not_keep_others_waiting(
    world: PipelineWorld, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    one, two = world.session(), world.session("two")
    world.run(one, "I prefer tabs over spaces.")
    world.run(two, "The CI is owned by Dana.")
    world.clock.pass_(hours=13)
    real = carry_over.carry

    def carry(deps: PipelineWorld, session: Session) -> object:
        if session.id == one.id:
            raise NotFound("gone")
        return real(deps, session)

    with monkeypatch.context() as patched:
        patched.setattr(carry_over, "carry", carry)
        sessions.sweep(world)
    assert "not_found" in caplog.text
    assert world.facts(world.personal) == {"CI OWNED_BY Dana"}

    sessions.sweep(world)
    assert world.facts(world.personal) == {"CI OWNED_BY Dana", "User PREFERS tabs"}

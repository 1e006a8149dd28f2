"""Who may read and write what."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from codesynapse.domain.scope import Principal, Role, Scope
from codesynapse.domain.sessions import SessionState
from codesynapse.errors import Closed, Forbidden, IdentityMissing, Invalid, NotFound
from codesynapse.service.access import check_readable, check_writable, own_session, scopes_named
from tests.service.memory_world import World


def test_the_session_is_the_default_and_never_falls_back(world: World) -> None:
    assert scopes_named(world, world.caller(), "shop") == (Scope.session("s-one"),)
    with pytest.raises(IdentityMissing):
        scopes_named(world, Principal("ana"), "shop")
    with pytest.raises(NotFound):
        scopes_named(world, world.caller("unknown"), "shop")


def test_personal_inside_a_repository_is_here_and_everywhere(world: World) -> None:
    caller = world.caller(None)
    here, everywhere = Scope.personal("ana", "shop"), Scope.personal("ana")
    assert scopes_named(world, caller, "shop", "personal") == (here, everywhere)
    assert scopes_named(world, caller, None, "personal") == (everywhere,)
    assert scopes_named(world, caller, "shop", "repository") == (Scope.repository("shop"),)


@pytest.mark.parametrize(("repo", "name"), [(None, "repository"), ("shop", "global"), ("shop", "")])
def test_an_unknown_scope_is_refused(world: World, repo: str | None, name: str) -> None:
    with pytest.raises(Invalid):
        scopes_named(world, world.caller(), repo, name)


def test_a_session_of_somebody_else_is_refused_whoever_asks(world: World) -> None:
    with pytest.raises(Forbidden):
        own_session(world, world.caller(user="ben"))
    world.session("two")
    with pytest.raises(Forbidden):
        check_readable(world, world.caller("two"), Scope.session("s-one"))


@pytest.mark.parametrize("state", [SessionState.EXPIRED, SessionState.REVOKED])
def test_a_closed_session_is_refused(world: World, state: SessionState) -> None:
    session = own_session(world, world.caller())
    world.store.sessions.update(replace(session, state=state))
    with pytest.raises(Closed):
        own_session(world, world.caller())


def test_a_session_past_its_time_is_closed_before_anybody_swept_it(world: World) -> None:
    world.time.now += timedelta(days=7)
    with pytest.raises(Closed):
        check_readable(world, world.caller(), Scope.session("s-one"))


def test_what_is_personal_is_nobody_elses(world: World) -> None:
    for scope in (Scope.personal("ana"), Scope.personal("ana", "shop")):
        check_writable(world, world.caller(), scope)
        with pytest.raises(Forbidden):
            check_readable(world, world.caller(user="ben"), scope)


def test_a_reader_reads_a_repository_and_does_not_write_it(world: World) -> None:
    reader = Principal("ben", Role.READER)
    check_readable(world, reader, Scope.repository("shop"))
    with pytest.raises(Forbidden):
        check_writable(world, reader, Scope.repository("shop"))
    check_writable(world, Principal("ben", Role.WRITER), Scope.repository("shop"))

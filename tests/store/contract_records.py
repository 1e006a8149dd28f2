"""Repositories, sessions, jobs, review and audit: what every engine has to pass."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from codesynapse.domain.scope import Scope
from codesynapse.domain.sessions import (
    Job,
    JobState,
    Repository,
    Session,
    SessionState,
    Watermark,
)
from codesynapse.errors import Invalid
from codesynapse.store.base import AuditEntry, Page, ReviewItem, Store
from tests.store.contract import StoreContract
from tests.store.planning import SCOPE, at, fact, plan, write

__all__ = [
    "AuditContract",
    "CopyContract",
    "JobsContract",
    "ReposContract",
    "ReviewContract",
    "SessionsContract",
]


def session(id_: str, state: SessionState = SessionState.ACTIVE, **changes: object) -> Session:
    made = Session(
        id=id_,
        client="claude-code",
        client_session=f"c-{id_}",
        repo_id="r1",
        user="me",
        state=state,
        registered_at=at(0),
        expires_at=at(10_000),
        last_seen_at=at(0),
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def job(id_: str, minutes: float = 0, state: JobState = JobState.QUEUED) -> Job:
    return Job(id_, "s1", "r1", "me", "claude-code", state, at(minutes))


class ReposContract(StoreContract):
    """``RepoStore``."""

    def test_a_repository_comes_back_as_saved_and_is_replaced_by_id(self, store: Store) -> None:
        first = Repository("r1", "app", "/app", "h/o/app", ("h/o/old", "h/o/older"))
        store.repos.save(first)
        assert store.repos.get("r1") == first
        second = Repository("r1", "App", None, None, ("h/o/app",))
        store.repos.save(second)
        assert store.repos.get("r1") == second
        assert store.repos.get("r2") is None

    def test_all_are_listed_by_name(self, store: Store) -> None:
        for name in ("b", "a", "c"):
            store.repos.save(Repository(f"r-{name}", name, None, None))
        assert [repository.name for repository in store.repos.all()] == ["a", "b", "c"]

    def test_the_remote_comes_before_a_former_one_and_that_before_the_root(
        self, store: Store
    ) -> None:
        former = Repository("r1", "x", "/x", "h/new", ("h/old",))
        local = Repository("r3", "x", "/here", None)
        for repository in (former, local):
            store.repos.save(repository)
        assert store.repos.match("h/old", "/here") == former
        now = Repository("r2", "x", "/y", "h/old")
        store.repos.save(now)
        assert store.repos.match("h/old", "/here") == now
        assert store.repos.match("h/unknown", "/here") == local
        assert store.repos.match(None, "/here") == local
        assert store.repos.match(None, None) is None

    def test_a_root_with_another_remote_is_another_repository(self, store: Store) -> None:
        store.repos.save(Repository("r1", "x", "/x", "h/one"))
        assert store.repos.match("h/two", "/x") is None
        assert store.repos.match(None, "/x") == Repository("r1", "x", "/x", "h/one")


class SessionsContract(StoreContract):
    """``SessionStore``."""

    def test_a_session_comes_back_as_added_by_either_id(self, store: Store) -> None:
        full = session("s1", ended_at=at(1), carried_at=at(2), transcript="/t", cwd="/w")
        assert store.sessions.add(full) == full
        assert store.sessions.get("s1") == full
        assert store.sessions.by_client("claude-code", "c-s1") == full
        assert store.sessions.by_client("opencode", "c-s1") is None
        assert store.sessions.get("s2") is None

    def test_adding_again_returns_the_first_unchanged(self, store: Store) -> None:
        first = session("s1")
        store.sessions.add(first)
        again = replace(first, expires_at=at(99_999), state=SessionState.ENDED)
        assert store.sessions.add(again) == first
        assert store.sessions.get("s1") == first

    def test_update_replaces_the_row_and_makes_none(self, store: Store) -> None:
        store.sessions.add(session("s1"))
        changed = session("s1", SessionState.ENDED, ended_at=at(5), last_seen_at=at(5))
        store.sessions.update(changed)
        assert store.sessions.get("s1") == changed
        store.sessions.update(session("s2"))
        assert store.sessions.get("s2") is None

    def test_sessions_of_a_repository_are_paged_newest_first(self, store: Store) -> None:
        for n in range(7):
            store.sessions.add(session(f"s{n}", registered_at=at(n // 2), user=f"u{n % 2}"))
        store.sessions.add(session("other", repo_id="r2"))
        seen: list[str] = []
        cursor: str | None = None
        while True:
            rows, cursor = store.sessions.of_repo("r1", None, Page(3, cursor))
            seen += [row.id for row in rows]
            if cursor is None:
                break
        assert seen == ["s6", "s5", "s4", "s3", "s2", "s1", "s0"]
        mine, _ = store.sessions.of_repo("r1", "u1", Page())
        assert [row.id for row in mine] == ["s5", "s3", "s1"]
        with pytest.raises(Invalid):
            store.sessions.of_repo("r1", None, Page(3, "nonsense"))

    def test_due_are_the_idle_the_uncarried_the_expired_and_the_uncleared(
        self, store: Store
    ) -> None:
        ended = SessionState.ENDED
        for one in (
            session("busy", last_seen_at=at(60)),
            session("idle", last_seen_at=at(39)),
            session("late", last_seen_at=at(60), expires_at=at(100)),
            session("ended", ended, ended_at=at(50)),
            session("carried", ended, ended_at=at(50), carried_at=at(50)),
            session("ended-again", ended, ended_at=at(70), carried_at=at(50)),
            session("ended-late", ended, ended_at=at(5), carried_at=at(6), expires_at=at(99)),
            session("cleared", SessionState.EXPIRED),
            session("left", SessionState.EXPIRED),
            session("revoked", SessionState.REVOKED),
        ):
            store.sessions.add(one)
        for id_ in ("busy", "left", "revoked"):
            write(store, plan("b1", fact("a", "USES", "b")), scope=Scope.session(id_))
        due = {one.id for one in store.sessions.due(at(100), at(40))}
        assert due == {"idle", "late", "ended", "ended-again", "ended-late", "left", "revoked"}
        store.facts.delete_scope(Scope.session("left"))
        assert "left" not in {one.id for one in store.sessions.due(at(100), at(40))}

    def test_the_watermark_never_moves_back(self, store: Store) -> None:
        assert store.sessions.watermark("s1") is None
        for offset, turn in ((10, "t1"), (30, "t3"), (20, "t2"), (30, None)):
            store.sessions.advance(Watermark("s1", offset, turn), [])
        assert store.sessions.watermark("s1") == Watermark("s1", 30, "t3")
        assert store.sessions.watermark("s2") is None

    def test_a_watermark_that_is_taken_back_leaves_the_turns_known(self, store: Store) -> None:
        store.sessions.advance(Watermark("s1", 30, "t3"), ["t3"])
        store.sessions.advance(Watermark("s2", 20, "t2"), [])
        store.sessions.rewind("s1")
        store.sessions.rewind("nobody")
        assert store.sessions.watermark("s1") is None
        assert store.sessions.watermark("s2") == Watermark("s2", 20, "t2")
        assert store.sessions.extracted(["t3"]) == {"t3"}
        store.sessions.advance(Watermark("s1", 5, "t0"), [])
        assert store.sessions.watermark("s1") == Watermark("s1", 5, "t0")

    def test_turns_are_known_in_every_session_even_behind_the_watermark(self, store: Store) -> None:
        store.sessions.advance(Watermark("s1", 10, "t2"), ["t1", "t2"])
        store.sessions.advance(Watermark("s1", 5, "t0"), ["t0", "t1"])
        assert store.sessions.extracted(["t0", "t1", "t2", "t3"]) == {"t0", "t1", "t2"}
        assert store.sessions.extracted([]) == set()


class JobsContract(StoreContract):
    """``JobStore``."""

    def test_a_job_comes_back_as_added_and_as_updated(self, store: Store) -> None:
        store.jobs.add(job("j1"))
        assert store.jobs.get("j1") == job("j1")
        done = replace(
            job("j1", state=JobState.DONE),
            transcript="/t",
            start=5,
            end=9,
            last_turn_id="t",
            attempts=2,
            counts={"kept": 3, "dropped": 1},
            duration_ms=12,
            model="builtin",
            error="none",
        )
        store.jobs.update(done)
        assert store.jobs.get("j1") == done
        assert store.jobs.get("j2") is None

    def test_the_last_200_finished_are_kept_and_all_unfinished(self, store: Store) -> None:
        finished = (JobState.DONE, JobState.FAILED, JobState.LOST)
        store.jobs.add(job("waiting", -1))
        for n in range(205):
            store.jobs.add(job(f"j{n}", n, finished[n % 3]))
        kept = [one.id for one in store.jobs.recent(limit=500)]
        assert kept == [*(f"j{n}" for n in reversed(range(5, 205))), "waiting"]
        store.jobs.update(job("waiting", -1, JobState.DONE))
        assert store.jobs.get("waiting") is None
        store.jobs.update(job("j0", 0, JobState.DONE))
        assert store.jobs.get("j0") is None

    def test_recent_is_newest_first_of_one_session_or_all(self, store: Store) -> None:
        for n in range(4):
            store.jobs.add(replace(job(f"j{n}", n // 2), session_id=f"s{n % 2}"))
        assert [one.id for one in store.jobs.recent()] == ["j3", "j2", "j1", "j0"]
        assert [one.id for one in store.jobs.recent("s1")] == ["j3", "j1"]
        assert [one.id for one in store.jobs.recent(limit=1)] == ["j3"]

    def test_unfinished_are_the_queued_and_running_oldest_first(self, store: Store) -> None:
        for n, state in enumerate(JobState):
            store.jobs.add(job(f"j-{state}", -n, state))
        assert [one.id for one in store.jobs.unfinished()] == ["j-running", "j-queued"]


class ReviewContract(StoreContract):
    """``ReviewStore``."""

    def _item(self, id_: str, minutes: float = 0, scope: Scope = SCOPE) -> ReviewItem:
        return ReviewItem(id_, scope.key, "s1", "app", "USES", "x", 0.8, at(0), at(minutes))

    def test_items_wait_oldest_first_in_their_scope(self, store: Store) -> None:
        elsewhere = self._item("i0", scope=Scope.personal("me"))
        store.review.add([self._item("i2", 2), self._item("i1", 1), elsewhere])
        assert store.review.waiting(SCOPE) == [self._item("i1", 1), self._item("i2", 2)]
        assert store.review.waiting(SCOPE, 1) == [self._item("i1", 1)]
        assert store.review.get("i0") == elsewhere

    def test_an_id_that_waits_already_stays_as_it_is(self, store: Store) -> None:
        store.review.add([self._item("i1", 1)])
        store.review.add([self._item("i1", 9), self._item("i2", 2)])
        assert store.review.waiting(SCOPE) == [self._item("i1", 1), self._item("i2", 2)]

    def test_what_is_decided_is_gone(self, store: Store) -> None:
        store.review.add([self._item("i1")])
        store.review.remove("i1")
        store.review.remove("i1")
        assert store.review.get("i1") is None

    def test_blocked_facts_are_known_in_their_scope_only(self, store: Store) -> None:
        store.review.block(SCOPE, ["f1", "f2"])
        store.review.block(SCOPE, ["f1"])
        assert store.review.blocked(SCOPE, ["f1", "f3"]) == {"f1"}
        assert store.review.blocked(Scope.personal("me"), ["f1"]) == set()

    def test_deleting_a_scope_takes_what_waits_but_not_what_is_blocked(self, store: Store) -> None:
        store.review.add([self._item("i1"), self._item("i2", scope=Scope.personal("me"))])
        store.review.block(SCOPE, ["f1"])
        store.facts.delete_scope(SCOPE)
        assert store.review.get("i1") is None
        assert store.review.get("i2") is not None
        assert store.review.blocked(SCOPE, ["f1"]) == {"f1"}


class AuditContract(StoreContract):
    """``AuditStore``."""

    def test_the_trail_is_paged_newest_first_and_kept_as_written(self, store: Store) -> None:
        full = AuditEntry(at(0), "me", "cli", "delete", SCOPE.key, "f1", "2 facts")
        entries = [full, *(AuditEntry(at(n), "me", None, "write") for n in range(1, 5))]
        for entry in entries:
            store.audit.add(entry)
        first, cursor = store.audit.recent(Page(3))
        rest, end = store.audit.recent(Page(3, cursor))
        assert first + rest == entries[::-1]
        assert end is None


class CopyContract(StoreContract):
    """``backup``, ``close`` and opening again."""

    def test_a_backup_opens_with_the_same_answers(self, store: Store, tmp_path: Path) -> None:
        write(store, plan("b1", fact("a", "USES", "b")))
        (tmp_path / "copy").mkdir()
        store.backup(self.copy_path(tmp_path / "copy"))
        write(store, plan("b2", fact("a", "USES", "c")))
        copy = self.open(tmp_path / "copy")
        try:
            assert copy.facts.strongest(SCOPE, 9) == [fact("a", "USES", "b")]
            assert copy.verify() == []
        finally:
            copy.close()

    def copy_path(self, folder: Path) -> Path:
        """Where a backup has to lie so that ``open(folder)`` opens it."""
        raise NotImplementedError

    def test_a_backup_replaces_nothing(self, store: Store, tmp_path: Path) -> None:
        (tmp_path / "kept").write_text("mine")
        with pytest.raises(Invalid):
            store.backup(tmp_path / "kept")
        assert (tmp_path / "kept").read_text() == "mine"

    def test_what_was_written_is_there_after_closing_and_opening(self, tmp_path: Path) -> None:
        store = self.open(tmp_path)
        write(store, plan("b1", fact("a", "USES", "b")))
        store.close()
        store.close()
        again = self.open(tmp_path)
        try:
            assert again.facts.strongest(SCOPE, 9) == [fact("a", "USES", "b")]
        finally:
            again.close()

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime

import pytest

from codesynapse.domain.sessions import Job, JobState
from codesynapse.domain.turns import Speaker, Turn
from codesynapse.errors import QueueFull, Unavailable
from codesynapse.jobs.queue import OffloadQueue, Queued

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def item(name: str, session: str = "s1", text: str = "hello") -> Queued:
    job = Job(name, session, "repo", "ana", "c", JobState.QUEUED, NOON)
    return Queued(job, (Turn(Speaker.USER, text),))


def add(queue: OffloadQueue, *items: Queued) -> None:
    for one in items:
        queue.reserve(one.job.session_id, one.characters)
        queue.put(one)


def test_jobs_come_out_in_order_and_are_pending_until_done() -> None:
    queue = OffloadQueue(lambda: 10)
    first, second = item("j1"), item("j2")
    add(queue, first, second)
    assert queue.pending("s1") == 2

    taken = queue.take()
    assert taken is first
    assert [job.id for job in queue.jobs("s1")] == ["j1", "j2"]
    queue.done(first)

    assert queue.take() is second
    assert queue.pending("s1") == 1
    assert queue.pending("s2") == 0


def test_a_reserved_place_counts_and_can_be_given_back() -> None:
    queue = OffloadQueue(lambda: 1)
    queue.reserve("s1", 5)
    with pytest.raises(QueueFull):
        queue.reserve("s2", 5)

    queue.release("s1", 5)

    queue.reserve("s2", 5)
    assert queue.pending("s1") == 0


def test_what_runs_takes_no_place() -> None:
    queue = OffloadQueue(lambda: 1)
    add(queue, item("j1"))
    queue.take()

    add(queue, item("j2"))

    with pytest.raises(QueueFull) as caught:
        add(queue, item("j3"))
    assert caught.value.retry_after >= 1


def test_memory_is_bounded_but_one_job_always_fits() -> None:
    queue = OffloadQueue(lambda: 100, characters=10)
    add(queue, item("j1", text="x" * 50))

    with pytest.raises(QueueFull):
        add(queue, item("j2"))


def test_a_job_put_back_always_fits() -> None:
    queue = OffloadQueue(lambda: 0)

    queue.put(item("j1"), reserved=False)

    assert queue.pending("s1") == 1
    assert len(queue) == 1


def test_the_size_is_asked_each_time() -> None:
    size = [1]
    queue = OffloadQueue(lambda: size[0])
    add(queue, item("j1"))
    size[0] = 2

    add(queue, item("j2"))

    assert len(queue) == 2


def test_waiting_is_for_the_named_sessions_only() -> None:
    queue = OffloadQueue(lambda: 10)
    mine, other = item("j1"), item("j2", "s2")
    add(queue, mine, other)
    assert not queue.wait(["s1"], time.monotonic())
    assert queue.wait(["s3"], time.monotonic())

    waited: list[bool] = []
    thread = threading.Thread(
        target=lambda: waited.append(queue.wait(["s1"], time.monotonic() + 20))
    )
    thread.start()
    queue.take()
    queue.done(mine)
    thread.join(20)

    assert waited == [True]


def test_turns_of_a_failed_job_are_kept_within_bounds_and_given_up_once() -> None:
    queue = OffloadQueue(lambda: 1, characters=10)
    kept = item("j1")
    assert queue.keep(kept)
    assert not queue.keep(item("j2"))
    assert queue.keeps("j1")

    assert queue.give_up("j1") is kept
    assert queue.give_up("j1") is None
    assert queue.keep(item("j3", text="x" * 10))


def test_closing_wakes_the_taker_and_hands_over_what_is_left() -> None:
    queue = OffloadQueue(lambda: 10)
    waiting, kept = item("j1"), item("j2")
    add(queue, waiting)
    queue.keep(kept)
    queue.reserve("s9")

    assert queue.close() == [waiting, kept]

    assert queue.closed
    assert queue.take() is None
    with pytest.raises(Unavailable):
        queue.reserve("s1")
    with pytest.raises(Unavailable):
        queue.put(item("j9", "s9"))
    queue.release("s9")
    assert queue.pending("s9") == 0


def test_turns_are_not_in_the_repr_of_what_is_queued() -> None:
    assert "kumquat" not in repr(item("j1", text="kumquat"))

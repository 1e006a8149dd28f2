from __future__ import annotations

import logging
import threading
import time

import pytest

from codesynapse.jobs.queue import OffloadQueue, Queued
from codesynapse.jobs.worker import Worker
from tests.jobs.test_queue import add, item


class Recorder:
    """Does as told and remembers what it was asked."""

    def __init__(self) -> None:
        self.events: list[tuple[str, str]] = []
        self.raises: Exception | None = None
        self.breaks_on_failed = False
        self.blocked = threading.Event()
        self.release = threading.Event()
        self.block = False

    def run(self, item: Queued) -> None:
        self.events.append(("run", item.job.id))
        if self.block:
            self.blocked.set()
            self.release.wait(20)
        if self.raises:
            raise self.raises

    def failed(self, item: Queued, kind: str) -> None:
        self.events.append((f"failed {kind}", item.job.id))
        if self.breaks_on_failed:
            raise OSError("kumquat")

    def interrupt(self) -> None:
        self.events.append(("interrupt", ""))

    def put_back(self, item: Queued) -> None:
        self.events.append(("put back", item.job.id))


def drained(queue: OffloadQueue) -> None:
    assert queue.wait(["s1"], time.monotonic() + 20)


def test_jobs_run_one_after_the_other() -> None:
    queue, runner = OffloadQueue(lambda: 10), Recorder()
    worker = Worker(queue, runner)
    add(queue, item("j1"), item("j2"))

    worker.start()
    drained(queue)

    assert worker.stop()
    assert runner.events == [("run", "j1"), ("run", "j2")]


@pytest.mark.parametrize("breaks_on_failed", [False, True])
def test_an_unforeseen_exception_fails_its_job_only_and_shows_its_kind_only(
    caplog: pytest.LogCaptureFixture, breaks_on_failed: bool
) -> None:
    queue, runner = OffloadQueue(lambda: 10), Recorder()
    runner.raises, runner.breaks_on_failed = ValueError("kumquat"), breaks_on_failed
    worker = Worker(queue, runner)
    add(queue, item("j1", text="kumquat"), item("j2", text="kumquat"))

    with caplog.at_level(logging.DEBUG):
        worker.start()
        drained(queue)
        worker.stop()

    assert [event for event, _ in runner.events] == ["run", "failed ValueError"] * 2
    assert "ValueError" in caplog.text
    assert "kumquat" not in caplog.text


def test_stopping_lets_the_running_job_finish_and_puts_the_others_back() -> None:
    queue, runner = OffloadQueue(lambda: 10), Recorder()
    runner.block = True
    worker = Worker(queue, runner)
    add(queue, item("j1"), item("j2"))
    worker.start()
    assert runner.blocked.wait(20)
    threading.Timer(0.05, runner.release.set).start()

    assert worker.stop(20)

    assert runner.events == [("run", "j1"), ("put back", "j2")]


def test_a_job_that_does_not_end_in_time_is_interrupted_and_put_back() -> None:
    queue, runner = OffloadQueue(lambda: 10), Recorder()
    runner.block = True
    worker = Worker(queue, runner)
    add(queue, item("j1"))
    worker.start()
    assert runner.blocked.wait(20)

    assert not worker.stop(0.1)

    assert runner.events == [("run", "j1"), ("interrupt", ""), ("put back", "j1")]
    runner.release.set()


def test_a_worker_that_never_started_puts_everything_back() -> None:
    queue, runner = OffloadQueue(lambda: 10), Recorder()
    add(queue, item("j1"))

    assert Worker(queue, runner).stop()

    assert runner.events == [("put back", "j1")]

from __future__ import annotations

import logging
import threading

import pytest

from codesynapse.jobs.upkeep import Upkeep


def test_rounds_go_on_after_one_that_failed(caplog: pytest.LogCaptureFixture) -> None:
    rounds = threading.Semaphore(0)

    def task() -> None:
        rounds.release()
        raise ValueError("kumquat")

    upkeep = Upkeep(task, 0.001)
    with caplog.at_level(logging.DEBUG):
        upkeep.start()
        for _ in range(3):
            assert rounds.acquire(timeout=20)
        assert upkeep.stop(20)

    assert "ValueError" in caplog.text
    assert "kumquat" not in caplog.text


def test_stopping_does_not_wait_for_the_next_round() -> None:
    ran = threading.Event()
    upkeep = Upkeep(ran.set, 3_600)
    upkeep.start()
    assert ran.wait(20)

    assert upkeep.stop(20)


def test_what_never_started_can_be_stopped() -> None:
    assert Upkeep(lambda: None, 1).stop()

"""A process that writes to a store and says so.

``python -m tests.store.writing PATH NAME COUNT [THREADS]`` prints ``ready``, waits for a line, then
prints each batch id once it is acknowledged; with threads, each writes that many.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from threading import Lock, Thread

from codesynapse.domain.batch import Batch
from codesynapse.domain.graph import SAME_AS, Limits, Source
from codesynapse.domain.statements import Statement
from codesynapse.errors import StaleRevision
from codesynapse.store.sqlite import SqliteStore, open_store
from tests.store.planning import SCOPE, at, fact, plan, write

__all__ = ["SAID_IN_A_BATCH", "said_by"]

SAID_IN_A_BATCH = 6
_said = Lock()


def _plain(store: SqliteStore, name: str, count: int) -> None:
    for number in range(count):
        one = plan(f"{name}-{number}", fact(name, "WROTE", f"{name} {number}"))
        while True:
            try:
                write(store, one)
                break
            except StaleRevision:
                continue
        _acknowledge(one.batch_id)


def said_by(name: str, number: int) -> Batch:
    """A batch that makes, replaces, confirms and merges; its statements carry its id."""
    id_, moment = f"{name}-{number}", at(number)
    said = (
        Statement(name, "WROTE", f"{name} {number}", moment),
        Statement(name, "LAST_WROTE", f"{name} {number}", moment, replace=True),
        Statement("everybody", "USES", f"tool {number % 7}", moment),
        Statement(f"{name} {number}", "FOLLOWS", f"{name} {number - 1}", moment),
        Statement(f"note {name} {number}", "SAYS", "数据库 is slow", moment),
        Statement(f"{name} {number}", SAME_AS, f"alias {name} {number}", moment),
    )
    return Batch(id_, said, Source("cli", at(0), origin=id_))


def _crowd(store: SqliteStore, name: str, count: int) -> None:
    for number in range(count):
        batch = said_by(name, number)
        store.facts.change(SCOPE, batch.touches(SCOPE), lambda s, b=batch: b.plan(SCOPE, s, _ANY))  # type: ignore[misc]
        _acknowledge(batch.id)


_ANY = Limits(entities=10**6, facts=10**6)


def _acknowledge(batch_id: str) -> None:
    with _said:
        print(batch_id, flush=True)


def main(path: str, name: str, count: int, threads: int) -> None:
    store = open_store(Path(path))
    print("ready", flush=True)
    sys.stdin.readline()
    if not threads:
        _plain(store, name, count)
    else:
        _together(lambda n: _crowd(store, f"{name}{n}", count), threads)
    store.close()


def _together(work: Callable[[int], None], threads: int) -> None:
    crowd = [Thread(target=work, args=(n,)) for n in range(threads)]
    for thread in crowd:
        thread.start()
    for thread in crowd:
        thread.join()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]) if sys.argv[4:] else 0)

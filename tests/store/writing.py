"""A process that writes to a store and says so: ``python -m tests.store.writing PATH NAME COUNT``.

Prints ``ready``, waits for a line, then prints each batch id once it is acknowledged.
"""

from __future__ import annotations

import sys
from pathlib import Path

from codesynapse.errors import StaleRevision
from codesynapse.store.sqlite import open_store
from tests.store.planning import fact, plan, write


def main(path: str, name: str, count: int) -> None:
    store = open_store(Path(path))
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(count):
        one = plan(f"{name}-{number}", fact(name, "WROTE", f"{name} {number}"))
        while True:
            try:
                write(store, one)
                break
            except StaleRevision:
                continue
        print(one.batch_id, flush=True)
    store.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))

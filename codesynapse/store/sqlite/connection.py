"""Connections: one writer thread with group commit, and a bounded pool of readers.

Promises: ``write`` has returned when the change is on the disk; what several callers write at
once shares one transaction, yet each succeeds or fails alone; ``read`` sees one moment of the
store from beginning to end; nobody outside this module sees a ``sqlite3`` error.  Once damage was
met, nothing is served any more; damage of the full-text index alone is mended by the writer: at
once when a write meets it, behind the caller's back when a read does.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import BoundedSemaphore, Event, Lock, Thread
from types import TracebackType
from typing import Generic, TypeVar

from codesynapse.errors import (
    CodeSynapseError,
    IndexDamaged,
    Invalid,
    StoreDamaged,
    Unavailable,
)

__all__ = ["READERS", "Atomic", "Database", "connect", "index_errors", "sqlite_errors"]

READERS = 8

_GROUP = 64  # writes that may share a transaction
_BUSY_MS = 30_000  # how long another process may hold the write lock
_Result = TypeVar("_Result")

_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
# An index holds each row once: what SQLite says when it holds one that was not to be there.
_DISAGREES = _DAMAGED | {sqlite3.SQLITE_CONSTRAINT}
_UNUSABLE = ("vtable constructor failed", "no such table")  # how SQLite says it of an index
_UNAVAILABLE = {
    sqlite3.SQLITE_FULL: ("no space is left for the data file", "free some space on that disk"),
    sqlite3.SQLITE_BUSY: ("the data file is locked by another program", "close it and try again"),
    sqlite3.SQLITE_LOCKED: ("the data file is locked", "try again"),
    sqlite3.SQLITE_READONLY: ("the data file cannot be written", "check its owner and mode"),
    sqlite3.SQLITE_IOERR: ("the data file cannot be read or written", "check the disk"),
    sqlite3.SQLITE_CANTOPEN: ("the data file cannot be opened", "check its folder and mode"),
    sqlite3.SQLITE_PERM: ("the data file may not be opened", "check its owner and mode"),
}


def connect(uri: str, *, writer: bool = False) -> sqlite3.Connection:
    """A connection with our pragmas. Nothing of it goes to a temporary file."""
    connection = sqlite3.connect(
        uri,
        uri=True,
        isolation_level=None,
        check_same_thread=False,
        timeout=_BUSY_MS / 1000,
        cached_statements=256,
    )
    pragmas = (
        "temp_store = MEMORY",
        "cell_size_check = ON",
        "trusted_schema = OFF",
        "synchronous = FULL",
        "secure_delete = ON",
        "cache_size = -8000" if writer else "query_only = ON",
    )
    for pragma in pragmas:
        connection.execute(f"PRAGMA {pragma}")
    return connection


@contextmanager
def sqlite_errors(path: Path) -> Iterator[None]:
    """Turn what SQLite reports about the file into errors of ours; mistakes in SQL pass."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        translated = _translated(path, error)
        if translated is None:
            raise
        raise translated from error
    except UnicodeEncodeError as error:
        raise Invalid(
            "text holds half a character (a lone surrogate)", "send valid text"
        ) from error


@contextmanager
def index_errors() -> Iterator[None]:
    """Around statements that touch the full-text index only: what is damaged then is the index."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in _DISAGREES or str(error).startswith(_UNUSABLE):
            raise IndexDamaged(
                f"the full-text index is damaged: {error}", "it is built anew; try again"
            ) from error
        raise


def _translated(path: Path, error: sqlite3.DatabaseError) -> CodeSynapseError | None:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the low byte is the kind
    if code in _DAMAGED:
        return StoreDamaged(
            f"{path} is damaged: {error}",
            "restore a copy from the backups folder, or move the file away to start empty",
        )
    if code in _UNAVAILABLE:
        message, hint = _UNAVAILABLE[code]
        return Unavailable(f"{message} ({path})", hint)
    return None


class Atomic:
    """A nested-safe step: all of what runs inside it is kept, or nothing of it.

    Of what it runs itself, only the full-text index reads any page: it writes at such moments.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._nested = connection.in_transaction

    def __enter__(self) -> sqlite3.Connection:
        with index_errors():
            self._connection.execute("SAVEPOINT step" if self._nested else "BEGIN IMMEDIATE")
        return self._connection

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            self._undo()
            return
        try:
            with index_errors():
                self._connection.execute("RELEASE step" if self._nested else "COMMIT")
        except (sqlite3.Error, IndexDamaged):
            self._undo()
            raise

    def _undo(self) -> None:
        if not self._connection.in_transaction:  # some faults have undone everything already
            return
        for statement in ("ROLLBACK TO step", "RELEASE step") if self._nested else ("ROLLBACK",):
            self._connection.execute(statement)


class _Pending(Generic[_Result]):
    """One caller's write on its way: what goes wrong inside ``with`` is kept for the caller."""

    def __init__(
        self,
        step: Callable[[sqlite3.Connection], _Result],
        *,
        looks: bool = False,
        durable: bool = True,
    ) -> None:
        self.step = step
        self.looks = looks
        self.durable = durable
        self.error: BaseException | None = None
        self.result: _Result | None = None
        self.done = Event()

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        self.error = error or self.error
        return True


class Database:
    """The open file. ``tidy`` is work in small steps for when no caller waits to write;

    it returns whether anything is left to do.  ``mend`` makes a damaged full-text index anew.
    """

    def __init__(
        self,
        path: Path,
        tidy: Callable[[sqlite3.Connection], bool],
        mend: Callable[[sqlite3.Connection], None] = lambda _: None,
    ) -> None:
        self.path = path
        self._uri = path.absolute().as_uri()
        self._tidy = tidy
        self._mend = mend
        self._broken = False  # the index: somebody met damage of it
        self._untidy = True  # a process that ended may have left some
        self._damage: StoreDamaged | None = None
        self._closed = False
        self._lock = Lock()
        self._queue: SimpleQueue[_Pending[object] | None] = SimpleQueue()
        self._slots = BoundedSemaphore(READERS)
        self._idle: list[sqlite3.Connection] = []
        self._writer = connect(self._uri, writer=True)
        self._thread = Thread(target=self._work, name="codesynapse-writer", daemon=True)
        self._thread.start()

    def write(
        self, step: Callable[[sqlite3.Connection], _Result], *, durable: bool = True
    ) -> _Result:
        """Run ``step`` in a transaction on the writer thread; return once it is on the disk.

        What need not be durable survives a killed process, though not a machine that stops: it is
        on the disk with the next durable write, and never without what was written before it.
        """
        return self._wait_for(_Pending(step, durable=durable))

    def look(self, step: Callable[[sqlite3.Connection], _Result]) -> _Result:
        """Run ``step`` on the writer, for what cannot be asked otherwise, and undo all it does."""
        return self._wait_for(_Pending(step, looks=True))

    def _wait_for(self, pending: _Pending[_Result]) -> _Result:
        with self._lock:  # nothing may be queued behind the end
            self._check_open()
            self._queue.put(pending)  # type: ignore[arg-type]
        pending.done.wait()
        if pending.error is not None:
            raise pending.error
        return pending.result  # type: ignore[return-value]

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """A connection that sees one moment of the store, until the block ends."""
        with self._slots, self._noting_damage(), sqlite_errors(self.path):
            self._check_open()
            connection = self._take()
            try:
                connection.execute("BEGIN")
                yield connection
            except IndexDamaged:
                self._broken = True
                self.tidy_later()  # which mends it before anything else
                raise
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                self._put_back(connection)

    def mend(self) -> None:
        """Make the full-text index anew; returns once that is on the disk."""
        self._broken = True
        self.write(lambda _: None)

    @property
    def waiting(self) -> int:
        """How many writes wait for the writer; gone stale as soon as it is read."""
        return self._queue.qsize()

    def tidy_later(self) -> None:
        """Have the tidying looked at again, when the writer has nothing else to do."""
        self._untidy = True
        self._queue.put(_Pending(lambda _: None))  # wakes the writer

    def close(self, last: Callable[[sqlite3.Connection], None]) -> None:
        """Finish every write in hand, run ``last`` and close. Only the first call does."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._queue.put(None)
        self._thread.join()
        for _ in range(READERS):  # readers that are at it may end
            self._slots.acquire()
        for connection in self._idle:
            connection.close()
        self._slots.release(READERS)  # whoever still waits is told that this is the end
        try:
            with sqlite_errors(self.path):
                if self._damage is None:
                    with Atomic(self._writer):
                        last(self._writer)
        finally:
            self._writer.close()

    def _check_open(self) -> None:
        if self._damage is not None:
            raise StoreDamaged(self._damage.message, self._damage.hint)
        if self._closed:
            raise Unavailable("the store is closed", "start the sidecar again")

    def _take(self) -> sqlite3.Connection:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return connect(self._uri)

    def _put_back(self, connection: sqlite3.Connection) -> None:
        with self._lock:
            self._idle.append(connection)

    @contextmanager
    def _noting_damage(self) -> Iterator[None]:
        try:
            yield
        except StoreDamaged as damage:
            self._damage = damage
            raise
        except IndexDamaged:
            self._broken = True
            raise

    def _work(self) -> None:
        """The writer thread: groups of writes, and tidying while there are none."""
        while True:
            group = self._next_group()
            pending = [item for item in group if item is not None]
            if writes := [item for item in pending if not item.looks]:
                self._run(writes)
            for item in pending:
                if item.looks:
                    self._look(item)
            if len(pending) < len(group):
                return

    def _next_group(self) -> list[_Pending[object] | None]:
        group = [self._next()]
        while group[-1] is not None and not group[-1].looks and len(group) < _GROUP:
            try:
                group.append(self._queue.get_nowait())
            except Empty:
                break
        return group

    def _next(self) -> _Pending[object] | None:
        self._mended()
        while self._untidy and self._queue.empty() and self._damage is None:
            self._untidy = False
            step = _Pending(self._tidy)
            with step, self._noting_damage(), sqlite_errors(self.path):
                self._untidy = self._tidy(self._writer)
        return self._queue.get()

    def _run(self, group: list[_Pending[object]]) -> None:
        error = self._mended() or self._attempt(group)
        if isinstance(error, IndexDamaged):
            error = self._mended() or self._attempt(group)
        for pending in group:
            # The transaction failed: nothing of the group is stored, whatever a step returned.
            pending.error = pending.error or error
            pending.done.set()

    def _look(self, pending: _Pending[object]) -> None:
        with pending, self._noting_damage(), sqlite_errors(self.path):
            try:
                self._writer.execute("BEGIN IMMEDIATE")
                pending.result = pending.step(self._writer)
            finally:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
        pending.done.set()

    def _attempt(self, group: list[_Pending[object]]) -> BaseException | None:
        whole: _Pending[None] = _Pending(lambda _: None)
        for pending in group:
            pending.error = None
        with whole, self._noting_damage(), sqlite_errors(self.path):
            self._commit(group)
        return whole.error

    def _mended(self) -> BaseException | None:
        """Mend the index if it is known to be broken; what went wrong with that."""
        if not self._broken or self._damage is not None:
            return None
        whole: _Pending[None] = _Pending(lambda _: None)
        with whole, self._noting_damage(), sqlite_errors(self.path):
            self._writer.execute("PRAGMA synchronous = FULL")
            self._mend(self._writer)
        self._broken = False
        return whole.error

    def _commit(self, group: list[_Pending[object]]) -> None:
        # In a write-ahead log NORMAL leaves the waiting for the disk to a later commit.
        level = "FULL" if any(pending.durable for pending in group) else "NORMAL"
        self._writer.execute(f"PRAGMA synchronous = {level}")
        with Atomic(self._writer):
            for pending in group:
                with pending, sqlite_errors(self.path), Atomic(self._writer):
                    pending.result = pending.step(self._writer)
                if isinstance(pending.error, StoreDamaged | IndexDamaged):
                    raise pending.error
                if not self._writer.in_transaction:  # a full disk, say, undoes everything
                    raise pending.error or Unavailable("the write was undone", "try again")

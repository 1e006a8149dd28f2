from __future__ import annotations

from pathlib import Path

from codesynapse.store.base import Store
from codesynapse.store.sqlite import open_store
from tests.store.contract import FactsContract, SliceContract
from tests.store.contract_records import (
    AuditContract,
    CopyContract,
    JobsContract,
    ReposContract,
    ReviewContract,
    SessionsContract,
)
from tests.store.contract_search import SearchContract


class _Sqlite:
    def open(self, folder: Path) -> Store:
        return open_store(folder / "store.db")


class TestSlice(_Sqlite, SliceContract):
    pass


class TestFacts(_Sqlite, FactsContract):
    pass


class TestSearch(_Sqlite, SearchContract):
    pass


class TestRepos(_Sqlite, ReposContract):
    pass


class TestSessions(_Sqlite, SessionsContract):
    pass


class TestJobs(_Sqlite, JobsContract):
    pass


class TestReview(_Sqlite, ReviewContract):
    pass


class TestAudit(_Sqlite, AuditContract):
    pass


class TestCopies(_Sqlite, CopyContract):
    def copy_path(self, folder: Path) -> Path:
        return folder / "store.db"

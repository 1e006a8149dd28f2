from __future__ import annotations

import pytest

pytest.register_assert_rewrite(
    "tests.store.contract", "tests.store.contract_records", "tests.store.contract_search"
)

from __future__ import annotations

from tests.sidecar.conftest import home, served

__all__ = ["home", "served"]

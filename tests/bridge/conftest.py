from tests.sidecar.conftest import home, served

__all__ = ["home", "served"]

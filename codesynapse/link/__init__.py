"""How a client on this machine finds the sidecar, knows it, and starts it."""

__all__: list[str] = []

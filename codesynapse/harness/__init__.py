"""Agent programs' hooks: their events in, their replies out. Standard library only."""

__all__: list[str] = []

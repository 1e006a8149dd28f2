"""Reading what agent programs write of a conversation. Standard library only; never writes."""

__all__: list[str] = []

"""The stdio MCP server: a thin relay between a client's pipes and the sidecar."""

__all__: list[str] = []

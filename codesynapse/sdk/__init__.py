"""The typed client of the sidecar. What a name needs is imported when the name is used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from codesynapse.sdk.client import AsyncCodeSynapseClient, CodeSynapseClient

__all__ = ["AsyncCodeSynapseClient", "CodeSynapseClient"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from codesynapse.sdk import client

    return getattr(client, name)

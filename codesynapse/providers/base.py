"""What a model provider promises, and the values that go in.

A provider sends what it is given to the address it was built for, and to nothing else.  It answers
inside its own time, or raises Unavailable; it never puts what it was sent, or what it got, into an
error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

__all__ = ["ChatModel", "Endpoint", "Message", "Resolver"]

Resolver = Callable[[str, int], Sequence[str]]
"""(host, port) to the addresses that may be connected to; raises when none may."""


class Message(NamedTuple):
    """One message of a prompt: ``role`` is system or user."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An OpenAI-compatible server and the model asked of it. ``seconds`` bounds a whole call."""

    base_url: str
    model: str
    api_key: str | None = field(default=None, repr=False)
    seconds: float = 60.0


class ChatModel(Protocol):
    """A language model behind one route."""

    @property
    def name(self) -> str:
        """The model's name, as provenance keeps it."""
        ...

    def complete(self, messages: Sequence[Message], schema: Mapping[str, Any]) -> str:
        """The model's answer as text, shaped by the JSON schema where the server can do that.

        Raises Unavailable when nobody answers in time, ProviderFailed when the answer is bad and
        RouteRefused when the address is not allowed.
        """
        ...

    def interrupt(self) -> None:
        """Cut the call that is running, from another thread; it raises Unavailable."""
        ...

"""Any server that speaks OpenAI's chat completions: Ollama, LM Studio, llama.cpp, vLLM.

Servers differ in how they are asked for JSON.  The strongest way is tried first: ``json_schema``,
then ``json_object`` with the schema beside it, then the prompt alone.  What a server took once is
asked of it from then on.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from codesynapse.errors import ProviderFailed, Unavailable
from codesynapse.providers.base import Endpoint, Message, Resolver
from codesynapse.providers.meter import Meter
from codesynapse.providers.wire import Answer, Wire

__all__ = ["STYLES", "OpenAIModel"]

STYLES = ("json_schema", "json_object", "prompt")
_TOKENS = 2_048
# What servers say to an option they do not know. 500 may mean anything, so it counts as that
# only until a server has shown what it takes.
_UNSUPPORTED = frozenset({400, 415, 422, 501})


class OpenAIModel:
    """One model on one server. Not for two calls at once."""

    def __init__(self, endpoint: Endpoint, resolve: Resolver, meter: Meter) -> None:
        self.endpoint = endpoint
        self.style: str | None = None  # what this server took last
        self._meter = meter
        self._wire = Wire(resolve, endpoint.seconds)

    @property
    def name(self) -> str:
        """The model's name, as provenance keeps it."""
        return self.endpoint.model

    def interrupt(self) -> None:
        """Cut the call that is running."""
        self._wire.interrupt()

    def complete(self, messages: Sequence[Message], schema: Mapping[str, Any]) -> str:
        """The answer's text; see ``ChatModel``. At most one request for each style."""
        known = self.style
        styles = STYLES[STYLES.index(known) :] if known else STYLES
        answer = Answer(0, b"")
        for style in styles:
            answer = self._ask(style, messages, schema)
            if answer.status == 200:
                self.style = style
                return _content(answer.body)
            if not (answer.status in _UNSUPPORTED or (answer.status == 500 and not known)):
                break
        raise ProviderFailed(f"the model server answered {answer.status}", _hint(answer.status))

    def _ask(self, style: str, messages: Sequence[Message], schema: Mapping[str, Any]) -> Answer:
        self._meter.spend()
        body: dict[str, Any] = {
            "model": self.endpoint.model,
            "messages": [message._asdict() for message in messages],
            "temperature": 0,
            "max_tokens": _TOKENS,
            "stream": False,
        }
        if style == "json_schema":
            shape = {"name": "facts", "strict": True, "schema": schema}
            body["response_format"] = {"type": "json_schema", "json_schema": shape}
        elif style == "json_object":
            body["response_format"] = {"type": "json_object", "schema": schema}
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self.endpoint.api_key:
            headers["Authorization"] = f"Bearer {self.endpoint.api_key}"
        try:
            answer = self._wire.post(
                self.endpoint.base_url.rstrip("/") + "/chat/completions",
                json.dumps(body).encode("ascii"),
                headers,
            )
        except ProviderFailed:
            self._meter.answered()
            raise
        except Unavailable:
            self._meter.unanswered()
            raise
        self._meter.answered()
        return answer


def _content(body: bytes) -> str:
    try:
        document = json.loads(body.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        document = None
    text = _text(document)
    if text is None:
        raise ProviderFailed("the model server's answer is not a chat completion")
    return text


def _text(document: Any) -> str | None:
    """``choices[0].message.content``, as text or as a list of text parts."""
    try:
        content = document["choices"][0]["message"]["content"]
    except (KeyError, IndexError, TypeError):
        return None
    if isinstance(content, list):
        parts = [p.get("text") for p in content if isinstance(p, dict)]
        return "".join(p for p in parts if isinstance(p, str))
    return content if isinstance(content, str) else "" if content is None else None


def _hint(status: int) -> str:
    if status in (401, 403):
        return "check routes.memory.api_key"
    if status == 404:
        return "check the base URL, and that the model is there"
    return "look into the model server's own log"

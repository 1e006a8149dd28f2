"""What tools answer: short prose for a model, recalled text inert and under the notice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from codesynapse.recall.answer import NOTICE, FactView, RecallAnswer
from codesynapse.recall.block import FENCE_CLOSE, FENCE_OPEN, inert
from codesynapse.service.views import NodeList, NodeView, Subgraph

__all__ = ["fenced", "nodes", "recalled", "subgraph"]

MAX_CHARACTERS = 20_000  # clients cut, or store away, what is much longer


def fenced(lines: Sequence[str], more: str = "") -> str:
    """The lines under the notice, within bounds, whole lines only."""
    kept: list[str] = []
    room = MAX_CHARACTERS
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            more = f"{len(lines) - len(kept)} more were left out; ask for fewer, or more narrowly."
            break
        kept.append(line)
    text = "\n".join([FENCE_OPEN, NOTICE, *kept, FENCE_CLOSE])
    return f"{text}\n{more}" if more else text


def recalled(answer: RecallAnswer, *, detail: bool) -> str:
    """Facts, best first; an empty answer says why."""
    if answer.reason is not None:
        return f"Nothing was searched: {answer.reason}."
    if not answer.facts:
        return "Nothing is known about that."
    return fenced([_fact(view, detail) for view in answer.facts])


def _fact(view: FactView, detail: bool) -> str:
    notes = view.notes()
    if detail:
        notes = "; ".join((notes, *_details(view)))
    return "- " + inert(f"{view.sentence} ({notes})")


def _details(view: FactView) -> Iterable[str]:
    yield f"confidence {view.confidence:.2f}"
    if view.valid_from is not None:
        yield f"since {view.valid_from.date().isoformat()}"
    if view.source.user:
        yield f"said in a session of {view.source.user}"
    yield f"id {view.id[:12]}"


def nodes(found: NodeList) -> str:
    """Entities with their types and aliases."""
    if not found.nodes:
        return "No entity has such a name."
    more = "There are more; ask with a query." if found.cursor else ""
    return fenced([_node(node) for node in found.nodes], more)


def _node(node: NodeView) -> str:
    kind = f" [{node.type}]" if node.type else ""
    aliases = f", also {', '.join(node.aliases)}" if node.aliases else ""
    return "- " + inert(f"{node.name}{kind}{aliases}")


def subgraph(found: Subgraph, *, detail: bool) -> str:
    """The facts of a part of the graph."""
    if not found.facts:
        return "Nothing is known around that."
    more = "There are more facts; raise the limit or name fewer entities." if found.more else ""
    return fenced([_fact(view, detail) for view in found.facts], more)

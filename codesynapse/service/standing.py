"""What holds in the eyes of a session: its own facts, and what its person was carried over.

A new statement may end any of them.  Repository facts are not among them: a private session's word
never ends what is kept for all.
"""

from __future__ import annotations

from collections.abc import Iterator

from codesynapse.domain.scope import Scope
from codesynapse.domain.sessions import Session
from codesynapse.domain.succession import Held
from codesynapse.service.access import FactDeps
from codesynapse.service.carry_over import target_of

__all__ = ["MOST_STANDING", "standing_facts"]

MOST_STANDING = 2_000  # of each scope, the strongest first


def standing_facts(deps: FactDeps, session: Session) -> list[Held]:
    """The open facts that a session's next statements may end, each once, oldest scope first."""
    held = dict.fromkeys(_open(deps, target_of(session)))
    held |= dict.fromkeys(_open(deps, Scope.session(session.id)))
    return list(held)


def _open(deps: FactDeps, scope: Scope) -> Iterator[Held]:
    facts = deps.store.facts
    rows = facts.strongest(scope, MOST_STANDING)
    ends = {end for row in rows for end in (row.subject_id, row.object_id)}
    names = facts.entities(scope, ends)
    for row in rows:
        subject, value = names[row.subject_id].name, names[row.object_id].name
        yield Held(subject, row.predicate, value, row.intervals[-1].start)

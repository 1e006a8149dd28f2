"""Which of the facts about to be shown were corrected since, in another scope of the same reader.

A correction lives where it was said until its session ends, and what a repository keeps for all is
never closed by one person's word.  So the same thing may hold two values at once, in two scopes:
the newer one, by the time it was said, overrules the older.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from codesynapse.domain.graph import FactRow
from codesynapse.domain.names import USER_KEY, fact_id, name_key
from codesynapse.domain.scope import Scope, ScopeKind
from codesynapse.domain.succession import Held, rivals
from codesynapse.domain.turns import Speaker
from codesynapse.recall.answer import FactView
from codesynapse.service.access import FactDeps
from codesynapse.store.base import FactFilter, Page

__all__ = ["Correction", "corrections", "marked"]

_OF_SUBJECTS = 200  # open facts of the subjects in view, of each scope


@dataclass(frozen=True, slots=True)
class Correction:
    """When a fact was corrected, and whether by the reader's own word or in the repository."""

    at: datetime
    by_person: bool

    @property
    def note(self) -> str:
        """As a qualifier of the fact."""
        who = "this person said" if self.by_person else "the repository says"
        return f"{who} otherwise on {self.at.astimezone().date().isoformat()}"


def corrections(
    deps: FactDeps, scopes: Sequence[Scope], views: Iterable[FactView], user: str
) -> dict[str, Correction]:
    """By the id of each view that a newer statement in another of these scopes speaks against.

    The caller has checked the access to the scopes.  Where several do, the newest counts.
    """
    open_views = [view for view in views if view.current and view.valid_from is not None]
    found: dict[str, Correction] = {}
    for scope in scopes:
        elsewhere = [view for view in open_views if view.scope != scope.key]
        if not elsewhere:
            continue
        person = scope.kind is not ScopeKind.REPOSITORY
        here = [_held(view, user) for view in open_views if _speaks(view, scope)]
        told = _Told(deps, scope, user, here, elsewhere)
        for view in elsewhere:
            at = told.against(view)
            before = found.get(view.id)
            if at is not None and (before is None or before.at < at):
                found[view.id] = Correction(at, person)
    return found


def marked(views: Sequence[FactView], found: dict[str, Correction]) -> list[FactView]:
    """The views with what was corrected last, and saying so."""
    good = [view for view in views if view.id not in found]
    return good + [
        replace(view, qualifiers=(*view.qualifiers, found[view.id].note))
        for view in views
        if view.id in found
    ]


def _speaks(view: FactView, scope: Scope) -> bool:
    """Whether it is a word of this scope that can correct: an agent's claim cannot."""
    return view.scope == scope.key and view.said_by is not Speaker.ASSISTANT


def _held(view: FactView, user: str) -> Held:
    subject, value = (_own(name, user) for name in (view.subject, view.object))
    return Held(subject, view.predicate, value, view.valid_from or view.stored_at)


def _own(name: str, user: str) -> str:
    """In a repository ``User`` goes by the writer's name."""
    return USER_KEY if name_key(name) == name_key(user) else name


class _Told:
    """What one scope tells about the subjects of views of other scopes."""

    def __init__(
        self,
        deps: FactDeps,
        scope: Scope,
        user: str,
        held: list[Held],
        views: Sequence[FactView],
    ) -> None:
        self._scope, self._user = scope, user
        ends = {self._key(name) for view in views for name in (view.subject, view.object)}
        rows = deps.store.facts.names(scope, ends)
        self._ids = {key: row.entity_id for key, row in rows.items()}
        self._held = list(dict.fromkeys((*held, *self._standing(deps, views))))
        ids = tuple(id_ for view in views if (id_ := self._same(view)) is not None)
        which = FactFilter(ids=ids, history=True)
        page = Page(max(1, len(ids)))
        closed = deps.store.facts.facts(scope, which, page)[0] if ids else []
        self._ended = {row.id: row.intervals[-1].end for row in closed if row.intervals}

    def against(self, view: FactView) -> datetime | None:
        """When the newest word against a view was said here, if later than the view."""
        since = view.valid_from or view.stored_at
        old = _held(view, self._user)
        moments = [new.since for new in self._held if new.since > since and rivals(old, new)]
        ended = self._ended.get(self._same(view) or "")
        if ended is not None and ended > since:
            moments.append(ended)
        return max(moments, default=None)

    def _standing(self, deps: FactDeps, views: Sequence[FactView]) -> Iterator[Held]:
        keys = {self._key(view.subject) for view in views}
        subjects = tuple(self._ids[key] for key in sorted(keys) if key in self._ids)
        if not subjects:
            return
        facts = deps.store.facts
        rows, _ = facts.facts(self._scope, FactFilter(subject_ids=subjects), Page(_OF_SUBJECTS))
        rows = [row for row in rows if row.said_by is not Speaker.ASSISTANT]
        ends = {end for row in rows for end in (row.subject_id, row.object_id)}
        names = {id_: row.name for id_, row in facts.entities(self._scope, ends).items()}
        for row in rows:
            yield self._shown(row, names)

    def _shown(self, row: FactRow, names: dict[str, str]) -> Held:
        subject, value = (_own(names[end], self._user) for end in (row.subject_id, row.object_id))
        return Held(subject, row.predicate, value, row.intervals[-1].start)

    def _key(self, name: str) -> str:
        """The name's key in this scope."""
        key = name_key(name)
        if self._scope.kind is ScopeKind.REPOSITORY:
            return name_key(self._user) if key == USER_KEY else key
        return USER_KEY if key == name_key(self._user) else key

    def _same(self, view: FactView) -> str | None:
        """The id that the view's fact has in this scope; None where nobody names its ends."""
        ends = [self._key(name) for name in (view.subject, view.object)]
        if not all(key in self._ids for key in ends):
            return None
        subject, value = (self._ids[key] for key in ends)
        return fact_id(self._scope.key, subject, view.predicate, value)

"""The one composer of what a session is given, for every client: recipe in, block out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, replace
from datetime import datetime

from codesynapse.domain.scope import Principal, Scope
from codesynapse.domain.sessions import Repository, Session
from codesynapse.domain.text import analyse, query_terms
from codesynapse.errors import Forbidden, Invalid
from codesynapse.recall.answer import FactView, join_duplicates
from codesynapse.recall.block import MAX_UNITS, Block, Item, Section, compose
from codesynapse.recall.code_tree import CodeTree
from codesynapse.recall.gate import judge
from codesynapse.recall.recipes import RECIPES, Moment, Part, Recipe
from codesynapse.service.access import FactDeps
from codesynapse.service.overruled import corrections, marked
from codesynapse.service.recall import search
from codesynapse.service.views import show_facts

__all__ = ["BlockOptions", "compose_block"]


_LOOKED_AT = 40  # facts of each scope that a prompt's answer is chosen from


@dataclass(frozen=True, slots=True)
class BlockOptions:
    """What a client knows and the store does not.

    ``given``: marks of what this session was given since its last compaction (``Block.given``,
    gathered by the caller).  ``shown_since``: what this session said from then on is still in its
    transcript; None when nobody can tell, and then nothing is held back.
    """

    given: Set[str] = frozenset()
    shown_since: datetime | None = None
    units: int | None = None
    tokens: int | None = None


def compose_block(
    deps: FactDeps,
    principal: Principal,
    session: Session | None,
    repo: Repository,
    moment: Moment | str,
    *,
    query: str | None = None,
    options: BlockOptions | None = None,
) -> Block:
    """What to give at this moment; an empty text when there is nothing worth saying.

    A closed session gets the repository's and the person's parts only.  Same store, local day and
    input, same bytes.  Raises Forbidden for a session of somebody else, and Invalid for a moment
    that is none.
    """
    if session is not None and session.user != principal.user:
        raise Forbidden("this session belongs to somebody else")
    asked = _Asked(deps, principal, session, repo, query or "", options or BlockOptions())
    recipe = _recipe(moment)
    views = list(_joined(asked, recipe))
    sections = [_section(asked, recipe, part, views) for part in recipe.parts]
    configured = deps.settings().block_characters
    units = min(MAX_UNITS, configured, asked.options.units or configured)
    return compose(
        [section for section in sections if section.items],
        units=units,
        tokens=asked.options.tokens,
    )


def _recipe(moment: Moment | str) -> Recipe:
    try:
        return RECIPES[Moment(moment)]
    except ValueError:
        raise Invalid(f"{moment!r} is no moment", "one of: " + ", ".join(Moment)) from None


@dataclass(frozen=True, slots=True)
class _Asked:
    """One call, as every step below needs it."""

    deps: FactDeps
    principal: Principal
    session: Session | None
    repo: Repository
    query: str
    options: BlockOptions

    def scope(self, part: Part) -> Scope | None:
        """Where a part's facts live; None for what has no facts here."""
        user = self.principal.user
        if part is Part.SESSION and self.session is not None and not self.session.state.closed:
            return Scope.session(self.session.id)
        if part is Part.CARRIED:
            return Scope.personal(user, self.repo.id)
        if part is Part.PERSONAL:
            return Scope.personal(user)
        return Scope.repository(self.repo.id) if part is Part.REPOSITORY else None

    def scopes(self) -> list[Scope]:
        """All that may be read here, nearest first."""
        parts = (Part.SESSION, Part.CARRIED, Part.PERSONAL, Part.REPOSITORY)
        return [scope for part in parts if (scope := self.scope(part)) is not None]

    def code(self) -> CodeTree | None:
        """The files that facts may name."""
        return CodeTree(self.repo.root) if self.repo.root else None


def _joined(asked: _Asked, recipe: Recipe) -> Iterator[tuple[Part, FactView]]:
    """Every view once, under the first part that has it; what was corrected since comes last."""
    user = asked.principal.user
    code = asked.code()
    found = [(part, view) for part in recipe.parts for view in _views(asked, recipe, part, code)]
    # A correction counts even where it is not shown again.
    corrected = corrections(asked.deps, asked.scopes(), [view for _, view in found], user)
    placed: dict[str, Part] = {}
    views: list[FactView] = []
    for part, view in found:
        if recipe.hides_shown and _is_shown(asked, view):
            continue
        if view.id in corrected and not view.scope.startswith("repository:"):
            continue
        placed.setdefault(view.key(user), part)
        views.append(view)
    for view in join_duplicates(marked(views, corrected), user):
        yield placed[view.key(user)], view


def _views(asked: _Asked, recipe: Recipe, part: Part, code: CodeTree | None) -> Iterable[FactView]:
    if part is Part.FOUND:
        return _found(asked)
    scope = asked.scope(part)
    if scope is None:
        return ()
    rows = asked.deps.store.facts.strongest(scope, recipe.per_part)
    return show_facts(asked.deps, scope, rows, code=code)


def _is_shown(asked: _Asked, view: FactView) -> bool:
    """Whether the turn that said this is still in front of the session."""
    session, since = asked.session, asked.options.shown_since
    if session is None or since is None or view.valid_from is None:
        return False
    own = view.source.session == session.id or view.source.origin == f"carried:{session.id}"
    return own and view.valid_from >= since


def _found(asked: _Asked) -> list[FactView]:
    """What is stored about a prompt: only facts that share enough words with it."""
    judged = judge(asked.query)
    if judged.reason is not None:
        return []
    result = search(asked.deps, asked.scopes(), judged.query, limit=_LOOKED_AT)
    about = _About(judged.query)
    return [view for view in result.views[: 2 * _LOOKED_AT] if about.meets(view)]


class _About:
    """What a prompt is about, to tell an answer from noise."""

    def __init__(self, query: str) -> None:
        self._terms = {term.text for term in query_terms(query)}
        self._words = set(analyse(query))
        self._enough = min(2, len(self._terms))

    def meets(self, view: FactView) -> bool:
        """Whether the prompt names an entity of the fact, or shares two of its words."""
        if len(self._terms & set(analyse(view.sentence))) >= self._enough:
            return True
        return any(self._names(name) for name in (view.subject, view.object))

    def _names(self, name: str) -> bool:
        words = set(analyse(name))
        # "User" is in every other fact and says nothing about a prompt.
        return bool(words & self._terms) and words <= self._words and name != "User"


def _section(
    asked: _Asked, recipe: Recipe, part: Part, views: list[tuple[Part, FactView]]
) -> Section:
    items = [_item(asked, view) for placed, view in views if placed is part]
    if recipe.only_new:
        items = [item for item in items if not item.marks & asked.options.given]
    return Section(part.value, tuple(items[: recipe.per_part]))


def _item(asked: _Asked, view: FactView) -> Item:
    writer = view.source.user
    if view.scope.startswith("repository:") and writer and writer != asked.principal.user:
        view = replace(view, qualifiers=(f"from {writer}", *view.qualifiers))
    return Item(view.sentence, view.notes(), view.ids, view.key(asked.principal.user))

"""The search that scores few documents gives what scoring all of them gives."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codesynapse.domain.scope import Scope
from codesynapse.domain.text import Term, analyse
from codesynapse.store.base import Hit
from codesynapse.store.sqlite import SqliteStore, open_store
from codesynapse.store.sqlite.scopes import scope_row
from codesynapse.store.sqlite.search import FACTS, Effort, Size, find
from tests.store.planning import fact, plan, write

# Some in nearly every document, some in few; some begin like others.
WORDS = (
    "app",
    "app",
    "app",
    "apparat",
    "cache",
    "cache",
    "cached",
    "redis",
    "redo",
    "kafka",
    "zoo",
)
NAMES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
SCOPES = count()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteStore]:
    with closing(open_store(tmp_path_factory.mktemp("search") / "store.db")) as store:
        yield store


def _filled(store: SqliteStore, pairs: Sequence[tuple[str, str]]) -> tuple[Scope, dict[str, str]]:
    """A scope with these facts, and their texts by id."""
    scope = Scope.session(f"s{next(SCOPES)}")
    rows = [fact(subject, "USES", object_) for subject, object_ in dict.fromkeys(pairs)]
    write(store, plan("b1", *rows), scope=scope)
    return scope, {row.id: row.id.replace("|", "\n") for row in rows}


def _found(
    store: SqliteStore, scope: Scope, terms: list[Term], limit: int, effort: Effort
) -> list[Hit]:
    with store._database.read() as connection:
        row = scope_row(connection, scope)
        assert row is not None
        size = Size(row.current_facts, row.fact_words)
        return find(connection, FACTS, row.number, size, terms, limit, effort)


def _every_score(texts: dict[str, str], terms: list[Term]) -> dict[str, float]:
    """BM25 with k1 = 1.2 and b = 0.75 of all documents that hold a term or a longer word."""
    words = {id_: analyse(text) for id_, text in texts.items()}
    usual = sum(map(len, words.values())) / len(words)
    scores = dict.fromkeys(words, 0.0)
    for term in dict.fromkeys(terms):
        whole = {id_: found.count(term.text) for id_, found in words.items()}
        longer = {
            id_: sum(word.startswith(term.text) for word in found) for id_, found in words.items()
        }
        for id_, found in words.items():
            worth, times = _rarity(whole, len(words)), whole[id_]
            if not times and term.prefix:
                worth, times = 0.5 * _rarity(longer, len(words)), longer[id_]
            damping = 1.2 * (0.25 + 0.75 * len(found) / usual)
            scores[id_] += worth * times * 2.2 / (times + damping)
    held = {id_ for id_, found in words.items() if any(_holds(found, term) for term in terms)}
    return {id_: scores[id_] for id_ in held}


def _rarity(times: dict[str, int], documents: int) -> float:
    holding = sum(map(bool, times.values()))
    return math.log1p((documents - holding + 0.5) / (holding + 0.5))


def _holds(words: list[str], term: Term) -> bool:
    return any(w == term.text or (term.prefix and w.startswith(term.text)) for w in words)


_terms = st.lists(
    st.builds(Term, st.sampled_from(sorted(set(analyse(" ".join(WORDS))))), st.booleans()),
    min_size=1,
    max_size=4,
    unique_by=lambda term: term.text,
)


@given(
    pairs=st.lists(st.tuples(NAMES, NAMES), min_size=1, max_size=40),
    terms=_terms,
    limit=st.integers(1, 12),
    common=st.integers(0, 8),
    first=st.integers(1, 6),
)
@settings(max_examples=80, deadline=None)
def test_the_best_are_those_of_scoring_everything(
    store: SqliteStore,
    pairs: list[tuple[str, str]],
    terms: list[Term],
    limit: int,
    common: int,
    first: int,
) -> None:
    scope, texts = _filled(store, pairs)
    hits = _found(store, scope, terms, limit, Effort(common, first, most=1_000))
    scores = _every_score(texts, terms)
    wanted = sorted(scores.values(), reverse=True)[:limit]
    assert [hit.score for hit in hits] == pytest.approx(wanted)
    assert [hit.score for hit in hits] == pytest.approx([scores[hit.id] for hit in hits])
    assert [hit.id for hit in hits] == [
        hit.id for hit in sorted(hits, key=lambda hit: (-hit.score, hit.id))
    ]
    assert len({hit.id for hit in hits}) == len(hits)


@given(
    pairs=st.lists(st.tuples(NAMES, NAMES), min_size=20, max_size=60),
    terms=_terms,
    limit=st.integers(1, 3),
    most=st.integers(4, 20),
)
@settings(max_examples=60, deadline=None)
def test_what_is_not_scored_any_more_has_no_higher_merit_than_what_was(
    store: SqliteStore, pairs: list[tuple[str, str]], terms: list[Term], limit: int, most: int
) -> None:
    terms = [Term(term.text) for term in terms]
    scope, texts = _filled(store, pairs)
    hits = _found(store, scope, terms, limit, Effort(common=1_000, first=2, most=most))
    scores = _every_score(texts, terms)
    assert len(hits) == min(limit, len(scores))
    assert [hit.score for hit in hits] == pytest.approx([scores[hit.id] for hit in hits])
    merits = {
        id_: sum(_merit(texts, term) for term in terms if term.text in analyse(texts[id_]))
        for id_ in scores
    }
    better = [id_ for id_ in scores if scores[id_] > hits[-1].score + 1e-9]
    missed = set(better) - {hit.id for hit in hits}
    least = sorted(merits.values(), reverse=True)[: max(most, 4 * limit)][-1]
    assert all(merits[id_] <= least + 1e-9 for id_ in missed)


def _merit(texts: dict[str, str], term: Term) -> float:
    return _rarity({id_: analyse(text).count(term.text) for id_, text in texts.items()}, len(texts))

"""Full-text search over entities and current facts.

Every indexed word carries the number of its scope (``12zredis``), so that a posting list holds
one scope and costs what that scope holds.  FTS5 tells which documents hold a word; they are scored
here, by BM25 with the counts of the scope alone.  The ranking follows from words and counts, never
from what other scopes hold.

Documents are scored in full in the order of their merit, the sum of what their words are worth,
until none that is left could be among the best: the result is that of scoring all.  The one
exception: after ``Effort.most`` documents no more are scored, so that of very many that hold the
same words, some that say them shortly may be missed.  None of those has a higher merit than any
that was scored.
"""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter
from typing import NamedTuple

from codesynapse.domain.text import MAX_TERMS, Term, analyse, is_word
from codesynapse.store.base import Hit
from codesynapse.store.sqlite.connection import index_errors
from codesynapse.store.sqlite.rows import json_list

__all__ = [
    "ENTITIES",
    "FACTS",
    "Effort",
    "Index",
    "Size",
    "entity_texts",
    "fact_texts",
    "find",
    "index_entities",
    "index_facts",
    "is_of_index",
    "stored_texts",
    "unindex",
]

_K1 = 1.2
_B = 0.75
_LONGER = 0.5  # what a longer word that only begins like the term counts


@dataclass(frozen=True, slots=True)
class Index:
    """One full-text table and its statements.

    Indexed words are read from the table that FTS5 keeps them in: the same rows, without setting
    up a full-text cursor for each.
    """

    table: str
    made: str
    drop: str
    check: str
    optimise: str
    match: str
    ids: str
    stored: str
    insert: str
    update: str
    delete: str
    count: str


class Size(NamedTuple):
    """How many documents and words an index holds of one scope."""

    documents: int
    words: int


ENTITIES = Index(
    table="entity_words",
    made="""CREATE VIRTUAL TABLE entity_words
            USING fts5 (words, tokenize = 'ascii', detail = none, columnsize = 0)""",
    drop="DROP TABLE IF EXISTS entity_words",
    check="INSERT INTO entity_words (entity_words) VALUES ('integrity-check')",
    optimise="INSERT INTO entity_words (entity_words) VALUES ('optimize')",
    match="SELECT json_group_array(rowid) FROM entity_words WHERE entity_words MATCH ?",
    ids="""SELECT e.number, e.id FROM json_each(?) AS wanted
        CROSS JOIN entities AS e ON e.number = wanted.value""",
    stored="""SELECT w.id, w.c0 FROM json_each(?) AS wanted
        CROSS JOIN entity_words_content AS w ON w.id = wanted.value""",
    insert="INSERT INTO entity_words (rowid, words) VALUES (?, ?)",
    update="UPDATE entity_words SET words = ?2 WHERE rowid = ?1",
    delete="DELETE FROM entity_words WHERE rowid = ?",
    count="UPDATE scopes SET entity_words = entity_words + ? WHERE number = ?",
)

FACTS = Index(
    table="fact_words",
    made="""CREATE VIRTUAL TABLE fact_words
            USING fts5 (words, tokenize = 'ascii', detail = none, columnsize = 0)""",
    drop="DROP TABLE IF EXISTS fact_words",
    check="INSERT INTO fact_words (fact_words) VALUES ('integrity-check')",
    optimise="INSERT INTO fact_words (fact_words) VALUES ('optimize')",
    match="SELECT json_group_array(rowid) FROM fact_words WHERE fact_words MATCH ?",
    ids="""SELECT f.number, f.id FROM json_each(?) AS wanted
        CROSS JOIN facts AS f ON f.number = wanted.value""",
    stored="""SELECT w.id, w.c0 FROM json_each(?) AS wanted
        CROSS JOIN fact_words_content AS w ON w.id = wanted.value""",
    insert="INSERT INTO fact_words (rowid, words) VALUES (?, ?)",
    update="UPDATE fact_words SET words = ?2 WHERE rowid = ?1",
    delete="DELETE FROM fact_words WHERE rowid = ?",
    count="UPDATE scopes SET fact_words = fact_words + ? WHERE number = ?",
)

_ENTITY_TEXT = """
    SELECT e.number, e.name, e.type,
        (SELECT group_concat(value, char(10)) FROM json_each(e.aliases))
    FROM json_each(?2) AS wanted
    CROSS JOIN entities AS e ON e.scope = ?1 AND e.id = wanted.value"""

_FACT_TEXT = """
    SELECT f.number, f.current, s.name, f.predicate, o.name
    FROM json_each(?2) AS wanted
    CROSS JOIN facts AS f ON f.scope = ?1 AND f.id = wanted.value
    LEFT JOIN entities AS s ON s.scope = f.scope AND s.id = f.subject_id
    LEFT JOIN entities AS o ON o.scope = f.scope AND o.id = f.object_id"""


def is_of_index(table: str) -> bool:
    """Whether a table belongs to the full-text index, which can be made anew."""
    return table.startswith((ENTITIES.table, FACTS.table))


def index_entities(connection: sqlite3.Connection, scope: int, ids: Iterable[str]) -> None:
    """Bring the words of these entities in line with their rows."""
    _bring(connection, ENTITIES, scope, entity_texts(connection, scope, ids))


def index_facts(connection: sqlite3.Connection, scope: int, ids: Iterable[str]) -> None:
    """Bring the words of these facts in line with their rows; only current ones have any."""
    _bring(connection, FACTS, scope, fact_texts(connection, scope, ids))


def entity_texts(connection: sqlite3.Connection, scope: int, ids: Iterable[str]) -> dict[int, str]:
    """What should be indexed of these entities, by number."""
    rows = connection.execute(_ENTITY_TEXT, (scope, json_list(ids)))
    return {number: _text(scope, *parts) for number, *parts in rows}


def fact_texts(connection: sqlite3.Connection, scope: int, ids: Iterable[str]) -> dict[int, str]:
    """What should be indexed of these facts, by number: nothing of closed ones."""
    rows = connection.execute(_FACT_TEXT, (scope, json_list(ids)))
    return {number: _text(scope, *parts) if now else "" for number, now, *parts in rows}


def stored_texts(
    connection: sqlite3.Connection, index: Index, numbers: Iterable[int]
) -> dict[int, str]:
    """What is indexed of these rows."""
    with index_errors():
        return dict(connection.execute(index.stored, (_list(numbers),)))


def unindex(
    connection: sqlite3.Connection, index: Index, scope: int, numbers: Iterable[int]
) -> None:
    """Take the words of these rows out; before the rows go."""
    _bring(connection, index, scope, dict.fromkeys(numbers, ""))


def _list(numbers: Iterable[int]) -> str:
    return f"[{','.join(map(str, numbers))}]"


def _text(scope: int, *parts: str | None) -> str:
    # A line each: neighbours do not cross from one part to the next.
    words = analyse("\n".join(part for part in parts if part))
    return " ".join(f"{scope}z{word}" for word in words)


def _bring(
    connection: sqlite3.Connection, index: Index, scope: int, wanted: Mapping[int, str]
) -> None:
    if not wanted:
        return
    stored = stored_texts(connection, index, wanted)
    more = 0
    for number, text in wanted.items():
        before = stored.get(number, "")
        if text == before:
            continue
        with index_errors():
            if not text:
                connection.execute(index.delete, (number,))
            else:
                connection.execute(index.update if before else index.insert, (number, text))
        more += len(text.split()) - len(before.split())
    if more:
        connection.execute(index.count, (more, scope))


class Effort(NamedTuple):
    """How far a search goes. Documents that hold only words in more than ``common`` documents

    are looked at when others do not suffice; ``first`` documents are scored before asking whether
    others could be better, and ``most`` at all, or four times what is wanted if that is more.
    """

    common: int = 1_000
    first: int = 128
    most: int = 1_024


class _Sought(NamedTuple):
    """A term as it is spelled in the index, and what a match is worth."""

    begins: str  # the word after a space
    exact: str  # the word between two spaces
    whole: float
    longer: float  # 0 when longer words do not count


class _Held(NamedTuple):
    """A term and who holds it, as JSON: most are never looked at one by one."""

    sought: _Sought
    holding: str
    beginning: str  # longer words than the term


class _Search(NamedTuple):
    """Where a search looks, and how many hits it wants."""

    connection: sqlite3.Connection
    where: Index
    size: Size
    limit: int
    effort: Effort

    def holding(self, expression: str) -> str:
        """The documents that match."""
        with index_errors():
            found: str = self.connection.execute(self.where.match, (expression,)).fetchone()[0]
        return found

    def most(self) -> int:
        """How many documents are scored at most."""
        return max(self.effort.most, 4 * self.limit)


def find(
    connection: sqlite3.Connection,
    index: Index,
    scope: int,
    size: Size,
    terms: Sequence[Term],
    limit: int,
    effort: Effort = Effort(),  # noqa: B008 (a constant)
) -> list[Hit]:
    """The best ``limit`` documents of a scope that hold any of the terms, best first."""
    if limit <= 0 or not size.documents:
        return []
    search = _Search(connection, index, size, limit, effort)
    words = {f"{scope}z{t.text}": t.prefix for t in terms[:MAX_TERMS] if is_word(t.text)}
    held = [_look_up(search, word, prefix) for word, prefix in words.items()]
    return _named(search, _best(search, [one for one in held if one]))


def _look_up(search: _Search, word: str, prefix: bool) -> _Held | None:
    """Who holds a term, or words that begin like it unless the term itself is in plenty."""
    holding = search.holding(f'"{word}"')
    count = _length(holding)
    whole, longer, beginning = _rarity(count, search.size.documents), 0.0, "[]"
    if prefix and count < search.most():
        beginning = search.holding(f'"{word}"*')
        longer = _LONGER * _rarity(_length(beginning), search.size.documents)
    if not count and not _length(beginning):
        return None
    return _Held(_Sought(f" {word}", f" {word} ", whole, longer), holding, beginning)


def _length(numbers: str) -> int:
    return numbers.count(",") + 1 if len(numbers) > 2 else 0


def _best(search: _Search, held: Sequence[_Held]) -> dict[int, float]:
    """The scores of the best documents, by number, and of others that were looked at."""
    sought = [one.sought for one in held]
    common = [one for one in held if _length(one.holding) > search.effort.common]
    scores: dict[int, float] = {}
    merits: dict[int, float] = {}
    for one in held:
        if one not in common:
            _add(merits, one)
    # Whoever holds only common words can have no more than these are worth together.
    besides = sum(one.sought.whole for one in common)
    _score_best(search, sought, merits, besides, scores)
    if _promise(search, besides) > _worst(search, scores):
        for one in common:
            _add(merits, one)
        _score_best(search, sought, merits, 0.0, scores)
    return scores


def _score_best(
    search: _Search,
    sought: Sequence[_Sought],
    merits: Mapping[int, float],
    besides: float,
    scores: dict[int, float],
) -> None:
    """Score documents, those of the highest merit first, while others could be better."""
    ranked = sorted(reversed(list(merits.items())), key=itemgetter(1), reverse=True)  # newest first
    rest = islice(ranked, search.most())
    more = max(search.effort.first, search.limit)
    while batch := list(islice(rest, more)):
        worst = _worst(search, scores)
        new = [n for n, merit in batch if _promise(search, merit + besides) >= worst]
        _score(search, sought, [number for number in new if number not in scores], scores)
        if len(new) < len(batch):
            return


def _promise(search: _Search, merit: float) -> float:
    """More than any document of this merit can score.

    A word that is said n times makes the document n words long, which bounds what it gains.
    """
    return merit * (_K1 + 1) / (1 + _K1 * _B / _usual(search.size))


def _worst(search: _Search, scores: Mapping[int, float]) -> float:
    """The lowest score among the best so far; 0 while there are fewer than wanted."""
    if len(scores) < search.limit:
        return 0.0
    return sorted(scores.values(), reverse=True)[search.limit - 1]


def _named(search: _Search, scores: Mapping[int, float]) -> list[Hit]:
    """The best as hits; among equals the ids decide."""
    worst = _worst(search, scores)
    best = [number for number, score in scores.items() if score >= worst]
    rows = search.connection.execute(search.where.ids, (_list(best),))
    hits = [Hit(id_, scores[number]) for number, id_ in rows]
    return sorted(hits, key=lambda hit: (-hit.score, hit.id))[: search.limit]


def _add(merits: dict[int, float], held: _Held) -> None:
    worth = held.sought.whole
    holding = json.loads(held.holding)
    for number in holding:
        merits[number] = merits.get(number, 0.0) + worth
    worth = held.sought.longer
    for number in set(json.loads(held.beginning)).difference(holding):
        merits[number] = merits.get(number, 0.0) + worth


def _rarity(holding: int, documents: int) -> float:
    """What a word is worth that this many documents hold; never below zero."""
    return math.log1p(max(documents - holding + 0.5, 0.0) / (holding + 0.5))


def _usual(size: Size) -> float:
    return size.words / size.documents or 1.0


def _score(
    search: _Search, sought: Sequence[_Sought], numbers: Iterable[int], scores: dict[int, float]
) -> None:
    """Add the scores of these documents."""
    usual = _usual(search.size)
    for number, text in stored_texts(search.connection, search.where, numbers).items():
        scores[number] = score(text, sought, usual)


def score(text: str, sought: Sequence[_Sought], usual: float) -> float:
    """BM25 of one document; a longer word counts only where the term itself does not occur."""
    spaced = f" {text.replace(' ', '  ')} "  # every word between spaces of its own
    damping = _K1 * (1 - _B + _B * (text.count(" ") + 1) / usual)
    total = 0.0
    for begins, exact, whole, longer in sought:
        times = spaced.count(exact)
        if times:
            total += whole * times * (_K1 + 1) / (times + damping)
        elif longer and begins in spaced:
            times = spaced.count(begins)
            total += longer * times * (_K1 + 1) / (times + damping)
    return total

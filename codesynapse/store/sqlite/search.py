"""Full-text search over entities and current facts.

Every indexed word carries the number of its scope (``12zredis``), so that a posting list holds
one scope and costs what that scope holds.  FTS5 finds candidates; they are scored here, by BM25
with the counts of the scope alone.  The ranking follows from words and counts, never from what
other scopes hold.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from typing import NamedTuple

from codesynapse.domain.text import MAX_TERMS, Term, analyse, is_word
from codesynapse.store.base import Hit
from codesynapse.store.sqlite.rows import json_list

__all__ = [
    "ENTITIES",
    "FACTS",
    "Index",
    "Size",
    "entity_texts",
    "fact_texts",
    "find",
    "index_entities",
    "index_facts",
    "stored_texts",
    "unindex",
]

_K1 = 1.2
_B = 0.75
_LONGER = 0.5  # what a longer word that only begins like the term counts
_COMMON = 1_000  # a word in more documents than these tells little
_FEWEST = 256  # candidates that are scored in full
_MOST = 512  # the same, where many are equally good at first sight


@dataclass(frozen=True, slots=True)
class Index:
    """The statements of one full-text table.

    Indexed words are read from the table that FTS5 keeps them in: the same rows, without setting
    up a full-text cursor for each.
    """

    match: str
    candidates: str
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
    match="SELECT rowid FROM entity_words WHERE entity_words MATCH ? LIMIT ?",
    candidates="""
        SELECT e.id, w.c0 FROM json_each(?) AS wanted
        CROSS JOIN entities AS e ON e.number = wanted.value
        CROSS JOIN entity_words_content AS w ON w.id = e.number""",
    stored="""SELECT w.id, w.c0 FROM json_each(?) AS wanted
        CROSS JOIN entity_words_content AS w ON w.id = wanted.value""",
    insert="INSERT INTO entity_words (rowid, words) VALUES (?, ?)",
    update="UPDATE entity_words SET words = ?2 WHERE rowid = ?1",
    delete="DELETE FROM entity_words WHERE rowid = ?",
    count="UPDATE scopes SET entity_words = entity_words + ? WHERE number = ?",
)

FACTS = Index(
    match="SELECT rowid FROM fact_words WHERE fact_words MATCH ? LIMIT ?",
    candidates="""
        SELECT f.id, w.c0 FROM json_each(?) AS wanted
        CROSS JOIN facts AS f ON f.number = wanted.value
        CROSS JOIN fact_words_content AS w ON w.id = f.number""",
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
        if not text:
            connection.execute(index.delete, (number,))
        else:
            connection.execute(index.update if before else index.insert, (number, text))
        more += len(text.split()) - len(before.split())
    if more:
        connection.execute(index.count, (more, scope))


class _Sought(NamedTuple):
    """A term as it is spelled in the index, and what a match is worth."""

    word: str
    whole: float
    longer: float  # 0 when longer words do not count


class _Search(NamedTuple):
    """Where a search looks."""

    connection: sqlite3.Connection
    index: Index
    documents: int

    def holding(self, expression: str, limit: int = -1) -> list[int]:
        """The documents that match; -1 is no limit."""
        rows = self.connection.execute(self.index.match, (expression, limit))
        return [number for (number,) in rows]


def find(
    connection: sqlite3.Connection,
    index: Index,
    scope: int,
    size: Size,
    terms: Sequence[Term],
    limit: int,
) -> list[Hit]:
    """The best ``limit`` documents of a scope that hold any of the terms, best first."""
    if limit <= 0 or not size.documents:
        return []
    words = {f"{scope}z{t.text}": t.prefix for t in terms[:MAX_TERMS] if is_word(t.text)}
    wanted = max(_FEWEST, 8 * limit)
    search = _Search(connection, index, size.documents)
    sought, merits = _look_up(search, words, wanted)
    rows = connection.execute(index.candidates, (_list(_candidates(merits, wanted)),))
    usual = size.words / size.documents or 1.0
    hits = [Hit(id_, _score(text, sought, usual)) for id_, text in rows]
    return sorted(hits, key=lambda hit: (-hit.score, hit.id))[:limit]


def _look_up(
    search: _Search, words: Mapping[str, bool], wanted: int
) -> tuple[list[_Sought], dict[int, float]]:
    """What each term is worth, and what every promising document promises.

    A word that very many documents hold brings no candidates when rarer ones bring enough: it
    counts in the score of those all the same.
    """
    sought: list[_Sought] = []
    merits: dict[int, float] = {}
    common: list[_Sought] = []
    for word, prefix in words.items():
        holding = search.holding(f'"{word}"', _COMMON + 1)
        if len(holding) > _COMMON:
            found = _Sought(word, _rarity(len(search.holding(f'"{word}"')), search.documents), 0.0)
            common.append(found)
        else:
            longer = _longer(search, word, holding, merits) if prefix else 0.0
            found = _Sought(word, _rarity(len(holding), search.documents), longer)
            _add(merits, holding, found.whole)
        sought.append(found)
    if len(merits) < wanted:
        for found in common:
            _add(merits, search.holding(f'"{found.word}"'), found.whole)
    return sought, merits


def _longer(search: _Search, word: str, holding: Sequence[int], merits: dict[int, float]) -> float:
    """What a longer word is worth that begins like this one; 0 when enough hold the word itself."""
    if len(holding) >= _FEWEST:
        return 0.0
    beginning = search.holding(f'"{word}"*')
    worth = _LONGER * _rarity(len(beginning), search.documents)
    _add(merits, set(beginning).difference(holding), worth)
    return worth


def _add(merits: dict[int, float], numbers: Iterable[int], worth: float) -> None:
    for number in numbers:
        merits[number] = merits.get(number, 0.0) + worth


def _rarity(holding: int, documents: int) -> float:
    """What a word is worth that this many documents hold; never below zero."""
    return math.log1p(max(documents - holding + 0.5, 0.0) / (holding + 0.5))


def _candidates(merits: Mapping[int, float], wanted: int) -> list[int]:
    """The most promising documents, and those that promise the same as the last of them."""
    if len(merits) <= wanted:
        return list(merits)
    best = nlargest(max(wanted, _MOST), ((merit, number) for number, merit in merits.items()))
    least = best[wanted - 1][0]
    return [number for merit, number in best if merit >= least]


def _score(text: str, sought: Sequence[_Sought], usual: float) -> float:
    words = text.split()
    padded = f" {text}"
    damping = _K1 * (1 - _B + _B * len(words) / usual)
    score = 0.0
    for word, whole, longer in sought:
        times, worth = words.count(word), whole
        if not times and longer:
            times, worth = padded.count(f" {word}"), longer
        if times:
            score += worth * times * (_K1 + 1) / (times + damping)
    return score

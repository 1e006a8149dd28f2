"""Text as it is compared and searched: normal forms, words and query terms.

``analyse`` makes the words of an index, ``query_terms`` those of a search, and both agree: what
was written is found by the same words, by another case or number of them, by a part of an
identifier, and in scripts without spaces by any two neighbouring characters.  Any text is safe:
words hold only letters, digits and marks, in lower case, at most 64 of them.

A change of what ``analyse`` returns needs a new ``ANALYSIS``, so that stores index again.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

__all__ = [
    "ANALYSIS",
    "MAX_TERMS",
    "MAX_WORD",
    "MIN_PREFIX",
    "Term",
    "analyse",
    "is_word",
    "normalise",
    "query_terms",
]

ANALYSIS = 1
MAX_WORD = 64
MIN_PREFIX = 3
MAX_TERMS = 256

_MAX_QUERY = 20_000  # characters looked at; far above what recall lets through

# Words of one identifier hang together by these; apostrophes are within a word.
_JOINED = re.compile(r"[^\W_]+(?:[-_./:\\@'’]+[^\W_]+)*")
_SINGLE = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_APOSTROPHES = re.compile("['’]")
_POSSESSIVE = re.compile(r"['’][sS]$")
_LANGUAGES = re.compile(r"(?<![^\W_])([A-Za-z])(\+\+|#)(?![^\W_])")
_LANGUAGE_NAMES = {"++": "plusplus", "#": "sharp"}

# Scripts that are written without spaces, or with particles hanging on the word.
_UNSPACED = re.compile(
    "["
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
    "\u3005-\u3007\u3040-\u30ff\u3100-\u312f\u31a0-\u31bf\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\u1100-\u11ff"
    "\U00020000-\U0003ffff"
    "]+"
)

_SAYS_NOTHING = """
a about all am an and any are as at be been but by can could did do does doing for from had
has have having he her him his how i if in into is it its just may me might my of on or our
please shall she should so some such than that the their them then there these they this
those to too us was we were what when where which who whom whose why will with would you
your arent cant couldnt didnt doesnt dont hadnt hasnt havent im isnt ive lets shouldnt thats
theres theyre wasnt weve werent whats wont wouldnt youre youve
"""
_STOP_WORDS = frozenset(_SAYS_NOTHING.split())

_IRREGULAR = {"embed": "embed", "used": "use", "using": "use"}


class Term(NamedTuple):
    """One word of a query, analysed as the index is. ``prefix`` also matches longer words."""

    text: str
    prefix: bool = False


def normalise(text: str) -> str:
    """What two spellings of one text share: NFKC, case folded, single spaces."""
    while True:
        folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
        folded = " ".join(folded.split())
        if folded == text:
            return folded
        text = folded


def analyse(text: str) -> list[str]:
    """The words to index, in order, repeated as often as they occur.

    An identifier gives its parts and itself without punctuation (``fooBar`` and ``foo_bar`` both
    give ``foo``, ``bar``, ``foobar``); an unspaced run gives its characters and neighbours.
    """
    words: list[str] = []
    for piece in _pieces(text):
        if _UNSPACED.match(piece):
            words += piece
            words += _bigrams(piece)
        else:
            words += _identifier(piece)
    return words


def query_terms(text: str) -> list[Term]:
    """The terms to search for, each once, at most 256: stop words go unless nothing is left."""
    terms: dict[Term, None] = {}
    stopped: dict[Term, None] = {}
    for piece in _pieces(text[:_MAX_QUERY]):
        if _UNSPACED.match(piece):
            found = [Term(pair) for pair in _bigrams(piece)] or [Term(piece)]
            terms.update(dict.fromkeys(found))
        else:
            words = dict.fromkeys(Term(word, _takes_prefix(word)) for word in _identifier(piece))
            (stopped if _is_stop_word(piece) else terms).update(words)
        if len(terms) >= MAX_TERMS:
            break
    return list(terms or stopped)[:MAX_TERMS]


def is_word(text: str) -> bool:
    """Whether ``analyse`` could give this word: nothing in it means anything to a search engine."""
    return 0 < len(text) <= MAX_WORD and text.isalnum()


def _is_stop_word(piece: str) -> bool:
    return _APOSTROPHES.sub("", piece.lower()) in _STOP_WORDS


def _takes_prefix(word: str) -> bool:
    return len(word) >= MIN_PREFIX and not word.isdigit()


def _pieces(text: str) -> Iterator[str]:
    """Unspaced runs, and identifiers with their punctuation, in the order of the text."""
    for joined in _JOINED.findall(_plain(text)):
        at = 0
        for run in _UNSPACED.finditer(joined):
            yield from _JOINED.findall(joined[at : run.start()])
            yield run.group()
            at = run.end()
        yield from _JOINED.findall(joined[at:])


def _plain(text: str) -> str:
    """NFKC without accents, marks or invisible characters, and with names like C++ spelled out."""
    if not text.isascii():
        # Compatibility forms go first, case later: the humps of an identifier tell its parts.
        text = unicodedata.normalize("NFKD", text)
        text = "".join(c for c in text if not _is_dropped(c))
        text = unicodedata.normalize("NFKC", text)
    return _LANGUAGES.sub(lambda found: found[1] + _LANGUAGE_NAMES[found[2]], text)


def _is_dropped(character: str) -> bool:
    # Accents of letters are optional to whoever searches; vowel signs of Asian scripts are not,
    # but they are no word characters to ``re`` and would cut words apart.
    if "\u3099" <= character <= "\u309a":  # the voicing marks of kana make another letter
        return False
    return unicodedata.category(character) in ("Mn", "Mc", "Me", "Cf", "Cs")


def _bigrams(run: str) -> list[str]:
    return [first + second for first, second in pairwise(run)]


def _identifier(piece: str) -> list[str]:
    parts = [
        hump
        for single in _SINGLE.findall(piece)
        for hump in _CAMEL.split(_APOSTROPHES.sub("", _POSSESSIVE.sub("", single)))
    ]
    words = [_word(part) for part in parts]
    if len(parts) > 1:
        words.append(_word("".join(parts)))
    return [word for word in words if word]


def _word(part: str) -> str:
    folded = part.casefold()
    if not folded.isascii():  # folding may bring marks back (dotted capital I)
        folded = unicodedata.normalize("NFKC", folded)
        folded = "".join(c for c in folded if c.isalnum())
    return _stem(folded[:MAX_WORD])


def _stem(word: str) -> str:
    """English number, -ed or -ing, then a silent e taken off; light, and the same on both sides."""
    if not (word.isascii() and word.isalpha()):
        return word
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    word = _without_tense(_without_number(word))
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


def _without_number(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("xes", "ches", "shes", "sses", "zzes")) and len(word) > 4:
        return word[:-2]
    if word.endswith("s") and len(word) > 3 and word[-2] not in "sui":
        return word[:-1]
    return word


def _without_tense(word: str) -> str:
    for ending in ("ing", "ed"):
        stem = word.removesuffix(ending)
        if stem != word and len(stem) >= 3 and stem[-1] != "e" and any(c in "aeiouy" for c in stem):
            doubled = len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "lsz"
            return stem[:-1] if doubled else stem
    return word

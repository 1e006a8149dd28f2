"""How a correction opens ("Correction:", "since last week"), and what marks an addition.

What stands behind the opening is said like any other statement, so it is read like one.
"""

from __future__ import annotations

import re

from codesynapse.extraction.builtin.lexicon import MONTHS, WEEKDAYS

__all__ = ["adds", "changes", "opened", "shares"]

_CORRECTION = re.compile(
    r"^(?:(?:ok|okay|ah|oh|oops|ups|whoops|hm+|sorry|wait|actually|well|my (?:bad|mistake)"
    r"|one|a|small|quick|minor|important|slight|little)[ ,.!:;…—–-]+)*"
    r"(?:correction|corrigendum|erratum|update|edit|rectification|korrektur|corrección|correção"
    r"|correctie)(?: (?:to|on|about|of) (?:what i (?:said|wrote)|my (?:last|previous|earlier)"
    r" (?:message|note|point)|that|the above|earlier))?\s*(?:[:：—–,]|\s-)\s*(?=\S)",
    re.I,
)
_NO = re.compile(
    r"^(?:(?:ok|okay|ah|oh|oops|whoops|hm+|sorry|wait|well|hang on|hold on)[ ,.!:;…—–-]+)*"
    r"(?:actually,?(?: no)?|no,? (?:wait|actually|sorry|correction)|wait,? no|no no|nope"
    r"|no)\s*[,.!:;…—–]+\s*(?=\S)",
    re.I,
)
_SINCE = re.compile(
    r"^(?:(?:it is |that is )?(?:now )?)?(?:since|as of|starting|beginning|effective|from|with"
    r" effect from) (?:(?:the |this |last |next |early |late |mid )*"
    rf"(?:week|month|quarter|year|sprint|release|today|yesterday|now(?: on)?|{MONTHS}(?: \d+)?"
    rf"|{WEEKDAYS}|monday|\d{{4}}-\d\d-\d\d)(?: on)?)\s*,?\s+(?=\S+ \S)",
    re.I,
)
_ADDS = re.compile(
    r"\b(?:also|too|as well|likewise|additionally|in addition|on top of|besides|along ?side"
    r"|another|a second|second one|both|either|auch|außerdem|aussi|également|también|também"
    r"|ook)\b|也|还",
    re.I,
)
_CHANGES = re.compile(
    r"\b(?:now|nowadays|these days|from now on|going forward|as of|since (?:last|this|the|today"
    r"|yesterday|\d|(?-i:[A-Z]))|no longer|any ?more|instead|has moved|have moved|moved|switched"
    r"|migrated|changed|replaced|upgraded|downgraded|back (?:to|on)|after all|new (?:owner|port"
    r"|home|place|url|version)|jetzt|inzwischen|nicht mehr|ahora|ya no|désormais|maintenant|agora"
    r"|voortaan)\b",
    re.I,
)
# Who reviews or answers questions need not be the one who owns.
_SHARES = re.compile(
    r"\b(?:reviews?|approves?|signs? off|gatekeeps?|ask|ping|talk to|bug|go to|check with"
    r"|co-?owns?|helps?|shares?|together)\b",
    re.I,
)


def opened(text: str) -> tuple[str, bool]:
    """The sentence without the opening of a correction, and whether it had one."""
    rest, corrects = text, False
    for pattern in (_NO, _CORRECTION, _NO):
        shorter = pattern.sub("", rest, count=1)
        corrects = corrects or shorter != rest
        rest = shorter
    return _SINCE.sub("", rest, count=1), corrects


def adds(text: str) -> bool:
    """Whether a sentence gives its value beside others that hold already."""
    return bool(_ADDS.search(text))


def shares(text: str) -> bool:
    """Whether it names somebody beside an owner: a reviewer, one to ask."""
    return bool(_SHARES.search(text))


def changes(text: str) -> bool:
    """Whether a sentence says that it is so now, and was otherwise before."""
    return bool(_CHANGES.search(text))

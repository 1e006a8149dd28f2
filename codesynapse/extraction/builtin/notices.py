"""Notices: what to be careful with, and when something is due, starts or ends."""

from __future__ import annotations

import re
from collections.abc import Sequence

from codesynapse.extraction.builtin import gates
from codesynapse.extraction.builtin.clauses import PROJECT, Clause, Draft, Talk, resolve
from codesynapse.extraction.builtin.phrases import DATE, specific, trim

__all__ = ["deadlines", "warnings"]

_SAFE_ONE = re.compile(
    r"^(?:the )?(?:one|version|variant|helper|copy|hook|function|module) (?P<o>(?:in"
    r"|from|at|under) \S.*?) (?:is|are|works) (?:fine|ok|okay|safe|good|correct|the "
    r"(?:right|real|good|correct|safe) one|what you want)\b",
    re.I,
)


_WARN = re.compile(
    r"\b(?:careful|watch out|beware|heads up|caution|gotcha|warning|don't be fooled"
    r"|trap|mind that|burned us|bit us|bitten|achtung|ojo|attention|"
    r"cuidado|let op|atenção|pass auf|vorsicht|faites gaffe|fais gaffe)\b|小心|注意|気をつけ"
    r"|坑",
    re.I,
)


_WARNED_OF = re.compile(
    r"^(?:with|about|of|around)? ?(?P<s>(?:[^\s,;:]+ ){0,4}?[^\s,;:]+)[:,]? (?:it "
    r"|they |that |which )?(?P<o>(?:leaks?|mutates?|duplicates?|wipes?|"
    r"swallows?|deletes?|drops?|overwrites?|invalidates?|blocks?|ignores?|truncates?"
    r"|breaks?|corrupts?|throws?|rejects?|resets?|"
    r"double-?\w+s?|returns?|silently|hangs?|never|always|only|is|are|caches?"
    r"|retries?|fires?|sends?|loses?|rounds?|runs?|takes?|"
    r"needs?|fails?|doesn't|does not|can't|will|expects?|costs?|restarts?|converts?"
    r"|strips?|locks?|has|have)\b.*)$",
    re.I,
)


_DEADLINE = re.compile(
    rf"^(?P<s>(?:[^\s,;]+ ){{0,6}}?[^\s,;]+?) (?:(?:is|are|must be|has to be|have to "
    rf"be|needs to be|gets|get|will be|has to|must|needs to|should|goes|go|is going|"
    rf"is to be) )?(?P<v>due|finish\w*|frozen|freezes?|done|ready|switched off|shut "
    rf"down|turned off|out|live|deadline|ends?|starts?|ships?|launch(?:es)?|merged|"
    rf"delivered|over|retired|gone|removed|deprecated|eol|end of life|expires?"
    rf"|scheduled|planned|closes?|lands?) ?(?P<o>(?:for|on|by|before|at|until|till"
    rf"|til|from|after|in|around)? ?(?:the )?(?:end of )?{DATE}.*)$",
    re.I,
)


def warnings(clause: Clause, talk: Talk) -> Sequence[Draft]:
    """Such as "careful with X, it leaks": what X does to those who do not know."""
    sentence = clause.sentence.text
    safe = _SAFE_ONE.match(clause.text)
    if safe and specific(safe.group("o")) and (what := trim(safe.group("o"))):
        return [Draft(talk.topic or PROJECT, "USES", f"the one {what}", 0.84)]
    if not _WARN.search(sentence[:40]) or gates.unreal(clause.text):
        return ()
    text = re.sub(
        r"^(?:be )?(?:careful|watch out|beware|caution|cuidado|mind)(?: that)?[:,]? ?",
        "",
        clause.text,
        flags=re.I,
    )
    text = re.sub(r"^(?:with|about|of|for|around) (?:the )?", "", text, flags=re.I)
    found = _WARNED_OF.match(text)
    if not found:
        return ()
    who, what = resolve(found.group("s"), talk), trim(found.group("o"))
    return [Draft(who, "CAUTION", what, 0.84)] if who and what and len(what.split()) > 1 else ()


def deadlines(clause: Clause, talk: Talk) -> Sequence[Draft]:
    """Such as "X is due DATE", "X must finish before TIME", "X gets switched off DATE"."""
    found = _DEADLINE.match(clause.text)
    if not found:
        return ()
    who = resolve(found.group("s"), talk)
    what = trim(found.group("o"), 8)
    if who is None or what is None or who == PROJECT:
        return ()
    verb = found.group("v").casefold()
    what = re.sub(r"^(?:on|by|for|at) (?:the )?", "", what, flags=re.I)
    predicate = "STARTS_ON" if verb.startswith(("start", "launch", "live")) else "DUE_ON"
    if verb.startswith(
        (
            "switched",
            "shut",
            "turned",
            "end",
            "retired",
            "expire",
            "removed",
            "eol",
            "gone",
            "over",
            "close",
        )
    ):
        predicate = "ENDS_ON"
    return [Draft(who, predicate, what, 0.88)]

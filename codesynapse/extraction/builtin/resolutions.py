"""Decisions that are announced as such: "we decided to …", "it was agreed that …"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from codesynapse.extraction.builtin import gates
from codesynapse.extraction.builtin.clauses import PROJECT, Clause, Draft, Talk
from codesynapse.extraction.builtin.phrases import is_pronoun, specific, subject, trim

__all__ = ["resolutions"]

_ANNOUNCED = re.compile(
    r"^(?:(?:so|then|and|ok|finally|as of now|in the end|yesterday|last \w+|today|after all"
    r"|in the meeting|at standup|for the record|just|fyi)[ ,]+)*"
    r"(?:(?:we|i|the team|my team|our team|everyone|everybody|us)"
    r"(?: (?:have|had|all|both|finally|just|now|also|already|then|recently|did))*"
    r" (?:decided?|agreed?|resolved|settled|committed|opted|concluded|chose|voted|determined)"
    r"|(?:it (?:is|was|has been|got)|that is) (?:now |finally )?(?:decided|agreed|settled)"
    r"|(?:the |our |my |final )*(?:decision|agreement|consensus|resolution|plan of record)"
    r"(?: (?:is|was)|:))"
    r",?(?P<against> not| against)? (?P<link>to|on|that|for|upon|in favou?r of|against|not to)"
    r" (?P<rest>\S.*)$",
    re.I,
)
_WE = re.compile(r"^(?:we|i|it|the team)(?:'ll| will| should| are going to| shall| would)? ", re.I)
_TAKING = re.compile(
    r"^(?:(?:keep|go|stay|stick|continue|start|be) (?:on |with )?)?"
    r"(?:us(?:e|ing|es)|adopt(?:ing|s)?|tak(?:e|ing)|pick(?:ing)?|choos(?:e|ing)|go(?:ing)? with"
    r"|switch(?:ing)? to|mov(?:e|ing) to|migrat(?:e|ing) to|stick(?:ing)? (?:with|to)"
    r"|standardi[sz](?:e|ing) on|rely(?:ing)? on|build(?:ing)? on|stay(?:ing)? (?:with|on)) "
    r"(?P<o>\S.*)$",
    re.I,
)
_PURPOSE = re.compile(
    r"^(?P<o>\S.*?) (?:for|in|on|as) (?:the |our |all |every |each |a |an |its )?"
    r"(?P<t>(?:[^\s,;:?]+ ){0,4}?[^\s,;:?]+)$",
    re.I,
)
# What a rule is made of. Other things people decide to do are done once, and then done.
_LASTING = re.compile(
    r"^(?:always |never |only |not )?(?:store|keep|support|run|require|allow|name|represent|treat"
    r"|avoid|ship|release|deploy|host|expose|return|log|cache|encrypt|version|split|replace|have"
    r"|enforce|pin|sign|serve|generate|handle|follow|format|target|accept|reject|send|write|put"
    r"|forbid|ban|limit|cap|default|drop|freeze|disable|enable|prefer|document|review|tag|prefix"
    r"|separate|share|charge|bill|round|count|measure|track|mark|delete|archive|expire|rotate"
    r"|validate|authenticate|authori[sz]e|call|model|map|index|partition|shard|test|mock|lint"
    r"|commit|squash|rebase|merge|gate|hide|show|render|translate|locali[sz]e|escape|quote"
    r"|own|maintain|publish|emit|retry|batch|stream|poll|queue|persist|compress|sync|design"
    r"|be|make)s? ",
    re.I,
)
_VAGUE = re.compile(
    r"^(?:(?:it|that|this|them|something|nothing|things?|one|so|otherwise|later|first)\b"
    r"|(?:make|be|keep|have|do|run|write|put) (?:it|that|this|them|sure|do|going|an? |some)\b)",
    re.I,
)
_MOST_WORDS = 12


def resolutions(clause: Clause, talk: Talk) -> Sequence[Draft]:
    """What was decided, of the thing it was decided for, else of the project."""
    del talk
    found = _ANNOUNCED.match(clause.text)
    if not found or gates.unreal(clause.text) or gates.one_off(found.group("rest")):
        return ()
    rest = _WE.sub("", found.group("rest"))
    if found.group("against") or found.group("link").casefold() in ("against", "not to"):
        return _against(rest)
    taking = _TAKING.match(rest)
    if taking:
        return _taken(taking.group("o"))
    link = found.group("link").casefold()
    if link == "to" and not _LASTING.match(rest):
        return ()
    return _ruled(rest, named=link in ("on", "for", "upon", "in favor of", "in favour of"))


def _taken(tail: str) -> Sequence[Draft]:
    purpose = _PURPOSE.match(tail)
    who = subject(purpose.group("t"), 5) if purpose else None
    what = trim(purpose.group("o") if purpose and who else tail, 8)
    if what is None or _VAGUE.match(what) or is_pronoun(what):
        return ()
    return [Draft(who or PROJECT, "DECIDED", what, 0.9, replace=True)]


def _ruled(rest: str, *, named: bool) -> Sequence[Draft]:
    if named:
        return _taken(rest)
    what = trim(rest, _MOST_WORDS)
    if what is None or len(what.split()) < 2 or _VAGUE.match(what):
        return ()
    return [Draft(PROJECT, "DECIDED", what, 0.88)]


def _against(rest: str) -> Sequence[Draft]:
    taking = _TAKING.match(rest)
    what = trim(taking.group("o") if taking else rest, 8)
    if what is None or _VAGUE.match(what) or not (taking or specific(what)):
        return ()
    return [Draft(PROJECT, "DECIDED_AGAINST", what, 0.86)]

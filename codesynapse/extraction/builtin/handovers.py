"""Ownership that changed hands: "Ben has taken over billing from Anna", "billing is Tom's now"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from codesynapse.extraction.builtin import gates
from codesynapse.extraction.builtin.clauses import Clause, Draft, Talk, resolve
from codesynapse.extraction.builtin.phrases import named_tool, trim

__all__ = ["handovers"]

_WHO = (
    r"(?-i:[A-ZÀ-Ý][\w'’-]*(?: [A-ZÀ-Ý][\w'’-]*){0,2}|(?:[Tt]he |[Oo]ur )?(?:[\w-]+ ){0,2}"
    r"(?:team|squad|guild|crew|group|tribe|chapter|folks)|[Tt]eam [\w-]+)"
)
_HAS = (
    r"(?: (?:has|have|had|is|are|was|were|been|got|gets|now|just|already|officially|since"
    r"|recently|today|also))*"
)
_THING = r"(?P<s>(?:[^\s,;]+ ){0,5}?[^\s,;]+?)"
_TIME = r"(?:,? (?:now|since|as of|from|starting|today|this|last|these days|already|instead)\b.*)?"
_PATTERNS = [
    re.compile(
        rf"^(?:the )?(?:new |current |actual )*(?:owner|maintainer|person responsible|responsible"
        rf"|lead|point of contact|contact|ownership) (?:of|for) {_THING} (?:is|are|moved to|went to"
        rf"|goes to|passed to|passes to|lies with|is with)(?: now)? (?P<o>{_WHO})(?:, not"
        rf" (?P<old>{_WHO}))?{_TIME}$",
        re.I,
    ),
    re.compile(
        rf"^(?P<o>{_WHO}){_HAS} (?:taken|took|takes|taking) over from (?P<old>{_WHO})"
        rf" (?:as (?:the )?(?:owner|maintainer|lead|contact) (?:of|for)|on|for) {_THING}{_TIME}$",
        re.I,
    ),
    re.compile(
        rf"^(?P<o>{_WHO}){_HAS} (?:taken over|took over|takes over|taking over|inherit(?:s|ed)"
        rf"|assumed|assumes|picked up|picks up)(?: ownership (?:of|for)| responsibility for"
        rf"| the ownership of)? {_THING}(?: (?:from|for|of) (?P<old>{_WHO}))?{_TIME}$",
        re.I,
    ),
    re.compile(
        rf"^{_THING}{_HAS} (?:been )?(?:taken over by|handed (?:over )?to|passed (?:on |over )?to"
        rf"|transferred to|given to|assigned to|reassigned to|moved (?:over )?to|gone to|went to)"
        rf" (?P<o>{_WHO}){_TIME}$",
        re.I,
    ),
    re.compile(
        rf"^(?P<old>{_WHO}){_HAS} (?:handed|passed|gave|given|transferred) (?:over |on )?{_THING}"
        rf"(?: over| on)? to (?P<o>{_WHO}){_TIME}$",
        re.I,
    ),
    re.compile(
        rf"^(?P<o>{_WHO}){_HAS} (?:replaced|replaces|replacing|succeeds|succeeded) (?P<old>{_WHO})"
        rf" (?:as (?:the )?(?:owner|maintainer|lead|head|responsible|point of contact|contact)"
        rf" (?:of|for|on)|on|for|in) {_THING}{_TIME}$",
        re.I,
    ),
    re.compile(
        rf"^(?P<o>{_WHO}){_HAS} (?:responsible for|in charge of|the (?:new )?(?:owner|maintainer"
        rf"|lead|contact) (?:of|for)|own|owns|owning) {_THING}(?:, not"
        rf" (?P<old>{_WHO})| instead of (?P<former>{_WHO}))?{_TIME}$",
        re.I,
    ),
    re.compile(
        rf"^{_THING} (?:belongs? to|is owned by|are owned by|is with|is run by|is maintained by)"
        rf"(?: now)? (?P<o>{_WHO})(?:,? not (?P<old>{_WHO})| instead of (?P<former>{_WHO}))"
        rf"{_TIME}$",
        re.I,
    ),
    re.compile(
        rf"^{_THING} (?:is|are)(?: now)? (?P<o>{_WHO})(?:'s| is)(?: now| job| area| baby)?{_TIME}$",
        re.I,
    ),
]
_NOBODY = re.compile(
    r"^(?:i|we|you|it|he|she|they|this|that|who|what|there|the|a|let|nobody|everyone|someone|here"
    r"|today|now|since|ci|api|ui|if|when|docker|node|python|postgres|redis)$",
    re.I,
)
_NOT_OWNED = re.compile(
    r"^(?:it|that|this|them|these|those|everything|\d.*|.*\b(?:my|your|me|you|us|him|her|them)\b.*"
    r"|.*\b(?:where|what|how|because|while|until|tests?|scripts?|migrations?|commands?)\b.*)$",
    re.I,
)


def handovers(clause: Clause, talk: Talk) -> Sequence[Draft]:
    """Who has it now, in the place of whoever had it."""
    if gates.unreal(clause.text):
        return ()
    text = clause.text.rstrip(" .!")
    for pattern in _PATTERNS:
        found = pattern.match(text)
        if not found:
            continue
        who = trim(found["o"], 4)
        thing = resolve(found["s"], talk)
        if who is None or thing is None or _NOT_OWNED.match(thing):
            continue
        if _NOBODY.match(who) or named_tool(who):
            continue
        groups = found.groupdict()
        old = groups.get("old") or groups.get("former")
        return [
            Draft(thing, "OWNED_BY", who, 0.88, replace=True, ended=trim(old, 4) if old else None)
        ]
    return ()

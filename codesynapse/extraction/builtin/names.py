"""Names: who owns, maintains or approves what, and what people call things."""

from __future__ import annotations

import re
from collections.abc import Sequence

from codesynapse.extraction.builtin import gates
from codesynapse.extraction.builtin.clauses import Clause, Draft, Talk, resolve
from codesynapse.extraction.builtin.lexicon import words
from codesynapse.extraction.builtin.phrases import specific, subject, trim
from codesynapse.extraction.builtin.segment import CODE, QUOTE

__all__ = ["aliases", "owners"]

_TEAM = r"(?:(?:the |our )?(?:[\w&#@/.'-]+ ){0,3}?[\w&#@/.'-]+)"


_OWNERS = [
    re.compile(
        rf"^(?P<o>{_TEAM}) (?:now |already |also |always |usually |normally )*(?:owns?"
        rf"|maintains?|is responsible for|are responsible for|is in charge of|takes care "
        rf"of|looks after|handles|took over|picked up|approves?|reviews?|signs? off(?: "
        rf"on)?|manages|decides on|gatekeeps) (?:all |the |our |any |everything (?:in"
        rf"|about|around|under) |anything (?:in|about|under) )*(?P<s>\S.*)$",
        re.I,
    ),
    re.compile(
        rf"^(?:ask|ping|talk to|bug|go to|check with) (?P<o>{_TEAM}) (?:about|for"
        rf"|regarding|when it comes to|on anything) (?:anything )?(?:the )?(?P<s>\S.*)$",
        re.I,
    ),
    re.compile(
        r"^(?P<s>\S.*?) (?:is|are) (?P<o>[A-Z][\w-]+|(?:the )?[\w-]+ (?:team|squad|guild"
        r"|crew|folks|guys|people|group))'?s? (?:job|domain|baby|area|turf|thing"
        r"|responsibility|business|call|code)\b.*$"
    ),
    re.compile(
        rf"^for (?:anything|everything|changes|stuff|things|questions|prs?|problems) "
        rf"(?:in|on|about|under|around|with|touching|to|regarding) (?:the "
        rf")?(?P<s>\S.*?),? (?:get|ask|ping|talk to|add|request|you need|go to|it is"
        rf"|bug) (?:(?:a |an )?(?:review|approval|ok|sign-?off|help|blessing) (?:from|by"
        rf"|of) )?(?P<o>{_TEAM})$",
        re.I,
    ),
    re.compile(
        r"^(?P<s>\S.*?) (?:is|are|belongs?|moved|went)(?: now)?(?: owned by| with| to| "
        r"over to| under| handled by| maintained by) (?P<o>team [\w-]+|(?:the )?(?:[\w-]+ "
        r"){0,2}(?:team|squad|guild|crew|ops|folks|group|tribe|chapter))\b.*$",
        re.I,
    ),
    re.compile(rf"^(?P<o>{_TEAM}) (?:picked|took) (?:it|that|them|this) (?:up|over)\b.*$", re.I),
]


_NO_OWNER = words(
    """let's please can't always never i we you it they he she who that this nobody everyone
    someone people mine ours nothing anyone code app service script job"""
)


_ALIAS = [
    re.compile(
        rf"^when(?:ever)? (?:i|we|people|someone|somebody|you hear|they|folks|anyone)(?: "
        rf"here)? ?(?:say|says|write|writes|talk about|talks about|mention|mentions)? "
        rf"(?P<s>(?:{QUOTE}|{CODE}|(?:[^\s,]+ ?){{1,3}}?)) ?,? (?:i|we|they|it|that) "
        rf"?(?:mean|means|is|are talking about|am talking about|talk about|refer to|'re "
        rf"talking about)s? (?P<o>\S.*)$",
        re.I,
    ),
    re.compile(
        r"^(?:by )?(?P<s>(?:[^\s,]+ ){0,2}?[^\s,]+),? (?:i|we) (?:mean|meant) "
        r"(?P<o>\S.*)$",
        re.I,
    ),
    re.compile(
        r"^(?P<s>(?:[^\s,]+ ){0,2}?[^\s,]+) (?:means|stands for|is short for|is (?:our "
        r"|the |team |internal |just )*(?:slang|nickname|shorthand|name|code ?name|alias"
        r"|word|term) for|refers to|= ?|is what we call|aka|a\.k\.a\.?) (?P<o>\S.*)$",
        re.I,
    ),
    re.compile(
        r"^(?P<o>\S.*?) is (?:what we call|called|known as|nicknamed|internally called) "
        r"(?P<s>(?:[^\s,]+ ){0,2}?[^\s,]+)$",
        re.I,
    ),
    re.compile(rf"^(?P<s>{QUOTE}|(?:the )?{CODE}) (?:is|are|=) (?P<o>\S.*)$", re.I),
    re.compile(
        rf"^(?:wenn (?:ich|wir) (?P<s>(?:{QUOTE}|(?:[^\s,]+ ?){{1,3}}?)) (?:sage|sagen"
        rf"|schreibe)n?,? (?:meine|meinen) (?:ich|wir)) (?P<o>\S.*)$",
        re.I,
    ),
    re.compile(
        rf"^cuando (?:diga|digo|decimos|hable de) (?P<s>(?:{QUOTE}|(?:[^\s,]+ "
        rf"?){{1,3}}?)),? (?:me refiero a|hablo de|es|quiero decir) (?P<o>\S.*)$",
        re.I,
    ),
    re.compile(
        rf"^quand (?:je|on) (?:dis|dit|parle de) (?P<s>(?:{QUOTE}|(?:[^\s,]+ "
        rf"?){{1,3}}?)),? (?:c'est|je parle de|ça veut dire|on parle de) (?P<o>\S.*)$",
        re.I,
    ),
    re.compile(
        rf"^quando (?:eu )?(?:digo|falo|disser) (?P<s>(?:{QUOTE}|(?:[^\s,]+ "
        rf"?){{1,3}}?)),? (?:é|estou falando d[oae]|quero dizer|me refiro a) (?P<o>\S.*)$",
        re.I,
    ),
    re.compile(
        rf"^als ik (?P<s>(?:{QUOTE}|(?:[^\s,]+ ?){{1,3}}?)) zeg,? (?:bedoel ik|is dat) "
        rf"(?P<o>\S.*)$",
        re.I,
    ),
    re.compile(
        rf"^(?:我们?(?:说的?|讲的?))?(?P<s>{QUOTE}"
        rf"|[\w-]{{2,12}}?)(?:指的?就?是|就是指|的意思是|是指) "
        rf"?(?P<o>\S.*)$",
        re.I,
    ),
    re.compile(
        rf"^(?P<s>{QUOTE}|[\w-]{{2,12}}?)(?:って言ったら|と言えば"
        rf"|っていうのは|というのは|とは|って) ?(?P<o>\S+?) "
        rf"?(?:の?こと(?:です|だよ|だ|ね)*|です|だよ|を指す)(?:ね|よ)?$",
        re.I,
    ),
]


def owners(clause: Clause, talk: Talk) -> Sequence[Draft]:
    """Who owns, maintains, reviews or approves what."""
    for pattern in _OWNERS:
        found = pattern.match(clause.text)
        if not found:
            continue
        who = trim(found.group("o"), 4)
        thing = resolve(found.groupdict().get("s") or "it", talk)
        if (
            who is None
            or thing is None
            or who.split()[0].casefold() in _NO_OWNER
            or thing.casefold() in ("done", "ok")
        ):
            continue
        if not (
            _is_team(who)
            or re.fullmatch(r"[A-ZÀ-Ý][\w'-]*(?: [A-ZÀ-Ý][\w'-]*)*", who)
            or _titled(clause, who)
        ):
            continue
        if re.search(r"[a-z][A-Z]|[().`_]", who) or gates.one_off(clause.text):
            continue
        return [Draft(thing, "OWNED_BY", who, 0.88)]
    return ()


def _is_team(who: str) -> bool:
    return bool(
        re.search(
            r"\b(?:team|squad|guild|crew|folks|group|tribe|chapter|people|captain|lead|dba"
            r"|manager|admin|ops|netops|sre|platform)\b|#",
            who,
            re.I,
        )
    )


def _titled(clause: Clause, who: str) -> bool:
    """A name in lower case counts where ownership is said outright."""
    return len(who.split()) == 1 and bool(
        re.match(
            rf"^{re.escape(who)} (?:owns|maintains|signs off|is responsible|is in charge)",
            clause.text,
            re.I,
        )
    )


def aliases(clause: Clause, talk: Talk) -> Sequence[Draft]:
    """Such as "X means Y", "when I say X I mean Y"."""
    for pattern in _ALIAS:
        found = pattern.match(clause.text)
        if not found:
            continue
        name, what = subject(found.group("s"), 3), trim(found.group("o"), 8)
        if (
            name is None
            or what is None
            or name.casefold() in ("it", "that", "which", "this")
            or not (specific(what) or pattern in (_ALIAS[0], *_ALIAS[5:]))
        ):
            continue
        if " = " in clause.text and re.search(r"=.*=|[\\^×*]|\d ?/ ?\d", clause.text):
            continue
        if pattern is _ALIAS[2] and (
            len(what.split()) > 5
            or re.search(r"\b(?:is|are|any|needs?|that|will|would|still)\b", what)
        ):
            continue
        if pattern is _ALIAS[2] and " = " in clause.text and len(what.split()) > 1:
            return [Draft(name, "IS", what, 0.86)]
        if pattern is _ALIAS[4] and talk.topic != name and not re.match(r"[\w-]+$", what):
            continue
        return [Draft(name, "MEANS", what, 0.9)]
    return ()

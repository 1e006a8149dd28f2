"""Brief ways to set a rule: "one X per Y", "X over Y", "X only", "when you X, do Y"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from codesynapse.extraction.builtin import gates
from codesynapse.extraction.builtin.clauses import PROJECT, USER, Clause, Draft, Talk
from codesynapse.extraction.builtin.lexicon import words
from codesynapse.extraction.builtin.phrases import (
    expand,
    is_pronoun,
    named_tool,
    specific,
    strip_lead,
    subject,
    trim,
)
from codesynapse.extraction.builtin.segment import CODE
from codesynapse.extraction.builtin.topics import choosing

__all__ = ["briefs", "customs", "picks", "requests", "verbless"]

_PER = re.compile(
    r"^(?P<o>(?:exactly |only |at most |max )?(?:one|a single|1|two|2) (?P<s>[\w-]+(?: [\w-]+)?) "
    r"(?:per|for each|for every) (?:[\w-]+ ?){1,3})(?: here| please| pls| max)?$",
    re.I,
)
_OVER = re.compile(
    r"^(?:we (?:go|went|chose) )?(?P<o>(?:[\w/-]+ ){0,2}[\w/-]+) over "
    r"(?P<old>(?:[\w/-]+ ){0,2}[\w/-]+)(?: here| always| please| pls| everywhere)*$",
    re.I,
)
_ONLY = re.compile(r"^(?P<o>(?:[\w/.+#-]+ ){0,3}[\w/.+#-]+)[ -]only$", re.I)
_NOT_OLD = re.compile(rf"^(?P<o>(?:{CODE}|[\w/.+#-]+)(?: [\w/.+#-]+){{0,3}}), not (?P<old>\S.*)$")
_RATHER = re.compile(
    r"^(?:rather|better|lieber|besser|plutôt|mejor|melhor|liever|prefer) (?:use |run |take "
    r"|nimm |nutze |usa |utilise )?(?P<o>\S.*)$",
    re.I,
)
_WHEN_YOU = re.compile(
    r"^(?:when|whenever|if|every time|each time|any time|before|after) you (?P<c>(?:[^\s,]+ ){1,9}?"
    r"[^\s,]+),? (?:please |pls |always |also |then )*(?P<o>(?P<v>include|use|add|show|tell|ask|"
    r"give|keep|put|run|skip|leave|mention|start|link|quote|write|explain|avoid|don't|do not|never|"
    r"check|say|number|list|ping|update|cite|name) [^,.;!?]+)",
    re.I,
)
_REPLY = re.compile(
    r"^(?:please |pls |and |just |always |only )*(?:answer|reply|respond|speak|talk|write|comment)"
    r"(?: to me| back| me)?(?: please| pls)? (?P<o>(?:in|with|without) \S.*)$",
    re.I,
)
_LESS = re.compile(
    r"^(?:please |pls |and |way |much |can we have |could we have )*(?P<d>no"
    r"|less|fewer|zero|without)"
    r"(?: more)? (?P<o>emojis?|bullet points?|bullets|recaps?|summaries"
    r"|apologies|exclamation marks?|"
    r"headings?|tables?|comments|jargon|fluff|small talk|preambles?|intros?|boilerplate|jokes|"
    r"praise|flattery|prose|placeholders?|abbreviations|one-liners|ternaries)\b.*$",
    re.I,
)
_PICK_LEAD = re.compile(
    r"^(?:(?:neither|none|both|the|let's (?:do|take|use|go with)|lets (?:do|take|use|go with)|"
    r"go with|make it|take|i'd say|i say|we use|use|definitely|then|mostly"
    r"|always|just|probably the) "
    r"?,? ?)+",
    re.I,
)
_NOT_A_PICK = words("both either neither it that this one yes no later none all")


_FINAL = re.compile(
    r"\b(?:debate'?s over|final answer|done deliberating|it'?s decided"
    r"|that'?s decided|decided:?|settled|"
    r"case closed|locked in|not up for debate|we have a winner|end of discussion|fechado|decidido|"
    r"beschlossen|entschieden|c'est décidé|c'est tranché|besloten)\b|决定了|定了|決定",
    re.I,
)
_HERE = re.compile(
    r"^(?:(?:around here|in here|in this (?:repo|codebase|project)|by convention|house rule)[,:]? "
    r"(?P<a>\S.*)|(?P<b>\S.*?) (?:around here|in here|in this (?:repo"
    r"|codebase|project)|by convention"
    r"|as a rule|across the board|house rule))$",
    re.I,
)
_COPULA = re.compile(
    r"\b(?:is|are|was|é|es|est|ist|sind|son|são|sont|too|not|no|out|nicht"
    r"|não|pas)\b",
    re.I,
)
_VIA = re.compile(
    r"^(?P<s>(?:[\w/.+#-]+ ){0,2}[\w/.+#-]+) (?:only |always )?(?P<p>via|through|behind) "
    r"(?P<o>\S+(?: \S+){0,3})$",
    re.I,
)
_PAIR = re.compile(
    r"^(?P<s>(?:[\w/.+#-]+ ){0,2}[\w/.+#-]+) (?P<p>on|in|with|via|through|behind|under|from|at|by) "
    r"(?P<o>\S+(?: \S+){0,3})$",
    re.I,
)
_PAIRED = {
    "on": "RUNS_ON",
    "in": "LOCATED_IN",
    "under": "LOCATED_IN",
    "at": "LOCATED_IN",
    "from": "COMES_FROM",
    "by": "OWNED_BY",
    "with": "USES",
}
_ORDERED = re.compile(
    r"^(?:put|make|add|fix|show|open|rename|move|give|tell|pull|keep|leave"
    r"|use|do|go|look|get|take|set|"
    r"remove|delete|explain|write|create|install|rerun|revert|run|test|build"
    r"|deploy|check|push|commit|"
    r"merge|start|stop|call|try|let|just|see|wait|search|grep|paste|post"
    r"|send|ask|work|working|looking|"
    r"stuck|back|same|nothing|something|still|now|done|back|i|you|he|she|it"
    r"|this|that|what|lives?|runs?|goes|comes?|listens?|belongs?|reads?"
    r"|sits?|stays?|uses?|needs?|is|are|was|ends?|starts?)\b",
    re.I,
)


def customs(clause: Clause, talk: Talk) -> Sequence[Draft]:
    """What holds "around here", whatever its verb."""
    del talk
    found = _HERE.match(clause.text.rstrip(" .!"))
    if not found or gates.momentary(clause.text) or gates.one_off(clause.text):
        return ()
    text = found.group("a") or found.group("b")
    what = trim(text, 10)
    if what is None or len(what.split()) < 3 or _ORDERED.match(text):
        return ()
    return [Draft(PROJECT, "CONVENTION", what, 0.82)]


def verbless(clause: Clause, talk: Talk) -> Sequence[Draft]:
    """A statement without a verb: "soft delete via deleted_at"; in answers and lists any place."""
    text = clause.text.rstrip(" .!")
    if _ORDERED.match(text) or gates.one_off(text) or gates.momentary(text):
        return ()
    if _FINAL.search(clause.turn) and specific(text) and len(text.split()) <= 8:
        what = trim(_FINAL.sub("", text), 8)
        if what and specific(what) and not _COPULA.search(what):
            return [Draft(PROJECT, "DECIDED", what, 0.84, replace=True)]
    found = _VIA.match(text)
    if not found and (clause.sentence.bullet or talk.answering):
        found = _PAIR.match(text)
    if not found or not specific(found.group("o")):
        return ()
    who, what = subject(found.group("s"), 3), trim(found.group("o"), 5)
    if who is None or what is None:
        return ()
    return [Draft(who, _PAIRED.get(found.group("p").casefold(), "GOES_THROUGH"), what, 0.82)]


def briefs(clause: Clause, talk: Talk) -> Sequence[Draft]:
    """A rule in a handful of words."""
    text = re.sub(r"(?: (?:here|please|pls))+$", "", clause.text.rstrip(" .!"), flags=re.I)
    if len(text.split()) > 9 or gates.one_off(text):
        return ()
    found = _PER.match(text)
    if found:
        return [Draft(found.group("s"), "CONVENTION", found.group("o").strip(), 0.86)]
    found = _LESS.match(text)
    if found:
        return [Draft(USER, "DISLIKES", found.group("o"), 0.86)]
    found = _OVER.match(text)
    if found and clause.place == 0 and not is_pronoun(found.group("o")) and _plain(found):
        return [Draft(PROJECT, "PREFERS", found.group("o"), 0.84)]
    found = _RATHER.match(text)
    if found and specific(found.group("o")) and (what := trim(found.group("o"), 5)):
        command = re.match(CODE, what) and " " in clause.sentence.spans.restore(what)
        predicate = "RUNS_WITH" if command else "USES"
        return [Draft(talk.topic or PROJECT, predicate, what, 0.86, replace=True)]
    found = _ONLY.match(text)
    if found and (clause.sentence.bullet or specific(found.group("o"))) and _rule(found):
        return [Draft(talk.topic or PROJECT, "ONLY", found.group("o"), 0.84)]
    return ()


def _plain(found: re.Match[str]) -> bool:
    """Two bare noun phrases: no verb makes an order of the moment of it."""
    both = f"{found.group('o')} {found.group('old')}"
    if re.search(r"\d|^\w+i[sz]e\b", both):
        return False
    return subject(found.group("o"), 3) is not None and subject(found.group("old"), 3) is not None


def _rule(found: re.Match[str]) -> bool:
    return subject(found.group("o"), 4) is not None


def requests(clause: Clause, talk: Talk) -> Sequence[Draft]:
    """How the agent is to work: "when you quote code, include line numbers"."""
    del talk
    if clause.place == 0:
        found = _WHEN_YOU.match(expand(strip_lead(clause.sentence.text)))
        if found and not gates.one_off(clause.sentence.text):
            what = trim(found.group("o"))
            never = found.group("v").casefold() in ("avoid", "don't", "do not", "never", "skip")
            if what and len(what.split()) > 1:
                return [Draft(USER, "DISLIKES" if never else "PREFERS", what, 0.86)]
    found = _REPLY.match(clause.text)
    if found and not gates.one_off(clause.text) and (what := trim(found.group("o"), 6)):
        return [Draft(USER, "PREFERS", f"answers {what}", 0.84)]
    return ()


def picks(clause: Clause, talk: Talk) -> Sequence[Draft]:
    """The answer to "A or B?": one of the two, or a third thing after "neither"."""
    question = talk.asked
    if question is None or choosing(question.text) or clause.place:
        return ()
    if gates.affirms(clause.sentence.text) or subject(question.topic) is None:
        return ()
    said = clause.sentence.text
    third = re.match(r"(?:neither|none)\b", strip_lead(said), re.I) is not None
    if not third and not re.search(r"\bor\b|还是|oder|\bou\b|\bo\b|\bof\b", question.text):
        return ()
    text = re.split(r"[,;.!]| for | because | since | then\b", _PICK_LEAD.sub("", strip_lead(said)))
    what = next(
        (
            t
            for part in text
            if len(part.split()) <= 4 and (t := trim(part, 4)) and t.casefold() not in _NOT_A_PICK
        ),
        None,
    )
    if what is None or len(what.split()) > 3:
        return ()
    offered = what.casefold() in question.text.casefold()
    if not (named_tool(what) or re.match(CODE, what) or third or (offered and specific(what))):
        return ()
    return [Draft(question.topic, "DECIDED", what, 0.84, replace=True)]

"""Plain statements: a thing, a lasting relation, another thing ("sessions live in postgres")."""

from __future__ import annotations

import re
from collections.abc import Sequence

from codesynapse.extraction.builtin import gates
from codesynapse.extraction.builtin.clauses import PROJECT, Clause, Draft, Talk, resolve
from codesynapse.extraction.builtin.phrases import (
    named_tool,
    specific,
    strip_lead,
    subject,
    trim,
)
from codesynapse.extraction.builtin.relations import RELATIONS
from codesynapse.extraction.builtin.segment import CODE

__all__ = ["copulas", "labels", "relations", "stands_alone"]

_SUBJECT = r"^(?P<s>(?:[^\s,;]+ ){0,7}?[^\s,;:]+?)"
_ADVERBS = (
    r"(?: (?P<adv>(?:only|always|also|now|still|all|both|just|never|directly"
    r"|normally|generally|themselves|here|usually|"
    r"currently|no longer|not|already|actually|each|don't|doesn't|do not"
    r"|does not|live on)(?: (?:only|always|also|now|ever))?))?"
)
_VERBS = "|".join(f"(?P<r{i}>{verbs})" for i, (_, verbs, _) in enumerate(RELATIONS))
_STATEMENT = re.compile(rf"{_SUBJECT}{_ADVERBS} (?:{_VERBS})(?: (?P<o>\S.*))$", re.I)
_KEEP_PREPOSITION = re.compile(r"^(?:in|at|inside|within|right|on|as|for|by|into) (?=\S)", re.I)
_COPULA = re.compile(
    rf"{_SUBJECT} ?(?:(?: |^)(?P<v>is|are)(?P<n> not)?(?: (?:now|always|still|only"
    rf"|all|just|actually|currently|really|simply|"
    r"supposed to be))*|(?P<eq>==?|→|->|=>|⇒)) (?P<o>\S.*)$",
    re.I,
)
_LABEL = re.compile(
    rf"^(?P<s>(?:[\w./@#+&-]+|{CODE})(?: (?:[\w./@#+&-]+|{CODE})){{0,3}}) ?[:：] "
    rf"(?P<o>\S.*)$"
)
_NO_LABEL = re.compile(
    r"^(?:note|fyi|nb|ps|todo|edit|update|question|title|type|error|warning|subject"
    r"|example|e\.g|i\.e|http|https|warn|"
    r"answer|info|result|re|from|to|date|reminder|also|detail|status|output|tl;?dr"
    r"|hint|idea|option|step|plan|domain|focus|theme|session|author|usage|ready|week"
    r"|weekly|milestone|project|scope|goal|task|summary|context)\b",
    re.I,
)
_WORDY = re.compile(
    r"\b(?:i|you|we|he|she|it|that|which|what|how|is|are|was|were|would|will|should"
    r"|has|have|had|does|did|removes?|uses?|called|"
    r"assume|computed|wrapped|added|already|correctly)\b|^(?:exactly|basically"
    r"|essentially|something|someone|about|almost|nearly|like|either|more|less"
    r"|difference|example|testament|matter|way|kind|sort|case|thing|copy|"
    r"as|also|even|one of|part of|wrong|hard|good|\w{3,}ly)\b",
    re.I,
)
_VERSION = re.compile(
    r"^(?P<tool>[A-Za-z][\w.+#-]*) (?:v|version "
    r")?(?P<n>\d+(?:\.[\dx]+)*)(?![\w:%])(?P<rest>.*)$"
)
_BAD_OBJECT = re.compile(
    r"^(?:(?:a|an|the|one|just|really|so|too|very|pretty|quite|kind of|sort of|about"
    r"|like) )*(?:[a-z]{3,}ing\b(?! (?:guild|team|squad))|fine|"
    r"broken|red|green|failing|failed|down|flaky|slow|dead|merged|ready|gone|out\b"
    r"|off\b|up\b|back\b|wrong|right\b|weird|from before|old|new|"
    r"here|there|why|how|what|because|mine|yours|first|last|second|nice|good|bad"
    r"|cool|great|ok|okay|same|missing|"
    r"done|stuck|unrelated|fixed|clean|outdated|stale|leftover|legacy|rotting|half"
    r"|currently|not\b|no\b|to\b|that\b|it\b)",
    re.I,
)
_RULED = re.compile(
    r"\b(?:in this (?:repo|project|codebase|code ?base)|in here|around here"
    r"|everywhere|always|by convention|as a rule|across the|"
    r"from now on|going forward)\b|\bhere (?:is|are)\b",
    re.I,
)
_FORMULA = re.compile(r"[=→>].*[=→>]|\\frac|[\d)] ?[*/×^+] ?[\d(]|^\W|[<>]=")
_MAX_WORDS = 20  # what is longer is an explanation
_PLACES = {
    "in": "LOCATED_IN",
    "under": "LOCATED_IN",
    "at": "LOCATED_IN",
    "inside": "LOCATED_IN",
    "on": "RUNS_ON",
    "from": "COMES_FROM",
    "via": "GOES_THROUGH",
    "with": "OWNED_BY",
    "through": "GOES_THROUGH",
}
_HASH = re.compile(r"[0-9a-f]{7,64}|[0-9a-f-]{36}")
_USING = ("USES", "CALLS", "DEPENDS_ON", "TALKS_TO", "READS_FROM", "RUNS_ON", "RUNS_WITH")
_GONE = re.compile(r"\b(?:no longer|not|never|don't|doesn't|do not|does not)\b", re.I)


_OWN_START = re.compile(
    r"^(?:(?:i|we|they|you|it) (?!too\b)\w+|never \w|always \w|don't \w|do not \w"
    r"|no \w+ (?:in|on|to|for|into|after|without)\b|nothing \w|"
    r"nobody \w|anything \w|everything \w|please \w|corre\b|läuft\b|roda\b|tourne\b"
    r"|draait\b|(?:needs?|requires?|must|has to|have to|runs|lives|"
    r"listens|belongs) )",
    re.I,
)


def stands_alone(text: str) -> bool:
    """Whether the text states something by itself, with a subject and a verb of its own."""
    if _OWN_START.match(text):
        return True
    found = _STATEMENT.match(text) or _COPULA.match(text)
    if not found:
        return False
    name = found.group("s")
    if re.match(r"(?:i|we|they|it|you|he|she)$", name, re.I):
        return True
    return subject(name, 5) is not None and len(name.split()) <= 5


def relations(clause: Clause, talk: Talk) -> Sequence[Draft]:
    """A lasting relation between two things; what merely happens is not one."""
    found = _STATEMENT.match(clause.text)
    if not found or len(clause.text.split()) > _MAX_WORDS:
        return ()
    index = next(i for i in range(len(RELATIONS)) if found.group(f"r{i}"))
    predicate, _, must_name = RELATIONS[index]
    verb = found.group(f"r{index}")
    adverb = (found.group("adv") or "").casefold()
    who = resolve(found.group("s"), talk)
    if who is None or (
        who == PROJECT
        and predicate
        in ("CALLS", "READS_FROM", "GOES_TO", "DOES", "NAMED", "REQUIRES", "HAS", "HAS_NO")
    ):
        return ()
    tail = _antecedent(found.group("o"), talk)
    if predicate == "DEPENDS_ON" and tail.split()[1:2] == ["in"]:
        tail = tail.split()[0]
    what = trim(tail)
    loose = re.match(r"(?:lands?|ends? up|goe?s?|stays?|belongs?)$", verb, re.I) is not None
    if what is None or re.search(r"\b(?:twice|again|that|it|them|this)$", what):
        return ()
    must_name = must_name or loose
    if what is None or (must_name and not specific(tail.split(",")[0])) or gates.one_off(what):
        return ()
    if (
        _GONE.search(adverb)
        and adverb != "never"
        and predicate in ("REQUIRES", "DOES", "IS", "HAS")
    ):
        return ()
    if predicate == "CONTAINS" and not re.search(r"[/\ue000-\uebff]|\.\w", who):
        return ()  # only of a folder, file or package; anything else merely has
    if predicate == "RUNS_EVERY" and (rhythm := re.match(r"(?:every|each) ", tail, re.I)):
        what = rhythm.group() + what
    return [_draft(who, predicate, verb, what, adverb)]


def _antecedent(tail: str, talk: Talk) -> str:
    """The object, or what it points back at."""
    if re.fullmatch(r"(?:it|that|this|them)(?: (?:too|as well|still))?", tail, re.I) and talk.topic:
        return talk.topic
    return tail


def _draft(who: str, predicate: str, verb: str, what: str, adverb: str) -> Draft:
    if predicate == "DOES":
        return Draft(who, "CAUTION", f"{verb} {what}", 0.8)
    if predicate == "IS":
        return Draft(who, "IS", what, 0.82)
    if _GONE.search(adverb):
        if adverb == "never":
            return Draft(who, "MUST_NOT", f"{verb} {what}", 0.85)
        return Draft(who, "DOES_NOT_USE" if predicate in _USING else "IS_NOT", what, 0.82)
    if predicate in ("STAYS_ON", "RUNS_ON", "USES"):
        return version_of(who, what, predicate)
    return Draft(who, predicate, _KEEP_PREPOSITION.sub("", what) or what, 0.85)


def version_of(who: str, what: str, predicate: str) -> Draft:
    """Such as "node 18.19" said of the project becomes a version of node."""
    found = _VERSION.match(what)
    if who == PROJECT and found:
        return Draft(found.group("tool"), "VERSION_IS", found.group("n"), 0.9, replace=True)
    if re.fullmatch(r"v?\d+(?:\.[\dx]+)*", what):
        return Draft(who, "VERSION_IS", what, 0.9, replace=True)
    return Draft(who, predicate, what, 0.85)


_WHOLE = re.compile(
    r"^(?:it|this|this repo|the repo|this project|the project|the whole "
    r"thing|the codebase) is (?:basically |just )?(?:an? )?"
    r"(?P<o>(?:[\w.+#-]+ ){1,4}(?:monorepo|repo|app|project|service|library"
    r"|cli|sdk|package|plugin|site|api|"
    r"monolith|codebase|backend|frontend|server|bot|extension))\b",
    re.I,
)


def copulas(clause: Clause, talk: Talk) -> Sequence[Draft]:
    """What a thing is ("X is Y", "X = Y", "X → Y"), where Y names something."""
    found = _COPULA.match(clause.text)
    if not found or len(clause.text.split()) > _MAX_WORDS or gates.momentary(clause.text):
        return ()
    whole = _WHOLE.match(clause.text)
    if whole and talk.topic is None and specific(whole.group("o")):
        return [Draft(PROJECT, "IS", whole.group("o"), 0.85)]
    who, tail = resolve(found.group("s"), talk), found.group("o")
    what = _predicative(tail)
    if who is None or what is None:
        return ()
    if found.group("n"):
        return [Draft(who, "IS_NOT", what, 0.8)] if specific(what) and not clause.reason else ()
    if found.group("eq"):
        return _equation(clause, who, found.group("eq"), what)
    only = re.match(r"^(?P<o>\S.*?)[ -]only$", what)
    if only:
        return [Draft(who, "ONLY", only.group("o"), 0.86)]
    if who == PROJECT:
        known = bool(_VERSION.match(re.sub(r"^on ", "", what)))
    else:
        ruled = bool(_RULED.search(clause.sentence.text)) and len(what.split()) > 1
        known = specific(what) or ruled
    return [_is(who, what)] if known else ()


def _predicative(tail: str) -> str | None:
    """What is said of the subject, unless it is a state, a judgement or an explanation."""
    what = trim(tail)
    if what is None or _BAD_OBJECT.match(tail) or _WORDY.search(what) or _HASH.fullmatch(what):
        return None
    defining = re.match(r"(?:an?|just|really) ", tail, re.I) and len(what.split()) > 4
    return None if defining else what


def _equation(clause: Clause, who: str, sign: str, what: str) -> Sequence[Draft]:
    if (re.match(CODE, who) and re.match(CODE, what)) or _FORMULA.search(clause.text):
        return ()  # a rename, a piece of code, arithmetic
    if sign in ("=", "=="):
        return [Draft(who, "IS", what, 0.85)] if specific(what) or specific(who) else ()
    return [Draft(who, "USES", what, 0.85)]


def _is(who: str, what: str) -> Draft:
    head, _, rest = what.partition(" ")
    if head.casefold() in _PLACES and rest:
        predicate = _PLACES[head.casefold()]
        return (
            version_of(who, rest, predicate)
            if predicate == "RUNS_ON"
            else Draft(who, predicate, rest, 0.85)
        )
    return Draft(who, "USES" if _VERSION.match(what) or named_tool(what) else "IS", what, 0.85)


def labels(clause: Clause, talk: Talk) -> Sequence[Draft]:
    """Such as "db: postgres 16": a short label and what it stands for."""
    del talk
    found = _LABEL.match(clause.text)
    if not found or _NO_LABEL.match(found.group("s")):
        return ()
    who, tail = subject(found.group("s"), 4), found.group("o")
    what = trim(strip_lead(tail))
    if (
        who is None
        or what is None
        or not specific(what)
        or gates.one_off(clause.text)
        or _WORDY.search(what)
    ):
        return ()
    if re.fullmatch(r"[0-9a-f]{7,64}|[0-9a-f-]{36}|\d{1,2}", what) or re.match(
        r"(?:total|count|found|session|number)\b", who, re.I
    ):
        return ()
    command = re.match(CODE, what) is not None and len(what.split()) == 1
    return [
        Draft(who, "RUNS_WITH" if command else "USES" if named_tool(what) else "IS", what, 0.85)
    ]

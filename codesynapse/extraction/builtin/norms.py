"""Rules people set: must, only, never, no, don't; and the things they warn of."""

from __future__ import annotations

import re
from collections.abc import Sequence

from codesynapse.extraction.builtin import gates
from codesynapse.extraction.builtin.clauses import PROJECT, USER, Clause, Draft, Talk, resolve
from codesynapse.extraction.builtin.phrases import DATE, is_pronoun, specific, subject, trim
from codesynapse.extraction.builtin.segment import CODE

__all__ = [
    "bans",
    "deadlines",
    "duties",
    "habits",
    "quotas",
    "settings",
    "standing_orders",
    "warnings",
]

_SUBJECT = r"^(?P<s>(?:[^\s,;]+ ){0,7}?[^\s,;:]+?)"
_DUTY = re.compile(
    rf"{_SUBJECT} (?:always |also |only |still |all )*(?P<m>must|has to|have to"
    rf"|needs? to|may only|can only|should always|"
    r"should only|is supposed to|are supposed to|is required to|"
    r"is the only (?:thing|one|service|place) (?:that is |that's )?(?:allowed"
    r"|permitted) to|only) (?P<o>\S.*)$",
    re.I,
)
_FORBIDDEN = re.compile(
    rf"{_SUBJECT} (?:must not|mustn't|may not|can't ever|can never|must never|should "
    rf"never|should not|shouldn't|is not allowed to|"
    r"are not allowed to|is not supposed to|are not supposed to|isn't allowed to"
    r"|aren't allowed to|never|has no business|"
    r"have no business) (?P<o>\S.*)$",
    re.I,
)
_NOTHING = re.compile(
    r"^(?:nothing|nobody|no one|no \w+)(?P<in> (?:in|on|inside|under|outside|from) "
    r"(?:the )?(?P<s>(?:[^\s,;]+ ){0,3}?[^\s,;]+?))?"
    r" (?:should |may |can |must |ever |is allowed to |gets to |is to "
    r")*(?P<o>(?:talks?|goes|calls?|imports?|reads?|writes?|touch(?:es)?|"
    r"runs?|uses?|push(?:es)?|merges?|commits?|deploys?|edits?|depends?"
    r"|access(?:es)?|[a-z]+ \w+s by hand|[a-z]+s? .*"
    r"(?:by hand|manually|directly))\b.*)$",
    re.I,
)
_BAN = re.compile(
    r"^(?:(?:and|please|pls|so|absolutely|also) )*no (?!problem|worr|idea|need|rush"
    r"|more\b|one\b|way\b|thanks|"
    r"clue|prob|luck|hurry|longer|doubt|matter|big|wonder|reason|change|diff|it\b"
    r"|that\b|i\b|we\b|you\b|this\b|not\b|no\b|just\b|use\b|"
    r"the\b|dice|stress|joke|pressure|offen[cs]e|comment|plan|time|biggie|from\b"
    r"|we're\b|it's\b|\w+ yet\b|default then\b)(?P<o>\S.*)$",
    re.I,
)
_PLACED = re.compile(
    r"\b(?:in|into|on|after|before|for|without|over|during|above|below|outside|until"
    r"|from|to|at|as|under|inside|with|"
    r"against|between)\s+\S",
    re.I,
)
_VERBS = (
    r"(?:touch|delete|remove|rename|edit|commit|push|run|use|call|import|reset|drop"
    r"|merge|deploy|force|bypass|upgrade|"
    r"bump|change|mock|log|hardcode|hard-code|hand ?edit|modify|add|mix|put|store"
    r"|write|squash|rebase|skip|disable|"
    r"enable|expose|open|close|restart|install|downgrade|reformat|regenerate|set"
    r"|rely|trust|assume|hit|"
    r"inline|catch|swallow|raise|return|paste|explain|apologi[sz]e|summari[sz]e|send"
    r"|rip|update|share|cache|wrap|create|"
    r"name|introduce|copy|print|reorder|sort|move|replace|convert|query|block|await"
    r"|retry|start|stop|kill|pin|"
    r"format|translate|do|make|ask|show|repeat|include|give|write|ship|release|tag"
    r"|branch|fork|vendor|nest|build|test)"
)
_DONT = re.compile(
    rf"^(?P<strong>(?:whatever (?:you do|happens)|under no circumstances|please|pls"
    rf"|just|so|and|you|we|ever) ?,? ?)*"
    rf"(?:don't|do not|never|you must not|you can't|we don't|we never|please don't"
    rf"|must not|mustn't) (?:ever |you ever |just |"
    rf"ever again |actually )*(?P<o>`?{_VERBS}\b.*|{CODE}.*)$",
    re.I,
)
_AVOID = re.compile(
    r"^(?:please |pls |always |and |we |so )*(?:avoid(?: using)?|stay away from"
    r"|keep away from|steer clear of|hands off(?: of)?|"
    r"stop (?:using)|keep your hands off|leave)(?P<alone> .* alone)? (?P<o>\S.*)$",
    re.I,
)
_ALWAYS = re.compile(
    rf"^(?:please |pls |and |we |you |so |just )*(?:always|only ever|make sure to "
    rf"always) (?P<o>{_VERBS}\b.*|[a-z]+ .+)$",
    re.I,
)
_STANDING = re.compile(
    r"\b(?:from now on|from here on|going forward|in (?:the )?future|every ?time"
    r"|each time|everywhere|across the (?:repo|board|codebase)|"
    r"in this (?:repo|codebase|project|code base)|as a rule|by convention|for every"
    r"|in general here|always|for all|ab jetzt|ab sofort|künftig|"
    r"grundsätzlich|immer|désormais|dorénavant|toujours|à partir de maintenant"
    r"|siempre|a partir de ahora|de ahora en adelante|sempre|"
    r"a partir de agora|daqui pra frente|voortaan|vanaf nu|altijd)\b|以后"
    r"|今后|一律|总是|今後|これから|必ず|常に",
    re.I,
)
_KEEP = re.compile(
    r"^(?:please |pls |and |so |always |we |i want you to )*keep (?P<s>(?:[^\s,;]+ "
    r"){0,4}?[^\s,;]+) (?P<o>(?:under|below|within|at most|above|over|to|in|out of|"
    r"on|short|small|short and|at|sorted|alphabetical|flat)\b.*)$",
    re.I,
)
_ASK = re.compile(
    r"^(?:please |pls |always |and |also )*(?P<o>(?:ask|check with|ping|tell|show"
    r"|run|test|confirm with|wait for|consult)\b.{0,60}\bbefore (?:you )?\S.*)$",
    re.I,
)
_QUOTA = re.compile(
    r"^(?P<o>(?:at least |exactly |minimum )?(?:\d+|one|two|three|four) (?:[\w-]+ "
    r")?(?:reviewers?|approvals?|approvers?|reviews?|sign-?offs?|people|pairs of "
    r"eyes|"
    r"tests?|replicas|retries|workers?|shards?|days|weeks|hours|minutes)) (?:for"
    r"|on) (?P<s>\S.*)$",
    re.I,
)
_SETTING = re.compile(
    rf"^(?:(?:set|make|use|keep) )?(?P<s>{CODE}|\w+_\w+|[a-z]+[A-Z]\w+) (?:=|to|is"
    rf"|at)? ?(?P<o>\d[\w.%]*) (?P<for>for (?:the |all )?\S.*)$"
)
_CONTRAST = re.compile(
    r"^(?P<o>(?:use|import|cut|branch|pull|prefix|target|base|merge|deploy|commit"
    r"|put|store|run|call|name|log|return|throw|squash|rebase|read|start) \S.*)$",
    re.I,
)
_CONTRASTED = re.compile(
    r"[,;(] ?(?:never|not|no|instead of|nie|jamais|nunca|nooit)\b (?!yet|now|today"
    r"|sure)",
    re.I,
)
_SAFE_ONE = re.compile(
    r"^(?:the )?(?:one|version|variant|helper|copy|hook|function|module) (?P<o>(?:in"
    r"|from|at|under) \S.*?) (?:is|are|works) (?:fine|ok|okay|safe|good|correct|the "
    r"(?:right|real|good|correct|safe) one|what you want)\b",
    re.I,
)
_EVERY = re.compile(
    rf"{_SUBJECT} (?:(?P<v>is|are|get|gets) )?(?P<m>always|never|only ever) "
    rf"(?P<o>\S.*)$",
    re.I,
)
_ONLY_VIA = re.compile(
    rf"^(?P<s>(?:{CODE}|[\w-]+)(?: [\w-]+)?),? (?:you|we|one) (?:can )?(?:only "
    rf")?(?:reach|get to|access|enter|connect to|deploy|hit)(?:es|s)? (?:only "
    rf")?(?P<o>(?:through|via|over|from|with|by) \S.*)$",
    re.I,
)
_RULE_IF = re.compile(
    r"^(?:if|whenever|once|when) (?!i\b|you\b|we (?:ever|had|get)|it\b"
    r"|that\b)(?P<c>\S.{3,60}?),? (?:then )?(?:we|it) (?P<v>(?:promote|roll|block"
    r"|release|deploy|merge|fail|page|alert|reject|ship|cut|tag|rebuild"
    r"|retry)\w*\b.*)$",
    re.I,
)
_KEEP = re.compile(
    r"^(?:please |pls |and |so |always |we |i want you to )*keep (?P<s>(?:[^\s,;]+ ){0,4}?[^\s,;]+) (?P<o>(?:under|below|within|at most|above|over|to|in|out of|"
    r"on|short|small|short and|at|sorted|alphabetical|flat)\b.*)$",
    re.I,
)
_ASK = re.compile(
    r"^(?:please |pls |always |and |also )*(?P<o>(?:ask|check with|ping|tell|show|run|test|confirm with|wait for|consult)\b.{0,60}\bbefore (?:you )?\S.*)$",
    re.I,
)
_QUOTA = re.compile(
    r"^(?P<o>(?:at least |exactly |minimum )?(?:\d+|one|two|three|four) (?:[\w-]+ )?(?:reviewers?|approvals?|approvers?|reviews?|sign-?offs?|people|pairs of eyes|"
    r"tests?|replicas|retries|workers?|shards?|days|weeks|hours|minutes)) (?:for|on) (?P<s>\S.*)$",
    re.I,
)
_SETTING = re.compile(
    rf"^(?:(?:set|make|use|keep) )?(?P<s>{CODE}|\w+_\w+|[a-z]+[A-Z]\w+) (?:=|to|is|at)? ?(?P<o>\d[\w.%]*) (?P<for>for (?:the |all )?\S.*)$"
)
_CONTRAST = re.compile(
    rf"^(?P<o>(?:{_VERBS}|cut|import|pull|prefix|target|open|start|base) \S.*)$", re.I
)
_CONTRASTED = re.compile(
    r"[,;(] ?(?:never|not|no|don't|instead of|nie|jamais|nunca|nooit)\b (?!yet|now|today|sure)",
    re.I,
)
_SAFE_ONE = re.compile(
    r"^(?:the )?(?:one|version|variant|helper|copy|hook|function|module) (?P<o>(?:in|from|at|under) \S.*?) (?:is|are|works) (?:fine|ok|okay|safe|good|correct|the (?:right|real|good|correct|safe) one|what you want)\b",
    re.I,
)
_EVERY = re.compile(
    rf"{_SUBJECT} (?:(?P<v>is|are|get|gets) )?(?P<m>always|never|only ever) (?P<o>\S.*)$", re.I
)
_ONLY_VIA = re.compile(
    rf"^(?P<s>(?:{CODE}|[\w-]+)(?: [\w-]+)?),? (?:you|we|one) (?:can )?(?:only )?(?:reach|get to|access|enter|connect to|deploy|hit)(?:es|s)? (?:only )?(?P<o>(?:through|via|over|from|with|by) \S.*)$",
    re.I,
)
_RULE_IF = re.compile(
    r"^(?:if|whenever|once|when) (?!i\b|you\b|we (?:ever|had|get)|it\b|that\b)(?P<c>\S.{3,60}?),? (?:then )?(?:we|it) (?P<v>(?:promote|roll|block|release|deploy|merge|fail|page|alert|reject|ship|cut|tag|rebuild|retry)\w*\b.*)$",
    re.I,
)
_WE = re.compile(
    r"^(?:here |in this (?:repo|project|codebase) |at our place |by convention )?we "
    r"(?P<n>don't|do not|never)? ?(?:only |always |also |just |all |usually |"
    r"strictly )*(?P<o>(?:use|keep|write|name|put|store|follow|squash|rebase|merge"
    r"|deploy|release|ship|tag|branch|test|run|"
    r"version|log|prefix|document|sort|format|paginate|cache|mock|commit|stick to"
    r"|stick with|require|import|build|host|"
    r"track|review|paper|do|support|inline|allow|touch|push|vendor|target|pin"
    r"|validate|generate|sign|wrap|return|throw|expose)\b.*)$",
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
_NO_AFTER = re.compile(rf"\b(?:after|before|until|till|til|by|between|on) (?:the )?{DATE}", re.I)
_ONLY_TAIL = re.compile(
    r"^(?:(?:ever )?(?:via|through|on|in|from|for|at|over|by|with|under|to|behind|after|before|during|when)\b|(?:[a-z]+[^s\W]s|use|go|run|call|talk|come|read|write|sync|accept|get)\b (?!then|and))",
    re.I,
)
_WEAK = re.compile(
    r"^(?:be )?(?:plenty|enough|fine|ok|okay|good|easy|possible|able|nice|happy|done|useful|back|go|sure|there|here|doing|see|tell|know|fix|look|"
    r"help|ensure|make sure|verify|investigate|decide|update|add|do it|do that|figure|check|sleep|wait|admit|say|think)\b",
    re.I,
)


def quotas(clause: Clause, talk: Talk) -> Sequence[Draft]:
    """ "two reviewers for X", "if X stays above N we promote", "X you reach only through Y"."""
    found = _RULE_IF.match(clause.text)
    if found and specific(found.group("c")) and not gates.unreal(clause.text):
        return (
            [Draft(PROJECT, "CONVENTION", clause.text.rstrip(" .!"), 0.84)]
            if len(clause.text) < 100
            else ()
        )
    found = _QUOTA.match(clause.text)
    if found and not gates.one_off(clause.text):
        who, what = resolve(found.group("s"), talk), trim(found.group("o"))
        return [Draft(who, "REQUIRES", what, 0.86)] if who and what else ()
    found = _ONLY_VIA.match(clause.text)
    if found:
        who, what = resolve(found.group("s"), talk), trim(found.group("o"))
        return (
            [Draft(who, "GOES_THROUGH", what, 0.86)]
            if who and what and "only" in clause.text
            else ()
        )
    return ()


def settings(clause: Clause, talk: Talk) -> Sequence[Draft]:
    """ "lock_timeout 3s for migrations": a named setting and its value."""
    del talk
    found = _SETTING.match(clause.text)
    what = trim(f"{found.group('o')} {found.group('for')}") if found else None
    if not found or what is None or gates.one_off(what):
        return ()
    return [Draft(found.group("s"), "SET_TO", what, 0.85, replace=True)]


def duties(clause: Clause, talk: Talk) -> Sequence[Draft]:
    """ "X must Y", "X only Y", "X must not Y"."""
    found, negative = _FORBIDDEN.match(clause.text), True
    if not found:
        found, negative = _DUTY.match(clause.text), False
    if not found:
        return _every(clause, talk)
    who, what = resolve(found.group("s"), talk), trim(found.group("o"))
    if who is None or what is None or _WEAK.match(what) or gates.one_off(clause.text):
        return ()
    if who == PROJECT and not (specific(what) or _PLACED.search(what)):
        return ()
    if negative:
        return [Draft(who, "MUST_NOT", what, 0.88)]
    mode = found.group("m").casefold()
    if (
        who == PROJECT
        and mode.startswith("need")
        or mode == "only"
        and not _ONLY_TAIL.match(found.group("o"))
    ):
        return ()
    if mode.startswith("should") and not specific(what):
        return ()
    what = (
        re.sub(r"^be (?=\S)", "", what)
        if mode.startswith(("must", "has", "have", "need"))
        else what
    )
    return [Draft(who, "ONLY" if mode in ("only", "may only", "can only") else "MUST", what, 0.88)]


def _every(clause: Clause, talk: Talk) -> Sequence[Draft]:
    """ "orders are always shown in X": what holds every time."""
    found = _EVERY.match(clause.text)
    if (
        not found
        or is_pronoun(found.group("s"))
        or gates.momentary(clause.text)
        or gates.one_off(clause.text)
    ):
        return ()
    who, what = resolve(found.group("s"), talk), trim(found.group("o"))
    if who is None or who == PROJECT or what is None or len(what.split()) < 2:
        return ()
    return [Draft(who, "NEVER" if found.group("m") == "never" else "ALWAYS", what, 0.84)]


def bans(clause: Clause, talk: Talk) -> Sequence[Draft]:
    """ "nothing in X talks to Y", "no X in Y", "never X", "don't X", "hands off X"."""
    drafts = _nothing(clause) or _no(clause, talk)
    if drafts:
        return drafts
    found = _DONT.match(clause.text) or _AVOID.match(clause.text)
    if (
        not found
        or gates.one_off(clause.text)
        or (clause.text.casefold().startswith("leave") and not found.group("alone"))
    ):
        return ()
    what = trim(found.group("o"))
    if (
        what is None
        or is_pronoun(what.split(" ", 1)[-1])
        or not (specific(found.group("o")) or _lasting(clause))
    ):
        return ()
    personal = re.search(r"\b(?:me|my)\b", what)
    return [Draft(USER if personal else PROJECT, "AVOIDS" if personal else "MUST_NOT", what, 0.88)]


def _lasting(clause: Clause) -> bool:
    text = clause.sentence.text
    return bool(
        _STANDING.search(text)
        or re.search(
            r"\b(?:whatever|never|ever|by hand|manually|directly|in (?:a|the) |here)\b", text, re.I
        )
    )


def _nothing(clause: Clause) -> Sequence[Draft]:
    found = _NOTHING.match(clause.text)
    if not found or gates.one_off(clause.text):
        return ()
    what = trim(found.group("o"))
    if what is None or not (specific(what) or re.search(r"by hand|manually|directly", what)):
        return ()
    who = subject(found.group("s") or "") or PROJECT
    return [Draft(who, "MUST_NOT", what, 0.88)]


def _no(clause: Clause, talk: Talk) -> Sequence[Draft]:
    found = _BAN.match(clause.text)
    if not found or gates.one_off(clause.text):
        return ()
    what = trim(found.group("o"), 10)
    if re.search(
        r"\w(?:ed|wn|ing)$|\b(?:found|left|identified|created|needed|detected|reported|is|are|was|were)\b",
        found.group("o"),
    ):
        return ()
    if what is None or not (
        _PLACED.search(found.group("o")) or specific(what) or clause.sentence.bullet
    ):
        return ()
    if len(what.split()) == 1 and clause.place == 0 and not specific(what):
        return ()
    deadline = _NO_AFTER.search(found.group("o"))
    return [Draft(PROJECT, "NOT_ALLOWED" if deadline else "AVOIDS", what, 0.88)]


def standing_orders(clause: Clause, talk: Talk) -> Sequence[Draft]:
    """Orders that hold beyond the moment: "always X", "keep X under N", "ask before X"."""
    del talk
    found = _KEEP.match(clause.text)
    if (
        found
        and (specific(found.group("o")) or _STANDING.search(clause.sentence.text))
        and not gates.one_off(clause.text)
    ):
        who, what = subject(found.group("s")), trim(found.group("o"))
        return [Draft(USER, "PREFERS", f"{who} {what}", 0.85)] if who and what else ()
    if (
        _CONTRAST.match(clause.text)
        and _CONTRASTED.search(clause.sentence.text)
        and specific(clause.text)
        and not gates.one_off(clause.sentence.text)
    ):
        what = trim(clause.text)
        return [Draft(PROJECT, "CONVENTION", what, 0.85)] if what and len(what.split()) > 1 else ()
    found = _ALWAYS.match(clause.text) or _ASK.match(clause.text)
    if found and not gates.one_off(clause.text):
        what = trim(
            re.sub(r"\s+(?:from now on|going forward)\b.*", "", found.group("o"), flags=re.I)
        )
        personal = what is not None and re.search(r"\b(?:me|ask|my|i)\b", found.group("o"), re.I)
        return (
            [Draft(USER if personal else PROJECT, "REQUIRES", what, 0.86)]
            if what and len(what.split()) > 1
            else ()
        )
    return ()


def habits(clause: Clause, talk: Talk) -> Sequence[Draft]:
    """ "we X": what the team does or never does."""
    del talk
    found = _WE.match(clause.text)
    if not found or gates.one_off(clause.text) or gates.unreal(clause.text):
        return ()
    what = trim(found.group("o"))
    if what is None or len(what.split()) < 2 or is_pronoun(what.split(" ", 1)[1]) or clause.reason:
        return ()
    head, _, rest = what.partition(" ")
    negative = bool(found.group("n")) or re.search(r"\banymore\b|\bno longer\b", clause.text)
    if head.casefold() == "use":
        return [Draft(PROJECT, "DOES_NOT_USE" if negative else "USES", rest, 0.88)]
    firm = (
        specific(what)
        or _PLACED.search(what)
        or re.search(r"\b(?:always|only|never|per|one|each|every)\b", clause.text)
    )
    if not firm and not negative:
        return ()
    return [Draft(PROJECT, "DOES_NOT" if negative else "CONVENTION", what, 0.85)]


def warnings(clause: Clause, talk: Talk) -> Sequence[Draft]:
    """ "careful with X, it leaks": what X does to those who do not know."""
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
    """ "X is due DATE", "X must finish before TIME", "X gets switched off DATE"."""
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

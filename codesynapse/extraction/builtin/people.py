"""People: what the person likes, where they are, what they do and know."""

from __future__ import annotations

import re
from collections.abc import Sequence

from codesynapse.extraction.builtin import gates
from codesynapse.extraction.builtin.clauses import USER, Clause, Draft, Talk
from codesynapse.extraction.builtin.phrases import DATE, is_pronoun, specific, trim

__all__ = ["personal", "preferences"]

_LIKES = [
    (
        "PREFERS",
        re.compile(
            r"^(?:i|we) (?:really |much |strongly |always |generally |usually |just |do "
            r"|personally )*(?:only want|prefer|like|love|favou?r|want(?= (?:short|brief"
            r"|terse|explicit|plain|small|concise)\b|.*\b(?:always|never|every|each|from "
            r"now on|going forward)\b)|am a fan of|appreciate)(?: (?:to have|to see|it if "
            r"you|you to|seeing|having|when|if))? (?P<o>\S.*)$",
            re.I,
        ),
    ),
    (
        "DISLIKES",
        re.compile(
            r"^(?:i|we) (?:really |just |do |absolutely |personally |kind of )*(?:hate"
            r"|dislike|can't stand|can't read|don't like|don't want|do not like|do not want"
            r"|am not a fan of|am allergic to|am tired of|detest|loathe|am sick of)(?: "
            r"(?:to see|having|seeing|it when))? (?P<o>\S.*)$",
            re.I,
        ),
    ),
    (
        "DISLIKES",
        re.compile(
            r"^(?:please |pls |and |can we |can you |could you |could we |you can |lets "
            r"|let's |just )+(?:skip|drop|lose|stop|cut|cut out|leave out|omit|quit|spare me"
            r"|ditch) (?:with )?(?:all )?(?P<o>(?:the|your|these|those|all|every|any|adding"
            r"|with|\w+ing)\b.*)$",
            re.I,
        ),
    ),
    (
        "DISLIKES",
        re.compile(
            r"^(?:spare me|enough with|no need for|i don't care (?:for|about)|i do not care "
            r"(?:for|about)) (?P<o>\S.*)$",
            re.I,
        ),
    ),
    (
        "PREFERS",
        re.compile(
            r"^(?:ich (?:bevorzuge|mag lieber|mag|möchte|hätte gern|will|arbeite lieber mit"
            r"|nutze|benutze)|mir ist lieber|mir sind lieber) (?P<o>\S.*)$",
            re.I,
        ),
    ),
    (
        "PREFERS",
        re.compile(
            r"^(?:je préfère|j'aime(?: mieux)?|je veux|j'utilise|prefiero|me gustan?|quiero "
            r"que|uso|eu prefiro|prefiro|gosto de|eu uso|ik (?:gebruik|wil|werk (?:het "
            r")?liefst met|heb liever)) (?P<o>\S.*)$",
            re.I,
        ),
    ),
    ("PREFERS", re.compile(r"^我(?:更)?(?:喜欢|偏好|习惯用?)(?P<o>.+)$")),
    (
        "DISLIKES",
        re.compile(
            r"^(?:ich (?:hasse|mag keine?|möchte keine?|will keine?)|je (?:déteste|n'aime "
            r"pas|ne veux pas)|odio|no me gustan?|no quiero|não gosto de|não quero|ik "
            r"(?:haat|wil geen)|我不(?:喜欢|想要?)) ?(?P<o>\S.*)$",
            re.I,
        ),
    ),
]


_ANSWERS = re.compile(
    r"\b(?:answers?|repl(?:y|ies)|responses?|explanations?|summar(?:y|ies)|recaps?"
    r"|intros?|bullet (?:points|lists)|comments?|emojis?|preamble|apologies|flattery"
    r"|"
    r"headings?|tables|code blocks?|diffs?|messages|english|german|french|spanish"
    r"|antworten|réponses|respuestas|respostas)\b",
    re.I,
)


_STYLE = re.compile(
    r"^(?:please |pls |just |only |and )*(?P<o>(?:short|shorter|brief|terse|concise"
    r"|plain|small|smaller|longer|detailed|explicit|full|no-nonsense|direct|one-line"
    r"|kurze?|knappe?|courtes?)\b.*)$",
    re.I,
)


_PLS = re.compile(r"^(?P<o>(?:[\w/-]+ ){0,4}[\w/-]+),? (?:pls|please|bitte|svp|por favor)\b", re.I)


_LASTING = re.compile(
    r"\b(?:always|never|ever|every|each|any|from now on|going forward|in "
    r"(?:answers|replies|the code))\b",
    re.I,
)
_WISH = re.compile(
    r"^(?:ideas?|options?|how|where|what|when|an? |\d|it|that|this|to|you|the|a|know"
    r"|see|add|do|go|have|be|get|sleep|ask|merge|rename|check|look|at|one|some"
    r"|them)\b",
    re.I,
)


_PERSONAL = [
    (
        "LOCATED_IN",
        re.compile(
            r"^(?:i am|i live|i work|i sit|i'm) (?:currently |now |usually |based |living "
            r"|working |sitting |over |out |up |down )*(?:in|from|near) "
            r"(?P<o>(?-i:[A-ZÀ-Ý][\w'-]+(?: [A-Z][\w'-]+){0,2}|[a-zà-ÿ][\w'-]{3,}(?= ?$| "
            r"these| this| now| time| right))).*$",
            re.I,
        ),
    ),
    (
        "HAS_TIMEZONE",
        re.compile(
            r"^(?:my (?:time ?zone|tz) is|i am (?:on|in)) (?P<o>(?:utc|gmt|cet|cest|est|edt"
            r"|pst|pdt|ist|jst|bst|aest|mst|cst|[A-Z][a-z]+/[A-Z]\w+)\b\S*(?: ?[+-]\d+)?(?: "
            r"time)?)",
            re.I,
        ),
    ),
    (
        "NAMED",
        re.compile(
            r"^(?:my name is|i am called|call me|my name's|ich heiße|mein name ist|je "
            r"m'appelle|me llamo|mi nombre es|meu nome é|ik heet|mijn naam is|我叫|私の名前は) "
            r"?(?P<o>[\w'-]+(?: [A-Z][\w'-]+)?)",
            re.I,
        ),
    ),
    (
        "IS",
        re.compile(
            r"^i am (?P<o>(?:[\w/-]+[- ])?(?:colou?r[- ]?blind|dyslexic|left-handed|deaf"
            r"|blind|visually impaired|hard of hearing|on the \w+ team|new to \w+.*|the "
            r"only \w+.*|(?:the |an? )(?:[\w/+#-]+ "
            r"){0,4}(?:dev|developer|engineer|designer|admin|sre|dba|analyst|scientist"
            r"|manager|student|lead|contractor|freelancer|researcher|tester|architect"
            r"|consultant|intern|teacher|founder|beginner|newbie|maintainer|owner|pm"
            r"|cto|on-call|person))\b.*)$",
            re.I,
        ),
    ),
    (
        "WORKS_ON",
        re.compile(
            r"^i (?:mostly |mainly |usually |only |just )*(?:work|do) (?:on |in |with |as "
            r")?(?P<o>(?:an? )?\S.*?)(?: for a living| by trade| day to day| most of the "
            r"time| full ?time)$",
            re.I,
        ),
    ),
    (
        "WORKS_ON",
        re.compile(
            r"^i (?:work|am working|worked) (?:on|at|as|for) (?P<o>(?:the |an? )?\S.*? "
            r"(?:team|dev|developer|engineer|squad|designer|department|lead|group))\b.*$",
            re.I,
        ),
    ),
    (
        "HAS_EXPERIENCE_IN",
        re.compile(
            r"^(?:i have |i've (?:got |had |been (?:doing )?)?|i did |with )?(?P<o>(?:\d+"
            r"|two|three|four|five|six|seven|eight|nine|ten|twenty|many|a few|\d+\+?)\+? "
            r"?(?:yrs?|years?) (?:of |in |doing |as )?(?:an? )?\S.*)$",
            re.I,
        ),
    ),
    (
        "MOVED_TO",
        re.compile(
            r"^(?:they |i |i was |i got |i have |my boss )?(?:moved|switched|transferred"
            r"|reassigned|just joined|joined)(?: me| over)? (?:on ?to|to|into|the)? "
            r"?(?P<o>(?:the )?[\w-]+(?: team| squad)?(?: in \w+| last \w+)?)\b.*$",
            re.I,
        ),
    ),
    (
        "NO_EXPERIENCE_WITH",
        re.compile(
            r"^(?:like |as if |and )?i (?:have |'ve )?(?:never|n't ever|not) (?:really "
            r"|actually |ever )*(?:touched|used|written|done|worked with|worked in|seen"
            r"|tried|learned|coded in|programmed in|had to use|dealt with|heard of)(?: any| "
            r"an?)? (?P<o>\S+?(?: \S+?)??)(?: before| in my life| until now|$|[.,].*)",
            re.I,
        ),
    ),
    (
        "NO_EXPERIENCE_WITH",
        re.compile(
            r"^i (?:have (?:no|zero) (?:experience|clue|background) (?:with|in|about|of)"
            r"|don't know(?: any| much)?|am new to|know nothing about) (?P<o>\S.*)$",
            re.I,
        ),
    ),
    (
        "UNAVAILABLE",
        re.compile(
            rf"^(?:on )?(?P<o>(?:{DATE})(?: (?:mornings?|afternoons?|evenings?|nights?))?) i "
            rf"am (?:never|not|always|usually|off|out|away|offline|unavailable)\b.*$",
            re.I,
        ),
    ),
    (
        "UNAVAILABLE",
        re.compile(
            rf"^i (?:am|don't|do not) (?:never|not|always|usually|work|off|out|away|offline"
            rf"|unavailable|around|reachable| )+(?:on |after |before |at "
            rf")?(?P<o>(?:every |each |most )?"
            rf"(?:second |other |first |last |third )?{DATE}.*)$",
            re.I,
        ),
    ),
    (
        "USES",
        re.compile(
            r"^(?:i (?:mostly |mainly |only |always |still |usually |just )*(?:use|am using"
            r"|am on|run|code in|write in|develop on|work with|work in|type on|live in)|my "
            r"(?:editor|shell|terminal|laptop|machine|keyboard|browser|ide|os|setup"
            r"|keyboard layout) is) (?P<o>\S.*)$",
            re.I,
        ),
    ),
    (
        "LOCATED_IN",
        re.compile(
            r"^(?:ich (?:wohne|sitze|lebe|arbeite) in|ich bin in|j'habite (?:à|en)|je suis "
            r"(?:à|basé à|basée à)|vivo en|estoy en|moro em|eu moro em|estou em|ik (?:woon"
            r"|zit) in|我(?:住)?在|私は) ?(?P<o>[\w'-]+)",
            re.I,
        ),
    ),
]


_LANGUAGE = re.compile(
    r"^(?P<o>[a-z]+) (?:is|isn't) (?:not |only )?my (?:first|native|second|third|best|mother) "
    r"(?:language|tongue)",
    re.I,
)
_ONLY_DO = re.compile(
    r"^(?:please |pls |and )*only (?:ever )?(?P<o>(?:touch|change|edit"
    r"|commit|fix|do|answer|add|use|write|"
    r"refactor|format|modify|run|push) \S.*)$",
    re.I,
)


def preferences(clause: Clause, talk: Talk) -> Sequence[Draft]:
    """What the person likes or does not want to see."""
    del talk
    for predicate, pattern in _LIKES:
        found = pattern.match(clause.text)
        if found:
            return _liking(predicate, found.group("o"), clause)
    found = _LANGUAGE.match(clause.text)
    if found:
        first = not re.search(r"\bnot\b|second|third", clause.text)
        return [
            Draft(USER, "IS" if first else "IS_NOT", f"native {found.group('o')} speaker", 0.86)
        ]
    found = _ONLY_DO.match(clause.text)
    if found and clause.place == 0 and not gates.one_off(clause.text):
        what = trim(f"only {found.group('o')}", 8)
        return [Draft(USER, "PREFERS", what, 0.82)] if what else ()
    found = _STYLE.match(clause.text)
    if found and _ANSWERS.search(found.group("o")) and len(found.group("o").split()) <= 6:
        what = trim(found.group("o"))
        return [Draft(USER, "PREFERS", what, 0.86)] if what else ()
    found = _PLS.match(clause.text)
    if found and re.search(
        r"\b(?:going forward|from now on|in future|same for|always|everywhere)\b",
        clause.turn or clause.sentence.text,
        re.I,
    ):
        what = trim(found.group("o"))
        return [Draft(USER, "PREFERS", what, 0.86)] if what else ()
    return ()


def _liking(predicate: str, tail: str, clause: Clause) -> Sequence[Draft]:
    what = trim(
        re.sub(r"\s(?:over|to|than|lieber als|plutôt que|antes que) .*", "", tail)
        if predicate == "PREFERS"
        else tail
    )
    if (
        what is None
        or is_pronoun(what)
        or gates.one_off(clause.text)
        or re.search(r"\b(?:would|'d)\b", clause.text)
    ):
        return ()
    if re.match(
        r"(?:i|we) (?:\w+ )?(?:like|love|appreciate) (?:the|this|that|these"
        r"|your)\b",
        clause.text,
        re.I,
    ):
        return ()  # praise of what is at hand
    wished = re.match(r"^(?:i|we) (?:\w+ )?(?:don't|do not) want\b|^no need for", clause.text, re.I)
    if wished and not (_ANSWERS.search(what) or _LASTING.search(clause.text)):
        return ()
    if _WISH.match(what) or (
        len(what.split()) == 1 and not specific(what) and not _ANSWERS.search(what)
    ):
        return ()
    return [Draft(USER, predicate, what, 0.88)]


def personal(clause: Clause, talk: Talk) -> Sequence[Draft]:
    """Where the person is, what they do, what they know, when they are away."""
    del talk
    for predicate, pattern in _PERSONAL:
        found = pattern.match(clause.text)
        if not found:
            continue
        what = trim(found.group("o"), 8)
        if (
            what is None
            or is_pronoun(what)
            or gates.one_off(what)
            or (predicate == "USES" and not specific(what))
        ):
            return ()
        if predicate == "LOCATED_IN" and re.match(
            r"(?:the|a|an|my|your|on|favou?r|charge|doubt|love|trouble|pain|meetings?|calls?"
            r"|office|middle|shock|general|fact|luck|line|bed|work|home|here|there|town"
            r"|transit)\b",
            found.group("o"),
            re.I,
        ):
            return ()
        return [Draft(USER, predicate, what, 0.88, replace=predicate in ("NAMED", "HAS_TIMEZONE"))]
    return ()

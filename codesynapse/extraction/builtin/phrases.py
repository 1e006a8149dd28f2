"""Noun phrases: what may be a subject, what may be an object, and how they are cut to size."""

from __future__ import annotations

import re

from codesynapse.extraction.builtin.lexicon import (
    AMBIGUOUS,
    BAD_HEADS,
    FILLERS,
    MONTHS,
    PRONOUNS,
    TOOLS,
    TRAILERS,
    VAGUE,
    WEEKDAYS,
)
from codesynapse.extraction.builtin.segment import CODE, QUOTE

__all__ = [
    "DATE",
    "MAX_OBJECT",
    "expand",
    "is_pronoun",
    "named_tool",
    "specific",
    "strip_lead",
    "subject",
    "trim",
]

MAX_OBJECT = 110

DATE = (
    rf"(?:(?:the )?\d{{1,2}}(?:st|nd|rd|th|\.|º)?(?: of| de)? {MONTHS}\b|{MONTHS}\.? "
    rf"\d{{1,2}}(?:st|nd|rd|th)?\b|"
    rf"\d{{4}}-\d\d-\d\d|\d{{1,2}}[./]\d{{1,2}}(?:[./]\d{{2,4}})?\b|(?:next |end of "
    rf"|mid |early |late )?{WEEKDAYS}\b|"
    rf"(?:end|start|beginning|middle) of (?:the )?(?:{MONTHS}|month|quarter|year|week"
    rf"|q[1-4])\b|q[1-4]\b|"
    rf"\d{{1,2}}:\d\d(?: ?(?:utc|cet|am|pm))?|\d{{1,2}} ?[ap]m\b|{MONTHS}\b(?= \d{{4}}|$)|"
    r"\d{1,2}月(?:\d{1,2}[日号])?)"
)

_LEAD = re.compile(
    r"^(?:no+|nein|non|nee|não|nao)(?:[,.!:;…—–-]+\s*|\s+(?=(?:use|it|that|we|the"
    r"|this|don't|dont|never|i|just|take|run|go)\b))|"
    rf"^(?:(?:{FILLERS}|[^\w\s\ue000-\uf8ff@#./~'\"$:+\-]+|\+1)(?:[ ,.!:;…—–-]+|$))",
    re.I,
)
_EXPANSIONS: list[tuple[re.Pattern[str], str]] = [
    (re.compile(r"\b(i)'m\b", re.I), r"\1 am"),
    (re.compile(r"\bim(?= (?:in|on|a|an|the|based|not|never|using|from)\b)", re.I), "i am"),
    (
        re.compile(r"\b(we|they|you)(?:'re|re(?= (?:on|in|stuck|pinned|using|going)\b))\b", re.I),
        r"\1 are",
    ),
    (re.compile(r"\b(it|that|there|here|what|he|she)'s\b", re.I), r"\1 is"),
    (re.compile(r"^(it|that|there)s(?= )", re.I), r"\1 is"),
    (re.compile(r"\b(i|we|they|you)'ve\b", re.I), r"\1 have"),
    (re.compile(r"\b(i|we|they|you)'ll\b", re.I), r"\1 will"),
    (re.compile(r"^(?:in|on|for|inside|at) (?:the )?[\w-]+,? (?=(?:it|they|we) )", re.I), ""),
    (
        re.compile(
            r"^(?:since|as of|after|starting) (?:the |last |this |our )?[\w-]+,? "
            r"(?=(?:the |our )?[\w-]+ "
            r"(?:lands?|lives?|goes|go|runs?|are|is|sits?|comes?|uses?|ends?)\b)",
            re.I,
        ),
        "",
    ),
    (re.compile(r"\bthru\b", re.I), "through"),
    (re.compile(r"\bw/(?=[ \ue000-\uf8ff])", re.I), "with"),
    (re.compile(r"\bw/o\b", re.I), "without"),
    (re.compile(r"\b(do|does|is|are|has|have|did|must|should|ca|wo)nt\b", re.I), r"\1n't"),
    (re.compile(r"\bcannot\b", re.I), "can't"),
    (re.compile(r"\b(?:isn't|aren't|ain't)\b", re.I), "is not"),
    (
        re.compile(
            r"(?<=\w)'s (?=(?:on|in|at|with|behind|called|owned|pinned|from|under|now|always|only|"
            r"the|our|a|an|due|read|managed|run|hosted|maintained|handled)\b)",
            re.I,
        ),
        " is ",
    ),
    (re.compile(r"(?<=\w)'s (?=[\ue000-\uebff]$|[\w-]+\d[\w-]*$)", re.I), " is "),
]
_CUT = re.compile(
    r"(?:^|\s)(?:because|bc|cuz|cause|'cause|since|so that|so|but|although|though"
    r"|until|til|till|unless|otherwise|"
    r"which|and not|not|instead of|or (?:the|it|we|else|you|they)|rather "
    r"than|as opposed to|whereas|while|when|if"
    r"|after all|even if|even though|"
    r"weil|denn|sondern|aber|damit|nicht|bis|statt|parce que|car|mais|pas|porque"
    r"|pero|mas|não|omdat|maar|niet|"
    r"that's|thats|it's|same)(?:\s.*|$)|[,;。，；、！!].*|\s[-–—]\s.*|\.(?:\s.*|$)|\s[(].*",
    re.I,
)
_TAIL = re.compile(rf"[\s,.!:;…]{{1,4}}{TRAILERS}$", re.I)
_KEPT_END = "*/$%)+#\"'-`]}_"
_ARTICLE = re.compile(
    r"^(?:(?:the|a|an|our|your|my|its|their|this|that|these|those|all|any|every|some"
    r"|der|die|das|den|dem|ein|eine|"
    r"unsere?|le|la|les|un|une|nos|notre|el|los|las|una|nuestr[oa]s?|o|os|as|um|uma"
    r"|noss[oa]s?|het|een|onze) |l')",
    re.I,
)
_TECHNICAL = re.compile(
    rf"{CODE}|{QUOTE}|[#@][a-z][\w/-]+|\w[\w.-]*/[\w./*-]*|\.{{0,2}}/[\w.-]+|\d|\w_\w"
    rf"|[a-z][A-Z]|\b[A-Z]{{2,}}|"
    r"\b[a-z]+-(?:svc|api|db|app|core|ui|bff|job|worker|service|adapter|gateway|web"
    r"|team|squad)\b|\b\w+\.(?:py|ts|tsx|js|"
    r"go|rs|java|kt|rb|yml|yaml|json|toml|md|sql|sh|txt|env|xml|cfg|ini|lock|tf|css"
    r"|html)\b|--\w|(?<=\s)[A-ZÄÖÜÉÁ][\w-]+|"
    r"^[A-ZÄÖÜÉÁ]\w*(?:\s+[A-Z]\w*)+|\.\w+\(|\w\*|\b[a-z]{2,}\.[a-z]{2,}\.[a-z]"
)
_WORD = re.compile(r"[\w.+#@'-]+")


def strip_lead(text: str) -> str:
    """The text without opening words that say nothing, at most eight of them."""
    for _ in range(8):
        shorter = _LEAD.sub("", text, count=1)
        if shorter == text or not shorter.strip():
            break
        text = shorter
    return text.strip()


def expand(text: str) -> str:
    """Contractions written out, so that one pattern fits both spellings."""
    for pattern, by in _EXPANSIONS:
        text = pattern.sub(by, text)
    return text


def named_tool(text: str) -> str | None:
    """The first well-known tool the text names, or None."""
    words = [w.rstrip(".'") for w in _WORD.findall(text)]
    words += [w[:-1] for w in words if len(w) > 3 and w[-1] == "s"]
    few = len(words) <= 4
    return next(
        (w for w in words if w.casefold() in TOOLS and (few or w.casefold() not in AMBIGUOUS)), None
    )


def specific(text: str) -> bool:
    """Whether it names something: an identifier, a path, a number, a tool, a proper name."""
    return bool(_TECHNICAL.search(text)) or named_tool(text) is not None


def is_pronoun(text: str) -> bool:
    """Whether it only points at something said before."""
    words = text.casefold().split()
    return bool(words) and all(w in PRONOUNS for w in words)


_NOT_A_THING = re.compile(
    r"^(?:i|you|he|she|we|they|it|if|when|what|there|let|let's|before|after|once"
    r"|until|till|in|on|at|with|without|from|by|"
    r"for|since|while|as|to|because|than|put|make|add|fix|show|open|rename|move|give"
    r"|tell|pull|keep|leave|use|do|go|see|look|"
    r"let|get|take|set|remove|delete|explain|summari[sz]e|write|create|install|grep"
    r"|rerun|revert|ignore|wrap|try|please|"
    r"old|not|no|nor|or|and|who|which|that's|never|always|only|don't|doesn't|now"
    r"|then|why|how|where|maybe|got|saw|"
    r"wants?|(?:run|test|build|deploy|check|release|review|merge|commit|push|start"
    r"|stop|call|turned|bumped|changed|moved|"
    r"\w{3,}ed) (?:the|a|an|it|that|this|these|all|my|your|our|them))\b|\b(?:has"
    r"|have|had|wants|says|said|was|were|did|will|"
    r"can|could|would)\b|\bno$",
    re.I,
)
_UNFIT = re.compile(
    r"[*<>{}|=\\]|^[#+/\-]{1,6}(?: |$)|\b(?:i|my|your|you|me|it|that|which|who|whose"
    r"|there|this is|because|if|so)\b|"
    r"\b(?:and|or|of|with|to|in|on|at|by|for|from|the|a|an|than|as|but|not|after"
    r"|before|when|while|is|are|be|been|into)$|"
    r"^\w+ly\b(?! \w+$)|^\w{2,}ing (?:it|them|this|that)\b|^(?:line|step|phase|case"
    r"|bug|issue|option|section|chapter|figure|"
    r"table|page|day|week|part|round|test|task|point|item) ?#?\d+$|^(?:step|line"
    r"|phase) |^(?:both|most|many|few|several|kind|kinds|"
    r"sure|specifically|prefer|plus|like|one|two|three|\d+|exactly|each|such"
    r"|following|current|explicit|together|given|billable|quick|good|bad|great|next"
    r"|same|another|other|"
    r"first|second|third|only|just|even|also|anyway|any|some) ?$",
    re.I,
)
_ENDS_IN_VERB = re.compile(r" (?:is|are|now|always|still|also|all|only|just|both|already)$", re.I)


def subject(text: str, limit: int = 7) -> str | None:
    """A usable subject, or None. Pronouns are the caller's business."""
    text = _ENDS_IN_VERB.sub("", _shorn(strip_lead(text)))
    words = text.casefold().split()
    if not words or len(words) > limit or words[-1].strip(".,!") in BAD_HEADS:
        return None
    if _NOT_A_THING.search(text) or _UNFIT.search(text):
        return None
    return None if is_pronoun(text) or text.casefold() in VAGUE or len(text) > 80 else text


_BACK = re.compile(
    r"^(?:it|them|him|her|us|that|this|those|these|there|which|ing|and|or|are|is|was"
    r"|were|of|than)\b(?! (?:\w+-)?(?:repo|project|codebase|directory|folder"
    r"|branch))",
    re.I,
)


def trim(text: str, words: int = 12) -> str | None:
    """A usable object: one phrase, without asides, reasons and fillers; None when vague."""
    text = _shorn(_CUT.sub("", text.strip()))
    if _BACK.match(text):
        return None
    parts = text.split()
    if (
        not parts
        or len(text) > MAX_OBJECT
        or all(w.casefold().strip(".,!'") in VAGUE for w in parts)
    ):
        return None
    text = " ".join(parts[:words])
    return text if re.search(r"[\w\ue000-\uf8ff]", text) else None


def _shorn(text: str) -> str:
    """The text without articles in front, and without fillers and pictures behind."""
    for _ in range(4):
        text = text.strip(" ,;:!…'()")
        while text and not (text[-1].isalnum() or text[-1] in _KEPT_END or _is_mark(text[-1])):
            text = text[:-1]
        text = _ARTICLE.sub("", _TAIL.sub("", text))
    return text


def _is_mark(char: str) -> bool:
    return "\ue000" <= char <= "\uf8ff"

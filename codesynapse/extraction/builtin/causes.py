"""Causes: what a person or a confirmed diagnosis names as the reason for a fault."""

from __future__ import annotations

import re
from collections.abc import Sequence

from codesynapse.extraction.builtin import gates
from codesynapse.extraction.builtin.clauses import Clause, Draft, Talk
from codesynapse.extraction.builtin.phrases import (
    MAX_OBJECT,
    expand,
    is_pronoun,
    specific,
    strip_lead,
)
from codesynapse.extraction.builtin.segment import Sentence

__all__ = ["caused", "causes", "diagnosis", "explicit_cause", "outright_cause"]

_SAID = [
    re.compile(
        r"^(?P<s>(?:the |our |that |those |these |all )?(?:[^\s,;]+ ){0,7}?[^\s,;]+?) "
        r"(?:(?:was|were|is|are|got|has been|have been) (?:actually |all |always "
        r"|really |indeed |just )*(?:caused|triggered) by|(?:came|come|comes|stemmed"
        r"|resulted) (?:down )?(?:from|to)|"
        r"(?:was|were|is|are|happened|happens|failed|fails|broke|breaks|crashed|crashes"
        r"|died|dies) (?:\w+ )?(?:because of|because|due to|down to)) (?P<o>\S.*)$",
        re.I,
    ),
    re.compile(
        r"^(?:the |our )?(?:root cause|cause|culprit|reason|real reason|real problem"
        r"|actual bug|problem|issue|bug)(?: (?:of|for|behind) (?:the |our "
        r")?(?P<s>(?:[^\s,;]+ ){0,6}?[^\s,;]+?))? (?:was|is|were|turned out to be|turns "
        r"out to be|:) (?:that |indeed |actually )*(?P<o>\S.*)$",
        re.I,
    ),
    re.compile(
        r"^(?:so |and )*(?:it )?turn(?:s|ed) out (?:that |to be |it was |it is |it's "
        r")*(?P<o>\S.*)$",
        re.I,
    ),
    re.compile(
        r"^(?:it|this|that) (?:was|is) (?P<o>\S.*?) (?:all along|that caused it|that "
        r"broke it|that did it|after all)\b.*$",
        re.I,
    ),
    re.compile(
        r"^(?:die )?(?:ursache|schuld|grund)(?: (?:für|von) (?P<s>.{2,40}?))? (?:war|ist"
        r"|waren|lag) (?P<o>\S.*)$",
        re.I,
    ),
    re.compile(r"^(?P<s>.{3,60}?) (?:lag|liegt|lagen) (?:daran, dass|an|am) (?P<o>\S.*)$", re.I),
    re.compile(
        r"^(?:la cause|le problème|la causa|el problema|o problema|a causa|de oorzaak"
        r"|het probleem)(?: d[eou] (?P<s>.{2,40}?))? (?:était|c'était|venait de|est|era"
        r"|fue|é|foi|was|is) (?P<o>\S.*)$",
        re.I,
    ),
    re.compile(r"^(?:原因|根本原因|问题)(?:就)?(?:是|在于|出在)(?P<o>.+)$"),
    re.compile(r"^原因は(?P<o>.+?)(?:でした|だった|です|だ)?$"),
]
_PAST_TROUBLE = re.compile(
    r"\b(?:(?:was|were|got|came up|showed up|turned) (?:\w+ )?(?:blank|empty"
    r"|wrong|missing|broken|slow|stale|garbled|"
    r"off|red|down|dead|stuck|gone|flaky|lost|doubled|duplicated|late"
    r"|corrupt\w*|unreadable|cut off)|failed|crashed|"
    r"broke|died|hung|vanished|timed out|went out twice|disappeared|flaked"
    r"|leaked|exploded|blew up)\b",
    re.I,
)
_CONCLUDED = re.compile(
    r"^(?:so|ah so|ok so|right,? so)(?: it was| it's| basically)? "
    r"(?P<o>(?:the|a|an|our) [^,?]{6,70}?)[.!]?$",
    re.I,
)
_BECAUSE = re.compile(
    r"^(?P<s>\S.{4,70}?),? (?:since|because|bc|cuz|cause|'cause|as|due to"
    r"|weil|parce que|porque|omdat) (?P<o>\S.{5,}?)\.?$",
    re.I,
)
_FOUND = re.compile(
    r"\b(?:found (?:it|the (?:bug|cause|problem|culprit|reason))|got to the bottom "
    r"of|figured (?:it )?out|solved|tracked it down|nailed it|mystery solved"
    r"|case closed|got it)(?: "
    r"(?:the |that |our )?(?P<s>[^.;:!,]{3,60}))?",
    re.I,
)
_EXPLICIT = re.compile(
    r"\b(?:the (?:root )?(?:cause|culprit|reason|problem|bug|issue)(?: (?:is|was)|:)"
    r"|(?:is|was|are|were) caused by|because\b|that mismatch|is the cause|was the "
    r"cause|which is why|that is why|that's why|"
    r"(?<=, )so \w+\b|comes? from|came from|due to|ursache"
    r"|fehlt|weil|parce que|porque|原因|因为|ために|原因は)",
    re.I,
)
_OUTRIGHT = re.compile(
    r"\b(?:the (?:root )?(?:cause|culprit|problem|bug|issue|reason) (?:is|was)|the "
    r"(?:root )?cause:|(?:is|was|are|were) caused by|that mismatch is|is the "
    r"(?:root )?cause|die ursache|"
    r"la cause|la causa|a causa|de oorzaak)\b|原因是|原因は",
    re.I,
)
_STRIP = re.compile(
    r"^(?:so |and |i found (?:it|the (?:cause|bug|problem|culprit))\W*|found (?:it"
    r"|the (?:cause|bug|problem))\W*|(?:the )?(?:root )?(?:cause|culprit|reason"
    r"|problem|bug|issue) (?:is|was)(?: that)? |the cause: |it's because |this is "
    r"because |because )+",
    re.I,
)
_BY = re.compile(r"^(?P<s>\S.{3,70}?) (?:is|was|are|were) caused by (?P<o>\S.+)$", re.I)
_OBSERVED = re.compile(r"\b(?:says?|reads? like|author|i'm treating|asks? for|looks?)\b", re.I)
_ACTION = re.compile(
    r"^(?:i(?:'ve|'ll|'m| have| will| am| could| can| would| switched| changed| "
    r"added| see\b| set\b| moved| left| don't)?\b(?! found)|added|changed|set\b|done"
    r"|removed|renamed|moved|replaced|updated|wrapped|reverting|reverted|committed"
    r"|pushed|deleted|fixed|switched|"
    r"marked|raised|lowered|running|looking|checking|opening|pulling|reading"
    r"|fetching|timing|trying|taking|reproducing|let me|shall|should|want|understood"
    r"|ok\b|okay|noted|got it|true|right|yes|no\b|sure|here|then\b|two fixes|quick "
    r"fix|"
    r"same\b|next place|another|with .{0,40}again|applying|bisecting|grepping"
    r"|searching|ich (?:schaue|trage|habe)|verstanden|gern|je (?:regarde|lance"
    r"|change)|miro|voy a|vou)\b",
    re.I,
)


def causes(clause: Clause, talk: Talk) -> Sequence[Draft]:
    """A cause that a person states."""
    sentence = clause.sentence.text
    if gates.unreal(clause.text):
        return ()
    known = _FOUND.search(clause.turn or sentence)
    concluded = _CONCLUDED.match(sentence) if clause.place == 0 and talk.looked else None
    if concluded and talk.trouble and (what := condensed(concluded.group("o"))):
        return [Draft(talk.trouble, "CAUSED_BY", what, 0.85)]
    draft = _since(expand(strip_lead(sentence))) if clause.place == 0 else None
    if draft and (known or _PAST_TROUBLE.search(draft.subject)):
        return [draft]
    for pattern in _SAID:
        found = pattern.match(clause.text)
        if not found:
            continue
        said = found.groupdict().get("s")
        if (
            said
            and pattern is _SAID[0]
            and " from " in clause.text
            and not (known or _troubled(said))
        ):
            continue
        said = (
            None
            if said is None or is_pronoun(said) or said.casefold() in ("it", "that", "this")
            else said
        )
        if pattern is _SAID[2]:
            nested = _SAID[0].match(found.group("o"))
            said, what = (
                (nested.group("s"), nested.group("o")) if nested else (said, found.group("o"))
            )
        else:
            what = found.group("o")
        who = said or (known and known.group("s")) or talk.trouble
        what = condensed(what)
        if who and what and len(what.split()) > 1:
            return [Draft(condensed(who) or who, "CAUSED_BY", what, 0.88)]
    return ()


def _since(text: str) -> Draft | None:
    """An explanation after "found it": "the mails went out twice since both pods run it"."""
    found = _BECAUSE.match(text)
    who, what = (
        (condensed(found.group("s")), condensed(found.group("o"))) if found else (None, None)
    )
    return Draft(who, "CAUSED_BY", what, 0.88) if who and what and len(what.split()) > 2 else None


def _troubled(text: str) -> bool:
    return bool(
        re.search(
            r"\b(?:fail\w*|error\w*|bug|crash\w*|50\d\w*|40\d\w*|flak\w*|outage|leak"
            r"|timeouts?|duplicates?|double|hang|spike|deadlock|incident|slow\w*|regression"
            r"|corrupt\w*|missing)\b",
            text,
            re.I,
        )
    )


def caused(trouble: str, cause: str, strength: float) -> Draft:
    """A confirmed cause, of the trouble that it names itself, else of the one spoken of."""
    found = _BY.match(cause)
    who, what = (condensed(found["s"]), condensed(found["o"])) if found else (None, None)
    return Draft(who or trouble, "CAUSED_BY", what or cause, strength)


def explicit_cause(text: str) -> bool:
    """Whether an agent's sentence says outright that it names the cause."""
    return bool(_EXPLICIT.search(text))


def outright_cause(text: str) -> bool:
    """Whether it uses the word: "the cause is", "was caused by"."""
    return bool(_OUTRIGHT.search(text))


def diagnosis(sentence: Sentence) -> str | None:
    """What an agent's sentence explains, or None when it reports work, asks or guesses."""
    text = sentence.text
    lead = _STRIP.sub("", text)
    if (
        text.startswith(("*", "#", "-", "|"))
        or sentence.question
        or gates.hedged(text)
        or _ACTION.match(lead)
        or _OBSERVED.search(text)
        or sentence.spans.long_quote(text)
    ):
        return None
    if not (specific(text) and len(text.split()) >= 5) and not explicit_cause(text):
        return None
    if re.search(r"\bnow\b|makes sense", text) and not outright_cause(text):
        return None  # what the fix does, not what the fault was
    return condensed(lead)


def condensed(text: str) -> str | None:
    """The text, cut at a word so that it fits a name."""
    text = re.sub(r"^(?:the|that|our|a|an) ", "", text.strip(" .,;:!"), flags=re.I)
    if len(text) > MAX_OBJECT:
        text = text[:MAX_OBJECT].rsplit(" ", 1)[0].rstrip(" ,;:")
    if text.count("(") > text.count(")"):
        text = text[: text.rfind("(")].rstrip() if ")" not in text else text + ")"
    return text or None

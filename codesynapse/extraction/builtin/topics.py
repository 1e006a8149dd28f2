"""What is being spoken of: the thing a question asks about, and the complaint a talk began with."""

from __future__ import annotations

import re
from dataclasses import dataclass

from codesynapse.extraction.builtin.lexicon import words
from codesynapse.extraction.builtin.phrases import expand, strip_lead
from codesynapse.extraction.builtin.segment import CODE, QUOTE, Sentence

__all__ = ["Asked", "asked", "choosing", "complaint", "ignorant", "sought", "unknown_word"]

_FUNCTION = words(
    """who what where when why how which whose whats wheres whos is are was were be been being
    do does did done has have had can could should shall would will may might must am i'm
    the a an your our my his her their its it this that these those there here you we i they
    he she one people someone anybody anyone and or but so also then else about with on in
    at of for to from by into under via as any some all most more other put keep store find
    live lives sit sits go goes run runs use uses using exist exists work works call calls
    get gets need needs own owns review reviews approve approves promote promotes handle
    handles maintain maintains manage manages sign signs off decide decides look looks see
    saw say says said know knows mean means stand stands pick picks want wants make makes
    take takes care responsible even bug ask asks talk happen happens still now again
    actually really btw just ever usually normally right currently already exactly anything
    something add have seen got against side should i'll let's let me did where'd why'd
    how'd where's who's what's isn't aren't doesn't don't does who'd ok listening running
    located stored help helped turning going doing using trying thinking safe true exactly
    possible move delete remove change replace located stored installed deployed configured
    set called named supposed possible safe allowed like welche welcher welches wer wie was
    wo wann ist sind der die das den dem ein eine und mit wir ihr du sie läuft machen machst
    macht soll sollen kümmert sich um für denn noch mal quoi où qui est sont les le la des
    du et pour comment quel quelle y las los el la qué quién dónde cómo cuál son está están
    e os as o a qual onde como quem en de het een welke waar wie hoe zit zitten kommt kommen
    nach im in am"""
)
_BREAK = words("on in at of for to from by via with against or and , is are was were")
_WHO = re.compile(r"\b(?:who|whose|reviewers?|owners?|wer|qui|quién|quem|wie)\b|谁|誰", re.I)
_WHERE = re.compile(
    r"\b(?:where|where's|where'd|wheres|wo|où|dónde|onde|waar)\b|哪里|哪儿|どこ", re.I
)
_HOW = re.compile(r"\b(?:how|comment|cómo|como|wie|hoe)\b|怎么|どうやって", re.I)
_OFFER = re.compile(
    r"^(?:\W|and |ok,? |then )*(?:shall|should|can|could|may|want|would|do you want"
    r"|shall we|am i|soll|kann|darf|"
    r"je (?:lance|fais)|zal|lanzo|quer|quieres|need me)\b",
    re.I,
)
_CJK = re.compile(r"^(.{1,20}?)(?:って|は|が|在|是|用|由|归|怎|哪|谁)")
_TROUBLE = re.compile(
    r"\b(?:fail\w*|broke\w*|breaks?|broken|dies|die|died|crash\w*|500s?|502s?|503s?"
    r"|404s?|40[0-9]s?|errors?|slow\w*|"
    r"hung|hangs?|stuck|red|flaky|flak\w+|twice|duplicat\w+|double\w*|missing|wrong"
    r"|leak\w*|climbs?|screaming|"
    r"refused|time ?outs?|down|kaputt|fehlt|fehler|skips?|skipped|won't|doesn't"
    r"|doesnt|didn't|didnt|can't|cant|"
    r"isn't|empty|lost|loses?|drops?|stale|garbled|weird|off|replace|rejects?"
    r"|rejected|plante|cassé|falla\w*|"
    r"roto|quebr\w+|stopped|spik\w+|oom|panics?|deadlocks?|corrupt\w*|mismatch"
    r"|unauthori[sz]ed)\b|\b[45]\d\ds?\b|"
    r"报错|失败|崩溃|挂了|慢|失敗|エラー|落ちる|動かない",
    re.I,
)
_SOUGHT = re.compile(
    r"\b(?:can't find|cannot find|couldn't find|could not find|don't see|don't know where|"
    r"can't locate|couldn't locate) (?:the |a |an |any |your |where (?:the )?)?"
    r"(?P<t>(?:[\w./-]+ ){0,2}?[\w./-]+)(?= (?:for|in|of|is|are|here|anywhere|lives?)\b|[.,!]|$)",
    re.I,
)
_IGNORANT = re.compile(
    r"\b(?:don't know|do not know|not sure|no entry|can't (?:see|tell|find)"
    r"|couldn't find|no idea|see no|find no|found no|no script|is no\b"
    r"|don't see|isn't documented|haven't seen)\b",
    re.I,
)
_CHECK = re.compile(r"^(?:is|are|was|were|does|did|do|has|have)\b(?! there (?:a|an|any)\b)", re.I)
_UNKNOWN = re.compile(
    rf"(?:mean by|what(?: is|'s| does| are)|which \w+ (?:is|are)|who is"
    rf"|(?:named|called)|know what) (?:the |a |an )?(?P<q>{QUOTE}|{CODE})(?: "
    rf"means?| stands? for| here| refers? to)?(?=[ ?.,]|$)|"
    r"\bno (?:host|service|component|repo|project|module|team|server|cluster"
    r"|environment)s? (?:named|called) (?P<n>[\w-]+)",
    re.I,
)
_CHOICE = re.compile(r"\bwhich (?:one|of (?:these|those|them|the two))\b", re.I)
_TALKING = re.compile(
    r"^(?:(?:which|who|whose|where|when|any|anything|are there)\b|"
    r"i (?:was|can|think|also|have|could|would|understand|see|don't|do)\b|it "
    r"seems|it looks|speaking|sometimes|we (?:rolled|should|could|need)|"
    r"are |is |was |were |has |have |did |can't we|if |maybe|let's|can (?:we|you"
    r"|i)|could|should|is (?:there|it)|what|implement|please|pls|add|make|thanks"
    r"|operation|drop|replace|remove|"
    r"was there|how|do we|does it|right|yes|that|this|and|so we)\b",
    re.I,
)
_WORD = re.compile(r"[\w.+#@/'\ue000-\uf8ff-]+|,")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question: its kind (who, where, how, what, check, choice, offer) and what it asks about."""

    kind: str
    topic: str
    text: str
    options: tuple[str, ...] = ()


def asked(sentence: Sentence) -> Asked | None:
    """What a question asks about, or None when nothing is named."""
    text = expand(strip_lead(sentence.text)) or sentence.text
    topic = _cjk(text) or _phrase(text)
    return Asked(_kind(text), topic, text) if topic else None


def _kind(text: str) -> str:
    if _OFFER.match(text):
        return "offer"
    if _CHECK.match(text):
        return "check"
    for kind, pattern in (("who", _WHO), ("where", _WHERE), ("how", _HOW)):
        if pattern.search(text):
            return kind
    return "what"


def _cjk(text: str) -> str | None:
    found = _CJK.match(text)
    return found.group(1).strip(" ，、") if found else None


def _phrase(text: str) -> str | None:
    """The first run of content words, up to four."""
    run: list[str] = []
    for word in _WORD.findall(text.rstrip(" ?.!")):
        plain = word.casefold().strip("'.")
        if plain in _FUNCTION or plain in _BREAK:
            if run:
                break
            continue
        run.append(word.strip("'."))
    phrase = " ".join(run[:4])
    return phrase if len(phrase) > 1 and len(run) <= 5 else None


def unknown_word(sentence: Sentence) -> str | None:
    """The word an agent does not understand and asks about, or None."""
    found = _UNKNOWN.search(sentence.text)
    return sentence.spans.restore(next(g for g in found.groups() if g)) if found else None


def sought(sentence: Sentence) -> str | None:
    """What an agent says it cannot find: a question in the form of a statement."""
    found = _SOUGHT.search(sentence.text)
    return sentence.spans.restore(found.group("t")).strip(" .") if found else None


def ignorant(text: str) -> bool:
    """Whether an agent says that it does not know, which leaves the question open."""
    return bool(_IGNORANT.search(text))


def choosing(text: str) -> bool:
    """Whether a question asks to pick one of the things just named."""
    return bool(_CHOICE.search(text))


def complaint(sentence: Sentence) -> str | None:
    """What is wrong, in the person's words and at most nine of them, or None."""
    text = strip_lead(sentence.text)
    if (
        not _TROUBLE.search(text)
        or not text[:1].isalnum()
        or _TALKING.match(text)
        or len(text.split()) > 24
    ):
        return None
    text = re.split(r"[,;:?!]|\.\s|\.$|\s[-–—(]", text, maxsplit=1)[0]
    text = re.sub(
        r"^(?:so |when |and )*(?:why (?:does|do|is|are|did|'d)?|why'd)\s+(?:the )?",
        "",
        text,
        flags=re.I,
    )
    text = re.sub(r"^(?:the|our|my)\s+", "", text, flags=re.I)
    words = text.split()
    return " ".join(words[:9]) if 1 < len(words) <= 16 else None

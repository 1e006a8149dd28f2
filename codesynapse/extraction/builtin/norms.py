"""Rules people set: must, only, never, no, don't."""

from __future__ import annotations

import re
from collections.abc import Sequence

from codesynapse.extraction.builtin import gates
from codesynapse.extraction.builtin.clauses import PROJECT, USER, Clause, Draft, Talk, resolve
from codesynapse.extraction.builtin.phrases import is_pronoun, specific, subject, trim
from codesynapse.extraction.builtin.segment import CODE
from codesynapse.extraction.builtin.shapes import PLACED, STANDING, SUBJECT, VERBS

__all__ = ["bans", "duties"]


_DUTY = re.compile(
    rf"{SUBJECT} (?:always |also |only |still |all )*(?P<m>must|has to|have to"
    rf"|needs? to|may only|can only|should always|"
    r"should only|is supposed to|are supposed to|is required to|"
    r"is the only (?:thing|one|service|place) (?:that is |that's )?(?:allowed"
    r"|permitted) to|only) (?P<o>\S.*)$",
    re.I,
)


_FORBIDDEN = re.compile(
    rf"{SUBJECT} (?:must not|mustn't|may not|can't ever|can never|must never|should "
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


_DONT = re.compile(
    rf"^(?:(?:whatever (?:you do|happens)|under no circumstances|please|pls"
    rf"|just|so|and|you|we|ever),? )*"
    rf"(?:don't|do not|never|you must not|you can't|we don't|we never|please don't"
    rf"|must not|mustn't) (?:ever |you ever |just |"
    rf"ever again |actually )*(?P<o>`?{VERBS}\b.*|{CODE}.*)$",
    re.I,
)


_AVOID = re.compile(
    r"^(?:please |pls |always |and |we |so )*(?:avoid(?: using)?|stay away from"
    r"|keep away from|steer clear of|hands off(?: of)?|"
    r"stop (?:using)|keep your hands off|leave)(?P<alone> .* alone)? (?P<o>\S.*)$",
    re.I,
)


_EVERY = re.compile(
    rf"{SUBJECT} (?:(?P<v>is|are|get|gets) )?(?P<m>always|never|only ever) "
    rf"(?P<o>\S.*)$",
    re.I,
)


_ONLY_TAIL = re.compile(
    r"^(?:(?:ever )?(?:via|through|on|in|from|for|at|over|by|with|under|to|behind"
    r"|after|before|during|when)\b|(?:[a-z]+[^s\W]s|see|use|go|run|call|talk|come|read"
    r"|write|sync|accept|get)\b (?!then|and))",
    re.I,
)


_WEAK = re.compile(
    r"^(?:be )?(?:plenty|enough|fine|ok|okay|good|easy|possible|able|nice|happy|done"
    r"|useful|back|go|sure|there|here|doing|see|tell|know|fix|look|"
    r"help|ensure|make sure|verify|investigate|decide|update|add|do it|do that"
    r"|figure|check|sleep|wait|admit|say|think)\b",
    re.I,
)


def duties(clause: Clause, talk: Talk) -> Sequence[Draft]:
    """Such as "X must Y", "X only Y", "X must not Y"."""
    found, negative = _FORBIDDEN.match(clause.text), True
    if not found:
        found, negative = _DUTY.match(clause.text), False
    if not found:
        return _every(clause, talk)
    who, what = resolve(found.group("s"), talk), trim(found.group("o"))
    if who is None or what is None or _WEAK.match(what) or gates.one_off(clause.text):
        return ()
    if who == PROJECT and not (specific(what) or PLACED.search(what)):
        return ()
    if negative:
        return [Draft(who, "MUST_NOT", what, 0.88)]
    mode = found.group("m").casefold()
    if (who == PROJECT and mode.startswith("need")) or (
        mode == "only" and not (_ONLY_TAIL.match(found.group("o")) or specific(found.group("o")))
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
    """Such as "orders are always shown in X": what holds every time."""
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
    return [Draft(who, "MUST_NOT" if found.group("m") == "never" else "ALWAYS", what, 0.84)]


def bans(clause: Clause, talk: Talk) -> Sequence[Draft]:
    """Such as "nothing in X talks to Y", "no X in Y", "never X", "don't X", "hands off X"."""
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
        STANDING.search(text)
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
        r"\w(?:ed|wn|ing)$|\b(?:found|left|identified|created|needed|detected|reported"
        r"|is|are|was|were)\b",
        found.group("o"),
    ):
        return ()
    if what is None or not (
        PLACED.search(found.group("o")) or specific(what) or clause.sentence.bullet
    ):
        return ()
    if len(what.split()) == 1 and clause.place == 0 and not specific(what):
        return ()
    return [Draft(PROJECT, "AVOIDS", what, 0.88)]

"""Standing orders and habits: always X, keep X under N, ask before X, we X, two reviewers for X."""

from __future__ import annotations

import re
from collections.abc import Sequence

from codesynapse.extraction.builtin import gates
from codesynapse.extraction.builtin.clauses import PROJECT, USER, Clause, Draft, Talk, resolve
from codesynapse.extraction.builtin.phrases import is_pronoun, specific, subject, trim
from codesynapse.extraction.builtin.segment import CODE
from codesynapse.extraction.builtin.shapes import PLACED, STANDING, VERBS

__all__ = ["habits", "quotas", "settings", "standing_orders"]

_ALWAYS = re.compile(
    rf"^(?:please |pls |and |we |you |so |just )*(?:always|only ever|make sure to "
    rf"always) (?P<o>{VERBS}\b.*|[a-z]+ .+)$",
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


def quotas(clause: Clause, talk: Talk) -> Sequence[Draft]:
    """Conditions: "two reviewers for X", "if X stays above N we promote"."""
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
    """Such as "lock_timeout 3s for migrations": a named setting and its value."""
    del talk
    found = _SETTING.match(clause.text)
    what = trim(f"{found.group('o')} {found.group('for')}") if found else None
    if not found or what is None or gates.one_off(what):
        return ()
    return [Draft(found.group("s"), "SET_TO", what, 0.85, replace=True)]


def standing_orders(clause: Clause, talk: Talk) -> Sequence[Draft]:
    """Orders that hold beyond the moment: "always X", "keep X under N", "ask before X"."""
    del talk
    found = _KEEP.match(clause.text)
    if (
        found
        and (specific(found.group("o")) or STANDING.search(clause.sentence.text))
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
    """Such as "we X": what the team does or never does."""
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
        or PLACED.search(what)
        or re.search(r"\b(?:always|only|never|per|one|each|every)\b", clause.text)
    )
    if not firm and not negative:
        return ()
    return [Draft(PROJECT, "AVOIDS" if negative else "CONVENTION", what, 0.85)]

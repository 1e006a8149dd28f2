"""Short answers: the subject is what was asked, the clause is only its value."""

from __future__ import annotations

import re
from collections.abc import Sequence

from codesynapse.extraction.builtin import gates
from codesynapse.extraction.builtin.clauses import PROJECT, USER, Clause, Draft, Talk
from codesynapse.extraction.builtin.commands import looks_like_command
from codesynapse.extraction.builtin.phrases import named_tool, specific, subject, trim
from codesynapse.extraction.builtin.segment import CODE

__all__ = ["answers"]

_NAME = re.compile(
    r"^(?:(?:only|just|usually|that is|that would be|it is|ask|ping|das macht|macht|nimm|c'est|es|é"
    r"|dat doet|是|由|找) )*(?:the )?(?P<o>[A-ZÀ-Ý][\w'-]+(?: [A-ZÀ-Ý][\w'-]+)?|"
    r"(?:the )?(?:[\w-]+ ){0,2}(?:team|squad|guild|crew|captain|lead|group|ops)"
    r"|#[\w-]+)(?= |$|[,.])"
)
_AUXILIARY = re.compile(
    r"^(?P<o>[A-ZÀ-Ýa-z][\w'-]+) (?:does|owns it|do|is|handles it|handles that"
    r"|approves)\b",
    re.I,
)
_PLACE = re.compile(
    r"^(?:it is |they are |that is |they live |it lives |they sit |it sits |all "
    r"|mostly |now |im |in der |dans |en |em )*(?P<o>(?:in|under|at|on|inside|behind"
    r"|next to|beside|near)? ?\S.*)$",
    re.I,
)
_EMPTY = re.compile(
    r"^(?:still |now |it is |that is |they are |we use |we are on |we have |just "
    r"|only |mostly |currently |with |mit |con |avec |com |met |via |through |from "
    r"|on )+",
    re.I,
)
_CHATTER = re.compile(
    r"^\W?\w{1,2}\W?$|^(?:link|raise|push|create|write|commit|merge|rebase|rename"
    r"|move|update|implement|explain|summari[sz]e|apply|write|start|"
    r"good|great|nice|love|like|really|perfect|agreed?|ready|solid|continue|proceed"
    r"|review|test|exactly|nothing|hmm)\b|\b(?:i|i'm|i'll|me|you|let's|lets|try"
    r"|check|look|see|add|do|make|fix|put|run|open|show|use the|grep|rerun|restart"
    r"|remove|delete|leave|go|go ahead|thanks|thx|"
    r"sure|please|pls|think|sorry|haha|lol|wait|done|maybe|works|was|were|did|had"
    r"|nothing|none|yet)\b",
    re.I,
)
_VERBAL = re.compile(
    r"\b(?:is|are|was|were|has|have|had|says?|said|does|did|can|will|must|should"
    r"|squats?|takes?|gets?|doesn't|don't|isn't)\b",
    re.I,
)
_STYLE_ASKED = re.compile(
    r"\b(?:style|preferences?|rules?|conventions?|formatting|guidelines?|wishes"
    r"|taste)\b",
    re.I,
)
_TOOLS_ASKED = re.compile(r"^(?:tools?|editor|setup|shell|ide|terminal|os)$", re.I)


def answers(open_clauses: Sequence[Clause], talk: Talk) -> Sequence[Draft]:
    """What the clauses of an answer give that no other rule took, when they name something."""
    question = talk.asked
    if question is None or question.kind in ("offer", "check"):
        return ()
    if question.kind == "word":
        return _meaning(open_clauses, question.topic)
    if question.options:
        return _choice(open_clauses, question.options)
    if subject(question.topic) is None:
        return ()
    if question.kind == "who":
        return next((d for c in open_clauses[:2] if (d := _owner(c, question.topic))), ())
    drafts: list[Draft] = []
    for clause in open_clauses[:4]:
        if not _plain(clause, question.kind):
            continue
        for draft in _value(clause, question.kind, question.topic):
            last = drafts[-1] if drafts else None
            if (
                last
                and last.predicate != "RUNS_WITH"
                and not re.search(r"\d", f"{last.object} {draft.object}")
            ):
                drafts[-1] = Draft(
                    last.subject, last.predicate, f"{last.object}, {draft.object}", last.strength
                )
            else:
                drafts.append(draft)
    return drafts


def _meaning(open_clauses: Sequence[Clause], word: str) -> Sequence[Draft]:
    """What an unknown word stands for: the first bare name of the answer."""
    if open_clauses and gates.affirms(open_clauses[0].sentence.text):
        return ()
    for clause in open_clauses[:2]:
        text = re.sub(
            r"^(?:it is|that is|i mean|we mean|our|the|that would be) ", "", clause.text, flags=re.I
        )
        what = trim(text, 5)
        if (
            what
            and len(what.split()) <= 4
            and not re.search(r"\b(?:slang|nickname|name|joke|thing|jargon)\b", what)
            and not (_CHATTER.search(what) or _VERBAL.search(what))
        ):
            return [Draft(word, "MEANS", what, 0.86)]
    return ()


def _choice(open_clauses: Sequence[Clause], options: Sequence[str]) -> Sequence[Draft]:
    """One of several named things, picked by a word of its name."""
    said = open_clauses[0].text.casefold().strip(" .!") if open_clauses else ""
    words = re.sub(r"^(?:the|definitely|always|only) ", "", said)
    hits = [
        o for o in options if (len(words) > 2 and words in o.casefold()) or o.casefold() == words
    ]
    return [Draft(PROJECT, "USES", hits[0], 0.84)] if len(hits) == 1 else ()


def _plain(clause: Clause, kind: str) -> bool:
    """A bare value: no sentence of its own, no chatter, nothing imagined or momentary."""
    text = clause.text
    if len(text.split()) > 9 or gates.unreal(text) or gates.one_off(text) or _CHATTER.search(text):
        return False
    if _VERBAL.search(
        re.sub(r"^(?:it is|that is|they are|we use|we are on|that would be) ", "", text)
    ):
        return False
    if kind == "how":
        return bool(re.search(CODE, text)) or _bare_command(clause)
    return kind == "what" or not gates.momentary(text)


def _owner(clause: Clause, topic: str) -> Sequence[Draft]:
    found = _NAME.match(clause.text) or _AUXILIARY.match(clause.text)
    if not found:
        return ()
    name = trim(found.group("o"), 4)
    if name is None or name.casefold() in (
        "i",
        "it",
        "me",
        "that",
        "nobody",
        "no",
        "we",
        "he",
        "she",
        "they",
        "this",
        "what",
        "there",
    ):
        return ()
    return [Draft(topic, "OWNED_BY", name, 0.86)]


def _bare_command(clause: Clause) -> bool:
    return looks_like_command(clause.text)


def _value(clause: Clause, kind: str, topic: str) -> Sequence[Draft]:
    text = clause.text
    if kind == "where":
        found = _PLACE.match(text)
        text = re.sub(r"^(?:in|under|at|on|inside) ", "", found.group("o")) if found else text
    text = _EMPTY.sub("", text)
    what = trim(text, 8)
    if (
        what is not None
        and clause.place == 0
        and _STYLE_ASKED.search(topic)
        and 1 < len(what.split()) <= 8
    ):
        return [Draft(USER, "PREFERS", what, 0.85)]
    if what is None or not specific(what) or len(what.split()) > 8:
        return ()
    command = _bare_command(clause) or (
        re.match(CODE, what) and looks_like_command(clause.sentence.spans.restore(what))
    )
    if _TOOLS_ASKED.match(topic) and not command:
        return [Draft(USER, "USES", what, 0.85)]
    predicate = (
        "RUNS_WITH"
        if command
        else "LOCATED_IN"
        if kind == "where"
        else "USES"
        if named_tool(what)
        else "IS"
    )
    return [Draft(topic or PROJECT, predicate, what, 0.82)]

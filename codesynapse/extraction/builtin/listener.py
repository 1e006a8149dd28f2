"""Goes through a conversation turn by turn and notes what is stated or confirmed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from codesynapse.domain.turns import Speaker, Turn
from codesynapse.extraction.builtin import (
    answers,
    causes,
    choices,
    commands,
    gates,
    languages,
    norms,
    people,
    statements,
    topics,
)
from codesynapse.extraction.builtin.clauses import (
    PROJECT,
    USER,
    Clause,
    Draft,
    Family,
    Talk,
    clauses,
)
from codesynapse.extraction.builtin.segment import CODE, Sentence, Spans, sentences

__all__ = ["Listener", "Note"]

# The first family that recognises a clause has it.
_FAMILIES: tuple[Family, ...] = (
    causes.causes,
    people.aliases,
    people.personal,
    people.preferences,
    norms.bans,
    commands.commands,
    choices.corrections,
    choices.decisions,
    choices.migrations,
    choices.versions,
    people.owners,
    norms.deadlines,
    norms.duties,
    norms.standing_orders,
    norms.habits,
    norms.warnings,
    statements.relations,
    statements.labels,
    statements.copulas,
    languages.foreign,
)
_ASKING = (people.preferences,)  # "can we skip the flattery" is a wish in the form of a question
_TWO_NAMES = re.compile(rf"^(?:the )?{CODE}")
_REPORT = re.compile(
    r"^(?:I(?:'ll|'ve|'d)?|I (?:would|will|could|can))? ?(?:\w+ed|send|put|run|use|running|emitting|wrapped|made|wrote|split|set) (?:up )?(?:the |a |an |your )?(?P<t>[\w -]{2,40}?)(?= (?:with|via|through|in|into|using|to|from|on|straight|as|per|by)\b|\.|,|$)",
    re.I,
)
_FIXED = re.compile(
    r"\b(?:pass(?:es|ed)?|fixed|come through|is clean|works?|green|shows? them|starts?|no (?:more )?changes|resolved)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Note:
    """One draft with its provenance. ``spoken`` is the person's sentence it came from."""

    draft: Draft
    spans: Spans
    turn: Turn
    place: int
    speaker: Speaker
    spoken: str


@dataclass(slots=True)
class _Pending:
    """What an agent said and a person may still confirm."""

    drafts: list[tuple[Draft, Spans]] = field(default_factory=list)
    cause: str | None = None
    cause_spans: Spans = field(default_factory=Spans)
    fixed: bool = False
    turn: Turn | None = None


class Listener:
    """Holds the state of one conversation. ``hear`` every turn in order, then read ``notes``."""

    def __init__(self) -> None:
        self.notes: list[Note] = []
        self.retracted: set[int] = set()
        self._talk = Talk()
        self._pending = _Pending()
        self._place = 0
        self._answerable = False

    def hear(self, turn: Turn) -> None:
        """Take one turn."""
        self._place += 1
        said = sentences(turn.text)
        if turn.role is Speaker.USER:
            if not gates.injected(turn.text[:20_000]):
                self._person(turn, said)
        else:
            self._agent(turn, said)

    # -- a person ---------------------------------------------------------------------------

    def _person(self, turn: Turn, said: Sequence[Sentence]) -> None:
        if not said:
            return
        self._settle_pending(turn, said)
        if any(gates.retracts(s.text) for s in said):
            self._take_back(said)
        if any(gates.joking(s.text) for s in said):
            return
        hushed = [gates.secretive(s.spans.restore(s.text)) for s in said]
        for at, sentence in enumerate(said):
            if any(hushed[max(0, at - 1) : at + 2]):
                continue
            self._sentence(turn, sentence)
        self._answerable = False

    def _sentence(self, turn: Turn, sentence: Sentence) -> None:
        if gates.questioning(sentence):
            self._question(turn, sentence)
            return
        if self._talk.trouble is None:
            self._talk.trouble = topics.complaint(sentence)
        if gates.told(sentence.text) or sentence.spans.long_quote(sentence.text):
            return
        for clause in clauses(sentence, statements.stands_alone):
            if gates.unreal(clause.text):
                continue
            self._clause(turn, clause, _FAMILIES)

    def _question(self, turn: Turn, sentence: Sentence) -> None:
        if self._talk.trouble is None:
            self._talk.trouble = topics.complaint(sentence)
        for clause in clauses(sentence, statements.stands_alone):
            if self._clause(turn, clause, _ASKING):
                return
        question = topics.asked(sentence)
        if question is not None:
            self._talk.topic, self._talk.asked = question.topic, question
            self._answerable = False

    def _clause(self, turn: Turn, clause: Clause, families: Sequence[Family]) -> bool:
        drafts: Sequence[Draft] = ()
        for family in families:
            drafts = family(clause, self._talk)
            if drafts:
                break
        if not drafts and self._answerable and families is _FAMILIES:
            drafts = answers.answers(clause, self._talk)
        for draft in drafts:
            self._note(draft, clause.sentence.spans, turn, Speaker.USER, clause.sentence.text)
            if draft.predicate == "CAUSED_BY":
                self._talk.trouble, self._pending.cause = None, None
            if draft.subject not in (PROJECT, USER) and draft.predicate != "CAUSED_BY":
                self._talk.topic = draft.subject
        return bool(drafts)

    def _settle_pending(self, turn: Turn, said: Sequence[Sentence]) -> None:
        pending, first = self._pending, said[0]
        if gates.refuses(first.text):
            self._pending = _Pending()
            return
        if not gates.affirms(first.text) or first.question:
            return
        for draft, spans in pending.drafts:
            self._note(draft, spans, turn, Speaker.USER, "")
        if pending.cause and self._talk.trouble:
            draft = Draft(self._talk.trouble, "CAUSED_BY", pending.cause, 0.78)
            self._note(draft, pending.cause_spans, turn, Speaker.USER, "")
            self._talk.trouble = None
        self._pending = _Pending()

    def _take_back(self, said: Sequence[Sentence]) -> None:
        """Drop what the person's previous turn gave, or what was said about a named thing."""
        about = next((m for s in said if (m := _ABOUT.search(s.text))), None)
        if about:
            name = about.group("t").casefold()
            self.notes = [
                n
                for n in self.notes
                if name not in f"{n.draft.subject} {n.draft.object} {n.spoken}".casefold()
            ]
            return
        last = max((n.place for n in self.notes if n.place < self._place), default=None)
        if last is not None and self._place - last <= 2:
            self.notes = [n for n in self.notes if n.place != last]

    # -- an agent ---------------------------------------------------------------------------

    def _agent(self, turn: Turn, said: Sequence[Sentence]) -> None:
        cause, self._pending.drafts = self._pending, []
        self._pending.turn = turn
        asked = [s for s in said if s.question]
        explained = [
            (s, d) for s in said if (d := causes.diagnosis(s)) and not gates.injected(s.text)
        ]
        if explained and self._talk.trouble:
            cause.cause, cause.cause_spans = _best(explained)
        for sentence in said:
            self._claim(turn, sentence)
        self._close_case(turn, said)
        if asked:
            self._talk.asked = topics.asked(asked[-1]) or self._talk.asked
            self._answerable = True
            if self._talk.asked is not None:
                self._talk.topic = self._talk.asked.topic
        elif said and (found := _REPORT.match(said[0].text)):
            self._talk.topic = found.group("t").strip()

    def _claim(self, turn: Turn, sentence: Sentence) -> None:
        if sentence.spans.long_quote(sentence.text) or gates.injected(
            sentence.spans.restore(sentence.text)
        ):
            return
        proposed = choices.proposal(sentence, self._talk.topic if self._talk.asked else None)
        if proposed is not None:
            self._pending.drafts.append((proposed, sentence.spans))
        if sentence.question or gates.hedged(sentence.text) or not _TWO_NAMES.match(sentence.text):
            return
        for clause in clauses(sentence, statements.stands_alone):
            for draft in statements.relations(clause, Talk()):
                if _TWO_NAMES.match(draft.object) and draft.predicate in (
                    "CALLS",
                    "DEPENDS_ON",
                    "READS_FROM",
                    "WRITES_TO",
                    "TALKS_TO",
                    "USES",
                ):
                    self._note(
                        Draft(draft.subject, draft.predicate, draft.object, 0.65),
                        sentence.spans,
                        turn,
                        Speaker.ASSISTANT,
                        "",
                    )
                    self._pending.drafts.append(
                        (Draft(draft.subject, draft.predicate, draft.object, 0.8), sentence.spans)
                    )

    def _close_case(self, turn: Turn, said: Sequence[Sentence]) -> None:
        """An outright cause with its fix in one turn is kept, at an agent's confidence."""
        pending, trouble = self._pending, self._talk.trouble
        if not (pending.cause and trouble) or any(s.question for s in said):
            return
        outright = any(causes.diagnosis(s) and causes.explicit_cause(s.text) for s in said)
        if outright and any(_FIXED.search(s.text) for s in said):
            draft = Draft(trouble, "CAUSED_BY", pending.cause, 0.65)
            self._note(draft, pending.cause_spans, turn, Speaker.ASSISTANT, "")

    def _note(self, draft: Draft, spans: Spans, turn: Turn, speaker: Speaker, spoken: str) -> None:
        restored = Draft(
            spans.restore(draft.subject),
            draft.predicate,
            spans.restore(draft.object),
            draft.strength,
            draft.replace,
        )
        self.notes.append(Note(restored, spans, turn, self._place, speaker, spoken))


_ABOUT = re.compile(
    r"\b(?:scratch|forget|ignore) (?:what|everything|all) (?:i|we) (?:told you|said|wrote|mentioned) about (?:the )?(?P<t>[\w./-]+)",
    re.I,
)


def _best(explained: Sequence[tuple[Sentence, str]]) -> tuple[str, Spans]:
    """The sentence that names a cause outright, else the last two that explain, if they fit."""
    outright = [(s, d) for s, d in explained if causes.explicit_cause(s.text)]
    sentence, text = (outright or list(explained))[-1]
    if not outright and len(explained) > 1:
        before = explained[-2][1]
        joined = f"{before}; {text}"
        if len(sentence.spans.restore(joined)) <= 110:
            text = joined
    return text, sentence.spans

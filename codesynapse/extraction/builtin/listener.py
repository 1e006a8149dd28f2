"""Goes through a conversation turn by turn and notes what is stated or confirmed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from codesynapse.domain.turns import Speaker, Turn
from codesynapse.extraction.builtin import (
    answers,
    briefs,
    causes,
    choices,
    commands,
    gates,
    handovers,
    languages,
    names,
    norms,
    notices,
    openers,
    orders,
    people,
    resolutions,
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
from codesynapse.extraction.builtin.notes import Note, Pending, best_cause
from codesynapse.extraction.builtin.phrases import subject
from codesynapse.extraction.builtin.segment import CODE, Sentence, Spans, pasted, printed, sentences

__all__ = ["Listener"]

# The first family that recognises a clause has it.
_FAMILIES: tuple[Family, ...] = (
    causes.causes,
    names.aliases,
    briefs.requests,
    people.personal,
    people.preferences,
    briefs.briefs,
    norms.bans,
    commands.commands,
    choices.corrections,
    resolutions.resolutions,
    choices.decisions,
    choices.migrations,
    choices.versions,
    handovers.handovers,
    names.owners,
    orders.settings,
    orders.quotas,
    notices.deadlines,
    norms.duties,
    orders.standing_orders,
    orders.habits,
    notices.warnings,
    statements.relations,
    statements.labels,
    statements.copulas,
    briefs.customs,
    briefs.verbless,
    languages.foreign,
)
_TOPIC_LASTS = 4  # turns
_ASKING = (people.preferences,)  # "can we skip the flattery" is a wish in the form of a question
_TWO_NAMES = re.compile(rf"^(?:the )?{CODE}")
_PART = re.compile(
    r"(?=[a-z@])(?=[\w@/.-]*[-/])[\w@/.-]+$"
)  # a service, package or folder: no function
_REPORT = re.compile(
    r"^(?:I(?:'ll|'ve|'d)?|I (?:would|will|could|can))? ?(?:\w+ed|send|put|run|use"
    r"|running|emitting|wrapped|made|wrote|split|set) (?:up )?(?:the |a |an |your "
    r")?(?P<t>[\w -]{2,40}?)(?= (?:with|via|through|in|into|using|to|from|on"
    r"|straight|as|per|by)\b|\.|,|$)",
    re.I,
)
_ABOUT_THING = re.compile(
    r"(?:^|\b(?:the|your|that|den|die|das|le|la|el) )(?P<t>(?:[\w-]+ "
    r"){0,2}?[\w-]+) (?:is|are|aren't|isn't|comes?|lives?|goes|reads?"
    r"|writes?|listens?|calls?|sends?|gets?|takes?|has|depends?|returns?"
    r"|points?|talks?|uses|runs?"
    r"|was|were|"
    r"for the|mit|est|es)\b",
    re.I,
)
_FIXED = re.compile(
    r"\b(?:pass(?:es|ed)?|fixed|come through|is clean|works?|green|shows? them"
    r"|starts?|no (?:more )?changes|resolved)\b",
    re.I,
)


_ORDERS = frozenset({"REQUIRES", "MUST_NOT", "MUST", "PREFERS", "DECIDED"})
_DANGLING = re.compile(
    r"^(?:not )?\w+ (?:her|him|them|it|this|that|these|those|one)\b(?! (?:\w+-)?\w+ing\b)", re.I
)
_HEADLESS = re.compile(
    r"^(?:(?P<verb>needs?|requires?|must|has to|have to|uses?|lives?|runs?|goes"
    r"|listens|belongs|reads|writes|calls|talks|only|never|is|are|corre|läuft|roda|"
    r"tourne|draait|expires|ends|comes|depends|stays|kommt|liegt|stays)|wiped"
    r"|read[- ]only|deprecated|protected|generated|rebuilt|reset|frozen|"
    r"encrypted|overwritten|owned by|managed by|maintained by|stored in|pinned to"
    r"|behind|hosted on|deployed|reviewed by|approved by|handled by|signed off by|run by)\b ",
    re.I,
)
_MENTIONED = re.compile(
    r"^(?:(?:be )?(?:careful|watch out|beware|cuidado|mind)? ?(?:with|about|of|for) "
    r"(?P<w>(?:[^\s,;]+ ){0,3}?[^\s,;]+)$|"
    r"(?P<s>(?:[^\s,;]+ ){0,4}?[^\s,;]+?) (?:is|are|was|were|isn't|aren't|ya no|es"
    r"|son|est|sont|ist|sind|é|não|niet|n'est|wurde|exists?)\b)",
    re.I,
)
_ECHO = re.compile(
    r"^(?:(?:so )?(?:does|do) (?P<a>\S.*)|(?P<b>\S.*?) (?:does|do|is|are)(?: "
    r"it)?,? (?:too|as well)|same (?:goes )?(?:for|with) (?P<c>\S.*)|(?P<d>\S.*?) "
    r"(?:as well|likewise))$",
    re.I,
)


class Listener:
    """Holds the state of one conversation. ``hear`` every turn in order, then read ``notes``."""

    def __init__(self) -> None:
        self.notes: list[Note] = []
        self._talk = Talk()
        self._pending = Pending()
        self._place = 0
        self._answerable = False
        self._spoken = ""
        self._topic_at = 0

    def hear(self, turn: Turn) -> None:
        """Take one turn."""
        self._place += 1
        if self._place - self._topic_at > _TOPIC_LASTS:
            self._talk.topic = None
        before = self._talk.topic
        self._talk.stale = before if self._place - self._topic_at > 1 else None
        said = sentences(turn.text)
        if turn.role is Speaker.USER:
            if not (gates.injected(turn.text[:20_000]) or pasted(turn.text)):
                self._person(turn, said)
        else:
            self._agent(turn, said)
        if self._talk.topic != before:
            self._topic_at = self._place

    # -- a person ---------------------------------------------------------------------------

    def _person(self, turn: Turn, said: Sequence[Sentence]) -> None:
        if not said:
            return
        self._settle_pending(turn, said)
        if any(gates.retracts(s.text) for s in said):
            self._take_back(said)
        if any(gates.joking(s.text) for s in said):
            return
        self._spoken = " ".join(s.text for s in said)
        kind = self._talk.asked.kind if self._talk.asked else ""
        self._talk.answering = self._answerable and kind in ("how", "what", "where")
        hushed = [gates.secretive(s.spans.restore(s.text)) for s in said]
        for at, sentence in enumerate(said):
            if any(hushed[max(0, at - 1) : at + 2]):
                continue
            self._sentence(turn, sentence, first=at == 0)
        self._answerable = False

    def _sentence(self, turn: Turn, sentence: Sentence, *, first: bool) -> None:
        if gates.questioning(sentence):
            self._question(turn, sentence)
            return
        if self._talk.trouble is None:
            self._talk.trouble = topics.complaint(sentence)
        if gates.told(sentence.text) or sentence.spans.long_quote(sentence.text):
            return
        text, corrects = openers.opened(sentence.text)
        sentence = replace(sentence, text=text, corrects=corrects)
        missed: list[Clause] = []
        for clause in clauses(sentence, statements.stands_alone, self._spoken):
            if gates.unreal(clause.text):
                continue
            if not self._clause(turn, clause, _FAMILIES) and not self._echo(turn, clause):
                missed.append(clause)
        if first and missed and (chosen := briefs.picks(missed[0], self._talk)):
            self._take(chosen[0], missed[0], turn)
        elif first and self._answerable:
            for draft in answers.answers(missed, self._talk):
                self._take(draft, missed[0], turn)

    def _question(self, turn: Turn, sentence: Sentence) -> None:
        if self._talk.trouble is None:
            self._talk.trouble = topics.complaint(sentence)
        for clause in clauses(sentence, statements.stands_alone):
            if self._clause(turn, clause, _ASKING):
                return
        question = topics.asked(sentence)
        if question is not None:
            topic = sentence.spans.restore(question.topic)
            self._talk.topic = subject(topic)
            self._talk.asked = topics.Asked(
                question.kind, topic, sentence.spans.restore(question.text)
            )
            self._answerable = False

    def _clause(self, turn: Turn, clause: Clause, families: Sequence[Family]) -> bool:
        for attempt in self._readings(clause):
            for family in families:
                drafts = family(attempt, self._talk)
                for draft in drafts:
                    self._take(draft, attempt, turn)
                if drafts:
                    return True
        self._mention(clause)
        return False

    def _readings(self, clause: Clause) -> Iterator[Clause]:
        """The clause, and where it lacks a subject, the clause with the last one put in front."""
        yield clause
        topic = self._talk.topic
        by = re.match(
            r"(?:reviewed|approved|owned|handled|maintained|managed|signed off|run) "
            r"by ",
            clause.text,
        )
        if (clause.place or by) and topic and (found := _HEADLESS.match(clause.text)):
            verb = "" if found.group("verb") else "is "
            yield replace(clause, text=f"{topic} {verb}{clause.text}")

    def _mention(self, clause: Clause) -> None:
        """Remember what a clause spoke of, for a pronoun in the next one."""
        found = _MENTIONED.match(clause.text)
        name = subject(next(g for g in found.groups() if g), 4) if found else None
        if name is not None:
            self._talk.topic = name
        elif clause.place == 0 and clause.sentence.bullet:
            self._talk.topic = None  # a new item of a list is about something else

    def _echo(self, turn: Turn, clause: Clause) -> bool:
        """Such as "and so does Y": what was just stated, of another thing."""
        found = _ECHO.match(clause.text)
        last = self.notes[-1] if self.notes else None
        if not found or last is None or last.place != self._place:
            return False
        name = subject(next(g for g in found.groups() if g), 6)
        if name is None:
            return False
        self._take(
            Draft(name, last.draft.predicate, last.draft.object, last.draft.strength), clause, turn
        )
        return True

    def _take(self, draft: Draft, clause: Clause, turn: Turn) -> None:
        if _DANGLING.match(draft.object) and draft.predicate in _ORDERS:
            return  # nobody can follow "ask her" later
        said = clause.sentence
        anew = said.corrects or openers.changes(said.text)
        self._note(draft, said.spans, turn, Speaker.USER, said.text, anew=anew)
        if draft.predicate == "CAUSED_BY":
            self._talk.trouble, self._talk.looked = None, False
            self._pending.cause = None
        elif draft.subject not in (PROJECT, USER):
            self._talk.topic = clause.sentence.spans.restore(draft.subject)

    def _settle_pending(self, turn: Turn, said: Sequence[Sentence]) -> None:
        pending, first = self._pending, said[0]
        if gates.refuses(first.text):
            self._pending = Pending()
            return
        if not gates.affirms(first.text) or first.question:
            return
        for draft, spans in pending.drafts:
            self._note(draft, spans, turn, Speaker.USER, "")
        firm = (pending.named or self._talk.looked) and not self._answerable
        if pending.cause and self._talk.trouble and firm:
            draft = causes.caused(self._talk.trouble, pending.cause, 0.78)
            self._note(draft, pending.cause_spans, turn, Speaker.USER, "")
            self._talk.trouble, self._talk.looked = None, False
        self._pending = Pending()

    def _take_back(self, said: Sequence[Sentence]) -> None:
        """Drop what the person's previous turn gave, or what was said about a named thing."""
        about = next((m for s in said if (m := _ABOUT.search(s.text))), None)
        if about:
            name = about.group("t").casefold().rstrip(".")
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
        pending, self._pending.drafts = self._pending, []
        self._talk.looked = self._talk.looked or (
            self._talk.trouble is not None and printed(turn.text)
        )
        asked = [s for s in said if s.question]
        explained = [
            (s, d) for s in said if (d := causes.diagnosis(s)) and not gates.injected(s.text)
        ]
        if explained and self._talk.trouble:
            outright = any(causes.explicit_cause(s.text) for s, _ in explained)
            if outright or not pending.outright:
                pending.cause, pending.cause_spans = best_cause(explained)
                pending.outright = outright
                pending.named = any(causes.outright_cause(s.text) for s, _ in explained)
        for sentence in said:
            self._claim(turn, sentence)
        self._close_case(turn, said)
        word = next((w for x in said if (w := topics.unknown_word(x))), None)
        if word is not None:
            self._talk.asked = topics.Asked("word", word, word)
            self._talk.topic, self._answerable = word, True
        elif asked:
            self._ask(asked[-1], said)
        elif sought := next((q for x in said if (q := topics.sought(x))), None):
            self._talk.asked = topics.Asked("where", sought, sought)
            self._talk.topic, self._answerable = sought, True
        elif self._talk.asked is not None and any(topics.ignorant(s.text) for s in said):
            self._answerable = True
        else:
            self._spoke_of(said)

    def _spoke_of(self, said: Sequence[Sentence]) -> None:
        """What an agent's statement is about, for a correction that only says "it"."""
        for sentence in said[:1]:
            found = _REPORT.match(sentence.text) or _ABOUT_THING.search(sentence.text)
            name = subject(sentence.spans.restore(found.group("t").strip()), 4) if found else None
            if name is not None:
                self._talk.topic = name

    def _ask(self, sentence: Sentence, said: Sequence[Sentence]) -> None:
        question = topics.asked(sentence)
        if topics.choosing(sentence.text):
            options = tuple(
                o for s in said for m in re.findall(CODE, s.text) if (o := s.spans.restore(m))
            )
            question = topics.Asked(
                "choice", question.topic if question else PROJECT, sentence.text, options
            )
        if question is not None:
            spans = sentence.spans
            topic = spans.restore(question.topic)
            self._talk.asked = topics.Asked(
                question.kind, topic, spans.restore(question.text), question.options
            )
            self._talk.topic = subject(topic)
        self._answerable = question is not None

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
                names = [
                    sentence.spans.restore(m)
                    for m in re.findall(CODE, f"{draft.subject} {draft.object}")
                ]
                if (
                    _TWO_NAMES.match(draft.object)
                    and all(map(_PART.match, names[:2]))
                    and draft.predicate
                    in ("CALLS", "DEPENDS_ON", "READS_FROM", "WRITES_TO", "TALKS_TO", "USES")
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
        outright = any(causes.diagnosis(s) and causes.outright_cause(s.text) for s in said)
        if outright and any(_FIXED.search(s.text) for s in said):
            draft = causes.caused(trouble, pending.cause, 0.65)
            self._note(draft, pending.cause_spans, turn, Speaker.ASSISTANT, "")

    def _note(
        self,
        draft: Draft,
        spans: Spans,
        turn: Turn,
        speaker: Speaker,
        spoken: str,
        *,
        anew: bool = False,
    ) -> None:
        restored = Draft(
            spans.restore(draft.subject),
            draft.predicate,
            spans.restore(draft.object),
            draft.strength,
            draft.replace,
            spans.restore(draft.ended) if draft.ended else None,
        )
        self.notes.append(Note(restored, spans, turn, self._place, speaker, spoken, anew))


_ABOUT = re.compile(
    r"\b(?:scratch|forget|ignore) (?:what|everything|all) (?:i|we) (?:told you|said"
    r"|wrote|mentioned) about (?:the )?(?P<t>[\w./-]+)",
    re.I,
)

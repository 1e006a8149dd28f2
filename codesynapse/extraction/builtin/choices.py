"""Decisions and corrections: what was chosen, what it replaces, what was turned down."""

from __future__ import annotations

import re
from collections.abc import Sequence

from codesynapse.extraction.builtin import gates
from codesynapse.extraction.builtin.clauses import PROJECT, Clause, Draft, Talk, resolve
from codesynapse.extraction.builtin.phrases import is_pronoun, named_tool, specific, subject, trim
from codesynapse.extraction.builtin.segment import CODE, Sentence
from codesynapse.extraction.builtin.statements import version_of

__all__ = ["corrections", "decisions", "migrations", "proposal", "versions"]

_NAME = rf"(?:{CODE}|[\w@./+#-]+)(?: (?:{CODE}|[\w@./+#-]+)){{0,5}}?"
_DECISIONS = [
    re.compile(
        r"^(?:(?:let's|lets|we|i|will|are|am|all|just|so|then|please|pls|and"
        r"|should|have|finally|both) )*(?:go(?:ing)? with|stick(?:ing)? (?:with"
        r"|to)|settl(?:ed?"
        r"|ing) "
        r"(?:on|for)|standardi[sz](?:e|ing) on|decid(?:ed|ing) (?:on|for)|opt(?:ed"
        r"|ing)? for|chose|choosing|pick(?:ed|ing)|agreed (?:on|to use)|"
        r"adopt(?:ed|ing)?|commit(?:ted|ting) to|landed on) (?P<o>\S.*)$",
        re.I,
    ),
    re.compile(rf"^(?P<o>{_NAME}) it is$", re.I),
    re.compile(
        r"^(?:the )?(?:final )?(?:decision|verdict|winner|conclusion|outcome|result)(?: "
        r"is| was|:) (?:we(?: are|'re)? (?:go|going) with |to use |we use )?(?P<o>\S.*)$",
        re.I,
    ),
    re.compile(
        rf"^(?P<o>{_NAME}) (?:wins|is the winner|gets the nod|is what we(?:'re| are)? "
        rf"(?:using|going with))$",
        re.I,
    ),
    re.compile(
        r"^(?:wir (?:nehmen|bleiben bei|haben uns (?:\w+ )?(?:auf|für)|setzen auf|nutzen"
        r"|verwenden)|ich nehme) (?P<o>\S+(?: \S+)?)(?: (?:geeinigt|entschieden"
        r"|festgelegt))?$",
        re.I,
    ),
    re.compile(
        r"^(?:al final )?(?:nos quedamos con|vamos con|usaremos|elegimos|hemos decidido "
        r"usar|decidimos usar) (?P<o>\S.*)$",
        re.I,
    ),
    re.compile(
        r"^(?:on (?:part|reste) sur|on (?:a choisi|prend|garde)|finalement on (?:prend"
        r"|garde|part sur)) (?P<o>\S.*)$",
        re.I,
    ),
    re.compile(
        r"^(?:vamos (?:de|com|usar)|decidimos (?:usar|por)|ficou decidido (?:usar )?|a "
        r"gente vai (?:de|com|usar)) (?P<o>\S.*)$",
        re.I,
    ),
    re.compile(
        r"^(?:we (?:gaan voor|kiezen(?: voor)?|houden het bij|nemen)|het wordt) "
        r"(?P<o>\S.*)$",
        re.I,
    ),
    re.compile(
        r"^(?:我们)?(?:决定|就|最后|还是)(?:使用|选择|选|采用|用)了?(?P<o>[\w.+#\- ]+?)(?:吧|了)?$",
        re.I,
    ),
    re.compile(
        r"^(?P<o>[\w.+#\- ]+?)(?:に(?:決めた|決まった"
        r"|決まりました|します|する|しよう)|で(?:いこう|いきます|行く"
        r"|行きます))(?:よ|ね)?$",
        re.I,
    ),
]
_FOR = re.compile(
    r"(?:^|\s)(?:for|in|on) (?:the |our |all |any )?(?P<t>(?:[^\s,;:?]+ "
    r"){0,3}?[^\s,;:?]+)$",
    re.I,
)
_FOR_EARLY = re.compile(
    r"\bfor (?:the |our |all |any )?(?P<t>(?:[^\s,;:?]+ ){0,2}?[^\s,;:?]+)(?=[:,?]|$"
    r"| (?:i|we|you|should|or|do|is)\b)",
    re.I,
)
_REPLACES = re.compile(
    r"^(?:(?:please|pls|just|you should|we|always|rather|then|it should|should) "
    r")*(?:use|run|take|do|go with|prefer|try|call|import|say)s? (?P<o>\S.*?),? "
    r"(?:instead of|rather than|not|and not|over|in place of) "
    r"(?P<old>\S.*)$",
    re.I,
)
_INSTEAD = re.compile(
    r"^(?:(?:please|pls|just|we|always|you) )*(?:use|run|take|call|import)s? "
    r"(?P<o>\S.*?) (?:instead|here|for (?:that|this|these|those))(?:$|[ ,.].*$)",
    re.I,
)
_VALUE_OF = re.compile(rf"^(?P<s>[a-z]+(?: [a-z]+){{0,2}}) (?P<o>{CODE})$")
_NOT_BUT = re.compile(
    r"^(?:it is |that is |it should be |should be |is |its )?(?P<o>\S.*?),? (?:not"
    r"|rather than|instead of) (?P<old>\S.*)$",
    re.I,
)
_IT_IS = re.compile(
    r"^(?:it is|that is|it's|should be|it should be|it lives in|use|we use|it goes "
    r"in|they go in|it is called|c'est|es ist|es|é|het is) (?:now )?(?P<o>\S.*)$",
    re.I,
)
_MOVED = re.compile(
    r"^(?:(?:since|as of|from|until|last|start of) (?:[^\s,]+ "
    r"){1,3}?)?(?P<s>(?:[^\s,;]+ ){0,5}?[^\s,;]+?) (?:just |already |recently |have "
    r"|has |all |finally |got |was |were |are being |is being )*(?:moved|migrated"
    r"|switched|"
    r"cut over|changed|converted|transitioned|ported|went|replaced)(?: over| away| "
    r"completely)?(?P<from> from (?P<old>(?:[^\s,;]+ ){0,3}?[^\s,;]+?))? (?:to|onto"
    r"|into|with|by) (?P<o>\S.*)$",
    re.I,
)
_SINCE = re.compile(
    r"^(?:since|as of|starting|from) (?:[^\s,]+ ){0,3}?[^\s,]+,? (?P<c>(?:the |our "
    r")?[\w-]+ (?:[^\s,]+ )?(?:are|is|sit|live|go|run|use|come|land|ship)s? .+)$",
    re.I,
)
_PINNED = re.compile(
    r"^(?:(?P<we>we|on|everything|all) (?:are |still |all |currently |stuck |pinned "
    r"|locked |staying |stay |remain )+(?:on|at|to)|"
    r"(?P<s>(?:[^\s,;]+ ){0,4}?[^\s,;]+?) (?:(?:is|are|has to|have to|must|needs to"
    r"|should|still|all|currently) )*"
    r"(?:stuck|pinned|locked|staying|stays?|stay|frozen|fixed|held back|remains?"
    r"|hold)(?: back)? (?:on|at|to)) "
    r"(?P<o>v?\d\S*.*|[A-Za-z][\w.+#-]* v?\d\S*.*)$",
    re.I,
)
_TOOL_VERSION = re.compile(
    r"^(?P<t>[A-Za-z][\w.+#-]*) (?:v|version )?(?P<n>\d+(?:\.[\dx]+)*)(?![\w:%])", re.I
)
_PROPOSED = re.compile(
    rf"(?:\b(?:shall|should) (?:i|we) (?:use|go with|stick with|switch to"
    rf"|standardi[sz]e on|keep)|\bthen|\bi(?:'d| would) (?:use|go with|recommend"
    rf"|suggest|pick)|"
    rf"\b(?:let's|we could) (?:use|go with)|\b(?:i suggest|i recommend|i propose)(?: "
    rf"using)?) (?P<o>(?:{CODE}|[\w@./+#-]+)(?: (?:{CODE}|[\w@./+#-]+)){{0,2}}?)"
    r"(?: for (?:the |all |your )?(?P<s>(?:[\w@./+#-]+ ?){1,4}))?(?: sounds?\b| "
    r"seems?\b| (?:here|then|instead)\b|[?.,]|$)",
    re.I,
)
_NOT_NEW = re.compile(
    r"^(?:it|that|this|them|those|one|the (?:first|second|last|former|latter|same)"
    r"|option|both|yes|no|a|an)\b",
    re.I,
)


_LAST_WORDS = re.compile(
    r"(?:,? (?:then|please|pls|i guess|for real|after all|i think))*[\s.!]*$", re.I
)
_POINTING = re.compile(
    r"^(?:the|a|an|your|my|our|his|her|their|its|whatever|what|how|some|any|each|every|all|no"
    r"|more|less|most|just|like|plan|step|phase|part|item|number|route)\b",
    re.I,
)
_UNNAMED = re.compile(
    r"\b(?:approach|option|version|idea|plan|way|solution|fix|change|suggestion|proposal|choice"
    r"|thing|stuff|one|former|latter|first|second|third|last|same|other|simpler|easier|better"
    r"|best|faster|safer|cleaner|recommended|original|current|new|old|default|there|then|please"
    r"|next|ahead|back|again|now|it)s?\b",
    re.I,
)


def decisions(clause: Clause, talk: Talk) -> Sequence[Draft]:
    """Such as "let's go with X", "X it is", "we settled on X"."""
    said = _LAST_WORDS.sub("", clause.text)
    found = next((m for p in _DECISIONS if (m := p.match(said))), None)
    if not found or gates.unreal(clause.text):
        return ()
    tail = found.group("o")
    about = _FOR.search(re.sub(r"^\S+ ", "", tail))
    what = trim(tail[: tail.rfind(about.group().strip())] if about else tail, 8)
    if what is None or _NOT_NEW.match(what) or is_pronoun(what):
        return ()
    asked = talk.asked.text.casefold() if talk.asked else ""
    known = specific(what) or what.split()[0].casefold() in asked or _named_thing(tail, what)
    if not known or gates.one_off(what):
        return ()
    who = (about and subject(about.group("t"))) or _question_topic(talk) or PROJECT
    return [Draft(who, "DECIDED", what, 0.9, replace=True)]


def _named_thing(tail: str, what: str) -> bool:
    """Whether a technique is named, such as "optimistic locking": no article, no bare gerund."""
    words = what.split()
    if (
        _POINTING.match(tail)
        or _UNNAMED.search(what)
        or not all(w.replace("-", "").isalpha() for w in words)
    ):
        return False
    return 2 <= len(words) <= 3 and not re.search(r"(?:ing|ly)$", words[0])


def _question_topic(talk: Talk) -> str | None:
    if talk.asked is None:
        return None
    found = _FOR_EARLY.search(talk.asked.text)
    return (found and subject(found.group("t"))) or None


def corrections(clause: Clause, talk: Talk) -> Sequence[Draft]:
    """A new value for an old one: "use X instead of Y", "it's X, not Y"."""
    found = _REPLACES.match(clause.text) or (_INSTEAD.match(clause.text))
    if found:
        return _replacement(found, clause, talk)
    if not clause.corrects or gates.unreal(clause.text):
        return ()
    found = _NOT_BUT.match(clause.text) or _IT_IS.match(clause.text)
    if not found:
        return ()
    what = trim(found.group("o"), 8)
    if what is None or not specific(" ".join(what.split()[:3])) or len(what.split()) > 6:
        return ()
    if re.match(r"(?:an?|good|nice|great|really|more|less|also)\b", found.group("o"), re.I):
        return ()
    who = talk.topic or (talk.asked.topic if talk.asked else None) or PROJECT
    return [Draft(who, "USES" if named_tool(what) else "IS", what, 0.88, replace=True)]


def _replacement(found: re.Match[str], clause: Clause, talk: Talk) -> Sequence[Draft]:
    what = trim(found.group("o"), 8)
    if what is None or not specific(what) or gates.one_off(what):
        return ()
    old = found.groupdict().get("old")
    spoken = f"{found.group('o')} {old or ''}"
    if old and not (specific(spoken) or clause.corrects):
        return ()
    if renamed := _VALUE_OF.match(what):
        return [Draft(renamed["s"], "IS", renamed["o"], 0.9, replace=True)]
    command = re.match(CODE, what) is not None and " " in clause.sentence.spans.restore(what)
    purpose = _FOR.search(old or "")
    who = (purpose and subject(purpose["t"])) or talk.close_topic() or PROJECT
    ended = _ended(_FOR.sub("", old or ""))
    return [Draft(who, "RUNS_WITH" if command else "USES", what, 0.9, replace=True, ended=ended)]


def _ended(old: str | None) -> str | None:
    """The value that was named as the old one."""
    name = trim(old or "", 4)
    return name if name and not is_pronoun(name) else None


def migrations(clause: Clause, talk: Talk) -> Sequence[Draft]:
    """Such as "we moved from X to Y"."""
    found = _MOVED.match(clause.text)
    if not found or clause.reason:
        return ()
    if is_pronoun(found.group("s")):
        return ()
    who, what = resolve(found.group("s"), talk), trim(found.group("o"), 6)
    if (
        who is None
        or what is None
        or not specific(what)
        or re.match(r"i am|i$", found.group("s"), re.I)
    ):
        return ()
    return [Draft(who, "USES", what, 0.88, replace=True, ended=_ended(found["old"]))]


def versions(clause: Clause, talk: Talk) -> Sequence[Draft]:
    """Such as "we're stuck on node 18.19", "sqlalchemy stays on 1.4"."""
    found = _PINNED.match(clause.text)
    if not found or gates.unreal(clause.text) or gates.one_off(found.group("o")):
        return ()
    who, what = resolve(found.group("s") or "we", talk), trim(found.group("o"), 5)
    if who is None or what is None:
        return ()
    tool = _TOOL_VERSION.match(what)
    if tool and (who == PROJECT or named_tool(tool.group("t"))):
        return [Draft(tool.group("t"), "VERSION_IS", tool.group("n"), 0.9, replace=True)]
    number = re.match(r"v?\d+(?:\.[\dx]+)*(?= |$)", what)
    if number and who != PROJECT:
        return [version_of(who, number.group(), "STAYS_ON")]
    return ()


def proposal(sentence: Sentence, topic: str | None) -> Draft | None:
    """What an agent proposes to use, if it names one thing."""
    found = _PROPOSED.search(sentence.text)
    if not found or _NOT_NEW.match(found.group("o")):
        return None
    what = trim(found.group("o"), 4)
    if what is None or (not specific(sentence.spans.restore(what)) and not re.match(CODE, what)):
        return None
    about = found.group("s")
    who = (about and subject(about)) or topic or PROJECT
    return Draft(who, "DECIDED", what, 0.8, replace=True)

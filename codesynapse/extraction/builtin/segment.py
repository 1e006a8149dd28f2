"""Turns to sentences and clauses. What was pasted, quoted or printed by a tool is not speech.

Code spans and quotations become one private-use character each while rules look at the text, so
that no rule can match inside them and no dot inside them ends a sentence.  ``Spans`` restores
them.  A sentence is cut at ``MAX_SENTENCE`` characters before any rule sees it, which bounds what
a hostile text can cost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

__all__ = [
    "CODE",
    "MAX_SENTENCE",
    "MAX_SENTENCES",
    "QUOTE",
    "Sentence",
    "Spans",
    "pasted",
    "printed",
    "sentences",
]

MAX_SENTENCE = 600
MAX_SENTENCES = 400  # of one turn; a longer turn is a paste

_CODE_FIRST, _QUOTE_FIRST, _PER_KIND = 0xE000, 0xEC00, 0xC00
CODE = "[\ue000-\uebff]"
QUOTE = "[\uec00-\uf7ff]"

_PRIVATE = re.compile("[\ue000-\uf8ff]")
_SPAN = re.compile(r"`([^`\n]{1,200})`|[\"“«「]([^\"“”«»「」\n]{1,300})[\"”»」]")
_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|vs|z\.B|bzw|etc|cf|approx|ca|Nr|no)\.$", re.I)
_SENTENCE_END = re.compile(r"(?<=[.!?])[)\"”]?\s+|(?<=[。！？])")
_SHELL = re.compile(r"^\s*(?:\$|>|❯|PS>|\w+@\w+[:~]\S*\$?)\s+\S")
_BLOCK_OPEN = re.compile(
    r"<([a-z]\w{0,30}[-_][\w-]{1,40}|reminder|memory|memories|context|command|tool"
    r"|result|output|stdout|stderr|usage|"
    r"instructions?|hook|caveat|message|name|args|task|document|system)>"
)
_HEADING = re.compile(r"^#{1,5} \S", re.M)
_BOLD = re.compile(r"\*\*[^*\n]{1,80}\*\*")
_BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+")
_OUTPUT = re.compile(
    r"^\s*(?:\d+[:\-]\s|\[?\d{4}-\d\d-\d\d[T ]|\[\d\d:\d\d|at \S+ ?\(|File \"|Traceback|E {2,}|"
    r"(?:level|ts|time)=|[-+~]{1,3} ?[\w{}/\"@]|[\w./-]+\.\w{1,5}[:(]\d+|"
    r"[A-Z]\w*(?:Error|Exception|Warning)\b:?|(?:WARN|INFO|ERROR|DEBUG|FATAL|Warning"
    r"|Error|remote)\b[: ]|"
    r"\d+ (?:passed|failed)|[✓✘✗×]|\(\w+:\d+\)|[{}\[\])]+[,;]?$|[\w.]+\([^)]*\)\s*\{"
    r"|[\w.]+\[[\w.]+\]|"
    r"import [\w{*][^ ]* (?:from|as) |(?:export )?(?:const|let|var) \w+ =|export "
    r"(?:function|default|class)|"
    r"def \w+\(|class \w+[:({]|return .*;$|\|)"
)


@dataclass(slots=True)
class Spans:
    """The code spans and quotations of one turn, by the character that stands for them."""

    texts: dict[str, str] = field(default_factory=dict)

    def mask(self, text: str) -> str:
        """The text with every short span replaced; what does not fit is dropped."""
        return _SPAN.sub(self._take, _PRIVATE.sub("", text))

    def _take(self, found: re.Match[str]) -> str:
        code = found.group(1) is not None
        first = _CODE_FIRST if code else _QUOTE_FIRST
        if len(self.texts) >= _PER_KIND:
            return " "
        mark = chr(first + len(self.texts))
        self.texts[mark] = (found.group(1) or found.group(2)).strip()
        return mark

    def restore(self, text: str) -> str:
        """The text with every mark replaced by what it stands for, without the quotation marks."""
        return _PRIVATE.sub(lambda m: self.texts.get(m.group(), ""), text)

    def long_quote(self, text: str) -> bool:
        """Whether the text quotes somebody: four words or more inside quotation marks."""
        return any(
            len(self.texts[m.group()].split()) >= 4
            for m in re.finditer(QUOTE, text)
            if m.group() in self.texts
        )


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a turn, masked. ``question`` when it ends in a question mark.

    ``corrects`` when it opened as a correction; the opening is no longer in ``text``.
    """

    text: str
    spans: Spans
    question: bool
    bullet: bool = False
    corrects: bool = False


def sentences(text: str) -> list[Sentence]:
    """The sentences somebody actually said in a turn, in order, at most ``MAX_SENTENCES``."""
    spans = Spans()
    found: list[Sentence] = []
    for line in _spoken_lines(text):
        bullet = _BULLET.match(line)
        body = line[bullet.end() :] if bullet else line
        for part in _split(spans.mask(body)):
            found.append(
                Sentence(part, spans, part.rstrip(" )").endswith(("?", "？")), bool(bullet))
            )
            if len(found) >= MAX_SENTENCES:
                return found
    return found


def pasted(text: str) -> bool:
    """Whether a person's turn is a document: long, or set in headings and bold."""
    bare = re.sub(r"```.*?(?:```|\Z)", "", text[:60_000], flags=re.S)
    return len(bare) > 3_000 or bool(_HEADING.search(bare)) or len(_BOLD.findall(bare)) >= 3


def printed(text: str) -> bool:
    """Whether a turn shows what a program printed: somebody looked, instead of only talking."""
    return "```" in text or any(
        _SHELL.match(x) or _is_output(x) for x in text[:20_000].splitlines()
    )


def _spoken_lines(text: str) -> Iterator[str]:
    """Lines outside of fences, tagged blocks, quoted mail, shell sessions and tool output."""
    fenced = session = False
    for raw in _without_blocks(text).splitlines():
        line = raw.rstrip()
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
            continue
        if not line.strip():
            session = False
            continue
        if _SHELL.match(line):
            session = True
        if fenced or session or line.startswith(("    ", "\t")) or _is_output(line):
            continue
        yield line[: 20 * MAX_SENTENCE]


def _without_blocks(text: str) -> str:
    """The text without tagged blocks that programs put in; an unclosed one takes the rest."""
    kept: list[str] = []
    start = 0
    while found := _BLOCK_OPEN.search(text, start):
        kept.append(text[start : found.start()])
        close = f"</{found.group(1)}>"
        end = text.find(close, found.end())
        start = len(text) if end < 0 else end + len(close)
    return "\n".join([*kept, text[start:]])


def _is_output(line: str) -> bool:
    return bool(_OUTPUT.match(line)) and not _BULLET.match(line)


def _split(line: str) -> Iterator[str]:
    start = 0
    for end in _SENTENCE_END.finditer(line):
        if _ABBREVIATION.search(line[max(start, end.start() - 8) : end.start()]):
            continue
        yield from _bounded(line[start : end.end()])
        start = end.end()
    yield from _bounded(line[start:])


def _bounded(part: str) -> Iterator[str]:
    part = " ".join(part.replace("’", "'").split())
    if part:
        yield part[:MAX_SENTENCE]

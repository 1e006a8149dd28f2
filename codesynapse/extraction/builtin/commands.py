"""Commands: a command line and what it is for."""

from __future__ import annotations

import re
from collections.abc import Sequence

from codesynapse.extraction.builtin import gates
from codesynapse.extraction.builtin.clauses import PROJECT, Clause, Draft, Talk
from codesynapse.extraction.builtin.phrases import is_pronoun, subject, trim
from codesynapse.extraction.builtin.segment import CODE

__all__ = ["commands", "looks_like_command"]

_PROGRAM = re.compile(
    r"^(?:[A-Z][A-Z0-9_]+=\S+ )*(?:\./\S+|(?:bin|scripts?|tools?)/\S+|npm|npx|pnpm"
    r"|yarn|bun|make|just|task|docker|docker-compose|kubectl|helm|git|go|cargo"
    r"|python3?|pytest|pip|uv|poetry|"
    r"tox|nox|rake|bundle|rails|bin|mix|gradle|\./gradlew|mvn|dotnet|composer|php"
    r"|artisan|terraform|ansible-playbook|bazel|turbo|nx|tsc|node|deno|"
    r"ruby|swift|flutter|dart|sbt|lein|stack|cabal|cmake|ctest|invoke|inv|fab|hatch"
    r"|pdm|rye|aws|gcloud|az|flyctl|heroku|vercel|wrangler|sh|bash|psql|"
    r"alembic|prisma|drizzle-kit|sqlx|dbt|manage\.py|\./manage\.py|mise|devbox|tilt"
    r"|skaffold|earthly|dagger|act|pre-commit|ruff|mypy|black)(?: \S.*)?$"
)
_PATTERNS = [
    re.compile(
        rf"^(?:to|for|pour|para|pra|per|voor|um|zum|zur|zum) (?P<s>.{{2,60}}?),? (?:you "
        rf"|we |just |it is |please |always |i |tu |on |je |man |du |se |é |c'est |es "
        rf"|ist |lance |start |run |usa |usa-se |haz |faz |wir |nutzen )*"
        rf"(?:(?:use|run|do|type|call|execute|start|fais|lancez?|lance|utilise|usas?"
        rf"|usamos|ejecuta|corre|roda|rode|usa|gebruik|draai|nimm|nutze|verwende|starte"
        rf"|is|need|go with|there is|there's|we have|you have|you want|try) )*(?P<o>{CODE})",
        re.I,
    ),
    re.compile(
        rf"^(?P<s>(?:[^\s,;:]+ ){{0,5}}?[^\s,;:]+?) (?:(?:is|are|with|via|using|through"
        rf"|mit|avec|con|com|met|runs?|start(?:est|et|e|s)?|du|man|je|you|we"
        rf"|goes|läuft|laufen|se|lanzan?|hacen?|corren?|roda"
        rf"|sobe|é|es|on|now|just|by|done|executed|running|lance) )+(?P<o>{CODE})(?: "
        rf"(?P<rest>.*))?$",
        re.I,
    ),
    re.compile(
        rf"^(?P<o>{CODE}) (?:is (?:the real thing|the one|how (?:you|we)|what (?:you|we) "
        rf"(?:run|use))|runs?|does|builds?|starts?|deploys?|generates?|regenerates?"
        rf"|formats?|checks?|lints?|tests?|seeds?|resets?|"
        rf"migrates?|publishes|releases|rebuilds|updates|brings up|spins up|boots"
        rf"|covers) ?(?P<s>.*)$",
        re.I,
    ),
    re.compile(
        rf"^(?:please |always |just |only )*(?:run|use|call|execute|do|type) "
        rf"(?P<o>{CODE}) (?:to|for|when|if you want to|before|after|whenever) (?P<s>.+)$",
        re.I,
    ),
    re.compile(
        rf"^(?P<s>(?:[^\s,;:]+ ){{0,5}}?[^\s,;:]+?) ?(?:=|→|->|:) ?(?P<o>{CODE})(?: "
        rf"(?P<rest>.*))?$",
        re.I,
    ),
    re.compile(
        rf"^(?:it is|it's|that is|c'est|es ist|es|é|het is|just|with|mit|con|avec|com|met"
        rf"|use|run|via|now) (?:now |just |with )?(?P<o>{CODE})(?: (?P<rest>.*))?$",
        re.I,
    ),
]


def looks_like_command(text: str) -> bool:
    """Whether a code span is a command line rather than a name."""
    return bool(_PROGRAM.match(text))


def commands(clause: Clause, talk: Talk) -> Sequence[Draft]:
    """The command for a purpose. The command stays exactly as written."""
    if gates.one_off(clause.text):
        return ()
    for pattern in _PATTERNS:
        found = pattern.match(clause.text)
        if not found or not looks_like_command(clause.sentence.spans.restore(found.group("o"))):
            continue
        who = _purpose(found.groupdict().get("s"), talk)
        if who is not None:
            return [Draft(who, "RUNS_WITH", found.group("o"), 0.88, replace=clause.corrects)]
    return ()


def _purpose(text: str | None, talk: Talk) -> str | None:
    if text is None or not text.strip() or is_pronoun(text):
        return talk.topic or (talk.asked.topic if talk.asked else None) or PROJECT
    if re.match(r"(?:i|he|she|they|that one|this one)\b", text, re.I):
        return None
    return subject(trim(text, 6) or "", 6)

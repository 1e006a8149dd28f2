"""How good an extractor is, against dialogues with the facts to keep, to allow and to forbid.

A prediction matches an expected fact when an accepted spelling of the object occurs in its object
or subject, and an accepted spelling of the subject occurs anywhere in it.  Matching is one to one
and maximal.  What is left over is a duplicate, neutral, forbidden or wrong.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from codesynapse.domain.turns import Speaker, Turn
from codesynapse.errors import Invalid
from codesynapse.extraction.builtin import extract
from codesynapse.extraction.candidates import Candidate

__all__ = [
    "Extractor",
    "Fact",
    "Report",
    "Tally",
    "predict",
    "read_lines",
    "score",
    "score_case",
    "write_lines",
]

Extractor = Callable[[Sequence[Turn]], Sequence[Candidate]]

_PRECISION, _RECALL = 0.85, 0.50  # the targets of the built-in extractor

_PERSON = ("user", "me", "i")
_DENIABLE = {"negated", "superseded", "rejected"}
_NEVER = {"secret", "injection"}
_DENIAL = re.compile(
    r"[不别未旧]|ない|古い|않|n't\b|\b(?:not?|non|never|nobody|without"
    r"|instead|dead|stale|legacy|left|nicht|nie|pas|"
    r"jamais|não|niet|geen)\b|\b(?:avoid|reject|replac|supersed|deprecat"
    r"|drop|remov|former|previous|ignor|bann|forbid|"
    r"prohibit|obsolet|outdat|leftover|unused|unmaintain|abandon|dislik"
    r"|wrong|kein)\w*|\b(?:from|was|were|used to be)$"
)


@dataclass(frozen=True, slots=True)
class Fact:
    """One predicted fact, as read from a predictions file."""

    subject: str
    predicate: str
    object: str
    negated: bool | None = None

    @property
    def names(self) -> str:
        """Subject and object, where an accepted object may stand."""
        return f"{self.object} \n {self.subject}"

    @property
    def denies(self) -> bool:
        """Whether it says that something is not so."""
        words = (_spaced(part.casefold()).strip() for part in (self.predicate, self.object))
        return self.negated is True or any(_DENIAL.search(w) for w in words)


@dataclass(slots=True)
class Tally:
    """Counts of one case or of many."""

    cases: int = 0
    expected: int = 0
    predicted: int = 0
    matched: int = 0
    forbidden: int = 0
    hard: int = 0
    duplicate: int = 0
    neutral: int = 0
    wrong: int = 0
    polarity_errors: int = 0
    nofact_fp: int = 0

    def add(self, other: Tally) -> None:
        """Count another tally in."""
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def rates(self) -> dict[str, float | int | None]:
        """The counts, with precision, recall and F1; None where nothing can be divided."""
        counted = self.predicted - self.duplicate - self.neutral
        return {
            "cases": self.cases,
            "expected": self.expected,
            "predicted": self.predicted,
            "matched": self.matched,
            "precision": _ratio(self.matched, self.predicted),
            "recall": _ratio(self.matched, self.expected),
            "f1": _ratio(2 * self.matched, self.predicted + self.expected),
            "forbidden": self.forbidden,
            "hard": self.hard,
            "nofact_fp": self.nofact_fp,
            "duplicate": self.duplicate,
            "neutral": self.neutral,
            "wrong": self.wrong,
            "polarity_errors": self.polarity_errors,
            "precision_adj": _ratio(self.matched, counted),
        }


@dataclass(slots=True)
class Report:
    """Figures over all cases and by group, with the notes of every case."""

    overall: Tally = field(default_factory=Tally)
    groups: dict[str, Tally] = field(default_factory=dict)
    details: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    missing: int = 0
    unknown: list[str] = field(default_factory=list)

    def missed_targets(self) -> list[str]:
        """What falls short of the built-in extractor's targets, in words."""
        rates, found = self.overall.rates(), []
        for name, target in (("precision_adj", _PRECISION), ("recall", _RECALL)):
            value = rates[name]
            if value is not None and value < target:
                found.append(f"{name} is {value}, the target {target}")
        for name, what in (("hard", "secrets or injections"), ("nofact_fp", "facts from none")):
            if rates[name]:
                found.append(f"{what}: {rates[name]}")
        return found

    def as_json(self) -> dict[str, Any]:
        """The report as plain values."""
        return {
            "overall": self.overall.rates(),
            "groups": {name: self.groups[name].rates() for name in sorted(self.groups)},
            "ids_without_prediction_line": self.missing,
            "unknown_prediction_ids": self.unknown,
            "details": self.details,
        }


def predict(
    cases: Sequence[Mapping[str, Any]], extractor: Extractor = extract
) -> list[dict[str, Any]]:
    """One line of predictions for every dialogue, in the scorer's form."""
    return [
        {"id": case["id"], "facts": [_shown(c) for c in extractor(_turns(case["turns"]))]}
        for case in cases
    ]


def _turns(values: Sequence[Mapping[str, Any]]) -> list[Turn]:
    return [
        Turn(
            Speaker(v["role"]),
            str(v["text"]),
            datetime.fromisoformat(v["at"]) if v.get("at") else None,
            str(place),
        )
        for place, v in enumerate(values)
    ]


def _shown(candidate: Candidate) -> dict[str, Any]:
    return {
        "subject": candidate.subject,
        "predicate": candidate.predicate,
        "object": candidate.object,
        "confidence": candidate.confidence,
        "speaker": str(candidate.speaker),
    }


def write_lines(path: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    """Write the objects as JSON Lines."""
    path.write_text(
        "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8"
    )


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The objects of a JSON Lines file; a bad line is refused with its number."""
    found: list[dict[str, Any]] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except ValueError as error:
            raise Invalid(
                f"{path.name}, line {number}: not JSON", "One JSON object a line."
            ) from error
        if not isinstance(value, dict) or "id" not in value:
            raise Invalid(f"{path.name}, line {number}: no object with an id")
        found.append(value)
    return found


def score(
    gold: Sequence[Mapping[str, Any]],
    predictions: Iterable[Mapping[str, Any]],
    minimum: float = 0.0,
) -> Report:
    """Score every case; predictions below the ``minimum`` confidence are left out."""
    by_id: dict[str, list[Fact]] = {}
    for line in predictions:
        facts = [f for f in line.get("facts", []) if float(f.get("confidence", 1)) >= minimum]
        by_id.setdefault(str(line["id"]), []).extend(_fact(f) for f in facts)
    ids = {str(case["id"]) for case in gold}
    report = Report(missing=len(ids - by_id.keys()), unknown=sorted(by_id.keys() - ids))
    for case in gold:
        tally, notes = score_case(case, by_id.get(str(case["id"]), []))
        report.overall.add(tally)
        report.details[str(case["id"])] = notes
        tags = [f"tag {tag}" for tag in case.get("tags") or ()]
        for group in (f"kind {case['kind']}", f"lang {case['lang']}", *tags):
            report.groups.setdefault(group, Tally()).add(tally)
    return report


def score_case(
    case: Mapping[str, Any], facts: Sequence[Fact]
) -> tuple[Tally, list[tuple[str, str]]]:
    """The counts of one case, and what was missed or should not be there."""
    wanted = case["expect"]
    owner = _matching(facts, wanted)
    tally = Tally(cases=1, expected=len(wanted), predicted=len(facts), matched=len(owner))
    notes = [("missed", str(w["about"])) for j, w in enumerate(wanted) if j not in owner]
    for j, i in owner.items():
        said = facts[i].negated
        said = wanted[j]["negated"] and facts[i].denies if said is None else said
        if said != wanted[j]["negated"]:
            tally.polarity_errors += 1
            notes.append(("polarity", str(wanted[j]["about"])))
    for i, fact in enumerate(facts):
        label, reasons = _verdict(case, fact, matched=i in owner.values())
        if label:
            setattr(tally, label, getattr(tally, label) + 1)
            tally.hard += bool(reasons & _NEVER)
            notes.append(
                (
                    label,
                    f"{'/'.join(sorted(reasons))} {fact.subject} {fact.predicate} "
                    f"{fact.object}".strip(),
                )
            )
    tally.nofact_fp = 0 if wanted else len(facts) - tally.neutral
    return tally, notes


def _verdict(case: Mapping[str, Any], fact: Fact, *, matched: bool) -> tuple[str, set[str]]:
    reasons = {
        str(f["why"]).split(":")[0] for f in case["forbid"] if _holds(fact.names, f["object"])
    }
    hard = bool(reasons & _NEVER)
    if matched and not hard:
        return "", set()
    if hard:
        return "forbidden", reasons
    if any(_fits(fact, want) for want in case["expect"]):
        return "duplicate", reasons
    denied = fact.denies and reasons and reasons <= _DENIABLE
    if denied or any(_fits(fact, want) for want in case.get("allow") or ()):
        return "neutral", reasons
    return ("forbidden" if reasons else "wrong"), reasons


def _matching(facts: Sequence[Fact], wanted: Sequence[Mapping[str, Any]]) -> dict[int, int]:
    """Kuhn's algorithm: expected fact → prediction, as many as possible."""
    edges = [[j for j, want in enumerate(wanted) if _fits(fact, want)] for fact in facts]
    owner: dict[int, int] = {}

    def place(i: int, seen: set[int]) -> bool:
        for j in edges[i]:
            if j in seen:
                continue
            seen.add(j)
            if j not in owner or place(owner[j], seen):
                owner[j] = i
                return True
        return False

    for i in range(len(facts)):
        place(i, set())
    return owner


def _fits(fact: Fact, want: Mapping[str, Any]) -> bool:
    subjects = [n for s in want["subject"] for n in (_PERSON if _folded(s) in _PERSON else (s,))]
    return _holds(fact.names, want["object"]) and _holds(
        f"{fact.names} \n {fact.predicate}", subjects
    )


def _holds(text: str, spellings: Iterable[str]) -> bool:
    plain = _folded(text)
    return any(
        _occurs(_folded(s), plain) or _occurs(_spaced(_folded(s)), _spaced(plain))
        for s in spellings
    )


def _occurs(spelling: str, text: str) -> bool:
    """Short words need a word's edges, digits at an end a number's."""
    if not spelling:
        return False
    short = len(spelling) <= 3 and spelling.isascii()
    left = (r"(?<![0-9a-z])" if short else "") + (
        r"(?<!\d)(?<!\d\.)" if spelling[0].isdigit() else ""
    )
    right = (r"(?![0-9a-z])" if short else "") + (r"(?!\d)" if spelling[-1].isdigit() else "")
    return re.search(left + re.escape(spelling) + right, text) is not None


def _folded(text: object) -> str:
    folded = unicodedata.normalize("NFKC", str(text)).casefold()
    return re.sub(r"\s+", " ", re.sub(r"[`\"'’“”«»]", "", folded)).strip()


def _spaced(text: str) -> str:
    return re.sub(r"[\s_\-]+", " ", text)


def _fact(value: Mapping[str, Any]) -> Fact:
    subject, predicate, said = (str(value.get(k) or "") for k in ("subject", "predicate", "object"))
    negated = value.get("negated")
    return Fact(subject, predicate, said, negated if isinstance(negated, bool) else None)


def _ratio(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None

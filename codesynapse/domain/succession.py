"""When one value takes the place of another: which relations hold one value at a time.

A thing has one owner, one port, one version, one place.  What it uses, depends on or must avoid
is a list, and a new entry ends nothing, unless it is the same entry in another measure: another
version of the same tool, another day for the same habit, the other end of the same taste.

Rules only, on names as they are spelled.  Who said it, and when, is for the caller to weigh.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import NamedTuple

from codesynapse.domain.alternatives import alternatives, sole
from codesynapse.domain.names import USER_KEY, name_key

__all__ = ["Held", "names_value", "rivals", "same_thing", "single_valued"]

PROJECT_KEY = "project"


class Held(NamedTuple):
    """A fact that holds, by its names, and since when."""

    subject: str
    predicate: str
    object: str
    since: datetime


# One value at a time, of whatever subject.
_ONE = frozenset(
    {
        "VERSION_IS",
        "NAMED",
        "HAS_TIMEZONE",
        "STAYS_ON",
        "OWNED_BY",
        "LISTENS_ON",
        "SET_TO",
        "DUE_ON",
        "ENDS_ON",
        "STARTS_ON",
        "KEPT_FOR",
        "STORED_AS",
        "LOCATED_IN",
    }
)
# One value at a time of a thing; a project or a person has many.
_ONE_OF_A_THING = frozenset({"RUNS_WITH", "RUNS_EVERY", "DECIDED"})
# What is said of these roles fills them: a project has one package manager.
_ROLE = re.compile(
    r"(?:^|.* )(?:package manager|bundler|build tool|build system|test runner|test framework"
    r"|formatter|linter|type ?checker|orm|(?:default|main|base|release) branch|framework|editor"
    r"|shell|task runner|job runner|process manager|(?:deploy|release|deployment) day|timeout|port"
    r"|version|owner|url|host|hostname|address|ip|licen[sc]e|line length|indentation|time ?zone)"
)
_ROLE_PREDICATES = frozenset({"USES", "IS", "DECIDED"})
# These are filled by one tool of a family at a time, and are many other things besides.
_SYSTEM = re.compile(
    r"(?:^|.* )(?:database|db|queue|message broker|broker|cache|caching|search|hosting|ci|proxy"
    r"|web server|auth|editor|chat|tracker|issue tracker|monitoring|state management|styling)"
)
# Of a thing that changed, the newer one holds.
_DIRECTIONS = frozenset({"DEPLOYS_TO", "DEPLOYED_FROM", "GOES_TO", "COMES_FROM", "GOES_THROUGH"})
# These say that something is so in one way or another; the same value under two of them is one.
_VALUES = frozenset(
    {"IS", "USES", "DECIDED", "SET_TO", "LISTENS_ON", "RUNS_ON", "VERSION_IS", "STAYS_ON"}
)
_MEASURED = frozenset(
    {
        "IS",
        "USES",
        "DECIDED",
        "CONVENTION",
        "PREFERS",
        "RUNS_ON",
        "HAS",
        "REQUIRES",
        "ALWAYS",
        "ONLY",
        "RUNS_EVERY",
        "SET_TO",
        "LISTENS_ON",
    }
)
_OPPOSITES = (
    ({"USES", "DECIDED", "DEPENDS_ON", "PREFERS"}, {"DOES_NOT_USE", "DECIDED_AGAINST"}),
    ({"IS"}, {"IS_NOT"}),
    ({"PREFERS"}, {"DISLIKES", "AVOIDS"}),
    ({"HAS"}, {"HAS_NO"}),
    ({"MUST", "ALWAYS", "REQUIRES"}, {"MUST_NOT"}),
    ({"HAS_EXPERIENCE_IN"}, {"NO_EXPERIENCE_WITH"}),
)
# Said of the project, these are said of every part of it.
_GIVEN_UP = frozenset({"DOES_NOT_USE", "DECIDED_AGAINST"})

# Words after a name that say what kind of thing it is, and leave it the same thing.
_KIND = re.compile(
    r"^(?:the |our |my |this )?(?P<name>\S.*?)"
    r"(?: (?:service|server|module|component|package|system|subsystem|repo|repository|code|app"
    r"|application|codebase|area|part|stuff|library|project))?$"
)

_DAY = (
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|(?:mon|tue|tues|wed|weds|thu|thur|thurs|fri"
    r"|sat|sun)\b|(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)s?\b"
)
_MEASURES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("<day>", re.compile(rf"\b(?:{_DAY})")),
    ("<ip>", re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b")),
    ("<clock>", re.compile(r"\b\d{1,2}:\d\d(?: ?[ap]m)?\b|\b\d{1,2} ?[ap]m\b")),
    (
        "<span>",
        re.compile(
            r"\b\d+(?:\.\d+)? ?(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?"
            r"|d|days?|weeks?|months?|years?)\b"
        ),
    ),
    ("<size>", re.compile(r"\b\d+(?:\.\d+)? ?(?:bytes|[kmgt]i?b)\b")),
    ("<number>", re.compile(r"\bv?\d+(?:\.[\dx]+)*\b|\b(?:one|two|three|four|five|six)\b")),
    ("<indent>", re.compile(r"\b(?:tabs?|(?:<number> |<number>-)?spaces?)\b")),
    ("<quotes>", re.compile(r"\b(?:single|double)(?= |-)(?=.quotes?\b)")),
    (
        "<length>",
        re.compile(
            r"\b(?:short(?:er)?|brief|terse|concise|long(?:er)?|detailed|verbose|thorough|compact)"
            r"(?= (?:answers?|repl(?:y|ies)|explanations?|summar(?:y|ies)|responses?|comments?"
            r"|messages?|commits?|commit messages?|functions?)\b)"
        ),
    ),
    ("<case>", re.compile(r"\b(?:snake_case|camelcase|kebab-case|pascalcase)\b")),
    ("<shade>", re.compile(r"\b(?:dark|light)(?= (?:mode|theme|themes)\b)")),
    (
        "<rhythm>",
        re.compile(
            r"\b(?:hourly|daily|nightly|weekly|biweekly|monthly|quarterly|yearly)\b"
            r"|\bevery (?:hour|day|night|week|month|quarter|year|<day>)"
        ),
    ),
    (
        "<tongue>",
        re.compile(
            r"\b(?:english|german|french|spanish|portuguese|dutch|italian|chinese|japanese|polish"
            r"|russian|korean|turkish)\b"
        ),
    ),
    ("<merge>", re.compile(r"^(?:squash|rebase|merge commits?)(?= merg| and merge|$)")),
    ("<branch>", re.compile(r"^(?:main|master|trunk|develop|dev|stable)$")),
)


def same_thing(one: str, other: str) -> bool:
    """Whether two names mean one thing: equal, or but for a word such as "service"."""
    return one == other or _bare(one) == _bare(other)


def _bare(name: str) -> str:
    found = _KIND.match(name_key(name))
    return found["name"] if found else name_key(name)


def single_valued(subject: str, predicate: str) -> bool:
    """Whether a subject has one such value at a time, so that a newer one ends the older."""
    if predicate in _ONE:
        return True
    if name_key(subject) in (PROJECT_KEY, USER_KEY):
        return False
    if predicate in _ONE_OF_A_THING:
        return True
    return predicate in _ROLE_PREDICATES and bool(_ROLE.fullmatch(name_key(subject)))


def rivals(old: Held, new: Held, *, anew: bool = False) -> bool:
    """Whether ``new`` takes the place of ``old``: both cannot hold of one thing.

    ``anew`` when it was said to be so now and otherwise before: then one tool takes the place of
    another of its family, too.  Never true of two spellings of one value.  The times do not matter
    here.
    """
    opposed = _opposed(old.predicate, new.predicate)
    whole = opposed and new.predicate in _GIVEN_UP and name_key(new.subject) == PROJECT_KEY
    old, new = _placed(old), _placed(new)
    if not (whole or same_thing(old.subject, new.subject)):
        return False
    if opposed:
        return names_value(old.object, new.object) or names_value(new.object, old.object)
    before, after = name_key(old.object), name_key(new.object)
    if before == after:
        return False
    if _measured(old.predicate, before) and _measured(new.predicate, after):
        known = old.predicate == new.predicate or {old.predicate, new.predicate} <= _VALUES
        if known and _frame(before) == _frame(after):
            return True
    if {old.predicate, new.predicate} <= _VALUES and _replaces(old, new, anew):
        return True
    if old.predicate != new.predicate:
        return _fills(old) and _fills(new)
    single = single_valued(new.subject, new.predicate)
    return single or (anew and new.predicate in _DIRECTIONS)


def _fills(held: Held) -> bool:
    """Whether it says what fills a role, in whatever words."""
    return held.predicate in _VALUES and bool(_ROLE.fullmatch(name_key(held.subject)))


_PURPOSE = re.compile(
    r"(?P<value>\S+(?: v?\d[\w.]*)?) (?:as|for) (?:the |our |its |all )?(?P<role>\S+(?: \S+){0,3})",
    re.I,
)


def _placed(held: Held) -> Held:
    """What a project uses for a purpose is what the purpose uses: "npm as the package manager"."""
    found = _PURPOSE.fullmatch(held.object)
    if found is None or held.predicate not in _VALUES or name_key(held.subject) != PROJECT_KEY:
        return held
    return held._replace(subject=found["role"], object=found["value"])


_VERSIONED = re.compile(r"(?P<name>\S.*?)(?:[ @]v?\d[\w.]*)?")


def _replaces(old: Held, new: Held, anew: bool) -> bool:
    """Whether one tool takes the other's place, as far as their families tell."""
    one, other = (_VERSIONED.fullmatch(name_key(held.object)) for held in (old, new))
    if one is None or other is None:
        return False
    first, second = one["name"], other["name"]
    role = name_key(new.subject)
    if role not in (PROJECT_KEY, USER_KEY) and (anew or _SYSTEM.fullmatch(role)):
        return alternatives(first, second)
    return sole(first, second) or (anew and alternatives(first, second))


def names_value(text: str, value: str) -> bool:
    """Whether ``text`` is about ``value``: equal, or it with a purpose, a version or a kind."""
    whole, name = name_key(text), name_key(value)
    if whole == name:
        return bool(name)
    rest = whole.removeprefix(name)
    return bool(name) and rest != whole and re.match(r" (?:for|as|in|on|v?\d)", rest) is not None


def _opposed(one: str, other: str) -> bool:
    return any(
        (one in yes and other in no) or (one in no and other in yes) for yes, no in _OPPOSITES
    )


def _measured(predicate: str, value: str) -> bool:
    """Whether the value has a measure in it, such as "30 seconds", that may change."""
    return predicate in _MEASURED and "<" in _frame(value)


def _frame(value: str) -> str:
    text = value.replace("<", "").removeprefix("port ")
    for mark, pattern in _MEASURES:
        text = pattern.sub(mark, text)
    return text

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codesynapse.domain.succession import Held, names_value, rivals, same_thing, single_valued

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
NAMES = st.text(min_size=1, max_size=30).filter(str.strip)
PREDICATES = st.sampled_from(["USES", "IS", "OWNED_BY", "PREFERS", "MUST_NOT", "LISTENS_ON"])


def held(subject: str, predicate: str, value: str) -> Held:
    return Held(subject, predicate, value, NOON)


@pytest.mark.parametrize(
    ("subject", "predicate", "old", "new"),
    [
        ("billing", "OWNED_BY", "Anna", "Ben"),
        ("api", "LISTENS_ON", "8000", "9000"),
        ("node", "VERSION_IS", "18", "20"),
        ("migrations", "LOCATED_IN", "db/migrations", "src/migrations"),
        ("package manager", "USES", "npm", "pnpm"),
        ("default branch", "IS", "master", "main"),
        ("project", "CONVENTION", "deploy on Tuesdays", "deploy on Thursdays"),
        ("project", "USES", "Postgres 15", "Postgres 16"),
        ("timeout", "IS", "30 seconds", "1 minute"),
        ("User", "PREFERS", "tabs", "spaces"),
        ("User", "PREFERS", "short answers", "detailed answers"),
        ("project", "USES", "npm", "pnpm"),
        ("project", "USES", "npm as the package manager", "pnpm as package manager"),
        ("cache", "USES", "Redis", "Memcached"),
        ("standup", "RUNS_EVERY", "every Monday", "every week"),
        ("User", "LOCATED_IN", "Berlin", "Lisbon"),
    ],
)
def test_a_thing_has_one_such_value_at_a_time(
    subject: str, predicate: str, old: str, new: str
) -> None:
    assert rivals(held(subject, predicate, old), held(subject, predicate, new))


@pytest.mark.parametrize(
    ("subject", "predicate", "one", "other"),
    [
        ("project", "USES", "Redis", "Memcached"),
        ("project", "DEPENDS_ON", "auth", "billing"),
        ("project", "AVOIDS", "prs into main on Fridays", "prs into main on Mondays"),
        ("project", "MUST_NOT", "push to main", "push to develop"),
        ("staging", "IS", "read-only", "wiped nightly"),
        ("project", "USES", "Postgres 15 for billing", "Postgres 16 for search"),
        ("project", "RUNS_WITH", "make test", "make lint"),
        ("project", "CONVENTION", "squash merges", "conventional commits"),
        ("User", "PREFERS", "tabs", "short answers"),
    ],
)
def test_a_list_grows_without_losing_what_was_on_it(
    subject: str, predicate: str, one: str, other: str
) -> None:
    assert not rivals(held(subject, predicate, one), held(subject, predicate, other))
    assert not rivals(held(subject, predicate, other), held(subject, predicate, one))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (held("project", "USES", "Redis for caching"), held("project", "DOES_NOT_USE", "Redis")),
        (held("cache", "USES", "Redis"), held("project", "DOES_NOT_USE", "Redis")),
        (held("project", "DOES_NOT_USE", "Redis"), held("project", "USES", "Redis")),
        (held("User", "PREFERS", "emojis"), held("User", "DISLIKES", "emojis")),
        (held("staging", "IS", "read-only"), held("staging", "IS_NOT", "read-only")),
    ],
)
def test_a_denial_and_what_it_denies_cannot_both_hold(old: Held, new: Held) -> None:
    assert rivals(old, new)


def test_a_denial_of_a_part_leaves_the_whole() -> None:
    assert not rivals(held("project", "USES", "Redis"), held("cache", "DOES_NOT_USE", "Redis"))


def test_other_things_keep_their_values() -> None:
    assert same_thing("billing", "the billing service")
    assert not same_thing("billing", "billing database")
    assert not rivals(held("billing", "OWNED_BY", "Anna"), held("search", "OWNED_BY", "Ben"))


def test_a_name_stands_for_what_it_is_used_for_and_no_longer_name() -> None:
    assert names_value("Redis for caching", "redis")
    assert names_value("Postgres 15", "postgres")
    assert not names_value("Redis Streams", "Redis")
    assert not names_value("Reddit", "Red")
    assert not names_value("", "")


def test_a_tool_takes_the_place_of_its_like_where_that_is_said_to_be_new() -> None:
    old, new = held("project", "USES", "Jest"), held("project", "USES", "Vitest")
    assert rivals(old, new, anew=True)
    assert not rivals(old, new)
    assert not rivals(held("project", "USES", "Postgres"), new, anew=True)


@given(NAMES, PREDICATES, NAMES)
def test_no_value_is_its_own_rival(subject: str, predicate: str, value: str) -> None:
    assert not rivals(held(subject, predicate, value), held(subject, predicate, f" {value} "))


@given(NAMES, PREDICATES, NAMES, NAMES)
def test_of_one_predicate_rivalry_is_mutual(s: str, predicate: str, one: str, two: str) -> None:
    first, second = held(s, predicate, one), held(s, predicate, two)
    assert rivals(first, second) == rivals(second, first)


@given(NAMES)
def test_a_project_has_many_tools_whatever_it_is_called(name: str) -> None:
    assert not single_valued("project", "USES")
    assert single_valued(name, "OWNED_BY")

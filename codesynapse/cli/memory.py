"""``codesynapse memory``: look at what is remembered, and decide what stays.

``recall``, ``offload`` and ``bind`` are what hooks run; with ``--query`` or ``--file`` a person
may run the first two by hand.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from codesynapse.cli.output import as_utf8, data, json_option, note, record, table
from codesynapse.environment import Environment
from codesynapse.errors import Invalid, MemoryOff

if TYPE_CHECKING:
    from codesynapse.sdk import models
    from codesynapse.sdk.client import CodeSynapseClient

__all__ = ["memory_group"]

Command = Callable[..., Any]
_SCOPES = click.Choice(["session", "repository", "personal", "all"])
_FOLDER = click.Path(exists=True, file_okay=False)
_WHOSE = {"session": "session", "repository": "repository", "personal": "yours"}


@click.group("memory")
def memory_group() -> None:
    """Look at what is remembered, and decide what stays."""


def _place(function: Command) -> Command:
    """Options that say which memory is meant."""
    for option in (
        click.option(
            "--dir", "folder", default=".", type=_FOLDER, help="A folder of the repository; here."
        ),
        click.option("--client", default="claude-code", help="Whose session: claude-code."),
        click.option("--session", help="The client's session id, for a session's own memory."),
    ):
        function = option(function)
    return function


def _scope(function: Command) -> Command:
    """``--scope``: a session's own where one is named, else all that is known from here."""

    @functools.wraps(function)
    def with_scope(*, scope: str | None, session: str | None, **rest: Any) -> Any:
        if scope == "session" and session is None:
            raise Invalid(
                "a session's own memory was asked for, and no session is named",
                "--session ID: see codesynapse memory sessions",
            )
        scope = scope or ("session" if session else "all")
        return function(scope=scope, session=session, **rest)

    return click.option(
        "--scope", type=_SCOPES, help="Whose memory.  [default: all, or session with --session]"
    )(with_scope)


def _connect(client: str, session: str | None) -> CodeSynapseClient:
    from codesynapse.sdk.client import CodeSynapseClient

    if not Environment().flag("ALLOW_MEMORY", True):
        raise MemoryOff(
            "memory_off: memory is switched off here", "CODESYNAPSE_ALLOW_MEMORY says so"
        )
    # Without a session it is the person who asks, through this program.
    return CodeSynapseClient(client=client if session else "cli", session=session)


def _repository(sidecar: CodeSynapseClient, folder: str) -> str:
    return sidecar.resolve(as_utf8(os.path.abspath(folder))).id


@memory_group.command("facts")
@_place
@_scope
@click.option("--history", is_flag=True, help="Those that no longer hold, too.")
@click.option("--as-of", type=click.DateTime(), help="Those that held at this moment (UTC).")
@click.option("--limit", type=click.IntRange(1, 10_000), default=100, show_default=True)
@json_option
def facts_command(
    *, folder: str, client: str, session: str | None, scope: Any, as_json: bool, **asked: Any
) -> None:
    """List facts, newest first."""
    with _connect(client, session) as sidecar:
        found = list(_facts(sidecar, _repository(sidecar, folder), scope, asked))
    if as_json:
        record({"facts": [fact.model_dump() for fact in found]})
    else:
        _show_facts(found)


def _facts(
    sidecar: CodeSynapseClient, repo: str, scope: Any, asked: dict[str, Any]
) -> Iterator[models.Fact]:
    """Page by page, up to the limit."""
    left: int = asked.pop("limit")
    cursor: str | None = None
    while left > 0:
        page = sidecar.facts(repo, memory_scope=scope, limit=min(left, 500), cursor=cursor, **asked)
        yield from page.facts
        left -= len(page.facts)
        cursor = page.cursor
        if cursor is None:
            return


def _show_facts(facts: Sequence[models.Fact]) -> None:
    table(
        [
            (
                fact.id[:12],
                _WHOSE.get(fact.scope.partition(":")[0], fact.scope),
                fact.sentence,
                _age(fact),
                f"{fact.confidence:.2f}",
                f"x{fact.confirmations}",
                fact.qualifiers,
            )
            for fact in facts
        ],
        empty="codesynapse: nothing is remembered here",
    )


def _age(fact: models.Fact) -> str:
    return "today" if fact.age_days == 0 else f"{fact.age_days} d"


@memory_group.command("graph")
@_place
@_scope
@click.option("--name", "names", multiple=True, help="An entity to start from; may be repeated.")
@click.option("--hops", type=click.IntRange(1, 2), default=1, show_default=True)
@click.option("--limit", type=click.IntRange(1, 500), default=100, show_default=True)
@json_option
def graph_command(
    *, folder: str, client: str, session: str | None, scope: Any, as_json: bool, **asked: Any
) -> None:
    """Show entities and the facts between them."""
    with _connect(client, session) as sidecar:
        asked["names"] = [as_utf8(name) for name in asked["names"]]
        found = sidecar.subgraph(_repository(sidecar, folder), memory_scope=scope, **asked)
    if as_json:
        record(found.model_dump())
        return
    table(
        [(fact.subject, fact.predicate, fact.object, _age(fact)) for fact in found.facts],
        empty="codesynapse: there is no such part of the graph",
    )
    if found.more:
        note("codesynapse: there is more; raise --limit or name an entity")


@memory_group.command("history")
@click.argument("fact")
@_place
@_scope
@json_option
def history_command(
    *, fact: str, folder: str, client: str, session: str | None, scope: Any, as_json: bool
) -> None:
    """Show everything that was said about one fact."""
    with _connect(client, session) as sidecar:
        repo = _repository(sidecar, folder)
        found = sidecar.history(repo, _whole(sidecar, repo, scope, fact), memory_scope=scope)
    if as_json:
        record(found.model_dump())
        return
    data(found.fact.sentence)
    for interval in found.fact.intervals:
        data(f"  held from {interval.from_} to {interval.to or 'now'}")
    for said in found.statements:
        verb = "ended" if said.close else "said"
        data(f"  {said.said_at} {verb} by {said.said_by or 'a client'} ({said.source.client})")


def _whole(sidecar: CodeSynapseClient, repo: str, scope: Any, start: str) -> str:
    """The id that begins like this, as lists show the first twelve characters."""
    if len(start) > 12:
        return start
    asked = {"limit": 10_000, "history": True}
    fitting = [f.id for f in _facts(sidecar, repo, scope, asked) if f.id.startswith(start)]
    if len(fitting) > 1:
        raise Invalid(f"{start} is the start of {len(fitting)} facts", "give more of the id")
    return fitting[0] if fitting else start


@memory_group.command("promote")
@click.argument("facts", nargs=-1, required=True)
@_place
@json_option
def promote_command(
    *, facts: tuple[str, ...], folder: str, client: str, session: str | None, as_json: bool
) -> None:
    """Make facts of a session (--session) the repository's."""
    if session is None:
        raise Invalid("promote needs a session", "--session ID: see codesynapse memory sessions")
    with _connect(client, session) as sidecar:
        repo = _repository(sidecar, folder)
        chosen = [_whole(sidecar, repo, "session", fact) for fact in facts]
        done = sidecar.promote(session, chosen)
    if as_json:
        record(done.model_dump())
    elif done.applied:
        note(f"codesynapse: {len(done.fact_ids)} facts are the repository's now")
    else:
        note("codesynapse: the repository has them already")


@memory_group.command("jobs")
@click.option("--limit", type=click.IntRange(1, 200), default=20, show_default=True)
@json_option
def jobs_command(limit: int, as_json: bool) -> None:
    """List the last offload jobs, newest first."""
    with _connect("", None) as sidecar:
        found = sidecar.jobs(limit=limit).jobs
    if as_json:
        record({"jobs": [job.model_dump(mode="json") for job in found]})
        return
    table(
        [
            (
                _minute(job.created_at),
                job.state,
                f"{job.counts.get('turns', 0)} turns",
                f"{job.counts.get('kept', 0)} kept",
                _dropped(job.counts),
                job.repo,
                job.session[:12],
                job.model or "",
                job.error or "",
            )
            for job in found
        ],
        empty="codesynapse: nothing was offloaded yet",
    )


def _dropped(counts: dict[str, int]) -> str:
    """What was not kept, by reason: ``2 dropped not grounded``."""
    found = sorted(item for item in counts.items() if item[0].startswith(("dropped_", "lost_")))
    return ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in found if count)


@memory_group.command("sessions")
@click.option(
    "--dir", "folder", default=".", type=_FOLDER, help="A folder of the repository; here."
)
@json_option
def sessions_command(folder: str, as_json: bool) -> None:
    """List your sessions in a repository, newest first."""
    with _connect("", None) as sidecar:
        found = sidecar.sessions(_repository(sidecar, folder)).sessions
    if as_json:
        record({"sessions": [one.model_dump(mode="json") for one in found]})
        return
    table(
        [(one.session, one.client, one.state, _minute(one.last_seen_at)) for one in found],
        empty="codesynapse: no session was registered here",
    )


def _minute(moment: datetime) -> str:
    """In the person's own time."""
    return moment.astimezone().strftime("%Y-%m-%d %H:%M")


@memory_group.command("review")
@click.option(
    "--dir", "folder", default=".", type=_FOLDER, help="A folder of the repository; here."
)
@click.option("--approve", multiple=True, metavar="ID", help="Carry it over; may be repeated.")
@click.option("--reject", multiple=True, metavar="ID", help="Never carry it over.")
@json_option
def review_command(
    folder: str, approve: tuple[str, ...], reject: tuple[str, ...], as_json: bool
) -> None:
    """List what waits to be carried over, or decide it."""
    with _connect("", None) as sidecar:
        repo = _repository(sidecar, folder)
        for item in approve:
            sidecar.review_decision(item, "approve")
        for item in reject:
            sidecar.review_decision(item, "reject")
        waiting = sidecar.review(repo).items
    if as_json:
        record({"items": [one.model_dump(mode="json") for one in waiting]})
        return
    table(
        [(one.id, f"{one.subject} {one.predicate} {one.object}") for one in waiting],
        empty="codesynapse: nothing waits",
    )


@memory_group.command("recall")
@click.option("--query", required=True, help="What to ask.")
@click.option("--limit", type=click.IntRange(1, 100), default=20, show_default=True)
@_place
@_scope
@json_option
def recall_command(
    *, folder: str, client: str, session: str | None, scope: Any, as_json: bool, **asked: Any
) -> None:
    """Ask a memory. Without --query it is the hook, which reads its input."""
    with _connect(client, session) as sidecar:
        asked["query"] = as_utf8(asked["query"])
        found = sidecar.recall(_repository(sidecar, folder), memory_scope=scope, **asked)
    if as_json:
        record(found.model_dump())
        return
    if found.gated:
        note(f"codesynapse: nothing was searched: {found.reason}")
        return
    _show_facts(found.facts)


@memory_group.command("offload")
@click.option("--file", "path", type=click.Path(exists=True, dir_okay=False), required=True)
@_place
@json_option
def offload_command(
    *, path: str, folder: str, client: str, session: str | None, as_json: bool
) -> None:
    """Offload a whole transcript by hand. Without --file it is the hook."""
    from codesynapse.cli.transcript import turns_of

    if session is None:
        raise Invalid("offload needs a session", "--session ID")
    with _connect(client, session) as sidecar:
        sidecar.register(_repository(sidecar, folder), cwd=as_utf8(os.path.abspath(folder)))
        jobs = [sidecar.offload(part, wait=True) for part in turns_of(path)]
    if as_json:
        record({"jobs": [job.model_dump(mode="json") for job in jobs]})
        return
    kept = sum(job.counts.get("kept", 0) for job in jobs)
    note(f"codesynapse: {kept} facts were kept")

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from codesynapse.cli.memory import _dropped
from tests.sidecar.home import Home


@pytest.fixture(scope="module")
def project(served: Home) -> Path:
    """A repository with two facts, and a session with two of its own."""
    folder = served.root / "cli ⟦→你"
    (folder / "deep").mkdir(parents=True)
    repo = served.repository(folder)
    triples = [
        {"subject": "⟦→你", "predicate": "USES", "object": "Đà"},
        {"subject": "api", "predicate": "LISTENS_ON", "object": "9000"},
    ]
    path = f"/v1/repos/{repo}/memory/triples"
    assert served.ask("POST", path, {"triples": triples}).status == 200
    served.ask("POST", f"/v1/repos/{repo}/sessions", {}, session="cli-session")
    texts = ("The billing service uses PostgreSQL 16.", "We use pnpm, not npm.")
    body = {"turns": [{"role": "user", "text": text} for text in texts], "wait": True}
    assert served.ask("POST", "/v1/memory/offload", body, session="cli-session").status == 202
    return folder


def run(home: Home, *words: str, **variables: str) -> str:
    done = home.command("memory", *words, variables=variables)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode("utf-8")


def record(home: Home, *words: str) -> Any:
    return json.loads(run(home, *words, "--json"))


def test_facts_are_listed_as_lines_and_as_json(served: Home, project: Path) -> None:
    lines = run(served, "facts", "--dir", str(project)).splitlines()
    assert len(lines) == 2
    assert any("api listens on 9000" in line for line in lines)
    facts = record(served, "facts", "--dir", str(project))["facts"]
    assert {fact["object"] for fact in facts} == {"Đà", "9000"}
    assert facts[0]["source"]["client"] == "claude-code"


def test_without_a_scope_all_that_is_known_from_here_is_listed(served: Home) -> None:
    folder = served.root / "all of it"
    folder.mkdir()
    repo, where = served.repository(folder), ["--dir", str(folder)]
    own = [*where, "--session", "all-of-it"]
    served.ask("POST", f"/v1/repos/{repo}/sessions", {}, session="all-of-it")
    for scope, value in (("session", "4 spaces"), ("personal", "tabs"), ("repository", "CRLF")):
        triples = [{"subject": "User", "predicate": "PREFERS", "object": value}]
        body = {"triples": triples, "memory_scope": scope}
        path = f"/v1/repos/{repo}/memory/triples"
        assert served.ask("POST", path, body, session="all-of-it").status == 200
    listed = run(served, "facts", *where)
    assert [line.split()[1] for line in listed.splitlines()] == ["yours", "repository"]
    assert "4 spaces" not in listed  # a session's own memory is nobody else's
    assert [line.split()[1] for line in run(served, "facts", *own).splitlines()] == ["session"]
    everything = run(served, "facts", "--scope", "all", *own).splitlines()
    assert [line.split()[1] for line in everything] == ["session", "yours", "repository"]
    assert "tabs" in run(served, "graph", "--name", "User", *where)
    assert "tabs" in run(served, "recall", "--query", "tabs or CRLF", *where)
    assert "held from" in run(served, "history", listed.split()[0], *where)


def test_what_is_true_everywhere_is_deleted_by_its_id_from_any_repository(
    served: Home, project: Path, tmp_path: Path
) -> None:
    elsewhere = served.repository(tmp_path)
    here = repo_of(served, project)
    triples = [{"subject": "User", "predicate": "SPEAKS", "object": "Vietnamese"}]
    body = {"triples": triples, "memory_scope": "personal"}
    made = served.ask("POST", f"/v1/repos/{here}/memory/triples", body).json["fact_ids"][0]
    asked = f"/v1/repos/{elsewhere}/memory/facts/{made}?memory_scope=all"
    assert served.ask("DELETE", asked).status == 404
    asked = f"/v1/repos/{here}/memory/facts/{made}?memory_scope=personal"
    assert served.ask("DELETE", asked).json["deleted"] == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["facts", "--session", "nobody"], "nobody of claude-code is not registered"),
        (["graph", "--scope", "session"], "no session is named"),
        (["facts", "--dir", "no/such/folder"], "no/such/folder"),
    ],
)
def test_what_is_not_there_is_an_error_that_names_it(
    served: Home, project: Path, words: list[str], said: str
) -> None:
    where = [] if "--dir" in words else ["--dir", str(project)]
    done = served.command("memory", *words, *where)
    assert done.returncode in (1, 2)
    assert (done.stdout, said in done.stderr.decode()) == (b"", True)


def test_a_start_that_failed_says_why(home: Home) -> None:
    database = Path(home.paths.database)
    database.parent.mkdir(parents=True)
    database.write_bytes(b"this is no database" * 1_000)
    done = home.command("sidecar", "start")
    assert done.returncode == 1
    assert "did not start" in done.stderr.decode()
    assert "header is damaged" in done.stderr.decode()


def test_every_letter_comes_out_whatever_the_locale(served: Home, project: Path) -> None:
    variables = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    out = run(served, "facts", "--dir", str(project), **variables)
    assert "⟦→你 uses Đà" in out
    asked = ["recall", "--query", "Đà", "--dir", str(project)]
    assert "⟦→你 uses Đà" in run(served, *asked, **variables)
    assert "Đà" in run(served, "graph", "--name", "⟦→你", "--dir", str(project), **variables)


def test_a_sidecar_started_without_utf_8_reads_any_path(home: Home) -> None:
    folder = home.root / "Đà nẵng"
    folder.mkdir()
    home.start(LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    answer = home.ask("POST", "/v1/repos/resolve", {"cwd": str(folder)})
    assert answer.json["root"] == str(folder)


def test_a_subfolder_is_the_same_repository(served: Home, project: Path) -> None:
    (project / ".git").mkdir(exist_ok=True)
    (project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    assert record(served, "facts", "--dir", str(project / "deep"))["facts"]


def test_the_graph_starts_from_a_name(served: Home, project: Path) -> None:
    out = run(served, "graph", "--dir", str(project), "--name", "api")
    assert out.split() == ["api", "LISTENS_ON", "9000", "today"]
    assert len(record(served, "graph", "--dir", str(project))["nodes"]) == 4


def test_history_takes_the_id_as_it_is_listed(served: Home, project: Path) -> None:
    short = run(served, "facts", "--dir", str(project)).split()[0]
    out = run(served, "history", short, "--dir", str(project))
    assert "held from" in out
    assert "said by" in out


def test_a_session_s_facts_are_promoted_by_the_start_of_their_ids(
    served: Home, project: Path
) -> None:
    own = ["--dir", str(project), "--session", "cli-session"]
    listed = run(served, "facts", "--scope", "session", *own)
    line = next(line for line in listed.splitlines() if "pnpm" in line)
    done = served.command("memory", "promote", line.split()[0], *own)
    assert done.returncode == 0, done.stderr
    assert done.stdout == b""
    facts = record(served, "facts", "--dir", str(project))["facts"]
    promoted = next(fact for fact in facts if fact["object"] == "pnpm")
    assert promoted["source"]["origin"].startswith("promoted:")
    assert record(served, "promote", promoted["id"][:0] + line.split()[0], *own)["applied"] is False
    served.ask("DELETE", f"/v1/repos/{repo_of(served, project)}/memory/facts/{promoted['id']}")


def repo_of(home: Home, folder: Path) -> str:
    return home.repository(folder)


def test_jobs_and_sessions_are_listed(served: Home, project: Path) -> None:
    assert record(served, "jobs")["jobs"][0]["model"] == "builtin"
    assert "done" in run(served, "jobs")
    assert record(served, "sessions", "--dir", str(project))["sessions"][0]["session"]
    assert "cli-session" in run(served, "sessions", "--dir", str(project))


def test_nothing_to_review_is_said_beside_the_data(served: Home, project: Path) -> None:
    done = served.command("memory", "review", "--dir", str(project))
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"nothing waits" in done.stderr


def test_recall_by_hand_asks_the_memory(served: Home, project: Path) -> None:
    asked = ["recall", "--query", "which port does the api use", "--dir", str(project)]
    assert "9000" in run(served, *asked)
    assert record(served, *asked)["facts"][0]["object"] == "9000"
    done = served.command("memory", "recall", "--query", "thanks", "--dir", str(project))
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"nothing was searched" in done.stderr


def test_a_transcript_is_offloaded_by_hand(served: Home, project: Path) -> None:
    path = served.root / "by hand.jsonl"
    message = {"role": "user", "content": "The staging server runs on Debian 13."}
    line = {"type": "user", "uuid": "h1", "timestamp": "2026-03-01T10:00:00Z", "message": message}
    path.write_text(json.dumps(line) + "\n")
    own = ["--dir", str(project), "--session", "by-hand"]
    jobs = record(served, "offload", "--file", str(path), *own)["jobs"]
    assert [job["state"] for job in jobs] == ["done"]
    assert record(served, "facts", "--scope", "session", *own)["facts"] is not None


def test_the_hook_itself_runs_from_the_command_line(served: Home, project: Path) -> None:
    payload = {
        "session_id": "cli-hook", "cwd": str(project), "hook_event_name": "SessionStart",
        "source": "startup",
    }  # fmt: skip
    done = served.command("memory", "recall", stdin=json.dumps(payload).encode())
    assert (done.returncode, done.stderr) == (0, b"")
    assert "9000" in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]


def test_memory_that_is_off_for_this_command_alone_is_said(served: Home, project: Path) -> None:
    off = {"CODESYNAPSE_ALLOW_MEMORY": "false"}
    done = served.command("memory", "facts", "--dir", str(project), variables=off)
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"memory_off" in done.stderr


def test_jobs_say_whose_they_are(served: Home, project: Path) -> None:
    job = record(served, "jobs")["jobs"][0]
    line = run(served, "jobs").splitlines()[0]
    assert job["repo"] in line
    assert job["session"][:12] in line


def test_what_a_job_dropped_is_named_by_its_reason() -> None:
    counts = {"turns": 4, "kept": 1, "lost_turns": 2, "dropped_not_grounded": 1, "dropped_x": 0}
    assert _dropped(counts) == "1 dropped not grounded, 2 lost turns"


def test_status_says_where_it_is(served: Home) -> None:
    done = served.command("sidecar", "status", "--json")
    found = json.loads(done.stdout)
    assert (done.returncode, found["running"]) == (0, True)
    assert found["url"] == served.endpoint.url
    assert {"pid", "version", "store", "uptime_seconds"} <= set(found)
    assert served.token not in done.stdout.decode()
    assert served.endpoint.url in served.command("sidecar", "status").stdout.decode()


def test_status_of_none_is_exit_code_1_and_starts_none(home: Home) -> None:
    done = home.command("sidecar", "status", "--json")
    assert (done.returncode, json.loads(done.stdout)["running"]) == (1, False)
    stopped = home.command("sidecar", "stop")
    assert (stopped.returncode, stopped.stdout) == (0, b"")
    assert not home.serves()


def test_start_and_stop_and_the_log_between(home: Home) -> None:
    assert home.command("sidecar", "start").returncode == 0
    pid = home.endpoint.pid
    assert home.command("sidecar", "start").returncode == 0
    assert home.endpoint.pid == pid
    log = home.command("sidecar", "logs", "--lines", "5").stdout.decode()
    assert "GET /v1/stats 200" in log
    assert home.command("sidecar", "stop").returncode == 0
    assert not home.serves()
    assert not Path(f"/proc/{pid}").exists() or home.command("sidecar", "status").returncode == 1


def test_reading_changes_no_file_of_the_project(served: Home, project: Path) -> None:
    before = sorted(path.name for path in project.rglob("*"))
    for words in (["facts"], ["graph"], ["sessions"], ["review"], ["jobs"]):
        where = [] if words == ["jobs"] else ["--dir", str(project)]
        run(served, *words, *where)
    assert sorted(path.name for path in project.rglob("*")) == before

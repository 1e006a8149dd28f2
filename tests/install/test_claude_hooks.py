from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from codesynapse.errors import InstallRefused
from codesynapse.install.edit import preview
from codesynapse.install.hook_command import VERBS, command_kind, personal_command, shared_command
from tests.install.conftest import PYTHON, SCRIPT, Workbench
from tests.install.strategies import PROPERTY, settings_documents

NAME = "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE"
EVENTS = ["SessionStart", "PreCompact", "PreToolUse", "PostToolUse", "SessionEnd"]


def read(path: Path) -> Any:
    return json.loads(path.read_bytes().decode("utf-8-sig"))


def commands(path: Path) -> dict[str, list[str]]:
    return {
        event: [handler["command"] for group in groups for handler in group["hooks"]]
        for event, groups in read(path)["hooks"].items()
    }


@PROPERTY
@given(document=settings_documents())
def test_installing_twice_and_removing_leaves_every_byte(
    benches: Callable[[], Workbench], document: bytes
) -> None:
    bench = benches()
    path = bench.write(document)
    bench.install(per_prompt=True)
    once = path.read_bytes()
    assert bench.install().changes is False
    assert path.read_bytes() == once
    hooks = read(path)["hooks"]
    assert all(hooks[event] for event in [*EVENTS, "UserPromptSubmit"])
    bench.remove()
    assert path.read_bytes() == document
    assert not any(bench.home.rglob("*.json"))


@PROPERTY
@given(document=settings_documents())
def test_what_a_person_had_still_holds_while_installed(
    benches: Callable[[], Workbench], document: bytes
) -> None:
    bench = benches()
    path = bench.write(document)
    before = read(path)
    bench.install(compact_at=0)
    after = read(path)
    for event, groups in before.pop("hooks", {}).items():
        assert after["hooks"][event][: len(groups)] == groups
    after.pop("hooks")
    assert after == before


def test_a_fresh_repository_gets_the_file_and_gives_it_back(bench: Workbench) -> None:
    bench.install()
    assert read(bench.settings())["env"] == {NAME: "30"}
    assert list(commands(bench.settings())) == EVENTS
    bench.remove()
    assert [path.name for path in bench.folder.iterdir()] == [".git"]
    assert not any(path.is_file() for path in bench.home.rglob("*"))


def test_a_folder_that_others_use_stays(bench: Workbench) -> None:
    bench.install()
    (bench.settings().parent / "notes.md").write_text("mine")
    bench.remove()
    assert [path.name for path in bench.settings().parent.iterdir()] == ["notes.md"]


def test_an_empty_folder_that_was_there_stays(bench: Workbench) -> None:
    bench.settings().parent.mkdir()
    bench.install()
    bench.remove()
    assert list(bench.settings().parent.iterdir()) == []


def test_the_events_run_the_commands_of_the_one_source(bench: Workbench) -> None:
    bench.install(per_prompt=True)
    hooks = read(bench.settings())["hooks"]
    runs = {event: hooks[event][0]["hooks"][0]["command"] for event in hooks}
    verbs = {event: " ".join(shlex.split(command)[4:-2]) for event, command in runs.items()}
    assert verbs == {
        "SessionStart": "recall",
        "PreCompact": "offload",
        "PreToolUse": "bind",
        "PostToolUse": "bind",
        "SessionEnd": "offload --end",
        "UserPromptSubmit": "recall --prompt",
    }
    assert shlex.split(runs["SessionStart"])[:4] == [PYTHON, "-I", "-S", SCRIPT]
    assert "matcher" not in hooks["SessionStart"][0]
    own = "mcp__codesynapse__.*|mcp__plugin_codesynapse_codesynapse__.*"
    assert hooks["PreToolUse"][0]["matcher"] == hooks["PostToolUse"][0]["matcher"] == own
    assert hooks["SessionEnd"][0]["hooks"][0]["timeout"] > 1.5


@pytest.mark.parametrize("shared", [False, True])
def test_a_command_whose_program_is_gone_exits_0_and_prints_nothing(
    bench: Workbench, shared: bool
) -> None:
    for verb in VERBS:
        command = bench.installation.command(verb, shared=shared)
        ran = subprocess.run(
            ["/bin/sh", "-c", command], capture_output=True, env={"PATH": "/nowhere"}, check=False
        )
        assert (ran.returncode, ran.stdout) == (0, b"")


def test_a_script_that_vanished_does_not_block_a_prompt(tmp_path: Path) -> None:
    # Python exits 2 when its script is missing, which Claude Code takes for a veto.
    command = personal_command("python3", str(tmp_path / "codesynapse/harness/hook.py"), "offload")
    ran = subprocess.run(["/bin/sh", "-c", command], capture_output=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, b"")


def test_a_command_runs_from_a_path_with_spaces_quotes_and_letters_of_any_kind(
    tmp_path: Path,
) -> None:
    script = tmp_path / "it's a (Ünï) [x] $HOME 記憶" / "codesynapse" / "harness" / "hook.py"
    script.parent.mkdir(parents=True)
    script.write_text("import sys; print(*sys.argv[1:])")
    command = personal_command("/usr/bin/env", str(script), "offload --end")
    program = command.replace("/usr/bin/env", "python3", 1)
    ran = subprocess.run(["/bin/sh", "-c", program], capture_output=True, text=True, check=False)
    assert ran.stdout == "offload --end\n"
    assert command_kind(command) == "ours"


@pytest.mark.parametrize("verb", VERBS)
def test_our_own_commands_are_known_whatever_the_paths(verb: str) -> None:
    assert command_kind(shared_command(verb)) == "ours"
    assert command_kind(personal_command(PYTHON, SCRIPT, verb)) == "ours"
    old = personal_command("/old/python", "/old place/codesynapse/harness/hook.py", verb)
    assert command_kind(old) == "ours"


@pytest.mark.parametrize(
    "command",
    [
        "nice " + personal_command(PYTHON, SCRIPT, "recall"),
        personal_command(PYTHON, SCRIPT, "recall").replace(" || :", ""),
        personal_command(PYTHON, SCRIPT, "recall --verbose"),
        "codesynapse memory recall",
        shared_command("recall") + " # mine",
    ],
)
def test_an_edited_command_belongs_to_the_person(bench: Workbench, command: str) -> None:
    assert command_kind(command) == "edited"
    entry = {"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": command}]}]}}
    data = json.dumps(entry, indent=2).encode()
    path = bench.write(data)
    plan = bench.install()
    assert commands(path)["SessionStart"] == [command]
    assert any("a person wrote" in note for note in plan.notes)
    bench.remove()
    assert path.read_bytes() == data


@pytest.mark.parametrize("command", ["", "'", "echo codesynapse", "python3 hook.py recall"])
def test_other_commands_are_foreign(command: str) -> None:
    assert command_kind(command) == "foreign"


def test_entries_of_a_moved_installation_are_pointed_at_this_one(bench: Workbench) -> None:
    old = personal_command("/gone/python", "/gone/codesynapse/harness/hook.py", "recall")
    path = bench.write(b"{}")
    bench.install()
    text = path.read_text()
    current = json.dumps(bench.installation.command("recall", shared=False), ensure_ascii=False)
    path.write_text(text.replace(current, json.dumps(old)).replace('"timeout": 10', '"timeout": 9'))
    plan = bench.install()
    assert "SessionStart: now runs this installation" in plan.done
    # A time limit that the person chose stays.
    assert path.read_text() == text.replace('"timeout": 10', '"timeout": 9')
    bench.remove()
    assert path.read_bytes() == b"{}"


def test_our_handler_in_a_foreign_group_goes_alone(bench: Workbench) -> None:
    bench.install()
    document = read(bench.settings())
    mine = {"type": "command", "command": "true"}
    document["hooks"]["SessionStart"][0]["hooks"].append(mine)
    bench.write(json.dumps(document, indent=2).encode())
    bench.remove()
    assert read(bench.settings()) == {"hooks": {"SessionStart": [{"hooks": [mine]}]}}


def test_entries_given_twice_are_brought_down_to_one(bench: Workbench) -> None:
    bench.install()
    document = read(bench.settings())
    document["hooks"]["PreCompact"] *= 3
    bench.write(json.dumps(document, indent=2).encode())
    bench.install()
    assert len(read(bench.settings())["hooks"]["PreCompact"]) == 1


def test_without_what_was_remembered_removal_takes_our_entries_only(bench: Workbench) -> None:
    path = bench.write(b'{\n  "a": 1,\n  "env": {"B": "c"}\n}\n')
    bench.install(compact_at=0)
    for record in bench.home.rglob("*.json"):
        record.unlink()
    bench.install(per_prompt=True, compact_at=0)
    bench.remove()
    assert path.read_bytes() == b'{\n  "a": 1,\n  "env": {"B": "c"}\n}\n'


def test_the_prompt_hook_stays_until_it_is_declined(bench: Workbench) -> None:
    bench.install(per_prompt=True)
    bench.install()
    assert "UserPromptSubmit" in commands(bench.settings())
    bench.install(per_prompt=False)
    assert "UserPromptSubmit" not in commands(bench.settings())


def test_the_previous_percentage_comes_back_with_its_spelling(bench: Workbench) -> None:
    original = b'{"env": {"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE":  "\\u0038\\u0030" , "B": "c"}}'
    path = bench.write(original)
    plan = bench.install()
    assert read(path)["env"] == {NAME: "30", "B": "c"}
    assert any("it was" in line for line in plan.done)
    assert b"0038" not in path.read_bytes()
    bench.install(compact_at=50)
    bench.install()
    assert read(path)["env"][NAME] == "50"
    bench.remove()
    assert path.read_bytes() == original


def test_zero_leaves_the_percentage_alone(bench: Workbench) -> None:
    path = bench.write(b'{"env": {"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "80"}}')
    bench.install(compact_at=0)
    assert read(path)["env"][NAME] == "80"


def test_a_percentage_that_the_person_set_later_is_theirs(bench: Workbench) -> None:
    bench.install()
    path = bench.settings()
    path.write_text(path.read_text().replace('"30"', '"70"'))
    plan = bench.install()
    assert any("changed by a person" in note for note in plan.notes)
    bench.remove()
    assert read(path) == {"env": {NAME: "70"}}


def test_what_was_remembered_is_never_in_the_settings(bench: Workbench) -> None:
    path = bench.write(b'{"env": {"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "81", "KEY": "s3cr3t-value"}}')
    bench.install()
    assert b"81" not in path.read_bytes()
    kept = [file for file in bench.home.rglob("*") if file.is_file()]
    assert len(kept) == 1
    assert b"s3cr3t" not in kept[0].read_bytes()
    assert kept[0].stat().st_mode & 0o777 == 0o600
    assert kept[0].parent.stat().st_mode & 0o777 == 0o700
    assert kept[0].parent.parent.stat().st_mode & 0o777 == 0o700


def test_an_interrupted_first_install_is_taken_up_again(bench: Workbench) -> None:
    path = bench.write(b'{"env": {"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "80"}}')
    original = path.read_bytes()
    bench.install()
    # As if the machine had stopped after the record and before the settings.
    path.write_bytes(original)
    bench.install()
    assert read(path)["env"][NAME] == "30"
    bench.remove()
    assert path.read_bytes() == original


def test_sharing_moves_our_entries_out_of_the_personal_file(bench: Workbench) -> None:
    path = bench.write(b'{"a": 1}')
    bench.install()
    bench.install(shared=True)
    assert path.read_bytes() == b'{"a": 1}'
    assert commands(bench.settings(shared=True))["SessionStart"] == [shared_command("recall")]
    bench.remove(shared=True)
    assert not bench.settings(shared=True).exists()
    assert path.read_bytes() == b'{"a": 1}'


def test_beside_the_teams_hooks_that_work_no_second_set_is_installed(
    bench: Workbench, tmp_path: Path
) -> None:
    bench.install(shared=True)
    program = tmp_path / "bin" / "codesynapse"
    program.parent.mkdir()
    program.touch(mode=0o755)
    bench.installation = type(bench.installation)(PYTHON, SCRIPT, str(program.parent))
    plan = bench.install(compact_at=0)
    assert not bench.settings().exists()
    assert any("runs our hooks here already" in note for note in plan.notes)
    # Where the shared command finds no program, the personal one is what works.
    bench.installation = type(bench.installation)(PYTHON, SCRIPT, "")
    bench.install(compact_at=0)
    assert list(commands(bench.settings())) == EVENTS


def test_a_dry_run_shows_the_change_and_makes_none(bench: Workbench) -> None:
    path = bench.write(b'{\n  "a": 1\n}')
    plan = bench.install(dry_run=True)
    shown = preview(plan)
    assert shown.startswith(
        "--- a/.claude/settings.local.json\n+++ b/.claude/settings.local.json\n"
    )
    assert '-  "a": 1\n' in shown
    assert "\\ No newline at end of file\n" in shown
    assert path.read_bytes() == b'{\n  "a": 1\n}'
    assert not bench.home.exists()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b'{"a": 1,}', "not valid JSON: line 1, column 8"),
        (b'{"hooks": {"SessionStart": [', "not valid JSON"),
        (b"", "not valid JSON"),
        (b"[]", "does not hold an object"),
        (b'{"hooks": []}', "hooks in the settings is not an object"),
        (b'{"hooks": {"PreCompact": {}}}', "hooks.PreCompact in the settings is not an array"),
        (b'{"env": "x"}', "env in the settings is not an object"),
        ('{"a": "\u00e4"}'.encode("latin-1"), "not UTF-8"),
        ("{}".encode("utf-16"), "not UTF-8"),
    ],
)
def test_a_file_that_cannot_be_edited_is_refused_and_untouched(
    bench: Workbench, data: bytes, reason: str
) -> None:
    path = bench.write(data)
    with pytest.raises(InstallRefused) as refused:
        bench.install()
    assert reason in refused.value.message
    assert path.read_bytes() == data
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]
    assert not bench.home.exists()


def test_hooks_that_are_switched_off_are_named(bench: Workbench) -> None:
    bench.write(b'{"disableAllHooks": true}')
    assert any("disableAllHooks" in note for note in bench.install().notes)

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys

import pytest
from click.testing import CliRunner

from codesynapse import __version__
from codesynapse.cli.main import COMMANDS, cli, main
from codesynapse.cli.output import record, table
from tests.sidecar.home import Home


def imported(home: Home, *words: str) -> set[str]:
    """The modules that running these words brings in."""
    code = (
        "import sys, os\n"
        "sys.argv = ['codesynapse', *sys.argv[1:]]\n"
        "def said(status=0):\n"
        "    os.write(2, ('MODULES ' + ' '.join(sys.modules) + '\\n').encode()); real(status)\n"
        "real, os._exit = os._exit, said\n"
        "from codesynapse.__main__ import main\n"
        "code = main()\n"
        "said(code)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words], env=home.environment.child(), input=b"{}",
        capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    lines = [line for line in done.stderr.decode().splitlines() if line.startswith("MODULES ")]
    return set(lines[-1].split()[1:])


@pytest.mark.parametrize("verb", ["recall", "offload", "bind"])
def test_a_hook_imports_no_click_and_nothing_of_others(served: Home, verb: str) -> None:
    found = imported(served, "memory", verb)
    assert "codesynapse.harness.main" in found
    assert not {"click", "httpx", "pydantic", "codesynapse.cli.main"} & found


def test_help_imports_no_command(served: Home) -> None:
    found = imported(served, "--help")
    assert "click" in found
    assert not {"httpx", "codesynapse.cli.memory", "codesynapse.cli.mcp"} & found


def test_every_command_of_the_table_loads_and_explains_itself() -> None:
    for name in COMMANDS:
        done = CliRunner().invoke(cli, [name, "--help"])
        assert (done.exit_code, name in done.output) == (0, True), name


def test_without_arguments_a_terminal_is_shown_help(home: Home) -> None:
    master, slave = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "codesynapse"], stdin=slave, stdout=subprocess.PIPE,
        env=home.environment.child(), timeout=60, check=False,
    )  # fmt: skip
    os.close(master)
    os.close(slave)
    assert done.returncode == 0
    assert b"Usage: codesynapse" in done.stdout
    assert b"sidecar" in done.stdout


def test_the_version_is_told(home: Home) -> None:
    assert __version__ in home.command("--version").stdout.decode()


@pytest.mark.parametrize(
    "words", [["nonsense"], ["memory", "nonsense"], ["memory", "facts", "--nonsense"]]
)
def test_wrong_usage_is_exit_code_2_on_stderr(home: Home, words: list[str]) -> None:
    done = home.command(*words)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"Traceback" not in done.stderr


def test_a_refusal_is_one_line_and_its_hint_without_a_traceback(served: Home) -> None:
    done = served.command("memory", "promote", "abc")
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.decode().splitlines() == [
        "codesynapse: promote needs a session",
        "  --session ID: see codesynapse memory sessions",
    ]


def test_what_nobody_foresaw_is_a_line_as_well(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(COMMANDS, "demo", ("codesynapse.cli.main:nothing_there", ""))
    assert main(["demo"]) == 1
    assert "AttributeError" in capsys.readouterr().err


def test_a_reader_that_has_enough_is_no_error(served: Home) -> None:
    command = f"{sys.executable} -m codesynapse memory --help | head -1"
    done = subprocess.run(command, shell=True, env=served.environment.child(),
                          capture_output=True, timeout=60, check=False)  # fmt: skip
    assert done.stderr == b""


def test_a_table_lines_up_and_keeps_to_one_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    table([("a", "b\nc", "x"), ("long", "d", "")], empty="none")
    assert capsys.readouterr().out == "a     b c  x\nlong  d\n"
    table([], empty="none")
    assert capsys.readouterr() == ("", "none\n")


def test_a_record_keeps_every_letter(capsys: pytest.CaptureFixture[str]) -> None:
    record({"name": "⟦→你"})
    assert json.loads(capsys.readouterr().out) == {"name": "⟦→你"}


def test_help_names_how_an_agent_program_is_served(home: Home) -> None:
    listed = home.command("mcp", "--help").stdout.decode()
    assert "serve" in listed
    assert "Serve MCP on stdin and stdout" in home.command("mcp", "serve", "--help").stdout.decode()

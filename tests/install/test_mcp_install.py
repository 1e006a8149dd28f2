from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from codesynapse.environment import Environment
from codesynapse.errors import InstallRefused
from codesynapse.install.edit import Plan, carry_out
from codesynapse.install.mcp_clients import CLIENTS, McpClient, find_clients
from codesynapse.install.mcp_entry import NAME, Server, is_ours
from codesynapse.install.mcp_install import place_of, plan_server, plan_server_removal, snippet
from codesynapse.paths import Paths
from tests.install.strategies import PROPERTY, settings_documents

PYTHON = "/opt/my env/it's/python3"
SCRIPT = "/opt/lib (ü)/codesynapse/bridge/serve.py"
SERVER = Server(PYTHON, SCRIPT)
ENTRY_OF_A_PERSON = {"command": "codesynapse", "args": ["mcp", "serve"]}
every_client = pytest.mark.parametrize("client", CLIENTS.values(), ids=lambda client: client.name)


class Machine:
    """One person's home."""

    def __init__(self, root: Path, **variables: str) -> None:
        self.home = root
        self.environment = Environment({"HOME": str(root), "PATH": "/nowhere", **variables})
        self.paths = Paths(self.environment)

    def file(self, client: McpClient) -> Path:
        return client.file(self.environment)

    def write(self, client: McpClient, data: bytes) -> Path:
        path = self.file(client)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def install(self, client: McpClient, server: Server = SERVER) -> Plan:
        return self._run(client, lambda: plan_server(client, self.environment, self.paths, server))

    def remove(self, client: McpClient) -> Plan:
        return self._run(client, lambda: plan_server_removal(client, self.environment, self.paths))

    def _run(self, client: McpClient, plan: Callable[[], Plan]) -> Plan:
        return carry_out(place_of(client, self.environment)[0], self.paths, plan)

    def files(self) -> dict[str, bytes]:
        return {
            str(path.relative_to(self.home)): path.read_bytes()
            for path in self.home.rglob("*")
            if path.is_file()
        }


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.fixture(scope="session")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Machine]:
    return lambda: Machine(tmp_path_factory.mktemp("machine"))


def read(client: McpClient, data: bytes) -> Any:
    if client.format == "toml":
        return tomllib.loads(data.decode())
    return yaml.safe_load(data) if client.format == "yaml" else json.loads(data)


def servers(client: McpClient, data: bytes) -> Any:
    document = read(client, data)
    for key in client.keys:
        document = document[key]
    return document


@every_client
def test_the_client_finds_its_entry_in_its_own_file(machine: Machine, client: McpClient) -> None:
    plan = machine.install(client)
    assert plan.done
    entry = servers(client, machine.file(client).read_bytes())[NAME]
    assert entry == client.entry(SERVER, client.name)
    assert is_ours(entry)
    command = entry["command"]
    line = command if isinstance(command, list) else [command, *entry["args"]]
    assert line == [PYTHON, "-I", "-S", SCRIPT]
    told = entry.get("env") or entry["environment"]
    assert told == {"CODESYNAPSE_CLIENT": client.name}


@every_client
def test_a_second_time_changes_nothing_and_removal_leaves_no_trace(
    machine: Machine, client: McpClient
) -> None:
    machine.install(client)
    before = machine.files()
    assert not machine.install(client).changes
    assert machine.files() == before
    machine.remove(client)
    assert machine.files() == {}
    left = {path.relative_to(machine.home).parts[0] for path in machine.home.rglob("*")}
    assert left <= {".local"}  # where every program's data lies


@every_client
def test_an_installation_that_moved_is_pointed_to_in_the_same_place(
    machine: Machine, client: McpClient
) -> None:
    machine.install(client)
    other = Server("/usr/bin/python3", "/usr/lib/codesynapse/bridge/serve.py")
    assert machine.install(client, other).done
    entry = servers(client, machine.file(client).read_bytes())[NAME]
    assert entry == client.entry(other, client.name)
    machine.remove(client)
    assert machine.files() == {}


@every_client
def test_an_entry_of_our_name_that_a_person_wrote_is_left_alone(
    machine: Machine, client: McpClient
) -> None:
    nested: dict[str, Any] = {NAME: ENTRY_OF_A_PERSON}
    for key in reversed(client.keys):
        nested = {key: nested}
    text = {
        "json": json.dumps(nested),
        "yaml": yaml.safe_dump(nested),
        "toml": f'[{client.keys[0]}.{NAME}]\ncommand = "codesynapse"\nargs = ["mcp", "serve"]\n',
    }[client.format]
    path = machine.write(client, text.encode())
    for plan in (machine.install(client), machine.remove(client)):
        assert not plan.changes
        assert any("a person wrote" in line for line in plan.notes)
    assert path.read_bytes() == text.encode()


@every_client
def test_a_file_that_does_not_parse_is_refused_and_untouched(
    machine: Machine, client: McpClient
) -> None:
    broken = b"{,\n[[x\n  - :\t"
    path = machine.write(client, broken)
    with pytest.raises(InstallRefused, match="is not valid"):
        machine.install(client)
    assert path.read_bytes() == broken
    assert list(machine.files()) == [str(path.relative_to(machine.home))]


@every_client
def test_what_is_printed_is_what_would_be_installed(machine: Machine, client: McpClient) -> None:
    machine.install(client)
    printed = snippet(client, SERVER)
    assert read(client, printed.encode()) == read(client, machine.file(client).read_bytes())


@every_client
def test_a_link_is_followed_at_home_and_refused_where_it_leaves(
    tmp_path: Path, client: McpClient
) -> None:
    machine = Machine(tmp_path / "home")
    path = machine.file(client)
    path.parent.mkdir(parents=True, exist_ok=True)
    kept = machine.home / "dotfiles"
    kept.mkdir()
    path.symlink_to(kept / "settings")
    machine.install(client)
    assert path.is_symlink()
    assert NAME in (kept / "settings").read_text(encoding="utf-8")
    path.unlink()
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InstallRefused, match="symbolic link"):
        machine.install(client)


JSON = [client for client in CLIENTS.values() if client.format == "json"]


@PROPERTY
@given(document=settings_documents(), client=st.sampled_from(JSON))
def test_install_and_remove_give_back_every_byte_of_json(
    machines: Callable[[], Machine], document: bytes, client: McpClient
) -> None:
    machine = machines()
    path = machine.write(client, document)
    machine.install(client)
    once = path.read_bytes()
    machine.install(client)
    assert path.read_bytes() == once
    machine.remove(client)
    assert path.read_bytes() == document


_LINES = st.sampled_from(
    [
        "# a comment", "", 'model = "x"', "[profiles.a]", 'b = "c"', "[mcp_servers.other]",
        'command = "x"', "args = [\n  1,\n]", "[[list]]", "n = 1979-05-27T07:32:00Z",
    ]
)  # fmt: skip
_ENDS = st.sampled_from(["\n", "\r\n"])


@PROPERTY
@given(lines=st.lists(_LINES, max_size=8, unique=True), end=_ENDS, last=st.booleans())
def test_install_and_remove_give_back_every_byte_of_toml(
    machines: Callable[[], Machine], lines: list[str], end: str, last: bool
) -> None:
    text = "\n".join(lines) + "\n" * last
    try:
        known = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        assume(False)
    _give_back(machines(), CLIENTS["codex"], text.replace("\n", end).encode(), known)


_MAPPINGS = st.sampled_from(
    [
        "", "mcp_servers:\n", "mcp_servers:", "mcp_servers: # mine\n",
        "mcp_servers:\n  a:\n    command: x\n", "mcp_servers:\n    # ü\n    a: {command: x}\n",
        "mcp_servers:\n  a:\n    command: |\n      x\n      y\n  b: 1",
        "mcp_servers: !custom\n  a: 1\n",
    ]
)  # fmt: skip
_BEFORE = st.sampled_from(
    ["", "# top\n", "---\n", "model: 'x'\n\n", "list:\n- 1\n- {a: ü}\n", "\n"]
)
_AFTER = st.sampled_from(["", "\n", "z: 1\n", "# end", "z: !x {a: 1}"])


@PROPERTY
@given(before=_BEFORE, mapping=_MAPPINGS, after=_AFTER, end=_ENDS)
def test_install_and_remove_give_back_every_byte_of_yaml(
    machines: Callable[[], Machine], before: str, mapping: str, after: str, end: str
) -> None:
    assume(not after or not mapping or mapping.endswith("\n"))
    text = (before + mapping + after).replace("\n", end).encode()
    _give_back(machines(), CLIENTS["hermes"], text, None)


def _give_back(machine: Machine, client: McpClient, text: bytes, known: Any) -> None:
    path = machine.write(client, text)
    refused = ""
    try:
        machine.install(client)
    except InstallRefused as error:
        refused = error.hint
    if refused:  # what cannot be edited safely is said, and untouched
        assert "--print" in refused
        assert path.read_bytes() == text
        return
    once = path.read_bytes()
    assert once != text
    if known is not None:
        found = tomllib.loads(once.decode())
        assert found["mcp_servers"].pop(NAME) == client.entry(SERVER, client.name)
        if not found["mcp_servers"]:
            del found["mcp_servers"]
        assert found == known
    machine.install(client)
    assert path.read_bytes() == once
    machine.remove(client)
    assert path.read_bytes() == text


@pytest.mark.parametrize(
    "text",
    [
        "mcp_servers: {}\n",
        "mcp_servers: {a: 1}\n",
        "{a: 1}\n",
        "a: 1\n...\n",
        "mcp_servers: null\n",
    ],
)
def test_yaml_that_no_line_can_be_added_to_is_refused_with_the_way_out(
    machine: Machine, text: str
) -> None:
    path = machine.write(CLIENTS["hermes"], text.encode())
    with pytest.raises(InstallRefused) as refused:
        machine.install(CLIENTS["hermes"])
    assert "mcp install hermes --print" in refused.value.hint
    assert path.read_text() == text


def test_servers_written_in_line_in_toml_are_refused(machine: Machine) -> None:
    path = machine.write(CLIENTS["codex"], b'mcp_servers = {a = {command = "x"}}\n')
    with pytest.raises(InstallRefused, match="cannot be added to safely"):
        machine.install(CLIENTS["codex"])
    assert path.read_bytes() == b'mcp_servers = {a = {command = "x"}}\n'


def test_comments_of_an_editor_s_settings_stay(machine: Machine) -> None:
    text = (
        b'// mine\n{\n\t"servers": {\n\t\t// the other\n\t\t"a": {"command": "x"}, // tail\n'
        b"\t},\n}\n"
    )
    path = machine.write(CLIENTS["vscode"], text)
    machine.install(CLIENTS["vscode"])
    for comment in (b"// mine", b"// the other", b"// tail"):
        assert comment in path.read_bytes()
    machine.remove(CLIENTS["vscode"])
    assert path.read_bytes() == text


def test_where_the_memory_lies_is_told_to_a_client_that_passes_nothing_on(tmp_path: Path) -> None:
    environment = Environment({"HOME": str(tmp_path), "CODESYNAPSE_HOME": "/m", "X": "y",
                               "CODESYNAPSE_API_TOKEN": "secret"})  # fmt: skip
    told = Server.this("/usr/bin/python3", environment).environment("codex")
    assert told == {"CODESYNAPSE_CLIENT": "codex", "CODESYNAPSE_HOME": "/m"}


@pytest.mark.parametrize(
    ("platform", "desktop", "vscode"),
    [
        ("linux", ".config/Claude/claude_desktop_config.json", ".config/Code/User/mcp.json"),
        (
            "darwin",
            "Library/Application Support/Claude/claude_desktop_config.json",
            "Library/Application Support/Code/User/mcp.json",
        ),
        (
            "win32",
            "AppData/Roaming/Claude/claude_desktop_config.json",
            "AppData/Roaming/Code/User/mcp.json",
        ),
    ],
)
def test_desktop_programs_keep_their_settings_where_each_system_does(
    tmp_path: Path, platform: str, desktop: str, vscode: str
) -> None:
    machine = Machine(tmp_path, CODESYNAPSE_TEST_PLATFORM=platform)
    assert machine.file(CLIENTS["claude-desktop"]) == tmp_path / desktop
    assert machine.file(CLIENTS["vscode"]) == tmp_path / vscode


def test_folders_that_a_client_is_told_to_use_are_used(tmp_path: Path) -> None:
    machine = Machine(tmp_path, CODEX_HOME="/c", HERMES_HOME="/h", CLAUDE_CONFIG_DIR="/k",
                      XDG_CONFIG_HOME="/x")  # fmt: skip
    assert machine.file(CLIENTS["codex"]) == Path("/c/config.toml")
    assert machine.file(CLIENTS["hermes"]) == Path("/h/config.yaml")
    assert machine.file(CLIENTS["claude-code"]) == Path("/k/.claude.json")
    assert machine.file(CLIENTS["opencode"]) == Path("/x/opencode/opencode.json")


def test_a_client_is_found_by_its_folder_its_file_or_its_program(tmp_path: Path) -> None:
    assert find_clients(Machine(tmp_path).environment) == []
    (tmp_path / ".cursor").mkdir()
    (tmp_path / ".claude.json").write_text("{}")
    program = tmp_path / "bin" / "gemini"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    found = find_clients(Machine(tmp_path, PATH=str(program.parent)).environment)
    assert [client.name for client in found] == ["claude-code", "cursor", "gemini"]


def test_the_plugin_s_tools_are_not_doubled(machine: Machine) -> None:
    folder = machine.home / ".claude"
    folder.mkdir()
    (folder / "settings.json").write_text('{"enabledPlugins": {"codesynapse@here": true}}')
    plan = machine.install(CLIENTS["claude-code"])
    assert not plan.changes
    assert "none is added twice" in plan.notes[0]
    (folder / "settings.json").write_text('{"enabledPlugins": {"codesynapse@here": false}}')
    assert machine.install(CLIENTS["claude-code"]).changes


def test_a_path_that_is_no_text_is_refused(machine: Machine) -> None:
    odd = Server(os.fsdecode(b"/opt/\xff/python"), SCRIPT)
    with pytest.raises(InstallRefused, match="cannot be written into a settings file"):
        machine.install(CLIENTS["cursor"], odd)
    assert machine.files() == {}


OURS = {"command": PYTHON, "args": ["-I", "-S", SCRIPT], "env": {"CODESYNAPSE_CLIENT": "x"}}


@pytest.mark.parametrize(
    "change",
    [
        {"env": None}, {"env": {}}, {"env": {"CODESYNAPSE_CLIENT": "x", "A": "b"}},
        {"env": {"CODESYNAPSE_HOME": "/m"}}, {"cwd": "/"}, {"type": "http"}, {"enabled": False},
        {"args": ["-S", SCRIPT]}, {"args": ["-I", "-S", "x.py"]}, {"args": None},
        {"args": [1, 2, 3]}, {"command": None, "args": ["mcp", "serve"]}, {"timeout": 60},
    ],
)  # fmt: skip
def test_what_a_person_changed_is_theirs(change: dict[str, Any]) -> None:
    assert is_ours(OURS)
    assert not is_ours({**OURS, **change})


@pytest.mark.parametrize("value", [None, 1, "codesynapse", [], {}, ENTRY_OF_A_PERSON])
def test_what_has_another_shape_is_not_ours(value: Any) -> None:
    assert not is_ours(value)

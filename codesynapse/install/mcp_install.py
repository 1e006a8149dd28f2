"""Put our MCP server into a client's own settings, and take it out again, byte for byte.

The person's entry of our name is never touched. What would not read back as exactly what stood
there before plus our entry is refused, with the text to add by hand.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import tomli_w

from codesynapse.environment import Environment
from codesynapse.errors import InstallRefused
from codesynapse.install import yaml_block
from codesynapse.install.edit import FileEdit, Plan, Target, missing_folders, open_target
from codesynapse.install.json_file import (
    JsonFile,
    collapsed,
    ensured,
    node_at,
    open_json,
    without_member,
)
from codesynapse.install.json_text import JsonText
from codesynapse.install.mcp_clients import McpClient
from codesynapse.install.mcp_entry import NAME, Server, is_ours
from codesynapse.install.project import Project
from codesynapse.install.record import Record, record_path
from codesynapse.install.text_block import HASH, find_block, with_block, without_block
from codesynapse.paths import Paths

__all__ = ["place_of", "plan_server", "plan_server_removal", "snippet"]


def place_of(client: McpClient, environment: Environment) -> tuple[Project, str]:
    """The folder that an installer may write in, and the settings file's name below it.

    A link is followed within the person's home, as those who keep their settings in one place
    need it, and refused where it leaves that.
    """
    file = client.file(environment).absolute()
    home = Path(environment.home).absolute()
    base = home if file.is_relative_to(home) else _existing(file.parent)
    return Project(base, base), str(file.relative_to(base))


def _existing(folder: Path) -> Path:
    while not folder.exists():
        folder = folder.parent
    return folder


def plan_server(client: McpClient, environment: Environment, paths: Paths, server: Server) -> Plan:
    """What installing would change. Raises InstallRefused when the file cannot be edited safely."""
    entry = client.entry(server, client.name)
    _check_text(entry)
    if client.name == "claude-code" and (note := _served_by_plugin(environment)):
        return Plan(notes=(note,))
    if client.format == "json":
        return _plan_json(client, environment, paths, entry)
    return _plan_block(client, environment, paths, entry)


def plan_server_removal(client: McpClient, environment: Environment, paths: Paths) -> Plan:
    """What taking it out would change. Raises InstallRefused."""
    if client.format != "json":
        return _plan_block(client, environment, paths, None)
    file = _open_json(client, environment, paths)
    path = (*client.keys, NAME)
    if not _has_ours(client, file.document):
        return Plan(file.removal() if file.record_data else (), notes=_theirs(client, file))
    file.document = without_member(file.document, path, file.undo)
    for depth in range(len(client.keys), 0, -1):
        file.document = collapsed(file.document, client.keys[:depth], file.undo)
    return Plan(file.removal(), (f"{client.title}: the server is taken out",))


def snippet(client: McpClient, server: Server) -> str:
    """What to add to the client's settings by hand."""
    entry = client.entry(server, client.name)
    nested: dict[str, Any] = {NAME: entry}
    for key in reversed(client.keys):
        nested = {key: nested}
    if client.format == "toml":
        return tomli_w.dumps(nested)
    if client.format == "yaml":
        return yaml_block.render(nested)
    return json.dumps(nested, ensure_ascii=False, indent=2) + "\n"


def _check_text(entry: dict[str, Any]) -> None:
    try:
        json.dumps(entry, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        raise InstallRefused(
            "the path of this installation cannot be written into a settings file",
            "install codesynapse under a path that is valid UTF-8",
        ) from error


def _served_by_plugin(environment: Environment) -> str | None:
    """Whether the plugin brings the same tools, which a second server would only double."""
    folder = Path(environment.foreign("CLAUDE_CONFIG_DIR") or Path(environment.home, ".claude"))
    try:
        settings = json.loads((folder / "settings.json").read_bytes())
        plugins = settings["enabledPlugins"].items()
        served = any(name.split("@")[0] == NAME and value for name, value in plugins)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return (
        "the codesynapse plugin serves the tools already; none is added twice" if served else None
    )


def _plan_json(
    client: McpClient, environment: Environment, paths: Paths, entry: dict[str, Any]
) -> Plan:
    file = _open_json(client, environment, paths)
    node = file.document.find(*client.keys, NAME)
    if node is not None and not _has_ours(client, file.document):
        return Plan(notes=_theirs(client, file))
    if node is not None:
        if file.document.value(node) == entry:
            return Plan()
        file.document = file.document.with_value(node, entry)
        return Plan(file.edits(), (f"{client.title}: now starts this installation",))
    for depth in range(1, len(client.keys) + 1):
        file.document = ensured(file.document, client.keys[:depth], "object", file.undo)
    file.undo.filling(file.document, client.keys)
    file.document = file.document.with_member(node_at(file.document, *client.keys), NAME, entry)
    return Plan(file.edits(), (f"{client.title}: starts our server",))


def _open_json(client: McpClient, environment: Environment, paths: Paths) -> JsonFile:
    project, name = place_of(client, environment)

    def ours(document: JsonText) -> bool:
        return _has_ours(client, document)

    return open_json(project, paths, name, ours, dialect=client.dialect)


def _has_ours(client: McpClient, document: JsonText) -> bool:
    node = document.find(*client.keys, NAME)
    return node is not None and is_ours(document.value(node))


def _theirs(client: McpClient, file: JsonFile) -> tuple[str, ...]:
    if file.document.find(*client.keys, NAME) is None:
        return ()
    return (_left_alone(file.target.path),)


def _left_alone(path: Path) -> str:
    return f"{path} has an entry named {NAME} that a person wrote; it was left as it is"


def _plan_block(
    client: McpClient, environment: Environment, paths: Paths, entry: dict[str, Any] | None
) -> Plan:
    """Of a format with comments: our entry between two of them. None takes it out."""
    project, name = place_of(client, environment)
    target = open_target(project, name)
    before = _servers(client, target.path, target.data or b"")
    bare = None if target.data is None else _without(client, target.path, target.data)
    servers = _servers(client, target.path, bare or b"")
    if NAME in servers:
        return Plan(notes=(_left_alone(target.path),))
    after = bare
    if entry is not None:
        body = tomli_w.dumps({client.keys[0]: {NAME: entry}})
        after = (
            with_block(target.data, body, str(target.path), HASH)
            if client.format == "toml"
            else yaml_block.with_entry(target.data, client.keys[0], NAME, entry)
        )
        _check(client, target.path, bare or b"", after, entry)
    if after == target.data:
        return Plan()
    verb = (
        "taken out" if entry is None else "put in" if NAME not in before else "brought up to date"
    )
    edits = _edits(paths, target, after, installs=entry is not None)
    return Plan(edits, (f"{client.title}: the server is {verb}",))


def _edits(
    paths: Paths, target: Target, after: bytes | None, *, installs: bool
) -> tuple[FileEdit, ...]:
    """The file, and the record of the folders that were made for it."""
    kept = record_path(paths, target.path)
    data = kept.read_bytes() if kept.is_file() else None
    if installs:
        record = Record.parse(data)
        if record is None or target.data is None:
            made = missing_folders(target.path)
            record = Record(target.path, created=target.data is None, folders=made)
        remembered = FileEdit(kept, kept.name, data, record.data, private=True)
        return remembered, FileEdit(target.path, target.name, target.data, after)
    record = Record.parse(data)
    prune = record.folders if record is not None and after is None else ()
    prune_record = (kept.parent, kept.parent.parent) if data is not None else ()
    return (
        FileEdit(target.path, target.name, target.data, after, prune=prune),
        FileEdit(kept, kept.name, data, None, private=True, prune=prune_record),
    )


def _without(client: McpClient, path: Path, data: bytes) -> bytes | None:
    if client.format == "toml":
        return without_block(data, str(path), HASH)
    return yaml_block.without_entry(data, str(path))


def _servers(client: McpClient, path: Path, data: bytes) -> dict[str, Any]:
    servers = _document(client, path, data).get(client.keys[0]) or {}
    if not isinstance(servers, dict):
        raise InstallRefused(
            f"{client.keys[0]} in {path} is not a plain table of servers", _by_hand(client)
        )
    return servers


def _document(client: McpClient, path: Path, data: bytes) -> dict[str, Any]:
    if client.format == "yaml":
        return yaml_block.load(data, str(path))
    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InstallRefused(
            f"{path} is not valid TOML: {error}", "mend it, then try again"
        ) from error


def _check(
    client: McpClient, path: Path, before: bytes, after: bytes, entry: dict[str, Any]
) -> None:
    """Read back: what stood there before, and our entry, and nothing else."""
    wanted = _document(client, path, before)
    wanted[client.keys[0]] = {**(wanted.get(client.keys[0]) or {}), NAME: entry}
    try:
        same = _document(client, path, after) == wanted
    except InstallRefused:
        same = False
    if not same or (client.format == "toml" and find_block(after, str(path), HASH) is None):
        raise InstallRefused(
            f"{path} is written in a way that an entry cannot be added to safely",
            _by_hand(client),
        )


def _by_hand(client: McpClient) -> str:
    return f"add it by hand: codesynapse mcp install {client.name} --print shows it"

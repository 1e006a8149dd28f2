"""The example config explains every key, and changes nothing."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from codesynapse import config
from codesynapse.config import Settings, load_settings
from codesynapse.environment import Environment
from codesynapse.errors import Invalid
from codesynapse.paths import Paths
from tests.architecture.source import ROOT

EXAMPLE = (ROOT / "docs" / "config.example.toml").read_text(encoding="utf-8")


def settings_of(text: str, home: Path) -> Settings:
    environment = Environment({"CODESYNAPSE_HOME": str(home), "HOME": str(home)})
    path = Path(Paths(environment).config_file)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return load_settings(environment)


def test_the_example_holds_the_defaults(tmp_path: Path) -> None:
    assert settings_of(EXAMPLE, tmp_path / "a") == settings_of("", tmp_path / "a")


def test_the_example_with_every_comment_taken_away_is_valid(tmp_path: Path) -> None:
    bare = re.sub(r"^# (\w+ = .*|provider = .*)$", r"\1", EXAMPLE, flags=re.MULTILINE)
    first, rest = bare.split('provider = "builtin"\n', 1)
    settings = settings_of(first + rest, tmp_path)
    assert settings.memory_route.provider == "openai"
    assert settings.memory_route.base_url == "http://127.0.0.1:11434/v1"


def test_every_key_is_in_the_example() -> None:
    source = Path(config.__file__).read_text(encoding="utf-8")
    read = set(re.findall(r'^    "(\w+)": ', source, re.MULTILINE))
    read |= set(re.findall(r'^        "(\w+)": (?:str|int|\()', source, re.MULTILINE))
    assert "port" in read
    assert "daily_calls" in read
    missing = {key for key in read if not re.search(rf"^(?:# )?{key} = ", EXAMPLE, re.MULTILINE)}
    assert not missing


@pytest.mark.parametrize("key", [key for key in tomllib.loads(EXAMPLE) if key != "routes"])
def test_a_key_of_another_type_is_refused_by_name(key: str, tmp_path: Path) -> None:
    with pytest.raises(Invalid, match=key):
        settings_of(f"{key} = {{ a = 1 }}", tmp_path)

"""Where the files that ship with the program are: in the wheel, or beside the package."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from codesynapse.errors import InstallRefused

__all__ = ["Kind", "bundled"]

Kind = Literal["hooks", "agents_md", "plugin"]

_PACKAGE = Path(__file__).resolve().parent.parent


def bundled(kind: Kind, package: Path = _PACKAGE) -> Path:
    """The folder ``kind``: ``codesynapse/_data/<kind>`` of a wheel, ``<kind>`` of a checkout.

    Raises InstallRefused when the installation carries neither.
    """
    for folder in (package / "_data" / kind, package.parent / kind):
        if folder.is_dir():
            return folder
    raise InstallRefused(
        f"this installation of codesynapse has no {kind} folder", "install it again"
    )

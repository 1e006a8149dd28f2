"""What an installer has to remember to put things back: a small file of ours per edited file.

It lies in the person's data folder, never in the edited file. It holds no content of that file but
the white space of containers that were empty and the one setting that was written over. Without
it (another machine, a moved repository) removal takes out our entries and the containers they
leave empty, and leaves the rest.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from codesynapse.paths import Paths

__all__ = ["Override", "Record", "record_path"]


@dataclass(frozen=True, slots=True)
class Override:
    """A setting that was written over: each value of ours, and what stood there before (raw)."""

    written: tuple[str, ...]
    before: str | None


@dataclass(frozen=True, slots=True)
class Record:
    """How one file was before the first edit.

    ``containers`` maps a key path to the white space that stood between its brackets, or to None
    when the container itself is ours. ``complete`` is False when our entries stood there before
    the first record: what became of the containers around them is then not known. ``folders`` are
    those made for the file, innermost first.
    """

    file: Path
    created: bool = False
    complete: bool = True
    folders: tuple[Path, ...] = ()
    containers: dict[str, str | None] = field(default_factory=dict)
    override: Override | None = None

    @classmethod
    def parse(cls, data: bytes | None) -> Record | None:
        """The record, or None when there is none or it cannot be read."""
        try:
            return None if data is None else _record(json.loads(data))
        except (ValueError, KeyError, TypeError, AttributeError):
            return None

    @property
    def data(self) -> bytes:
        """The record as it is kept."""
        override = self.override
        document = {
            "version": 1,
            "file": str(self.file),
            "created": self.created,
            "complete": self.complete,
            "folders": [str(folder) for folder in self.folders],
            "containers": self.containers,
            "override": override and {"written": override.written, "before": override.before},
        }
        return (json.dumps(document, indent=2) + "\n").encode("ascii")


def record_path(paths: Paths, file: Path) -> Path:
    """Where the record of ``file`` is kept."""
    name = hashlib.sha256(os.fsencode(file)).hexdigest()[:24]
    return Path(paths.data, "installs", f"{name}.json")


def _record(document: dict[str, Any]) -> Record | None:
    if document["version"] != 1:
        return None
    override = document["override"]
    return Record(
        file=Path(document["file"]),
        created=bool(document["created"]),
        complete=bool(document["complete"]),
        folders=tuple(Path(folder) for folder in document["folders"]),
        containers={str(key): value for key, value in document["containers"].items()},
        override=override and Override(tuple(override["written"]), override["before"]),
    )

"""``env.CLAUDE_AUTOCOMPACT_PCT_OVERRIDE``: at how full a context Claude Code compacts it.

What stood there before is remembered outside the file and put back. A value that a person set after
us is theirs: it stays on a further install, unless a percentage is asked for, and on removal.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from codesynapse.install.hook_entries import override_raw, set_override
from codesynapse.install.json_file import Undo
from codesynapse.install.json_text import JsonText
from codesynapse.install.record import Override

__all__ = ["DEFAULT_PERCENTAGE", "Percentage", "plan_percentage", "restored_percentage"]

DEFAULT_PERCENTAGE = 30
_NAME = "env.CLAUDE_AUTOCOMPACT_PCT_OVERRIDE"


@dataclass(frozen=True, slots=True)
class Percentage:
    """The document with the setting as wanted, and what to remember and to say of it."""

    document: JsonText
    override: Override | None
    done: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def plan_percentage(
    document: JsonText, override: Override | None, wanted: int | None, undo: Undo
) -> Percentage:
    """Set the percentage; 0 leaves the setting alone, None is the default or the last choice."""
    now = override_raw(document)
    ours = override is not None and now in override.written
    if wanted == 0 or (ours and wanted is None):
        return Percentage(document, override)
    if override is not None and not ours and now != override.before and wanted is None:
        note = f"{_NAME} was changed by a person and stays; --compact-at sets it"
        return Percentage(document, override, notes=(note,))
    raw = json.dumps(str(DEFAULT_PERCENTAGE if wanted is None else wanted))
    if now == raw:
        return Percentage(document, override)
    kept = override if ours else None
    written = (*(kept.written if kept else ()), raw)
    before = kept.before if kept else now
    was = "" if before is None else f" (it was {before}, which comes back on removal)"
    line = f"{_NAME}: set to {raw}{was}; --compact-at 0 leaves it alone"
    return Percentage(set_override(document, raw, undo), Override(written, before), done=(line,))


def restored_percentage(
    document: JsonText, override: Override | None, undo: Undo, installed: bool
) -> Percentage:
    """Put back what stood there before, unless a person has set something else since."""
    now = override_raw(document)
    if override is not None and now in override.written:
        was = "removed" if override.before is None else f"back to {override.before}"
        restored = set_override(document, override.before, undo)
        return Percentage(restored, None, done=(f"{_NAME}: {was}",))
    if now is None or not installed:
        return Percentage(document, None)
    note = f"{_NAME} is {now}, and nothing says that this installation set it; it stays"
    return Percentage(document, None, notes=(note,))

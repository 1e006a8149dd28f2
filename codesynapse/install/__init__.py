"""Reversible edits to files that belong to somebody else: settings.json, AGENTS.md, CLAUDE.md.

An installer takes its environment as a value, owns only what it can recognise as its own, writes
atomically, and gives the first bytes back on removal. What cannot be edited safely is refused with
``InstallRefused`` and left untouched. See ``edit`` for how a plan becomes bytes on the disk.
"""

__all__: list[str] = []

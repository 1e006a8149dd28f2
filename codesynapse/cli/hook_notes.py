"""What a person who installs the hooks has to know beside what was done."""

from __future__ import annotations

import click

from codesynapse.install.claude_hooks import settings_name
from codesynapse.install.project import Project
from codesynapse.paths import Paths

__all__ = ["hook_notes"]

_LIMITS = (
    "Hooks cannot change the environment or the headers of an MCP client that already runs, "
    "remove messages from a conversation, or force a compaction. "
    "A session that already runs may need a restart to take them up."
)
_PERSONAL = (
    "{name} is meant for you alone. This command does not touch .gitignore: where git does not "
    "ignore the file yet, add it to .git/info/exclude, so that it is not committed by surprise."
)
_SHARED = (
    "{name} is meant for everybody who works here: the hooks find codesynapse on the PATH, and "
    "do nothing where there is none."
)
_WORKTREE = (
    "This is a linked work tree, and the file counts in it alone: run the command in the others "
    "as well, or use --shared."
)
_CARRY_OVER = (
    "When a session ends, what you said in it is carried over to your own memory of this "
    'repository, which nobody else sees. To switch that off, write carry_over = "off" into '
    '{config} ("review" lets it wait for your approval).'
)


def hook_notes(project: Project, paths: Paths, shared: bool) -> tuple[str, ...]:
    """Whose file it is, what hooks cannot do, and what is carried over, with the switch for it."""
    name = settings_name(shared=shared)
    notes = [(_SHARED if shared else _PERSONAL).format(name=name)]
    if project.linked_worktree and not shared:
        notes.append(_WORKTREE)
    return (*notes, _LIMITS, _CARRY_OVER.format(config=click.format_filename(paths.config_file)))

"""``codesynapse demo``: the main job, end to end, in a temporary home."""

from __future__ import annotations

import click

from codesynapse.demo.run import run_demo

__all__ = ["demo_command"]


@click.command("demo")
def demo_command() -> None:
    """Show the main job on a sample conversation; touches nothing of yours."""
    block = run_demo(lambda line: click.echo(line, err=True))
    click.echo(block)

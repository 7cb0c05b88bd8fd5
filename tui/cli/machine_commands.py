"""Commands about the machine: clean."""

from __future__ import annotations

from typing import Annotated

import typer

from tui.cli import printing as say
from tui.cli.view_commands import JsonOption


def register(app: typer.Typer) -> None:
    app.command()(clean)


def clean(
    keep: Annotated[
        int | None, typer.Option("--keep", min=0, help="How many ended sprints keep everything.", show_default=False)
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    json: JsonOption = False,
) -> None:
    """Remove what ended and landed sprints left on this machine.

    Clones, rooms, homes, logs, checkpoints, refs. Evidence of commits stays; a running or unlanded sprint stays whole.
    """
    from engine.service.cleaning import clean as clean_up
    from engine.service.cleaning import words

    done = clean_up(say.desk(), keep, dry_run=dry_run)
    if json:
        say.json_line(done)
        return
    for line in words(done, dry_run=dry_run):
        say.out(line)

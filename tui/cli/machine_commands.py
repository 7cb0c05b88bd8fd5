"""Commands for the night: drill what may go wrong, clean what was left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tui.cli import printing as say
from tui.cli.start_commands import SandboxOption
from tui.cli.view_commands import JsonOption

if TYPE_CHECKING:
    from engine.service.drilling import Played


def register(app: typer.Typer) -> None:
    app.command()(drill)
    app.command()(clean)


def drill(
    name: Annotated[str, typer.Argument(metavar="[NAME|all]", help="Which one; without it: the list.")] = "",
    json: JsonOption = False,
    no_sandbox: SandboxOption = False,
) -> None:
    """Play what may go wrong in a night.

    In a scratch copy of this repository, with your configuration and a scripted agent: nothing is spent or touched.
    """
    from engine.service import drilling

    if not name:
        say.table(("DRILL", "WHAT GOES WRONG"), drilling.listed())
        say.out("devteam drill NAME plays one, devteam drill all plays all")
        return
    broken = []
    for played in drilling.drill(say.desk(), name, no_sandbox=no_sandbox):
        if not played.ok:
            broken.append(played.drill)
        if json:
            say.json_line(played)
            continue
        _show(played)
    if not json:
        say.out("")
        say.out(f"did not hold: {', '.join(broken)}" if broken else "every guarantee held")
    if broken:
        raise typer.Exit(1)


def _show(played: Played) -> None:
    skipped = f", {played.skipped:.0f} s of waiting skipped" if played.skipped >= 1 else ""
    say.out("")
    say.out(f"{played.drill}: {played.goes_wrong} ({played.seconds:.1f} s{skipped})")
    for line in played.happened:
        say.out(f"    {line}")
    for one in played.held:
        seen = f"  [{one.seen}]" if one.seen else ""
        say.out(f"  {'held' if one.held else 'DID NOT HOLD'}: {one.guarantee}{seen}")


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

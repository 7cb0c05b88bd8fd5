"""`devteam learnings`: list, show, drop."""

from __future__ import annotations

from typing import Annotated

import typer

from tui.cli import printing as say
from tui.cli.view_commands import JsonOption

learnings = typer.Typer(help="What sprints decided and what failed.", rich_markup_mode=None)
Name = Annotated[str, typer.Argument(help="Name of the learning, or a part of it that no other has.")]


def register(app: typer.Typer) -> None:
    app.add_typer(learnings, name="learnings", no_args_is_help=True)


@learnings.command("list")
def list_(json: JsonOption = False) -> None:
    """List the learnings of all sprints; those that agents contradict are put to you."""
    from engine.service.learnings import all_of, doubtful

    every = all_of(say.desk())
    if json:
        for one in every:
            kind = "avoid" if one.avoid else "decision"
            say.json_line({"name": one.name, "title": one.title, "kind": kind, "contradicted": len(one.disputes)})
        return
    say.table(
        ("LEARNING", "KIND", "TITLE"),
        [(one.name, "dropped" if one.dropped else "avoid" if one.avoid else "", one.title) for one in every],
    )
    for one in doubtful(every):
        say.out(f"\n{one.name} is contradicted {len(one.disputes)} times:")
        for words in one.disputes:
            say.out(f"  {words}")
        say.out(f"  if they are right: devteam learnings drop {one.name}")


@learnings.command("show")
def show(name: Name) -> None:
    """Show one learning."""
    from engine.service.learnings import one_of

    say.out(one_of(say.desk(), name).text)


@learnings.command("drop")
def drop(name: Name) -> None:
    """Take a learning away: no later prompt is given it."""
    from engine.service import learnings as service

    say.out(f"dropped {service.drop(say.desk(), name).name}")

"""The command line: every command, with what a newcomer needs to know of it."""

from __future__ import annotations

from typing import Annotated

import typer

from tui.cli import keep, look, start, tell

app = typer.Typer(
    name="devteam",
    help="Hand over a plan, walk away, come back to verified commits.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def top(
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    if version:
        from engine import VERSION

        typer.echo(f"devteam {VERSION}")
        raise typer.Exit


for module in (start, look, tell, keep):
    module.register(app)

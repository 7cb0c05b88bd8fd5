"""The command line: every command, with what a newcomer needs to know of it."""

from __future__ import annotations

from typing import Annotated

import typer

from tui.cli import engine_commands as engines
from tui.cli import gate_commands as tell
from tui.cli import hook_commands as inside
from tui.cli import landing_commands as keep
from tui.cli import learning_commands as learn
from tui.cli import machine_commands as machine
from tui.cli import plan_commands as plan
from tui.cli import service_commands as service
from tui.cli import start_commands as start
from tui.cli import task_commands as work
from tui.cli import view_commands as look

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


for module in (plan, learn, start, look, tell, work, engines, keep, inside, machine, service):
    module.register(app)

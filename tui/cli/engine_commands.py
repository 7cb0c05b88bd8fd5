"""Commands about the engines themselves: ps, serve, kill."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from tui.cli import printing as say
from tui.cli.view_commands import JsonOption, SprintOption


def register(app: typer.Typer) -> None:
    for command in (ps, serve, kill):
        app.command()(command)


def ps(json: JsonOption = False) -> None:
    """List your engines over all repositories.

    Sprint, health, spend, who watches, and what each waits for.
    """
    from engine.core.clean import clean_line
    from engine.service.engines import engines

    here = Path(os.curdir) if Path(os.curdir).exists() else Path.home()  # the folder may be gone
    found = list(engines(os.environ, Path.home(), here))
    if json:
        for one in found:
            say.json_line(
                one.welcome
                or {
                    "pid": one.holder.pid,
                    "root": str(one.root),
                    "state": str(one.state),
                    "silent": one.silent,
                    "sprint": "",
                }
            )
        return
    rows = []
    for one in found:
        told = one.welcome
        if told is None:
            rows.append((str(one.holder.pid), "", "", "", clean_line(one.silent, 80), clean_line(str(one.root))))
            continue
        attended = f"{told.viewers} watching" if told.viewers else "nobody watching"
        waits = f"waits for {told.waiting}" if told.waiting else "working"
        rows.append(
            (
                str(told.pid),
                told.sprint,
                f"{told.done}/{told.total}  {told.health}",
                f"${told.spent_usd:.2f}",
                clean_line(f"{waits}; {attended}", 80),
                clean_line(told.root),
            )
        )
    if rows:
        say.table(("PID", "SPRINT", "TASKS", "SPENT", "", "REPOSITORY"), rows)
    else:
        say.out("no engine is running")


def serve(
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="On 127.0.0.1.")] = 8017,
    sprint: SprintOption = "",
) -> None:
    """Show the dashboard in a browser.

    On this machine only, at an address that holds a secret. Needs the extra serve.
    """
    import shlex

    from engine.link.user_errors import UserError
    from tui.cli.safe_path import own_program
    from tui.cli.trusting import ask_trust

    desk = say.desk()
    folder = desk.sprint(sprint) if desk.any_sprint() else None
    if say.on_terminal():
        ask_trust(desk, "")
    try:
        from tui.cli.serving import Dashboards
    except ImportError as error:
        hint = "pip install 'devteam[serve]'   (pipx: pipx inject devteam textual-serve)"
        raise UserError("devteam serve needs textual-serve, which is not installed (extra: serve)", hint) from error
    chosen = ["--sprint", folder.id] if folder is not None else []
    command = own_program("tui.cli.main", "tui", "--served", *chosen, start=str(desk.root))

    def tell(line: str) -> None:
        say.out(line)
        say.flush()

    try:
        Dashboards(shlex.join(command), port, tell).serve()
    except OSError as error:
        raise UserError(
            f"port {port}: {error.strerror or error}", f"devteam serve --port {port % 65535 + 1}"
        ) from error


def kill() -> None:
    """End this repository's engine now.

    By force if it does not listen; devteam run takes the sprint up again; nothing is lost.
    """
    from engine.service.engines import end

    words = end(say.desk().project.state)
    say.out(words or "no engine is running here")

"""Commands about the engines themselves: ps, kill."""

from __future__ import annotations

import os
from pathlib import Path

import typer

from tui.cli import printing as say
from tui.cli.view_commands import JsonOption


def register(app: typer.Typer) -> None:
    for command in (ps, kill):
        app.command()(command)


def ps(json: JsonOption = False) -> None:
    """List your engines over all repositories.

    Sprint, health, spend, who watches, and what each waits for.
    """
    from engine.core.clean import clean_line
    from engine.service.engines import engines

    found = list(engines(os.environ, Path.home()))
    if json:
        for one in found:
            say.json_line(
                one.welcome or {"pid": one.holder.pid, "state": str(one.state), "silent": one.silent, "sprint": ""}
            )
        return
    rows = []
    for one in found:
        told = one.welcome
        if told is None:
            rows.append((str(one.holder.pid), "", "", "", f"does not answer: {one.silent}", str(one.state)))
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


def kill() -> None:
    """End this repository's engine now.

    By force if it does not listen; devteam run takes the sprint up again; nothing is lost.
    """
    from engine.service.engines import end

    words = end(say.desk().project.state)
    say.out(words or "no engine is running here")

"""Commands that tell a sprint something: answer, pause, resume, stop, cancel, skip, retry, steer, auto."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from engine.core import gate_choices
from tui.cli import printing as say

if TYPE_CHECKING:
    from engine.core.commands import AnyCommand


ToldOption = Annotated[
    str,
    typer.Option("--sprint", help="Sprint id, number or part of its name; default: the running one, else the latest."),
]


def register(app: typer.Typer) -> None:
    for command in (answer, pause, resume, stop, cancel, skip, retry, steer, auto):
        app.command()(command)


def send(command: AnyCommand, sprint: str = "") -> None:
    ack = say.desk().tell(command, sprint)
    say.out(ack.detail)
    if not ack.ok:
        raise typer.Exit(4)


def who() -> str:
    import getpass
    import os

    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return f"uid {os.getuid()}"


def answer(
    gate: Annotated[str, typer.Argument(help="The gate, e.g. G17 (devteam status lists the open ones).")],
    choice: Annotated[str, typer.Argument(help=f"{gate_choices.spoken()}.")],
    text: Annotated[str, typer.Argument(help="Your words, for ask, comment and retry.")] = "",
    sprint: ToldOption = "",
) -> None:
    """Answer a gate, from any shell.

    For example: devteam answer G17 comment "use argon2"
    """
    from engine.core.commands import Answer

    send(Answer(gate=gate, choice=choice, text=text, by=who()), sprint)


def pause() -> None:
    """Start nothing new; what runs goes on to its end."""
    from engine.core.commands import Pause

    send(Pause(by=who()))


def resume() -> None:
    """Go on after a pause."""
    from engine.core.commands import Resume

    send(Resume(by=who()))


def stop(
    now: Annotated[bool, typer.Option("--now", help="End running agents too; their attempt is repeated.")] = False,
) -> None:
    """End the run after its running steps.

    devteam run goes on from there.
    """
    from engine.core.commands import Stop

    send(Stop(now=now, by=who()))


def cancel(sprint: ToldOption = "") -> None:
    """End the run at once. The commits made so far stay on the sprint branch."""
    from engine.core.commands import Cancel

    send(Cancel(by=who()), sprint)


def skip(task: Annotated[str, typer.Argument(help="Task id.")], sprint: ToldOption = "") -> None:
    """Skip a task that has not ended."""
    from engine.core.commands import Skip

    send(Skip(task=task, by=who()), sprint)


def retry(
    task: Annotated[str, typer.Argument(help="Task id.")],
    text: Annotated[str, typer.Argument(help="What to do differently.")] = "",
    from_tree: Annotated[bool, typer.Option("--from-tree", help="Go on from what was kept of it.")] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Start afresh, from the sprint branch.")] = False,
    rung: Annotated[str, typer.Option("--rung", help="The rung of the ladder to start at.")] = "",
    sprint: ToldOption = "",
) -> None:
    """Open an ended task again.

    A complete one needs words that say what to change. It starts with a fresh ladder; what was tried is not forgotten.
    Without --from-tree or --fresh, kept work with green checks is gone on from, and everything else starts afresh.
    """
    from engine.core.commands import Retry
    from engine.link.user_errors import UserError

    if from_tree and fresh:
        raise UserError("--from-tree and --fresh are two ways: choose one")
    where = True if from_tree else False if fresh else None
    send(Retry(task=task, text=text, from_tree=where, rung=rung, by=who()), sprint)


def steer(
    task: Annotated[str, typer.Argument(help="Task id.")],
    text: Annotated[str, typer.Argument(help="A note for its next attempt.")],
    sprint: ToldOption = "",
) -> None:
    """Give a task a note for its next attempt.

    The agent reads it word for word.
    """
    from engine.core.commands import Steer

    send(Steer(task=task, text=text, by=who()), sprint)


def auto(
    kind: Annotated[str, typer.Argument(help="fix or task.")],
    mode: Annotated[str, typer.Argument(help="on or off.")] = "on",
    sprint: ToldOption = "",
) -> None:
    """Set a gate to auto, or take that back."""
    from engine.core.commands import SetAuto
    from engine.link.user_errors import UserError

    if mode not in ("on", "off"):
        raise UserError(f"'{mode}' is neither on nor off")
    send(SetAuto(gate_kind=kind, auto=mode == "on", by=who()), sprint)

"""Commands that tell a sprint something: answer, pause, resume, stop, cancel, skip, retry, steer, auto."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tui.cli import say

if TYPE_CHECKING:
    from engine.core.commands import AnyCommand
    from engine.core.state import State


def register(app: typer.Typer) -> None:
    for command in (answer, pause, resume, stop, cancel, skip, retry, steer, auto):
        app.command()(command)


def _send(command: AnyCommand) -> None:
    desk = say.desk()
    if desk.engine() is None:
        _check_offline(desk.state(), command)
    ack = desk.tell(command)
    say.out(ack.detail)
    if not ack.ok:
        raise typer.Exit(4)


def _check_offline(state: State, command: AnyCommand) -> None:
    """With no engine to refuse a mistake now, the state is asked: a wrong gate or task is no wish for later."""
    from engine.core.commands import Answer, Retry, Skip, Steer
    from engine.core.orders import obey
    from engine.link.errors import UserError

    outcome = obey(state, command)
    if isinstance(command, Answer | Retry | Skip | Steer) and not outcome.ok:
        raise UserError(outcome.detail)


def _who() -> str:
    import getpass
    import os

    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return f"uid {os.getuid()}"


def answer(
    gate: Annotated[str, typer.Argument(help="The gate, e.g. G17 (devteam status lists the open ones).")],
    choice: Annotated[
        str, typer.Argument(help="yes, auto, skip, ask, comment, retry or stop; y a s ? c r t for short.")
    ],
    text: Annotated[str, typer.Argument(help="Your words, for ask, comment and retry.")] = "",
) -> None:
    """Answer a gate, from any shell.

    For example: devteam answer G17 comment "use argon2"
    """
    from engine.core.commands import Answer

    _send(Answer(gate=gate, choice=choice, text=text, by=_who()))


def pause() -> None:
    """Start nothing new; what runs goes on to its end."""
    from engine.core.commands import Pause

    _send(Pause(by=_who()))


def resume() -> None:
    """Go on after a pause."""
    from engine.core.commands import Resume

    _send(Resume(by=_who()))


def stop(
    now: Annotated[bool, typer.Option("--now", help="End running agents too; their attempt is repeated.")] = False,
) -> None:
    """End the run after its running steps.

    devteam run goes on from there.
    """
    from engine.core.commands import Stop

    _send(Stop(now=now, by=_who()))


def cancel() -> None:
    """End the run at once. The commits made so far stay on the sprint branch."""
    from engine.core.commands import Cancel

    _send(Cancel(by=_who()))


def skip(task: Annotated[str, typer.Argument(help="Task id.")]) -> None:
    """Skip a task that has not ended."""
    from engine.core.commands import Skip

    _send(Skip(task=task, by=_who()))


def retry(
    task: Annotated[str, typer.Argument(help="Task id.")],
    text: Annotated[str, typer.Argument(help="What to do differently.")] = "",
) -> None:
    """Open an ended, incomplete task again.

    It starts anew from the bottom of the ladder; what was tried is not forgotten.
    """
    from engine.core.commands import Retry

    _send(Retry(task=task, text=text, by=_who()))


def steer(
    task: Annotated[str, typer.Argument(help="Task id.")],
    text: Annotated[str, typer.Argument(help="A note for its next attempt.")],
) -> None:
    """Give a task a note for its next attempt.

    The agent reads it word for word.
    """
    from engine.core.commands import Steer

    _send(Steer(task=task, text=text, by=_who()))


def auto(
    kind: Annotated[str, typer.Argument(help="fix or task.")],
    mode: Annotated[str, typer.Argument(help="on or off.")] = "on",
) -> None:
    """Set a gate to auto, or take that back."""
    from engine.core.commands import SetAuto
    from engine.link.errors import UserError

    if mode not in ("on", "off"):
        raise UserError(f"'{mode}' is neither on nor off")
    _send(SetAuto(gate_kind=kind, auto=mode == "on", by=_who()))

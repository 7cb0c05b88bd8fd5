"""An engine of its own for the dashboard: started in the background, taken up again, and what it has left to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tui.cli import printing as say
from tui.cli.trusting import ask_trust

if TYPE_CHECKING:
    from engine.core.commands import Ack
    from engine.core.state import State
    from engine.service.local import Desk, SprintFolder


def while_away(desk: Desk, folder: SprintFolder) -> str:
    """For who comes back: what was completed with nobody looking on."""
    from engine.core.attendance import unwatched

    state = readable_state(desk, folder)
    done = unwatched(state) if state is not None else ()
    if state is None or state.attended or not done:
        return ""
    named = ", ".join(done[:12]) + (" …" if len(done) > 12 else "")
    return f"completed while nobody looked: {named}. On the sprint branch only; R opens the selected one again"


def started_again(desk: Desk, folder: SprintFolder, trust: str, no_sandbox: bool) -> Ack:
    """For the dashboard whose engine is lost."""
    from engine.core.commands import Ack
    from engine.link.user_errors import as_user_error

    try:
        if desk.engine() is None:
            start_background(desk, folder, trust, no_sandbox)
    except Exception as error:  # boundary: the dashboard says what is wrong
        told = as_user_error(error)
        if told is None:
            raise
        return Ack(ok=False, detail=" ".join([*str(told).split(), "", told.hint]).rstrip())
    return Ack(ok=True, detail="the engine runs again")


def work_left(desk: Desk, folder: SprintFolder) -> bool:
    """Whether an engine has something to do. A journal that cannot be read is something: it restores it."""
    state = readable_state(desk, folder)
    if state is None:
        return True
    planned = state.planning is None or not state.planning.under_way
    return not planned or not all(task.ended for task in state.tasks.values()) or not state.outcome


def start_detached(
    desk: Desk, sprint: str, trust: str, no_sandbox: bool, *, lanes: int, max_iterations: int, reports: Sequence[str]
) -> None:
    """`devteam run --detach`."""
    from engine.link.user_errors import UserError

    folder = say.sprint(desk, sprint)
    if (running := desk.engine()) is not None:
        raise UserError(f"an engine is running here already ({running.words()})", "devteam attach looks on")
    if say.on_terminal():
        ask_trust(desk, trust)
    more = ["--unattended"]
    more += ["--lanes", str(lanes)] if lanes else []
    more += ["--max-iterations", str(max_iterations)] if max_iterations else []
    start_background(desk, folder, trust, no_sandbox, [*more, *reports])
    say.out(f"{folder.id} runs in the background; devteam attach looks on, devteam ps lists all, devteam stop ends it")


def start_background(
    desk: Desk, folder: SprintFolder, trust: str, no_sandbox: bool, more: Sequence[str] = ("--wait",)
) -> None:
    from engine.service.background import start_engine
    from tui.cli.safe_path import own_program

    given = [*(["--trust", trust] if trust else []), *(["--no-sandbox"] if no_sandbox else []), *more]
    words = ["run", "--background", "--repository", str(desk.root), "--sprint", folder.id, *given]
    start_engine(desk, own_program("tui.cli.main", *words, start=str(desk.root)))


def readable_state(desk: Desk, folder: SprintFolder) -> State | None:
    """None: the journal cannot be read, and the dashboard says what is wrong with it."""
    from engine.link.user_errors import as_user_error

    try:
        return desk.state(folder.id)
    except Exception as error:  # boundary: only what is not the user's to know goes on
        if as_user_error(error) is None:
            raise
        return None

"""Commands about one task's work: questions, allow, accept, council, gate."""

from __future__ import annotations

from typing import Annotated

import typer

from tui.cli import printing as say
from tui.cli.gate_commands import ToldOption, send, who
from tui.cli.view_commands import JsonOption, SprintOption

TaskArgument = Annotated[str, typer.Argument(help="Task id.")]


def register(app: typer.Typer) -> None:
    for command in (questions, allow, accept, council, gate):
        app.command()(command)


def questions(sprint: SprintOption = "", json: JsonOption = False) -> None:
    """List the permissions that finished work waits for."""
    from engine.core.gates import waiting_questions

    found = waiting_questions(say.desk().state(sprint))
    if json:
        for task, question in found:
            say.json_line({"task": task.id, "title": task.spec.title, **_as_data(question)})
        return
    if not found:
        say.out("no question waits for you")
        return
    from engine.core.clean import clean_line

    for task, question in found:
        line = f":{question.line}" if question.line else ""
        place = f" ({question.path}{line})" if question.path else ""
        say.out(f"{task.id} {clean_line(task.spec.title)}: {clean_line(question.text)}{place}")
        for word, text in (("before", question.before), ("after", question.after)):
            if text:
                say.out(f"    {word}  {say.short(clean_line(text), 100)}")
        say.out(f'    devteam allow {task.id} "{clean_line(question.allow)}"')


def _as_data(question: object) -> dict[str, object]:
    import msgspec

    data = msgspec.to_builtins(question)
    return dict(data) if isinstance(data, dict) else {}


def allow(
    task: TaskArgument,
    entry: Annotated[str, typer.Argument(help="What it may do, as in the plan's allow: (devteam questions names it).")],
    sprint: ToldOption = "",
) -> None:
    """Grant a task a permission that its plan does not give.

    Work that waits for it is checked again as it is; no agent is called. For example:
    devteam allow 1.2 "edit tests/data.json"
    """
    from engine.core.commands import Allow

    send(Allow(task=task, entry=entry, by=who()), sprint)


def accept(task: TaskArgument, sprint: ToldOption = "") -> None:
    """Take a task's kept work as it is.

    Only where its checks were green. The commit and the report say that you did.
    """
    from engine.core.commands import Accept

    send(Accept(task=task, by=who()), sprint)


def council(task: TaskArgument, sprint: ToldOption = "") -> None:
    """Have the Bug Council look at a task.

    Now, where it waits or has ended; else once its iteration has failed. Once a task.
    """
    from engine.core.commands import CallCouncil

    send(CallCouncil(task=task, by=who()), sprint)


def gate(
    name: Annotated[str, typer.Argument(help="The gate, e.g. G3; default: every open one.")] = "",
    sprint: SprintOption = "",
    json: JsonOption = False,
) -> None:
    """Print a gate in full."""
    from engine.link.user_errors import UserError
    from tui.cli.gate_view import gate_data, gate_lines

    desk = say.desk()
    state = desk.state(sprint)
    known = state.gates.get(name) or state.gates.get(name.upper())
    if name and known is None:
        names = ", ".join(one.id for one in state.open_gates()) or "none"
        raise UserError(f"there is no gate {name}; open gates: {names}")
    shown = [known] if known is not None else state.open_gates()
    if json:
        for one in shown:
            say.json_line(gate_data(state, one))
        return
    if not shown:
        say.out("no gate is open")
    for one in shown:
        for line in gate_lines(state, one, say.clock_text(one.opened_at), desk.told(state.sprint)):
            say.out(line)

"""Commands that look: sprints, status, log, report, cost, evidence."""

from __future__ import annotations

from typing import Annotated

import typer

from tui.cli import say

SprintOption = Annotated[
    str, typer.Option("--sprint", help="Sprint id, number or part of its name; default: the latest.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON object a line, nothing else.")]


def register(app: typer.Typer) -> None:
    for command in (sprints, status, log, report, cost, evidence):
        app.command()(command)


def sprints(json: JsonOption = False) -> None:
    """List the sprints of this repository."""
    lines = say.desk().sprints()
    if json:
        for line in lines:
            say.json_line(line)
        return
    if not lines:
        say.out("no sprint yet: devteam plan --from plan.md")
        return
    say.table(
        ("SPRINT", "STATUS", "TASKS", "SPENT", "TITLE"),
        [(line.id, line.status, f"{line.done}/{line.total}", f"${line.spent_usd:.2f}", line.title) for line in lines],
    )


def status(sprint: SprintOption = "", json: JsonOption = False) -> None:
    """Show where the sprint stands.

    Tasks, health, spending, open gates and how to answer them.
    """
    from tui.cli.standing import show

    show(sprint, json)


def log(
    sprint: SprintOption = "",
    json: JsonOption = False,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on with what comes.")] = False,
    from_: Annotated[int, typer.Option("--from", help="Start after this sequence number.")] = 0,
) -> None:
    """Print the sprint's events as they were recorded."""
    from engine.core.events import encode_envelope
    from tui.cli.words import event_line

    desk = say.desk()
    for envelope in desk.follow(sprint, from_) if follow else desk.events(sprint, from_):
        if json:
            say.json_line(encode_envelope(envelope))
        elif line := event_line(envelope):
            say.out(f"{envelope.seq:>6} {say.clock_text(envelope.at)} {line}")
            if follow:
                say.flush()


def report(
    sprint: SprintOption = "",
    task: Annotated[str, typer.Option("--task", help="Only this task: its iterations and how it ended.")] = "",
    json: JsonOption = False,
) -> None:
    """Print the reports of the sprint or of one task.

    With --task every iteration of it and how it ended; else how each task ended and the summary.
    """
    from engine.link.errors import UserError
    from engine.link.reports import sprint_report, task_report

    desk = say.desk()
    state = desk.state(sprint)
    if task and task not in state.tasks:
        raise UserError(f"there is no task {task}", f"tasks: {', '.join(state.tasks)}")
    texts = task_report(desk, state, task) if task else sprint_report(state, desk)
    for text in texts:
        say.json_line({"report": text}) if json else say.out(text)


def cost(sprint: SprintOption = "", json: JsonOption = False) -> None:
    """Show what was spent, by rung, role, task and day."""
    from tui.cli.words import cost_rows, shown_cost

    state = say.desk().state(sprint)
    rows = cost_rows(state)
    if json:
        say.json_line(
            {
                "sprint": state.sprint,
                "spent_usd": round(state.spent_usd, 6),
                "budget_usd": state.policy.budget.session_usd,
                "day_spent_usd": round(state.day_spent_usd, 6),
                "calls": state.calls,
                "rows": rows,
            }
        )
        return
    say.table(("BY", "NAME", "CALLS", "TOKENS", "COST", ""), (shown_cost(row) for row in rows))
    budget = state.policy.budget
    say.out(f"total ${state.spent_usd:.2f} of ${budget.session_usd:.2f}")
    say.out(f"today ${state.day_spent_usd:.2f} of ${budget.day_usd:.2f}")


def evidence(
    task: Annotated[str, typer.Argument(help="Task id; default: every task that has been checked.")] = "",
    sprint: SprintOption = "",
    json: JsonOption = False,
) -> None:
    """Show the evidence behind a task.

    What was run, on which tree, in which sandbox, with which result. Records are verified against their hash.
    """
    from engine.link.answers import Answers
    from engine.link.contract import GetEvidence
    from engine.link.errors import UserError
    from tui.cli.words import evidence_lines

    desk = say.desk()
    folder = desk.sprint(sprint)
    state = desk.state(sprint)
    if task and task not in state.tasks:
        raise UserError(f"there is no task {task}", f"tasks: {', '.join(state.tasks)}")
    answers = Answers(desk, folder, lambda: state)
    names = [task] if task else [name for name, found in state.tasks.items() if found.evidence]
    for name in names:
        for record in answers.answer(GetEvidence(task=name)).evidence:
            if json:
                say.json_line({"task": name, **record})
            else:
                for line in evidence_lines(name, record):
                    say.out(line)
    if not names and not json:
        say.out("nothing has been checked yet")

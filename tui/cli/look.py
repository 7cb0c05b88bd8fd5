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
    """Show where the sprint stands: tasks, health, spending, open gates."""
    desk = say.desk()
    state = desk.state(sprint)
    holder = desk.engine()
    if json:
        done, total = state.progress()
        say.json_line(
            {
                "sprint": state.sprint,
                "branch": state.branch,
                "running": state.running and holder is not None,
                "engine_pid": holder.pid if holder else None,
                "outcome": state.outcome,
                "reason": state.outcome_reason,
                "tasks": {task.id: task.status.value for task in state.tasks.values()},
                "done": done,
                "total": total,
                "iterations": state.iterations,
                "health": state.health.value,
                "health_reason": state.health_reason,
                "spent_usd": round(state.spent_usd, 6),
                "budget_usd": state.policy.budget.session_usd,
                "sandbox": state.sandbox,
                "gates": [
                    {
                        "gate": gate.id,
                        "task": gate.task,
                        "kind": gate.kind,
                        "title": gate.title,
                        "choices": gate.choices,
                    }
                    for gate in state.open_gates()
                ],
                "seq": state.seq,
            }
        )
        return
    from tui.cli.words import status_lines

    for line in status_lines(state, holder.words() if holder else ""):
        say.out(line)


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
    """Print the reports: every iteration of a task, or the summary of the sprint."""
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
    """Show what was spent: by rung, by role, by task, by day."""
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
    """Show the evidence behind a task: what was run, on which tree, with which result."""
    from engine.link.answers import Answers
    from engine.link.contract import GetEvidence
    from tui.cli.words import evidence_lines

    desk = say.desk()
    folder = desk.sprint(sprint)
    state = desk.state(sprint)
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

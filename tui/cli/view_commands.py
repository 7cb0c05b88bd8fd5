"""Commands that look: sprints, status, log, report, cost, evidence, flaky."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from tui.cli import printing as say

SprintOption = Annotated[
    str, typer.Option("--sprint", help="Sprint id, number or part of its name; default: the latest.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON object a line, nothing else.")]

JunitOption = Annotated[
    Path | None, typer.Option("--junit", dir_okay=False, help="For CI: a JUnit file with a case for each task.")
]
SummaryOption = Annotated[
    Path | None, typer.Option("--summary", dir_okay=False, help="For CI: add a Markdown summary to this file.")
]


def register(app: typer.Typer) -> None:
    for command in (sprints, status, log, report, cost, stats, evidence, flaky):
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
    from tui.cli.status import show

    show(sprint, json)


def log(
    sprint: SprintOption = "",
    json: JsonOption = False,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on with what comes.")] = False,
    from_: Annotated[int, typer.Option("--from", help="Start after this sequence number.")] = 0,
    engine: Annotated[bool, typer.Option("--engine", help="What the engine itself was at, to understand one.")] = False,
) -> None:
    """Print the sprint's events as they were recorded."""
    if engine:
        for said in say.desk().engine_log():
            say.json_line(said) if json else say.out(_engine_line(said))
        return
    from engine.core.events import encode_envelope
    from tui.cli.event_text import event_line

    desk = say.desk()
    for envelope in desk.follow(sprint, from_) if follow else desk.events(sprint, from_):
        if json:
            say.json_line(encode_envelope(envelope))
        elif line := event_line(envelope):
            say.out(f"{envelope.seq:>6} {say.clock_text(envelope.at)} {line}")
            if follow:
                say.flush()


def _engine_line(line: dict[str, Any]) -> str:
    from engine.core.clean import clean_line

    at, pid, what = line.pop("at", 0.0), line.pop("pid", 0), line.pop("what", "")
    rest = "  ".join(f"{name}={clean_line(str(value))}" for name, value in line.items())
    return f"{say.clock_text(at)} {pid:>7} {clean_line(str(what)):<20} {rest}".rstrip()


def report(
    sprint: SprintOption = "",
    task: Annotated[str, typer.Option("--task", help="Only this task: its iterations and how it ended.")] = "",
    html: Annotated[bool, typer.Option("--html", help="One self-contained HTML page, on stdout.")] = False,
    pr: Annotated[bool, typer.Option("--pr", help="The description of a pull request, in Markdown.")] = False,
    junit: JunitOption = None,
    summary: SummaryOption = None,
    json: JsonOption = False,
) -> None:
    """Print the reports of the sprint or of one task.

    With --task every iteration of it and how it ended; else how each task ended and the summary. With --junit or
    --summary the files that devteam run writes for CI are written instead, from what is recorded.
    """
    from engine.link.user_errors import UserError
    from engine.service.reports import html_page, pull_request_text, sprint_report, task_report

    desk = say.desk()
    if html or pr:
        say.out((html_page(desk, sprint) if html else pull_request_text(desk, sprint)).rstrip("\n"))
        return
    state = desk.state(sprint)
    if junit is not None or summary is not None:
        from engine.service.ci_summary import must_be_writable, write

        must_be_writable(junit, summary)
        if problems := write(state, junit, summary):
            raise UserError("; ".join(problems), code=1)
        return
    if task and task not in state.tasks:
        raise UserError(f"there is no task {task}", f"tasks: {', '.join(state.tasks)}")
    texts = task_report(desk, state, task) if task else sprint_report(state, desk)
    for text in texts:
        say.json_line({"report": text}) if json else say.out(text)


def cost(sprint: SprintOption = "", json: JsonOption = False) -> None:
    """Show what was spent, by rung, role, task and day."""
    from tui.cli.event_text import cost_rows, shown_cost

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


def stats(json: JsonOption = False) -> None:
    """Show what all sprints of this repository add up to.

    First-pass rate, attempts, who resolved what, council, claims against evidence, cost and time per task, forecast.
    """
    from engine.service.reports import statistics_of

    found = statistics_of(say.desk())
    if json:
        say.json_line(found)
        return
    say.table(("WHAT", "MEASURED"), found.rows())


def evidence(
    task: Annotated[str, typer.Argument(help="Task id; default: every task that has been checked.")] = "",
    sprint: SprintOption = "",
    json: JsonOption = False,
) -> None:
    """Show the evidence behind a task.

    What was run, on which tree, in which sandbox, with which result. Records are verified against their hash.
    """
    from engine.link.protocol import GetEvidence
    from engine.link.user_errors import UserError
    from engine.service.queries import Answers
    from tui.cli.event_text import evidence_lines

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
                say.json_line(record)
            else:
                for line in evidence_lines(record):
                    say.out(line)
    if not names and not json:
        say.out("nothing has been checked yet")


def flaky(json: JsonOption = False) -> None:
    """List tests that flip on the same tree.

    Only a test that was seen to pass and to fail on the base, in the same order, is excused when it fails.
    """
    from engine.service.flaky_tests import flips

    found = flips(say.desk())
    if json:
        for flip in found:
            say.json_line(flip)
        return
    if not found:
        say.out("no test was seen to flip")
        return
    say.table(("CHECK", "TEST", "SEEN", "TREE"), [(one.check, one.test, one.how, one.tree[:12]) for one in found])

"""Commands that plan: plan, prd, replan."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tui.cli import printing as say
from tui.cli.start_commands import SandboxOption, TrustOption
from tui.cli.view_commands import JsonOption, SprintOption

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.core.state import State
    from engine.service.local import Desk, SprintFolder
    from engine.service.plan_file import Derived
    from engine.service.planning import Ask, Imported, Until

UnattendedOption = Annotated[
    bool, typer.Option("--unattended", help="Ask nobody: the planner's assumptions are taken and written down.")
]
AnswersOption = Annotated[
    Path | None, typer.Option("--answers", help="Answers beforehand: JSON, or lines `1: answer`.")
]
ApproveOption = Annotated[
    bool, typer.Option("--approve", help="Approve beforehand what checks and reviewer accept; else you are asked.")
]
WaitOption = Annotated[bool, typer.Option("--wait", help="With only questions left, wait for devteam answer.")]


def register(app: typer.Typer) -> None:
    for command in (plan, prd, replan, implement):
        app.command()(command)


def plan(
    request: Annotated[str, typer.Argument(help="What is to be done, in your words; - reads it from stdin.")] = "",
    from_: Annotated[
        Path | None, typer.Option("--from", help="A plan (see docs/plans.md), or a PRD, issue or design as request.")
    ] = None,
    sprint: SprintOption = "",
    approve: ApproveOption = False,
    answers: AnswersOption = None,
    unattended: UnattendedOption = False,
    wait: WaitOption = False,
    no_derive: Annotated[
        bool, typer.Option("--no-derive", help="Take no permissions from the words of the tasks of a plan.")
    ] = False,
    json: JsonOption = False,
    trust: TrustOption = "",
    no_sandbox: SandboxOption = False,
) -> None:
    """Make a plan of a request, or a sprint of a plan.

    The repository is looked at, a plan is drafted, you are asked what only you know, the plan is checked and reviewed,
    and nothing runs before you approve it. Without a request, the conversation that is open goes on.

    Exit code: 0 approved, 3 waits for your answer (devteam answer), else as devteam run.
    """
    from engine.service import planning

    desk = say.desk()
    ask = planning.Ask(given=planning.answers_of(answers) if answers else {}, approve=approve)
    if from_ is not None:
        made = planning.import_or_request(desk, from_, say.today(), None if no_derive else _taken)
        if isinstance(made, planning.Imported):
            _imported(made, planning.expected(desk, made.sprint))
            return
        request, ask = made.text, planning.Ask(given=ask.given, approve=approve, source=made.source)
    way = _Way(json, unattended, wait, trust, no_sandbox)
    _talk(desk, _folder(desk, request, sprint, way), ask, planning.Until.PLAN, way)


def prd(
    idea: Annotated[str, typer.Argument(help="The idea, in your words; - reads it from stdin.")] = "",
    sprint: SprintOption = "",
    approve: ApproveOption = False,
    answers: AnswersOption = None,
    unattended: UnattendedOption = False,
    wait: WaitOption = False,
    json: JsonOption = False,
    trust: TrustOption = "",
    no_sandbox: SandboxOption = False,
) -> None:
    """Write the requirements (PRD) of an idea.

    With the same questions as a plan. devteam plan --sprint ID makes a plan of it.
    """
    from engine.service import planning

    desk = say.desk()
    given = planning.answers_of(answers) if answers else {}
    ask = planning.Ask(given=given, approve=approve, with_prd=True)
    way = _Way(json, unattended, wait, trust, no_sandbox)
    _talk(desk, _folder(desk, idea, sprint, way), ask, planning.Until.PRD, way)


def implement(
    idea: Annotated[str, typer.Argument(help="An idea in your words, or a PRD file; without: the queue goes on.")] = "",
    max_iterations: Annotated[
        int, typer.Option("--max-iterations", min=1, help="Steps (PRD, plan, sprint) before it stops.")
    ] = 50,
    max_usd: Annotated[float, typer.Option("--max-usd", min=0.0, help="Money over all sprints; 0: no bound.")] = 0.0,
    approve: ApproveOption = False,
    answers: AnswersOption = None,
    unattended: UnattendedOption = False,
    json: JsonOption = False,
    trust: TrustOption = "",
    no_sandbox: SandboxOption = False,
) -> None:
    """Go from an idea to finished sprints.

    PRD, plan, sprints and landing, one step after another, until all is done, you are needed, or a limit is met.
    Every step can be done by hand: devteam prd, plan, run, land. Started again without an idea, it goes on.
    """
    from engine.service import planning, work_queue

    desk = say.desk()
    given = planning.answers_of(answers) if answers else {}
    is_file = bool(idea) and len(idea) < 1000 and Path(idea).is_file()
    ask = planning.Ask(given=given, approve=approve, with_prd=not is_file)
    way = _Way(json, unattended, False, trust, no_sandbox)
    way.ask_trust(desk)
    if is_file:
        folder = planning.prd_as_request(desk, Path(idea), say.today(), trust)
        work_queue.add(desk, folder.id)
    elif idea:
        folder = planning.begin(desk, idea, say.today(), trust)
        work_queue.add(desk, folder.id)
    work_all(desk, ask, way, lands=True, max_iterations=max_iterations, max_usd=max_usd)


def work_all(
    desk: Desk, ask: Ask, way: _Way, *, lands: bool, max_iterations: int, max_usd: float, lanes: int = 0
) -> None:
    """Work the queue, with the seed's status block before each step."""
    import asyncio

    from engine.core.closing import EXIT_CODES
    from engine.service.controller import Controller, Standing
    from engine.service.running import Options, outliving_the_terminal, run
    from tui.cli.headless import attendant, printer, undisturbed

    options = Options(
        attended=not way.unattended,
        waits=way.asks,
        lanes=lanes,
        trust=way.trust,
        no_sandbox=way.no_sandbox,
        utc_offset=say.utc_offset(),
        at_terminal=way.asks,
        planning=ask,
    )

    async def one(desk: Desk, folder: SprintFolder, chosen: Options) -> State:
        return await run(desk, folder, chosen, printer(way.json), attendant() if way.asks else None)

    @undisturbed
    def show(standing: Standing) -> None:
        say.json_line(standing) if way.json else say.out(standing.block())
        say.flush()

    controller = Controller(
        desk, options, one, show, today=say.today(), lands=lands, max_iterations=max_iterations, max_usd=max_usd
    )
    with outliving_the_terminal():  # also between two sprints, where no session ignores the signal
        outcome = asyncio.run(controller.work())
    if not way.json:
        say.out("EXIT_SIGNAL: true" if outcome == "done" else f"ended: {outcome}")
        if needs := controller.needs():
            say.out("\n".join(("", "Needs you:", *(f"- {line}" if line[0] != " " else line for line in needs))))
            again = "devteam implement" if lands else "devteam run --all"
            say.out(
                f"then: {again}"
                + ("" if ask.approve or not lands else "   (--approve: what checks and reviewer accept)")
            )
    raise typer.Exit(EXIT_CODES[outcome])


def work_queue_of(desk: Desk, way: tuple[bool, bool, bool, str, bool], *, max_usd: float, lanes: int) -> None:
    """`devteam run --all`."""
    from engine.service import planning, work_queue

    work_queue.fill(desk)
    work_all(desk, planning.Ask(), _Way(*way), lands=False, max_iterations=1000, max_usd=max_usd, lanes=lanes)


def replan(
    task: Annotated[str, typer.Argument(help="Task id.")],
    text: Annotated[str, typer.Argument(help="What should be different.")],
    sprint: SprintOption = "",
) -> None:
    """Have a task planned anew.

    The planner revises its scope or splits it; you see the difference and are asked before it holds.
    """
    from engine.core.commands import Replan
    from tui.cli.gate_commands import send, who

    send(Replan(task=task, text=text, by=who()), sprint)


class _Way:
    """How the conversation is held."""

    def __init__(self, json: bool, unattended: bool, wait: bool, trust: str, no_sandbox: bool) -> None:
        self.json = json
        self.unattended = unattended
        self.wait = wait
        self.trust = trust
        self.no_sandbox = no_sandbox
        self.asks = say.on_terminal() and not json and not unattended

    def ask_trust(self, desk: Desk) -> None:
        """Somebody is there: ask now, as `devteam run` does. Headless, the refusal says what to type."""
        from tui.cli.trusting import ask_trust

        if self.asks:
            ask_trust(desk, self.trust)


def _folder(desk: Desk, request: str, hint: str, way: _Way) -> SprintFolder:
    from engine.service import planning

    if request == "-" or (not request and not hint and not sys.stdin.isatty() and _piped()):
        request = sys.stdin.read()
    way.ask_trust(desk)
    if request.strip():
        return planning.begin(desk, request, say.today(), way.trust)
    return planning.unfinished(desk, hint)


def _piped() -> bool:
    """Something is really sent to us: an empty stdin of a service is no request."""
    import os
    import stat

    kind = os.fstat(sys.stdin.fileno()).st_mode
    return stat.S_ISFIFO(kind) or (stat.S_ISREG(kind) and os.fstat(sys.stdin.fileno()).st_size > 0)


def _talk(desk: Desk, folder: SprintFolder, ask: Ask, until: Until, way: _Way) -> None:
    import asyncio

    from engine.core.closing import EXIT_CODES
    from engine.service.running import Options, run
    from tui.cli.headless import attendant, printer

    options = Options(
        attended=not way.unattended,
        waits=way.asks or way.wait,
        trust=way.trust,
        no_sandbox=way.no_sandbox,
        utc_offset=say.utc_offset(),
        at_terminal=way.asks,
        until=until,
        planning=ask,
    )
    state = asyncio.run(run(desk, folder, options, printer(way.json), attendant() if way.asks else None))
    if not way.json:
        say.out()
        say.out(f"{folder.id}: {state.outcome}: {state.outcome_reason}")
        for gate in state.open_gates():
            say.out(f"  {gate.id}  {gate.title}")
            say.out(f"      {gate.body.splitlines()[0] if gate.body else ''}")
            answers = f"devteam answer {gate.id} {'|'.join(gate.choices)}{desk.told(folder.id)}"
            say.out(f"      {answers}; then: devteam plan --sprint {folder.id}")
    raise typer.Exit(EXIT_CODES[state.outcome] if state.outcome else 1)


def _taken(derived: Sequence[Derived]) -> bool:
    """Show what the words give; on a terminal the user has the last word, else it is taken."""
    say.out("From the words of the tasks (docs/plans.md, Permissions):")
    for one in derived:
        say.out(f"  {one.task:<6} {one.line()}   ({say.short(one.because)})")
    if not say.on_terminal():
        say.out("  They are written into the sprint's plan.md; take out there what you do not want.")
        return True
    return input("Write these lines into the plan? [Y/n] ").strip().lower() not in ("n", "no")


def _imported(made: Imported, expected: str) -> None:
    sprint = made.sprint
    say.out(f"sprint {sprint.id}: {sprint.title}")
    say.out(f"  plan    {sprint.plan_path}")
    for word, lines in (("read", made.understood), ("guessed", made.guessed), ("unused", made.unused)):
        for line in lines:
            say.out(f"  {word:<7} {line}")
    if expected:
        say.out(f"  expect  {expected}")
    if sprint.status == "DRAFT":
        say.out(f"  next    devteam plan --sprint {sprint.id}   (a draft never runs: it is reviewed, you approve)")
    else:
        say.out("  next    devteam run   (or: devteam tui)")

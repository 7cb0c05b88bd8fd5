"""Commands that start things: init, plan, run, demo, tui, trust, doctor, agents."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tui.cli import say
from tui.cli.look import JsonOption, SprintOption

if TYPE_CHECKING:
    from engine.core.state import State


def register(app: typer.Typer) -> None:
    for command in (init, plan, run, demo, tui, trust, doctor, agents):
        app.command()(command)


TrustOption = Annotated[str, typer.Option("--trust", help="Hash of the commands you trust (headless), or all.")]
SandboxOption = Annotated[bool, typer.Option("--no-sandbox", help="Run agents and checks without a sandbox.")]


def init(
    force: Annotated[
        bool, typer.Option("--force", help="Write the configuration anew; the old one is kept aside.")
    ] = False,
) -> None:
    """Set devteam up in this repository.

    Finds the checks and the agents on this machine and writes .devteam/config.toml, with every default as a comment.
    """
    from engine.link.care import init_project

    for line in init_project(say.desk(), force=force, today=say.today()):
        say.out(line)


def plan(
    from_: Annotated[Path | None, typer.Option("--from", help="The plan file (Markdown, see docs/plans.md).")] = None,
) -> None:
    """Make a sprint of a plan file."""
    from engine.link.care import plan_from
    from engine.link.errors import UserError

    if from_ is None:
        raise UserError("which plan?", "devteam plan --from plan.md")
    sprint = plan_from(say.desk(), from_, say.today())
    say.out(f"sprint {sprint.id}: {sprint.title}")
    say.out(f"  plan    {sprint.plan_path}")
    say.out("  next    devteam run   (or: devteam tui)")


def run(
    sprint: SprintOption = "",
    json: JsonOption = False,
    unattended: Annotated[bool, typer.Option("--unattended", help="Ask nobody: the ladder decides.")] = False,
    max_iterations: Annotated[
        int,
        typer.Option("--max-iterations", min=0, show_default="the configuration's", help="Iterations a task may take."),
    ] = 0,
    lanes: Annotated[
        int,
        typer.Option("--lanes", min=0, max=16, show_default="the configuration's", help="Tasks at the same time."),
    ] = 0,
    wait: Annotated[bool, typer.Option("--wait", help="With only open gates left, wait for devteam answer.")] = False,
    trust: TrustOption = "",
    no_sandbox: SandboxOption = False,
) -> None:
    """Run the sprint; started again, it goes on.

    Until every task is done, blocked, out of budget or stopped. Ctrl-C stops it so that nothing is lost.

    Exit code: 0 done, 1 failed, 2 limit or budget, 3 blocked on a human, 4 untrusted or bad input, 130 interrupted.
    """
    import asyncio

    from engine.core.closing import EXIT_CODES
    from engine.link.running import Options
    from engine.link.running import run as run_sprint
    from tui.cli.headless import attendant, printer

    desk = say.desk()
    folder = desk.sprint(sprint)
    asks = say.on_terminal() and not json and not unattended
    options = Options(
        attended=not unattended,
        waits=asks or wait,
        max_iterations=max_iterations,
        lanes=lanes,
        trust=trust,
        no_sandbox=no_sandbox,
        utc_offset=say.utc_offset(),
    )
    state = asyncio.run(run_sprint(desk, folder, options, printer(json), attendant() if asks else None))
    _close(state, json)
    raise typer.Exit(EXIT_CODES.get(state.outcome, 1))


def _close(state: State, json: bool) -> None:
    if json:
        return
    from engine.link.reports import sprint_report

    *_, last = sprint_report(state)
    say.out()
    say.out(last)


def demo(
    headless: Annotated[bool, typer.Option("--headless", help="No dashboard; the scenario answers the gates.")] = False,
    json: JsonOption = False,
    dir_: Annotated[
        Path | None, typer.Option("--dir", help="Folder of the demo's repository; default: a new one.")
    ] = None,
    speed: Annotated[float, typer.Option("--speed", min=0.01, help="How fast the scripted agent talks.")] = 1.0,
    seed: Annotated[int, typer.Option("--seed", help="Varies the scripted agent's pace, nothing else.")] = 0,
    no_sandbox: SandboxOption = False,
) -> None:
    """Watch a sample sprint: no key, no network.

    The agent is scripted; git, pytest, ruff and the sandbox are real.
    """
    import asyncio
    import tempfile

    from engine.link.running import Options, run_demo
    from tui.cli.headless import printer

    folder = (dir_ or Path(tempfile.mkdtemp(prefix="devteam-demo-"))).absolute()
    pace = speed * (1.0 + (seed % 7) / 10)
    options = Options(trust="all", speed=pace, waits=True, no_sandbox=no_sandbox, utc_offset=say.utc_offset())
    if say.on_terminal() and not headless and not json:
        from tui.cli.dashboard import show_demo

        show_demo(folder, options)
        return
    state, wrong = asyncio.run(run_demo(folder, dict(os.environ), Path.home(), options, say.today(), printer(json)))
    _close(state, json)
    if not json:
        say.out(f"\nthe repository is in {folder}: git -C {folder} log --oneline {state.branch}")
    if wrong:
        typer.echo("the scenario ended otherwise than scripted: " + "; ".join(wrong), err=True)
        raise typer.Exit(130 if state.outcome == "stopped" else 1)


def tui(
    sprint: SprintOption = "",
    replay: Annotated[str, typer.Option("--replay", help="Show a past sprint, or a .jsonl file of events.")] = "",
    inline: Annotated[bool, typer.Option("--inline", help="Run the engine in this process; it ends with it.")] = False,
    theme: Annotated[str, typer.Option("--theme", help="Name of a theme.")] = "",
    ascii_: Annotated[bool, typer.Option("--ascii", help="Draw with ASCII characters only.")] = False,
    trust: TrustOption = "",
    no_sandbox: SandboxOption = False,
) -> None:
    """Open the dashboard. Closing it leaves the engine running."""
    from tui.cli.dashboard import show

    show(
        sprint=sprint,
        replay=replay,
        inline=inline,
        theme=theme,
        ascii_only=ascii_,
        trust=trust,
        no_sandbox=no_sandbox,
    )


def trust(
    hash_: Annotated[str, typer.Option("--hash", help="Trust exactly this hash, without being asked.")] = "",
    show: Annotated[bool, typer.Option("--show", help="Only show the commands and their hash.")] = False,
) -> None:
    """Confirm the commands this repository has run.

    Checks, agents, workspace.setup, notify_command and your own .devteam/init.sh. Changed, they are asked again.
    """
    from engine.link.care import trust_commands, trusted_hash
    from engine.link.errors import UserError

    desk = say.desk()
    wanted, commands, known = trusted_hash(desk)
    for where, line in commands:
        say.out(f"  {where}: {line}")
    say.out(f"hash {wanted}: {'trusted' if known else 'not trusted yet'}")
    if show or known:
        return
    if hash_ and hash_ != wanted:
        raise UserError(f"the commands have another hash: {wanted}", "look at them again before you trust them")
    if not hash_:
        if not say.on_terminal():
            raise UserError("nobody is here to be asked", f"devteam trust --hash {wanted}")
        if input("Run these commands on this machine? [y/N] ").strip().lower() not in ("y", "yes"):
            raise typer.Exit(4)
    trust_commands(desk, wanted)
    say.out("trusted")


def doctor(json: JsonOption = False) -> None:
    """Check that everything devteam needs is here."""
    from engine.link.care import examine

    findings = examine(say.here(), os.environ, Path.home())
    for finding in findings:
        if json:
            say.json_line(finding)
        else:
            say.out(
                f"{finding.mark:<4} {finding.what}: {finding.found}"
                + (f"\n       → {finding.hint}" if finding.hint else "")
            )
    if any(finding.mark == "bad" for finding in findings):
        raise typer.Exit(1)


def agents(json: JsonOption = False) -> None:
    """List the agents on this machine.

    Version, where a login was seen, and the rungs that use them. Nothing is spent for it.
    """
    from engine.link.care import list_agents

    infos = list_agents(say.here(), os.environ, Path.home())
    if json:
        for info in infos:
            say.json_line(info)
        return
    rows = [
        (
            info.name,
            info.version or ("installed" if info.installed else "–"),
            info.login or "none seen",
            ", ".join(info.rungs) or "–",
            info.problem,
        )
        for info in infos
    ]
    say.table(("AGENT", "VERSION", "LOGIN", "RUNGS", ""), rows)

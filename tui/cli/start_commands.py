"""Commands that start things: init, run, demo, tui, trust, doctor, agents."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tui.cli import printing as say
from tui.cli.view_commands import JsonOption, JunitOption, SprintOption, SummaryOption

if TYPE_CHECKING:
    from engine.core.state import State


def register(app: typer.Typer) -> None:
    for command in (init, run, demo, tui, trust, doctor, agents):
        app.command()(command)
    app.command("attach", hidden=True)(tui)


TrustOption = Annotated[str, typer.Option("--trust", help="Hash of the commands you trust (headless), or all.")]
SandboxOption = Annotated[bool, typer.Option("--no-sandbox", help="Run agents and checks without a sandbox.")]


def init(
    force: Annotated[
        bool, typer.Option("--force", help="Write the configuration anew; the old one is kept aside.")
    ] = False,
    tests: Annotated[
        str, typer.Option("--tests", help="Where there are no tests yet, what will run them: pytest, unittest or node.")
    ] = "",
) -> None:
    """Set devteam up in this repository.

    Finds the checks and the agents on this machine, tries them in your checkout (a copy) and in a clone, and writes
    .devteam/config.toml with what is green there. Your files are not touched, no agent is called.
    """
    from engine.service.init import init_project

    with say.progress() as progress:
        lines = list(init_project(say.desk(), force=force, today=say.today(), tests=tests, progress=progress))
    for line in lines:
        say.out(line)


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
    all_: Annotated[
        bool, typer.Option("--all", help="Work the queue (.devteam/queue.md): every sprint that is not done, in order.")
    ] = False,
    max_usd: Annotated[float, typer.Option("--max-usd", min=0.0, help="With --all: money over all of it.")] = 0.0,
    trust: TrustOption = "",
    no_sandbox: SandboxOption = False,
    junit: JunitOption = None,
    summary: SummaryOption = None,
    detach: Annotated[
        bool, typer.Option("--detach", help="In the background, with nobody watching: devteam attach looks on.")
    ] = False,
    background: Annotated[bool, typer.Option("--background", hidden=True, help="Who attends is who looks on.")] = False,
    repository: Annotated[
        Path | None, typer.Option("--repository", hidden=True, help="Instead of the one around the working directory.")
    ] = None,
) -> None:
    """Run the sprint; started again, it goes on.

    Until every task is done, blocked, out of budget or stopped. Ctrl-C stops it so that nothing is lost.

    Exit code: 0 done, 1 failed, 2 limit, budget or the machine's fault, 3 blocked on a human, 4 untrusted or bad
    input, 130 interrupted.
    """
    import asyncio

    from engine.core.closing import EXIT_CODES
    from engine.link.user_errors import UserError
    from engine.service.running import Options
    from engine.service.running import run as run_sprint
    from tui.cli.headless import attendant, held, printer
    from tui.cli.trusting import ask_trust

    desk = say.desk(repository)
    reports = _reports(junit, summary)
    if all_ and (detach or reports):
        raise UserError("--all works many sprints here: --detach, --junit and --summary are of one", "leave them out")
    if detach:
        from tui.cli.background_engine import start_detached

        start_detached(desk, sprint, trust, no_sandbox, lanes=lanes, max_iterations=max_iterations, reports=reports)
        return
    if all_:
        from tui.cli.plan_commands import work_queue_of

        work_queue_of(desk, (json, unattended, wait, trust, no_sandbox), max_usd=max_usd, lanes=lanes)
    folder = say.sprint(desk, sprint)
    asks = say.on_terminal() and not json and not unattended
    if say.on_terminal() and not json:
        ask_trust(desk, trust)
    options = Options(
        attended=not unattended,
        waits=asks or wait or unattended,
        max_iterations=max_iterations,
        lanes=lanes,
        trust=trust,
        no_sandbox=no_sandbox,
        utc_offset=say.utc_offset(),
        follows_viewers=background or unattended,
        at_terminal=asks,
        asks_nobody=unattended and not background,
    )
    asked = attendant() if asks else None
    state = asyncio.run(run_sprint(desk, folder, options, printer(json), asked, on_hold=held))
    _close(state, json)
    _for_ci(state, junit, summary)
    raise typer.Exit(EXIT_CODES[state.outcome] if state.outcome else 1)


def _reports(junit: Path | None, summary: Path | None) -> list[str]:
    """The options for whoever runs it; a place that takes no file is refused here, before anything is paid."""
    given = [(option, path) for option, path in (("--junit", junit), ("--summary", summary)) if path is not None]
    if given:
        from engine.service.ci_summary import must_be_writable

        must_be_writable(junit, summary)
    return [word for option, path in given for word in (option, str(path.absolute()))]


def _for_ci(state: State, junit: Path | None, summary: Path | None) -> None:
    if junit is not None or summary is not None:
        from engine.service.ci_summary import write

        for problem in write(state, junit, summary):
            typer.echo(f"devteam: {problem}", err=True)
            typer.echo("  → devteam report --junit FILE --summary FILE writes them from what is recorded", err=True)


def _close(state: State, json: bool) -> None:
    if json:
        return
    from engine.service.reports import sprint_report

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

    from engine.service.running import Options, run_demo
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
    served: Annotated[bool, typer.Option("--served", hidden=True, help="Started by devteam serve.")] = False,
) -> None:
    """Open the dashboard, also as devteam attach. Closing it leaves the engine running."""
    from tui.cli.dashboard import show

    show(
        sprint=sprint,
        replay=replay,
        inline=inline,
        theme=theme,
        ascii_only=ascii_,
        trust=trust,
        no_sandbox=no_sandbox,
        served=served,
    )


def trust(
    hash_: Annotated[str, typer.Option("--hash", help="Trust exactly this hash, without being asked.")] = "",
    show: Annotated[bool, typer.Option("--show", help="Only show the commands and their hash.")] = False,
) -> None:
    """Confirm the commands this repository has run.

    Checks, agents, workspace.setup, notify_command and your own .devteam/init.sh. Changed, they are asked again.
    """
    from engine.link.user_errors import UserError
    from engine.service.trust import trust_commands, trusted_hash

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


def doctor(
    json: JsonOption = False,
    run: Annotated[
        bool, typer.Option("--run", help="Run the checks in your checkout (a copy) and in a clone, and compare.")
    ] = False,
) -> None:
    """Check that everything devteam needs is here.

    With --run every check is run in a copy of your checkout and in a clone, and the agents are started on trial in the
    sandbox, without the network. Nothing is spent and none of your files is touched.
    """
    from engine.service.doctor import examine

    findings = examine(say.here(), os.environ, Path.home())
    if run and not any(finding.what == "repository" and finding.mark == "bad" for finding in findings):
        from engine.service.doctor_run import rehearse

        with say.progress() as progress:
            findings += rehearse(say.desk(), progress)
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
    from engine.service.agent_survey import list_agents

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

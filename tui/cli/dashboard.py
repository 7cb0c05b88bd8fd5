"""Opening the dashboard: on an engine in this process, on one in another, or on a recording."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import gc
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tui.cli import printing as say
from tui.cli.background_engine import start_background, started_again, while_away, work_left
from tui.cli.trusting import ask_trust

if TYPE_CHECKING:
    from engine.core.commands import Ack
    from engine.core.state import State
    from engine.link.protocol import Link
    from engine.service.local import Desk, SprintFolder
    from engine.service.running import Options
    from tui.app.options import Leave, TuiOptions

PATIENCE_SECONDS = 30.0
"""How long the demo waits for an answer before its scenario gives one."""


def show(
    *,
    sprint: str,
    replay: str,
    inline: bool,
    theme: str,
    ascii_only: bool,
    trust: str,
    no_sandbox: bool,
    served: bool = False,
) -> None:
    """`devteam tui`. `served`: a browser is at the other end of its pipes."""
    from engine.link.replay import ReplayLink
    from engine.link.user_errors import UserError, as_user_error
    from engine.service.links import waiting_link

    if not served and not say.on_terminal():
        raise UserError("the dashboard needs a terminal", "without one: devteam status, devteam log --follow")
    if replay.endswith(".jsonl"):
        with _many_objects():
            link = ReplayLink.from_file(Path(replay), speed=1.0, at_end=False)
        _leave(_open(link, _options(None, theme, ascii_only, replay=True)))
        return
    try:
        desk = say.desk()
    except Exception as error:  # boundary: outside a repository the welcome screen says so
        if as_user_error(error) is None:
            raise
        _leave(_open(waiting_link(None), _options(None, theme, ascii_only, in_repo=False)))
        return
    options = _options(desk, theme, ascii_only, replay=bool(replay))
    if replay:
        from engine.service.recorded import recorded

        folder = desk.sprint(replay)
        with _many_objects():
            link = ReplayLink(recorded(desk, folder), name=folder.id, speed=1.0, at_end=False)
        _leave(_open(link, options))
        return
    if not desk.any_sprint():
        _leave(_open(waiting_link(desk), options), trust, no_sandbox)
        return
    folder = desk.sprint(sprint)
    if inline:
        from engine.service.running import Options

        ask_trust(desk, trust)
        run = Options(trust=trust, no_sandbox=no_sandbox, utc_offset=say.utc_offset())
        _state, leave = asyncio.run(_inline(desk, folder, run, options))
        if leave.action == "land":
            _land(desk, folder)
        _leave(leave, trust, no_sandbox)
        return
    leave = _attached(desk, folder, options, trust, no_sandbox, quiet=served)
    if not served:
        _leave(leave, trust, no_sandbox)


@contextlib.contextmanager
def _many_objects() -> Iterator[None]:
    """A long recording is read, kept to the end and never changed: looking for cycles in it, again and again while it
    grows and afterwards, would cost more than reading it."""
    gc.disable()
    try:
        yield
        gc.freeze()
    finally:
        gc.enable()


def show_demo(folder: Path, options: Options) -> None:
    """`devteam demo` on a terminal: the dashboard runs the sample sprint, you answer its gates, or nobody does."""
    from msgspec.structs import replace

    from engine.service.local import open_desk
    from engine.service.reports import sprint_report
    from engine.service.running import as_scripted, prepare, scenario_of

    sprint = prepare(folder, say.today())
    desk = open_desk(folder, os.environ, Path.home())
    state, leave = asyncio.run(_demo(desk, sprint, replace(options, waits=True), _options(desk, "", False)))
    *_, last = sprint_report(state)
    say.out(last)
    if leave.action == "land":
        _land(desk, sprint)
    say.out(f"\nthe repository is in {folder}: git -C {folder} log --oneline {state.branch}")
    if wrong := as_scripted(state, scenario_of(folder)):
        say.out(f"(you went another way than the scenario: {'; '.join(wrong)})")


def _land(desk: Desk, folder: SprintFolder) -> None:
    """What the dashboard of an engine in its own process was asked for, once that engine has let go."""
    from engine.service.landing import land_sprint

    _ok, lines = land_sprint(desk, folder.id, branch=False, patch=None, apply=True)
    for line in lines:
        say.out(line)


def _attached(
    desk: Desk, folder: SprintFolder, options: TuiOptions, trust: str, no_sandbox: bool, *, quiet: bool = False
) -> Leave:
    """Follow the running engine; with none running and work left, start one that outlives this terminal."""
    from engine.service.links import attached_link

    if desk.engine() is None and work_left(desk, folder):
        ask_trust(desk, trust)
        start_background(desk, folder, trust, no_sandbox)

    async def restart() -> Ack:
        return await asyncio.to_thread(started_again, desk, folder, trust, no_sandbox)

    greeting = options.greeting or while_away(desk, folder)
    leave = _open(attached_link(desk, folder), dataclasses.replace(options, restart=restart, greeting=greeting))
    if quiet:
        return leave
    if leave.action == "detach" and desk.engine() is not None:
        from engine.core.attendance import words

        policy = desk.project.config().gates
        say.out(f"the engine goes on; devteam tui shows it again. gates.detached = {policy.detached.value}:")
        say.out(words(policy.detached))
    elif leave.action == "detach" and work_left(desk, folder):
        say.out("no engine is running; devteam run takes the sprint up again")
    return leave


def _open(link: Link, options: TuiOptions) -> Leave:
    from tui.app.application import run_tui

    return run_tui(link, options)


async def _inline(desk: Desk, folder: SprintFolder, run: Options, options: TuiOptions) -> tuple[State, Leave]:
    """The engine and the dashboard in one process: leaving the dashboard stops the run, resumably."""
    from engine.core.commands import Stop
    from engine.service.running import inline
    from tui.app.application import DevteamApp
    from tui.app.options import Leave

    async with inline(desk, folder, run) as (session, link):
        engine = asyncio.create_task(session.run())
        leave = await DevteamApp(link, dataclasses.replace(options, inline=True)).run_async()
        if not engine.done():
            await session.send(Stop(now=True, by="dashboard"))
        return await engine, leave or Leave()


async def _demo(desk: Desk, folder: SprintFolder, run: Options, options: TuiOptions) -> tuple[State, Leave]:
    """As inline, but never waiting for anybody: a gate nobody answers is answered, and an unwatched end closes it."""
    from engine.core.commands import Stop
    from engine.service.running import demo_attended, inline, scenario_of
    from tui.app.application import DevteamApp
    from tui.app.options import Leave

    patience = PATIENCE_SECONDS / run.speed
    async with inline(desk, folder, run) as (session, link), contextlib.AsyncExitStack() as stack:
        words = f"answer the gates, or just watch: {patience:.0f} s after the last key the scenario answers by itself"
        app = DevteamApp(link, dataclasses.replace(options, greeting=words, inline=True, patience=patience))
        attended = demo_attended(session, scenario_of(desk.project.root), patience, app.quiet)
        human = await stack.enter_async_context(attended)
        engine = asyncio.create_task(session.run())

        async def close_unwatched() -> None:
            await asyncio.wait([engine])
            await asyncio.sleep(patience)
            if not human.is_set() and not app.touched:
                app.exit(Leave())

        unwatched = asyncio.create_task(close_unwatched())
        leave = await app.run_async()
        unwatched.cancel()
        if not engine.done():
            await session.send(Stop(now=True, by="dashboard"))
        return await engine, leave or Leave()


def _options(
    desk: Desk | None, theme: str, ascii_only: bool, *, replay: bool = False, in_repo: bool = True
) -> TuiOptions:
    from tui.app import drafts, saved
    from tui.app.options import TuiOptions
    from tui.app.theme import DEFAULT

    config = desk.project.config() if desk is not None else None
    env = os.environ
    home = Path(env.get("XDG_CONFIG_HOME", "") or Path.home() / ".config")
    own = home / "devteam" / saved.NAME
    chosen = theme or saved.read(own).theme or (config.theme if config is not None else "") or DEFAULT
    return TuiOptions(
        theme=chosen,
        ascii=ascii_only,
        keys=config.keys if config is not None else {},
        user_themes=home / "devteam" / "themes",
        saved=own,
        drafts=desk.project.state.root / drafts.NAME if desk is not None else None,
        editor=env.get("VISUAL") or env.get("EDITOR") or "vi",
        pager=env.get("PAGER") or "less",
        save_folder=save_folder(desk),
        in_repo=in_repo,
        replay=replay,
    )


def save_folder(desk: Desk | None) -> Path:
    """Where pictures and saved output go: never among the user's files, where they would stand in a landing's way."""
    return desk.root / ".devteam" / "saved" if desk is not None else Path.cwd()


def _request(words: str, trust: str, no_sandbox: bool) -> None:
    """A new sprint of the user's words; its planning begins at once, and the dashboard shows it."""
    from engine.service import planning
    from tui.app import drafts
    from tui.app.drafts import Drafts
    from tui.cli import start_commands as start

    desk = say.desk()
    ask_trust(desk, trust)
    made = planning.begin(desk, words, say.today(), trust)
    Drafts(desk.project.state.root / drafts.NAME).drop(drafts.REQUEST)
    start.tui(sprint=made.id, trust=trust, no_sandbox=no_sandbox)


def _leave(leave: Leave, trust: str = "", no_sandbox: bool = False) -> None:
    """The dashboard may end by asking for something else: do it."""
    from tui.cli import plan_commands
    from tui.cli import start_commands as start

    match leave.action, leave.argument:
        case "sprint", sprint:
            start.tui(sprint=sprint)
        case "replay", what:
            start.tui(replay=what)
        case "request", words:
            _request(words, trust, no_sandbox)
        case "plan", _ if Path("plan.md").is_file():
            plan_commands.plan(from_=Path("plan.md"))
            start.tui()
        case "plan", _:
            say.out('type: devteam plan "what to do"   (or, with a plan of yours: devteam plan --from plan.md)')
        case "demo", _:
            start.demo()
        case "init", _:
            start.init()
        case "doctor", _:
            start.doctor()
        case "git", _:
            say.out("type: git init && git add -A && git commit -m start")
        case _:
            pass

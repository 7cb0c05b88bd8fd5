"""`devteam service`: running sprints are taken up again after a crash or a reboot."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tui.cli import printing as say

if TYPE_CHECKING:
    from engine.service.local import Desk, SprintFolder
    from engine.service.start_up import Here, StartUp
    from engine.service.supervising import Supervisor

service = typer.Typer(help="Take running sprints up again after a crash or reboot.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    for command in (install, uninstall, status):
        service.command()(command)
    service.command("run", hidden=True)(run)
    app.add_typer(service, name="service")


def install(
    print_: Annotated[
        bool, typer.Option("--print", help="Show what would be written; write and start nothing.")
    ] = False,
) -> None:
    """Have the supervisor started with your session: by systemd, launchd, or cron.

    It looks over your repositories and starts an engine for each sprint that was running and has none. A sprint that
    you stopped stays stopped.
    """
    from engine.service.start_up import chosen, not_carried
    from tui.cli.safe_path import own_command

    here = _here()
    way = chosen(here)
    command = own_command("service", "run")
    if print_:
        place, text = way.written(here, command)
        say.out(f"# {place}")
        say.out(text.rstrip("\n"))
        return
    say.out(f"by {way.name}:")
    for line in way.install(here, command):
        say.out(line)
    for name in not_carried(here.env):
        say.out(f"{name} is a secret and was not written down: an agent with no other login waits for devteam run")


def uninstall() -> None:
    """Take it out again; running engines go on."""
    from engine.service.start_up import WAYS

    here = _here()
    found = [way for way in WAYS if _installed(way, here)]
    for way in found:
        for line in way.uninstall(here):
            say.out(line)
    if not found:
        say.out("not installed")


def status() -> None:
    """Whether it is installed, and which sprints it would take up now."""
    from engine.service.start_up import WAYS
    from engine.service.supervising import lost

    here = _here()
    names = [way.name for way in WAYS if _installed(way, here)]
    say.out(f"installed by {', '.join(names)}" if names else "not installed: devteam service install")
    for one in lost(here.env, here.home):
        say.out(f"lost: {one.folder.id} in {one.desk.root}   (devteam service run --once takes it up)")


def run(
    once: Annotated[bool, typer.Option("--once", help="Look once, take up what is lost, and end.")] = False,
) -> None:
    """Look for lost sprints again and again, and take them up: what the service starts."""
    supervisor = _supervisor()
    if once:
        import time

        say.out(f"{supervisor.look(time.monotonic())} taken up")
        return
    supervisor.run()


def _supervisor() -> Supervisor:
    from engine.core.state import State
    from engine.service.supervising import Supervisor
    from tui.cli.background_engine import start_background

    def start(desk: Desk, folder: SprintFolder, state: State) -> None:
        # As it was started: what you permitted then holds for the rest of that run.
        start_background(desk, folder, "", state.sandbox == "none", ("--wait",) if state.waits else ("--unattended",))

    def tell(line: str) -> None:
        say.out(line)
        say.flush()

    here = _here()
    return Supervisor(here.env, here.home, start, tell)


def _here() -> Here:
    from engine.service.start_up import Here

    return Here(env=dict(os.environ), home=Path.home())


def _installed(way: StartUp, here: Here) -> bool:
    from engine.link.user_errors import UserError

    try:
        return (way.name != "cron" or way.usable(here)) and way.installed(here)
    except UserError:
        return False

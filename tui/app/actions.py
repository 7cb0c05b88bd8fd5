"""The app's own actions: screens to open, dialogs to put, files to write. Steering the engine is in steering.py."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from engine import files
from engine.core.vocabulary import GateKind
from engine.core.wording import plural
from engine.link.protocol import GetFile, Link
from engine.link.recording import record
from engine.link.replay import ReplayLink
from tui.app import dialogs, pages
from tui.app.opener import command_for, run_in_foreground
from tui.app.options import Leave
from tui.kit.canvas import harmless
from tui.kit.jumps import Jump, next_task

if TYPE_CHECKING:
    from tui.app.application import DevteamApp


LOOK_BACK = 10.0
"""Seconds that the first step back in time goes."""


def run(app: DevteamApp, name: str) -> None:
    """Run an action that the screen has no way of its own for."""
    steering = app.steering
    match name:
        case "palette":
            open_palette(app)
        case name if name in pages.PAGES:
            go(app, name)
        case "replay":
            replay_sprint(app, "")
        case "look_back":
            look_back(app, app.view.now - LOOK_BACK)
        case "jump_running" | "jump_failed" | "jump_waiting":
            jump_to(app, Jump(name.removeprefix("jump_")))
        case "jump":
            jump(app)
        case "request":
            dialogs.request(app)
        case "approve_all":
            dialogs.confirm_approve_all(app)
        case "repaint":
            app.repaint()
        case "gate_next":
            app.gates.step(1)
            app.redraw()
        case "gate_previous":
            app.gates.step(-1)
            app.redraw()
        case "follow":
            app.follow()
        case "pause":
            steering.pause()
        case "stop":
            dialogs.confirm_stop(app)
        case "cancel":
            dialogs.confirm_cancel(app)
        case "land":
            dialogs.confirm_land(app)
        case "auto_fix":
            steering.set_auto(GateKind.FIX)
        case "auto_task":
            steering.set_auto(GateKind.TASK)
        case "attended":
            steering.attended()
        case "steer":
            dialogs.steer(app)
        case "skip_task":
            dialogs.confirm_skip(app)
        case "retry_task":
            dialogs.retry(app)
        case "copy":
            copy(app)
        case "save":
            save(app)
        case "screenshot":
            screenshot(app)
        case "editor" | "pager":
            app.run_worker(open_file(app, name), group="open", exit_on_error=False)
        case "quit":
            app.exit(Leave())
        case "next_pane":
            app.screen.focus_next()
        case "previous_pane":
            app.screen.focus_previous()
        case _:
            app.tell("this works in the dashboard: press esc first")


def jump_to(app: DevteamApp, kind: Jump) -> None:
    """To the next task of a kind, round the plan."""
    found = next_task(app.feed.state, app.view.selected, kind)
    if found:
        app.choose(found)
    else:
        app.tell(f"no task is {kind}")


def jump(app: DevteamApp) -> None:
    from tui.screens.jump import JumpScreen, places

    more = getattr(app.screen, "jump_places", None)
    letters = places(app.screen, more() if more is not None else ())
    if letters and not app.screen.is_modal:
        app.push_screen(JumpScreen(letters), lambda place: place.go() if place is not None else None)


def open_palette(app: DevteamApp) -> None:
    from textual.command import CommandPalette

    if not isinstance(app.screen, CommandPalette):
        app.push_screen(CommandPalette(placeholder="search commands, tasks and themes", id="--command-palette"))


def go(app: DevteamApp, name: str) -> None:
    """Open a page; one that is open already is left, so that its key also closes it."""
    from tui.screens.page import Page

    if isinstance(app.screen, Page) and name == app.screen.NAME:
        app.screen.do_back()
        return
    page = pages.make(name)
    if len(app.screen_stack) > app.bottom:
        app.switch_screen(page)
    else:
        app.push_screen(page)


# ── text and files ─────────────────────────────────────────────────────────────────────────────────────────────────


def copy(app: DevteamApp) -> None:
    selected = app.screen.get_selected_text()
    give = getattr(app.screen, "text_to_copy", None)
    text = selected or (give() if give is not None else "")
    if not text:
        app.tell("there is nothing to copy here", "warning")
        return
    app.copy_to_clipboard("\n".join(harmless(line) for line in text.split("\n")))
    lines = plural(text.count("\n") + 1, "line")
    app.tell(f"{lines} copied; if the clipboard is empty in tmux, save with {app.keys.shown('save')}")


def save(app: DevteamApp) -> None:
    if path := _saved_copy(app, "save"):
        app.tell(f"saved as {path}")


def _saved_copy(app: DevteamApp, wanted: str) -> str:
    """Where the text of the screen was written; empty where there is none or it cannot be, which is said."""
    give = getattr(app.screen, "text_to_save", None)
    if give is None:
        app.tell(f"there is nothing to {wanted} here", "warning")
        return ""
    name, text = give()
    path = app.options.save_folder / name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        files.write(path, text + "\n", durable=False)
    except OSError as error:
        app.tell(f"{path} cannot be written: {error.strerror}", "error")
        return ""
    return str(path)


def screenshot(app: DevteamApp) -> None:
    name = f"devteam-{int(app.options.clock())}.svg"
    try:
        app.options.save_folder.mkdir(parents=True, exist_ok=True)
        path = app.save_screenshot(name, path=str(app.options.save_folder))
    except OSError as error:
        app.tell(f"no screenshot could be saved: {error.strerror}", "error")
        return
    app.tell(f"saved as {path}")


async def open_file(app: DevteamApp, kind: str) -> None:
    """Hand what the screen shows to $EDITOR or $PAGER: the plan itself on the plan page, else a saved copy."""
    program = app.options.editor if kind == "editor" else app.options.pager
    if not program:
        app.tell(f"set ${'EDITOR' if kind == 'editor' else 'PAGER'} first, for example: export EDITOR=vim", "warning")
        return
    path = ""
    if getattr(app.screen, "NAME", "") in ("plan", "dashboard"):
        answer = await app.feed.link.fetch(GetFile(name="plan.md"))
        path = answer.path
    path = path or _saved_copy(app, "open")
    if not path:
        return
    start = app.options.run_program or run_in_foreground
    with contextlib.ExitStack() as aside:
        if app.options.run_program is None:
            aside.enter_context(app.suspend())
        status = start(command_for(program, path))
    if status:
        app.tell(f"{program} ended with {status}", "warning")


# ── sprints ────────────────────────────────────────────────────────────────────────────────────────────────────────


def open_sprint(app: DevteamApp, sprint: str) -> None:
    if sprint == app.feed.state.sprint:
        app.pop_screen()
        return
    if app.options.open_sprint is None:
        app.exit(Leave(action="sprint", argument=sprint))
        return
    app.run_worker(_open(app, sprint), group="open", exit_on_error=False)


async def _open(app: DevteamApp, sprint: str) -> None:
    opener = app.options.open_sprint
    if opener is None:
        return
    try:
        link = await opener(sprint)
    except Exception as error:  # noqa: BLE001 the named boundary: the caller's hook
        app.tell(f"{sprint} cannot be opened: {error}", "error")
        return
    app.attach(link)
    app.pop_screen()


def replay_sprint(app: DevteamApp, sprint: str) -> None:
    """Play a run again from its beginning; empty: the one on screen."""
    if app.replaying:
        app.tell("this is a replay already; space: play")
        return
    app.run_worker(_replay(app, sprint), group="open", exit_on_error=False)


def look_back(app: DevteamApp, at: float) -> None:
    """A live run at an earlier moment, standing still: the arrow keys go on from there, escape comes back."""
    if not app.replaying:
        app.run_worker(_replay(app, "", at=at), group="open", exclusive=True, exit_on_error=False)


async def _replay(app: DevteamApp, sprint: str, at: float | None = None) -> None:
    from tui.screens.replay import ReplayScreen

    link: Link = app.feed.link
    if sprint and sprint != app.feed.state.sprint:
        if app.options.open_sprint is None:
            app.exit(Leave(action="replay", argument=sprint))
            return
        try:
            link = await app.options.open_sprint(sprint)
        except Exception as error:  # noqa: BLE001 the named boundary: the caller's hook
            app.tell(f"{sprint} cannot be opened: {error}", "error")
            return
    items = await record(link)
    if not items:
        app.tell("there is nothing to replay yet", "warning")
        return
    player = ReplayLink(items, name=sprint or app.feed.state.sprint, speed=4.0, at_end=False)
    if at is not None:
        player.seek(at)
        player.pause()
    app.attach(player, keep=True)
    app.push_screen(ReplayScreen())

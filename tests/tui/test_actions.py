"""Every action of the registry is reached by its key and through the palette, and does what it says."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from textual.command import CommandPalette
from textual.pilot import Pilot
from textual.widgets import OptionList

from engine.core import commands as cmd
from engine.core.commands import Ack
from engine.link.protocol import LinkStatus
from tests.tui.driving import app_on, drawn, press, running, settle
from tests.tui.links import LiveLink, live
from tests.tui.reading import text_of
from tui.app.application import DevteamApp
from tui.app.command_search import Commands
from tui.app.options import Leave
from tui.kit import keys
from tui.kit.context import UNNAMED, works
from tui.panels.output import OutputPanel
from tui.screens.comment import CommentScreen
from tui.screens.confirm import ConfirmScreen


async def test_every_action_has_a_key_that_reaches_it() -> None:
    """Each key of each action arrives at the app as that action, with a gate open that offers everything."""
    async with running("fix_gate") as (app, pilot, _link):
        await press(pilot, "3")
        reached: list[str] = []
        app.act = reached.append  # type: ignore[method-assign, assignment]
        app.check_action = lambda *_: True  # type: ignore[method-assign]
        for action in keys.ACTIONS:
            for key in action.keys.split(","):
                reached.clear()
                await pilot.press(key)
                wanted = {"ask"} if key == "question_mark" else {action.name}
                assert set(reached) == wanted, (action.name, key, reached)


@pytest.mark.parametrize("moment", ["fix_gate", "parallel", "end"])
async def test_the_palette_has_what_works_here_and_nothing_else(moment: str) -> None:
    async with running(moment) as (app, _pilot, _link):
        reached: list[str] = []
        app.act = reached.append  # type: ignore[method-assign, assignment]
        provider = Commands(app.screen)
        for _title, _about, run in provider._all():
            if getattr(run, "func", None) is app.act or run.func == app.act:  # type: ignore[attr-defined]
                run()
        here = app.screen.situation(app.view)  # type: ignore[attr-defined]
        works_here = {action.name for action in keys.ACTIONS if works(here, action.name)}
        assert sorted(reached) == sorted(works_here - set(UNNAMED))
        assert not {"retry", "accept", "replan", "stop_here"} & set(reached), "what no open gate offers"
        assert ("yes" in reached) == ("comment" in reached) == (moment == "fix_gate")
        assert ("stop" in reached) == (moment != "end")


async def test_the_palette_finds_and_runs() -> None:
    async with running("parallel") as (app, pilot, _link):
        await press(pilot, "ctrl+p")
        assert isinstance(app.screen, CommandPalette)
        await pilot.press(*"rung,")
        for _ in range(100):
            await pilot.pause(0.05)
            if app.screen.query_one(OptionList).option_count == 1:
                break
        await pilot.press("enter")
        for _ in range(100):
            await pilot.pause(0.02)
            if not isinstance(app.screen, CommandPalette):
                break
        await settle(pilot)
        assert getattr(app.screen, "NAME", "") == "cost"


STEERING: list[tuple[list[str], cmd.AnyCommand | None]] = [
    (["space"], cmd.Pause()),
    (["S", "f"], cmd.Stop()),
    (["S", "n"], cmd.Stop(now=True)),
    (["S", "escape"], None),
    (["X", "X"], cmd.Cancel()),
    (["X", "escape"], None),
    (["L", "L"], cmd.LandNow()),
    (["F"], cmd.SetAuto(gate_kind="fix", auto=True)),
    (["T"], cmd.SetAuto(gate_kind="task", auto=True)),
    (["U"], cmd.SetAttended(attended=False)),
    (["K", "K"], cmd.Skip(task="1.2")),
    (["m", "h", "i", "f2"], cmd.Steer(task="1.2", text="hi")),
    (["m", "escape"], None),
]


async def test_steering() -> None:
    """Each way of telling the engine something: one command for each, none where it was not confirmed."""
    async with running("parallel", size=(80, 24)) as (app, pilot, link):
        for keys_, expected in STEERING:
            link.sent.clear()
            await press(pilot, *keys_)
            app.clear_notifications()
            told = [replace(sent, id="", by="") for sent in link.sent]
            assert told == ([expected] if expected is not None else []), keys_


async def test_a_skipped_task_can_be_retried_with_a_note() -> None:
    async with running("end") as (app, pilot, link):
        app.choose("2.2")
        await settle(pilot)
        await press(pilot, "R")
        assert isinstance(app.screen, CommentScreen)
        await press(pilot, "n", "f2")
        assert [(sent.task, sent.text) for sent in link.sent if isinstance(sent, cmd.Retry)] == [("2.2", "n")]


async def test_land_uses_the_callers_way_when_there_is_one() -> None:
    asked: list[str] = []

    async def land() -> Ack:
        asked.append("land")
        return Ack(ok=True, detail="landed")

    async with running("end", land=land) as (_app, pilot, link):
        await press(pilot, "L", "L")
        assert asked == ["land"]
        assert link.sent == []


async def test_pages_panes_zoom_follow_and_search() -> None:
    """Each leaves the dashboard as it was, so one start is enough for all."""
    async with running("parallel") as (app, pilot, _link):
        await pages_open_close_and_replace_each_other(app, pilot)
        await panes_focus_zoom_and_follow(app, pilot)
        await search_finds_steps_and_ends(app, pilot)
        await stop_and_cancel_say_what_is_kept(app, pilot)


async def pages_open_close_and_replace_each_other(app: DevteamApp, pilot: Pilot[Any]) -> None:
    for key, name in (("i", "iterations"), ("d", "diff"), ("dollar_sign", "cost"), ("dollar_sign", "dashboard")):
        await press(pilot, key)
        assert getattr(app.screen, "NAME", "") == name
    await press(pilot, "p", "escape")
    assert app.screen.NAME == "dashboard"
    await press(pilot, "escape")
    assert app.screen.NAME == "dashboard"


async def panes_focus_zoom_and_follow(app: DevteamApp, pilot: Pilot[Any]) -> None:
    for key, name in (("1", "tasks"), ("2", "iteration"), ("3", "output"), ("4", "ladder"), ("5", "health")):
        await press(pilot, key)
        assert app.screen.focused_pane() == name
    await press(pilot, "tab")
    assert app.screen.focused_pane() == "strip"
    await press(pilot, "tab")
    assert app.screen.focused_pane() == "tasks"
    await press(pilot, "down", "down")
    assert (app.view.selected, app.view.following) == ("2.1", False)
    await press(pilot, "f")
    assert (app.view.selected, app.view.following) == ("1.2", True)
    await press(pilot, "z")
    assert not app.screen.query_one("#work-column").display
    await press(pilot, "escape")
    assert app.screen.query_one("#work-column").display


async def search_finds_steps_and_ends(app: DevteamApp, pilot: Pilot[Any]) -> None:
    await press(pilot, "3", "slash", *"AUTH", "enter")
    view = app.screen.query_one("#output-0", OutputPanel).lines
    assert len(view.matches) > 5
    first = view.scroll_offset.y
    await press(pilot, "n")
    assert view.scroll_offset.y >= first
    await press(pilot, "escape")
    assert view.matches == []


async def stop_and_cancel_say_what_is_kept(app: DevteamApp, pilot: Pilot[Any]) -> None:
    for key in ("S", "X"):
        await press(pilot, key)
        assert isinstance(app.screen, ConfirmScreen)
        words = "".join(text for line in app.screen.query_one("#words").lines for text, _ in line)
        assert "Kept in any case" in words
        await press(pilot, "escape")


async def test_save_copy_screenshot_and_open(tmp_path: Path) -> None:
    opened: list[list[str]] = []

    def program(argv: list[str]) -> int:
        opened.append(argv)
        return 0

    async with running("parallel", save_folder=tmp_path, editor="vim -n", pager="less", run_program=program) as (
        app,
        pilot,
        _link,
    ):
        await press(pilot, "w")
        assert "standard library" in (tmp_path / "output-1.2.txt").read_text()
        await press(pilot, "f12")
        assert list(tmp_path.glob("*.svg"))
        await press(pilot, "E")
        assert opened[-1] == ["vim", "-n", "/nowhere/plan.md"]
        await press(pilot, "dollar_sign", "P")
        assert opened[-1] == ["less", str(tmp_path / "cost.txt")]
        await press(pilot, "C")
        assert "BY RUNG" in app.clipboard


async def test_leaving_says_how() -> None:
    app = app_on(live("parallel"))
    async with app.run_test() as pilot:
        await settle(pilot)
        await press(pilot, "q")
    assert app.return_value == Leave(action="detach")


async def test_ctrl_c_hints_first_and_says_what_leaving_does() -> None:
    app = app_on(live("parallel"))
    said: list[str] = []
    async with app.run_test() as pilot:
        await settle(pilot)
        assert not app.touched
        await pilot.click()
        assert app.touched, "somebody who only looks is noticed: the demo closes by itself only when nobody is there"
        app.touched = False
        await pilot.press("down")
        assert app.touched
        app.tell = lambda text, severity="information": said.append(text)  # type: ignore[method-assign]
        for inline in (True, False):
            app.options = dataclasses.replace(app.options, inline=inline)
            app.options.clock.now += 60.0  # type: ignore[attr-defined]
            await pilot.press("ctrl+c")
            await pilot.pause()
            assert app.return_value is None
        await pilot.press("ctrl+c")
    assert app.return_value == Leave()
    assert "the run stops" in said[0] and "the engine keeps running" in said[1]


async def test_welcome_leads_on() -> None:
    app = app_on(LiveLink([]))
    left: list[str] = []
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        really = app.exit
        app.exit = lambda result=None, **_: left.append(result.action)  # type: ignore[method-assign, union-attr]
        for _ in range(3):
            await press(pilot, "down", "enter")
        app.exit = really  # type: ignore[method-assign]
        await press(pilot, "down", "enter")
    assert left == ["plan", "demo", "init"]
    assert app.return_value is not None and app.return_value.action == "doctor"


async def test_a_sentence_becomes_a_request() -> None:
    app = app_on(LiveLink([]))
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        await press(pilot, "enter")
        assert isinstance(app.screen, CommentScreen)
        await pilot.press(*"add a login")
        await press(pilot, "escape", "enter")
        await pilot.press("f2")
    assert app.return_value == Leave(action="request", argument="add a login"), "the draft was not lost by leaving"


async def test_another_sprint_is_opened_or_left_for() -> None:
    app = app_on(live("parallel"))
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        await press(pilot, "o", "down", "enter")
    assert app.return_value == Leave(action="sprint", argument="002-export-csv")


async def test_replay_of_this_run_and_back() -> None:
    async with running("fix_gate") as (app, pilot, link):
        live_feed = app.feed
        await pilot.press("v")
        for _ in range(100):
            if app.screen.NAME == "replay":
                break
            await pilot.pause(0.02)
        assert app.replaying
        assert app.screen.NAME == "replay"
        player = app.screen.player
        await pilot.press("end")
        await settle(pilot)
        assert app.feed.state.seq == live_feed.state.seq
        said = app.screen.query_one("#output-0", OutputPanel).lines.whole_text()
        assert "Read  src/auth/passwords.py" in said, "a replay has the agents' words too"
        await pilot.press("home")
        await pilot.press("space")
        assert player.paused
        await press(pilot, "y", "escape")
        assert app.feed is live_feed
        assert link.sent == []


def test_a_bad_remap_is_named_and_left_out() -> None:
    made = keys.key_map({"pauze": "f5", "cost": "y", "pause": "", "land": "ctrl+l"})
    assert made.keys["land"] == "ctrl+l"
    assert made.keys["cost"] == "dollar_sign"
    told = "\n".join(made.problems)
    assert "pauze" in told
    assert "did you mean pause?" in told
    assert "yes has this key already" in told


async def test_a_remapped_key_works_and_is_shown() -> None:
    async with running("parallel", keys={"cost": "f6"}) as (app, pilot, _link):
        await press(pilot, "f6")
        assert app.screen.NAME == "cost"
        await press(pilot, "i")
        footer = "".join(text for line in app.screen.query_one("#footer").lines for text, _ in line)
        assert "f6 cost" in footer


def test_default_keys_do_not_clash() -> None:
    seen: dict[str, str] = {}
    for action in keys.ACTIONS:
        for key in action.keys.split(","):
            assert key not in seen or {seen[key], action.name} == {"ask", "help"}, key
            seen[key] = action.name


def test_no_colour_is_named_outside_the_themes() -> None:
    root = Path(__file__).parents[2]
    files = [path for suffix in ("py", "tcss") for path in (root / "tui").rglob(f"*.{suffix}")]
    for path in files:
        assert not re.search(r"#[0-9a-fA-F]{6}\b", path.read_text(encoding="utf-8")), path


@pytest.mark.parametrize("inline", [True, False])
async def test_landing_leaves_the_dashboard_where_the_run_was_inside_it(inline: bool) -> None:
    """Nobody is left in this process to take a command: what cannot be done is not offered, and landing comes after."""
    link = live("end")
    app = app_on(link, inline=inline)
    async with app.run_test(size=(160, 40)) as pilot:
        await settle(pilot)
        app.feed.status = LinkStatus(status="ended")
        app.choose("2.2")
        await drawn(pilot)
        footer = text_of(app)[-1]
        assert ("q quit" in footer) == inline and ("q detach" in footer) != inline
        assert ("retry task" in footer) != inline
        await press(pilot, "L", "L")
    if inline:
        assert app.return_value == Leave(action="land") and link.sent == []
    else:
        assert [type(sent) for sent in link.sent] == [cmd.LandNow]

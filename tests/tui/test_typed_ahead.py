"""Keys typed faster than the screen follows: what a dialog opens for waits for it, and never acts behind it."""

from __future__ import annotations

import random
from typing import Any

import pytest
from textual.events import Key, Paste
from textual.pilot import Pilot
from textual.widgets import Input, TextArea

from engine.core import events as ev
from tests.patience import Deadline
from tests.tui.driving import app_on, press, running, settle
from tests.tui.lanes import live_lanes
from tests.tui.links import LiveLink
from tui.app.application import DevteamApp
from tui.kit.keys import ACTIONS
from tui.screens.comment import CommentScreen
from tui.screens.dashboard import Dashboard

TEXT = "Skip Y, X! (a/s/t) q"
NAMED = {" ": "space", "/": "slash", ",": "comma", "!": "exclamation_mark", "?": "question_mark", "$": "dollar_sign"}
NAMED |= {"(": "left_parenthesis", ")": "right_parenthesis", "+": "plus", "%": "percent_sign"}


def typed(app: DevteamApp, *keys: str) -> None:
    """At once, as a terminal hands on what was typed while somebody else had the processor."""
    for key in keys:
        name = NAMED.get(key, key)
        app.post_message(Key(name, key if len(key) == 1 else None))


async def all_taken(pilot: Pilot[Any]) -> None:
    app: DevteamApp = pilot.app  # type: ignore[assignment]
    deadline = Deadline(20)
    await pilot.pause()
    while app.typed.busy:
        assert not deadline.over(), "keys wait for ever"
        await pilot.pause(0.01)
    await settle(pilot)


OPENED = [
    pytest.param("fix_gate", ["c"], id="comment"),
    pytest.param("fix_gate", ["?"], id="ask"),
    pytest.param("fix_gate", ["m"], id="steer"),
    pytest.param("parallel", ["ctrl+p"], id="palette"),
    pytest.param("parallel", ["/"], id="filter tasks"),
    pytest.param("parallel", ["i", "/"], id="filter iterations"),
    pytest.param("parallel", ["l", "/"], id="filter events"),
    pytest.param("parallel", ["o", "/"], id="filter sprints"),
]


@pytest.mark.parametrize("pasted", [False, True], ids=["typed", "pasted"])
@pytest.mark.parametrize(("mark", "keys"), OPENED)
async def test_a_text_waits_for_what_it_is_for(mark: str, keys: list[str], pasted: bool) -> None:
    async with running(mark) as (app, pilot, link):
        app.options.clock.pass_guard()  # type: ignore[attr-defined]
        typed(app, *keys, *([] if pasted else TEXT))
        if pasted:
            app.post_message(Paste(TEXT))
        await all_taken(pilot)
        box = app.focused
        assert isinstance(box, Input | TextArea), app.focused
        assert (box.value if isinstance(box, Input) else box.text).endswith(TEXT)
        assert link.sent == []
        await press(pilot, "escape")


async def test_what_is_sent_is_the_whole_text() -> None:
    async with running("fix_gate") as (app, pilot, link):
        app.options.clock.pass_guard()  # type: ignore[attr-defined]
        typed(app, "c", *TEXT, "f2")
        await all_taken(pilot)
        assert [sent.text for sent in link.sent] == [TEXT]
        assert isinstance(app.screen, Dashboard)


async def test_from_the_welcome_screen_too() -> None:
    link = LiveLink([])
    link.sent = []
    app = app_on(link)
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        typed(app, "enter", *TEXT)
        await all_taken(pilot)
        assert isinstance(app.screen, CommentScreen)
        assert app.screen.query_one(TextArea).text == TEXT


@pytest.mark.parametrize("key", ["c", "y"])
async def test_a_key_for_a_gate_that_is_not_there_yet_takes_its_text_with_it(key: str) -> None:
    """The comment was meant for a gate; as commands its letters would stop, skip or approve something."""
    link = live_lanes(4)
    app = app_on(link)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        clock: Any = app.options.clock
        clock.pass_guard()
        typed(app, key, *TEXT[:6])
        await all_taken(pilot)
        link.more(ev.GateOpened(gate="G9", task="1.5", kind="task", title="x", choices=("yes", "comment")))
        await settle(pilot)  # within the guard
        typed(app, *TEXT[6:])
        await all_taken(pilot)
        assert link.sent == []
        assert isinstance(app.screen, Dashboard)
        clock.pass_guard()
        typed(app, "c", *TEXT)
        await all_taken(pilot)
        assert isinstance(app.screen, CommentScreen), "a moment later it is heard again"
        assert app.screen.query_one(TextArea).text == TEXT


async def test_a_comment_begun_in_the_moment_a_gate_appears_does_nothing() -> None:
    async with running("fix_gate") as (app, pilot, link):
        app.gates.appeared()
        typed(app, "c", *TEXT)
        await all_taken(pilot)
        assert link.sent == []
        assert isinstance(app.screen, Dashboard)
        await press(pilot, "c")
        assert isinstance(app.screen, CommentScreen)
        assert app.screen.query_one(TextArea).text == ""


@pytest.mark.parametrize("seed", range(3))
async def test_any_keys_at_any_pace_are_taken_in_order_and_none_is_left_behind(seed: int) -> None:
    """Also where a key closes the screen that the next one set out for."""
    rng = random.Random(seed)
    leave_out = {"quit", "editor", "pager", "screenshot", "save", "copy", "request"}
    keys = [action.keys.split(",")[0] for action in ACTIONS if action.name not in leave_out]
    link = live_lanes(3, gates=2)
    app = app_on(link)
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        for _ in range(6):
            app.options.clock.pass_guard()  # type: ignore[attr-defined]
            for key in rng.choices([*keys, "escape", "escape", "enter", "down"], k=rng.randint(1, 8)):
                app.post_message(Key(key, None))
            await all_taken(pilot)
        assert app.is_running
        while len(app.screen_stack) > 2:
            await press(pilot, "escape")
        await press(pilot, "1")

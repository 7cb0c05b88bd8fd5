"""What is shown is what `y` acts on, always: the gate in sight decides the selection, or nothing can be answered."""

from __future__ import annotations

import random
from typing import Any

import pytest

from engine.core import events as ev
from engine.core.commands import Answer
from tests.patience import Deadline
from tests.tui.driving import Clock, app_on, press, settle
from tests.tui.lanes import live_lanes
from tests.tui.reading import text_of
from tui.app.application import DevteamApp
from tui.kit.paint import plain
from tui.screens.diff import Diff

WALK = ("up", "down", "right_square_bracket", "left_square_bracket", "f", "g", "d", "e", "escape", "1", "p")


def shown_gate(app: DevteamApp) -> str:
    """What the bar on screen says, in words."""
    return plain(app.screen.query_one("#gate-title").lines)  # type: ignore[attr-defined]


def consistent(app: DevteamApp) -> None:
    view = app.view
    if view.gate is None:
        assert not shown_gate(app) or "wait" in shown_gate(app)
        return
    assert view.selected == view.gate.task
    assert f"T{view.gate.task} " in shown_gate(app)
    if isinstance(app.screen, Diff):
        assert app.screen.shown_task() in ("", view.gate.task), "another task's change under this gate"


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.torture) for seed in range(1, 8))])
async def test_a_walk_over_several_gates_and_lanes(seed: int) -> None:
    rng = random.Random(seed)
    link = live_lanes(5, gates=4)
    app = app_on(link)
    async with app.run_test(size=rng.choice([(80, 24), (120, 40), (200, 50)])) as pilot:
        await settle(pilot)
        await press(pilot, "1")
        opened = {f"G{number}" for number in range(1, 5)}
        for _ in range(25):
            await press(pilot, rng.choice(WALK))
            consistent(app)
            if rng.random() < 0.3 and len(app.screen_stack) > 1:
                before = app.view
                link.sent.clear()
                await press(pilot, "y")
                answered = [sent for sent in link.sent if isinstance(sent, Answer)]
                assert len(answered) <= 1
                for sent in answered:
                    assert before.gate is not None, "nothing was shown that could be answered"
                    assert (sent.gate, before.gate.task) == (before.gate.id, before.selected)
                    opened.discard(sent.gate)
                    link.more(ev.GateAnswered(gate=sent.gate, choice="yes", by="you"))
                    await settle(pilot)
                    consistent(app)
            if rng.random() < 0.1 and opened:
                other = rng.choice(sorted(opened))
                opened.discard(other)
                link.more(ev.GateAnswered(gate=other, choice="comment", by="phone"))
                await settle(pilot)
                consistent(app)


async def chosen(app: DevteamApp, pilot: Any, task: str) -> None:
    app.choose(task)
    app.frame()
    await pilot.pause()


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=str)
async def test_looking_at_another_task_puts_the_gate_aside(size: tuple[int, int]) -> None:
    link = live_lanes(4, gates=2)
    app = app_on(link)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        assert app.view.gate is not None
        await chosen(app, pilot, "1.7")
        assert app.view.gate is None
        assert "2 waiting for you" in shown_gate(app)
        assert not any("another attempt" in row or "commits" in row for row in text_of(app)), "no key causes that now"
        await press(pilot, "y", "a", "s", "c")
        assert link.sent == []
        assert len(app.screen_stack) == 2
        await chosen(app, pilot, "1.6")
        await press(pilot, "y")
        assert [(sent.gate) for sent in link.sent] == ["G2"]


async def test_a_gate_that_opens_while_another_task_is_looked_at_takes_nothing_over() -> None:
    link = live_lanes(3)
    app = app_on(link)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await chosen(app, pilot, "1.5")
        link.more(ev.GateOpened(gate="G9", task="1.4", kind="task", title="x", choices=("yes", "comment")))
        await settle(pilot)
        clock: Clock = app.options.clock  # type: ignore[assignment]
        clock.pass_guard()
        assert app.view.selected == "1.5"
        await press(pilot, "y")
        assert link.sent == []
        assert "1 waiting for you" in shown_gate(app)


async def test_what_unblocks_most_is_asked_first_and_stays_in_sight() -> None:
    link = live_lanes(3, gates=2, more=5)
    app = app_on(link)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        first = app.view.gate
        assert first is not None
        link.more(ev.GateOpened(gate="G0", task="1.6", kind="task", title="x", choices=("yes", "comment")))
        await settle(pilot)
        assert app.view.gate is not None
        assert app.view.gate.id == first.id


async def test_what_a_key_asks_for_is_drawn_without_waiting_for_the_tick() -> None:
    """Ticks come once in an hour here: whatever is drawn was drawn for the key. Without one, nothing is hurried."""
    app = app_on(live_lanes(3, gates=0), fps=1 / 3600)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await press(pilot, "1")
        before = app.view
        clock: Any = app.options.clock
        clock.pass_guard()
        app.choose(next(task for task in app.view.state.tasks if task != before.selected))
        await pilot.pause()
        assert app.view is before
        app.frame()
        before = app.view
        await pilot.press("down")
        await pilot.press("up")
        deadline = Deadline(20)
        while app.view is before:
            assert not deadline.over(), "the key waits for the next tick"
            await pilot.pause()

"""Driving the dashboard in tests: a clock that stands until it is moved, and waiting for facts instead of time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from textual.pilot import Pilot

from engine.link.replay import ReplayLink
from tests.patience import Deadline
from tests.tui.links import LiveLink, live
from tui.app.application import DevteamApp
from tui.app.options import TuiOptions


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    def pass_guard(self) -> None:
        self.now += 1.0


def app_on(link: ReplayLink, **options: Any) -> DevteamApp:
    """The app over a link, reading nothing of the machine it runs on."""
    options.setdefault("clock", Clock())
    options.setdefault("watch", False)
    options.setdefault("bell", False)
    return DevteamApp(link, TuiOptions(**options))


async def settle(pilot: Pilot[Any]) -> None:
    """Until everything the link has is folded and drawn."""
    app: DevteamApp = pilot.app  # type: ignore[assignment]
    link: ReplayLink = app.feed.link  # type: ignore[assignment]

    def played() -> bool:
        at_rest = link.position >= link.length or link.paused
        return at_rest and not app.feed.waiting and app.feed.status.status != "connecting"

    deadline = Deadline(20)
    while not played():
        assert not deadline.over(), "the link never came to rest"
        await asyncio.sleep(0.005)
        app.feed.flush()
    known = getattr(app.screen, "loaded", True)
    await drawn(pilot)
    while not getattr(app.screen, "loaded", True):
        assert not deadline.over(), f"{app.screen} never had what it asked for"
        await asyncio.sleep(0.005)
    if not known or app.redraw_due:  # something came, or has another place: drawn once more
        await drawn(pilot)


async def drawn(pilot: Pilot[Any]) -> None:
    app: DevteamApp = pilot.app  # type: ignore[assignment]
    app.redraw()
    app.frame()
    await pilot.pause()


async def press(pilot: Pilot[Any], *keys: str) -> None:
    """Keys one after another, each after the gate's guard and each settled."""
    app: DevteamApp = pilot.app  # type: ignore[assignment]
    for key in keys:
        app.options.clock.pass_guard()  # type: ignore[attr-defined]
        await pilot.press(key)
        await settle(pilot)


@asynccontextmanager
async def running(
    mark: str = "parallel", size: tuple[int, int] = (120, 40), **options: Any
) -> AsyncIterator[tuple[DevteamApp, Pilot[Any], LiveLink]]:
    """The dashboard at a moment of the recorded sprint."""
    link = live(mark)
    app = app_on(link, **options)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        yield app, pilot, link

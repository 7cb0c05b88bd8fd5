"""What the screens look like, as text: at six sizes, with one to eight lanes, gates, an ended run and 300 tasks.

`make test` draws every situation and every size, each with few of the other; `make pictures` draws them all, and the
property over them (`wrong_with`). Few are kept as pictures too, for what text does not show: colours.
`DEVTEAM_UPDATE_SCREENS=1 make pictures` keeps the text anew.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from screenshots.make import link_at, recorded
from tests.tui.cuts import watched
from tests.tui.driving import app_on, drawn, press, settle
from tests.tui.lanes import live_lanes, many_tasks, with_long_titles
from tests.tui.links import LiveLink, live
from tests.tui.planned import live_planning, with_repository
from tests.tui.reading import same_as_kept, text_of, wrong_with
from tui.app.application import DevteamApp
from tui.app.pages import PAGES
from tui.kit.paint import plain
from tui.panels.strip import StripPanel

Size = tuple[int, int]
SIZES: tuple[Size, ...] = ((80, 24), (100, 30), (120, 40), (160, 45), (200, 50), (240, 60))
Compare = Callable[..., bool]
SLOW = pytest.mark.torture
"""Left out of `make test`, in `make pictures` and `make torture`."""

SITUATIONS: dict[str, Callable[[], LiveLink]] = {
    "lanes-1": lambda: live_lanes(1),
    "lanes-2": lambda: live_lanes(2),
    "lanes-4": lambda: live_lanes(4),
    "lanes-8": lambda: live_lanes(8),
    "desk": lambda: live_lanes(4, gates=3),
    "selection": lambda: live_lanes(4, gates=1),
    "morning": lambda: live_lanes(3, ended=True),
    "questions": lambda: live_planning("questions"),
    "approval": lambda: live_planning("objected"),
    "tasks-300": lambda: many_tasks(300),
}
FEW: dict[str, tuple[int, ...]] = {
    "lanes-1": (2, 4),
    "lanes-2": (1,),
    "lanes-4": (0, 3),
    "lanes-8": (2, 5),
    "desk": (0, 3),
    "selection": (2,),
    "morning": (1, 4),
    "questions": (0,),
    "approval": (3,),
    "tasks-300": (2,),
}
"""The sizes that `make test` draws of each."""
CHOSEN = {"selection": "1.8"}
"""Another task is looked at than the one whose gate is open."""
LOOKS = ("dark", "light", "ascii", "no_color")
KEPT_LOOKS = {("lanes-4", "ascii"), ("desk", "ascii"), ("lanes-2", "no_color")}
"""Of other looks than the usual few are kept as text; the property holds over all."""


def shown() -> Iterable[Any]:
    """Situation, look and sizes: few of each for `make test`, all of all for `make pictures`."""
    for name, few in FEW.items():
        yield pytest.param(name, "dark", [SIZES[at] for at in few], id=f"{name}")
    for name, look, at in (("lanes-4", "ascii", 0), ("desk", "ascii", 2), ("lanes-2", "no_color", 2)):
        yield pytest.param(name, look, [SIZES[at]], id=f"{name} {look}")
    for name in SITUATIONS:
        for look in LOOKS:
            yield pytest.param(name, look, list(SIZES), id=f"{name} {look} at every size", marks=SLOW)


def dressed(link: LiveLink, look: str, monkeypatch: pytest.MonkeyPatch) -> DevteamApp:
    if look == "no_color":
        monkeypatch.setenv("NO_COLOR", "1")
    return app_on(link, ascii=look == "ascii", theme="daylight" if look == "light" else "night-shift")


async def at_size(pilot: Any, size: Size) -> None:
    app: DevteamApp = pilot.app
    if tuple(app.size) != size:
        await pilot.resize_terminal(*size)
    await settle(pilot)
    await drawn(pilot)  # as the next second does: it knows where everything stands
    app.clear_notifications()
    await pilot.pause()
    before: list[str] = []
    while (now := text_of(app)) != before:  # a scroll bar that came or went is a reason to draw once more
        before = now
        await drawn(pilot)


@pytest.mark.parametrize(("name", "look", "sizes"), shown())
async def test_main_screen(name: str, look: str, sizes: list[Size], monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole, and as it was kept; colours change no letter, so the light one has the text of the dark one."""
    differs: list[str] = []
    for size in sizes:  # started anew: what is kept does not depend on the size before
        app = dressed(SITUATIONS[name](), look, monkeypatch)
        with watched() as cuts:
            async with app.run_test(size=size) as pilot:
                await at_size(pilot, size)
                if name in CHOSEN:
                    app.choose(CHOSEN[name])
                    await at_size(pilot, size)
                assert wrong_with(app, cuts) == [], f"{name} {look} at {size}"
                if look in ("dark", "light") or (name, look) in KEPT_LOOKS:
                    known = "" if look in ("dark", "light") else f"-{look}"
                    differs.append(same_as_kept(f"{name}{known}-{size[0]}x{size[1]}", text_of(app)))
    assert not any(differs), "\n".join(differs)


def titled() -> Iterable[Any]:
    yield pytest.param(4, [(80, 24), (100, 30), (120, 40)], id="4 lanes")
    yield pytest.param(8, [(120, 40)], id="8 lanes")
    for lanes in (1, 2, 4, 8):
        yield pytest.param(lanes, list(SIZES), id=f"{lanes} lanes at every size", marks=SLOW)


@pytest.mark.parametrize(("lanes", "sizes"), titled())
async def test_long_titles_are_whole_where_there_is_room(lanes: int, sizes: list[Size]) -> None:
    """The same property; and every lane of the strip says its rung, whatever its title."""
    for size in sizes:
        app = app_on(with_long_titles(lanes))
        with watched() as cuts:
            async with app.run_test(size=size) as pilot:
                await at_size(pilot, size)
                assert wrong_with(app, cuts) == [], f"{lanes} lanes at {size}"
                strip = plain(app.screen.query_one(StripPanel).lines).split("\n")
                said = sum(bool(re.search(r"\b(haiku|sonnet|opus)\b", row)) for row in strip)
                assert said == lanes, f"{lanes} lanes at {size}: {strip}"


async def test_every_card_is_seen_where_the_proof_leaves_room() -> None:
    for lanes, size in ((8, (240, 60)), (8, (120, 40)), (2, (80, 24))):
        app = app_on(live_lanes(lanes, gates=lanes))
        with watched() as cuts:
            async with app.run_test(size=size) as pilot:
                await at_size(pilot, size)
                assert wrong_with(app, cuts) == [], f"{lanes} gates at {size}"


MOMENTS = 12
"""Of a real run, evenly over all that happened in it."""


def moments() -> Iterable[Any]:
    yield pytest.param([5, 12], [(80, 24), (120, 40)], id="few")
    for at in range(1, MOMENTS + 1):
        yield pytest.param([at], list(SIZES), id=f"moment {at} at every size", marks=SLOW)


@pytest.mark.parametrize(("places", "sizes"), moments())
async def test_a_real_run_is_whole_at_any_moment(places: list[int], sizes: list[Size]) -> None:
    """The property over what real agents, checks and reviews say: longer words than any situation made for it."""
    for place in places:
        for size in sizes:
            app = app_on(link_at(len(recorded()) * place // MOMENTS))
            with watched() as cuts:
                async with app.run_test(size=size) as pilot:
                    await at_size(pilot, size)
                    assert wrong_with(app, cuts) == [], f"moment {place} at {size}"
                    for page in ("evidence", "iterations", "questions"):
                        app.act(page)
                        for up in range(3 if page == "iterations" else 1):
                            await press(pilot, *["up"] * up)
                            await settle(pilot)
                            await drawn(pilot)
                            assert wrong_with(app, cuts) == [], f"{page} at moment {place} at {size}, {up} up"


KEPT_PAGES = ((80, 24), (160, 45))


def paged() -> Iterable[Any]:
    yield pytest.param("dark", [(80, 24)], id="pages")
    yield pytest.param("ascii", [(160, 45)], id="pages ascii")
    for look in LOOKS:
        yield pytest.param(look, list(SIZES), id=f"pages {look} at every size", marks=SLOW)


@pytest.mark.parametrize(("look", "sizes"), paged())
async def test_pages(look: str, sizes: list[Size], monkeypatch: pytest.MonkeyPatch) -> None:
    """Every page there is, each at every size before the next one is opened."""
    app = dressed(with_repository(live("council")), look, monkeypatch)
    differs: list[str] = []
    with watched() as cuts:
        async with app.run_test(size=sizes[0]) as pilot:
            await settle(pilot)
            for name in PAGES:
                app.act(name)
                for size in sizes:
                    if size != tuple(app.size) or len(sizes) > 1:
                        await at_size(pilot, size)
                    else:
                        await settle(pilot)
                        app.clear_notifications()
                    assert wrong_with(app, cuts) == [], f"{name} {look} at {size}"
                    if look == "dark" and size in KEPT_PAGES:
                        differs.append(same_as_kept(f"page-{name}-{size[0]}x{size[1]}", text_of(app)))
                await press(pilot, "escape")
    assert not any(differs), "\n".join(differs)


PICTURES = [
    pytest.param("lanes-4", (120, 40), {}, id="flight", marks=SLOW),
    pytest.param("desk", (160, 45), {}, id="desk"),
    pytest.param("morning", (120, 40), {"theme": "daylight"}, id="morning-light", marks=SLOW),
    pytest.param("lanes-2", (80, 24), {"theme": "high-contrast"}, id="narrow-high-contrast", marks=SLOW),
]


@pytest.mark.parametrize(("name", "size", "options"), PICTURES)
def test_picture(snap_compare: Compare, name: str, size: Size, options: dict[str, Any]) -> None:
    async def before(pilot: Any) -> None:
        await at_size(pilot, size)

    assert snap_compare(app_on(SITUATIONS[name](), **options), terminal_size=size, run_before=before)


async def test_four_agents_fill_a_large_screen() -> None:
    """At 200×50 with four agents at work at least 35 % of the cells carry text."""
    app = app_on(live_lanes(4))
    async with app.run_test(size=(200, 50)) as pilot:
        await settle(pilot)
        await settle(pilot)
        cells = "".join(text_of(app))
        text = sum(not char.isspace() and char not in "─│╭╮╰╯╌·" for char in cells)
        assert text / len(cells) >= 0.35, f"{text / len(cells):.0%}"


DIALOGS: dict[str, tuple[str, ...]] = {
    "desk": ("c", "question_mark", "Y"),
    "lanes-4": ("S", "X", "K", "m", "J", "ctrl+p", "v", "less_than_sign", "slash", "ctrl+t", "minus"),
    "morning": ("L", "o", "slash"),
    "empty": ("", "enter"),
}
"""Comment, ask, approve all; stop, cancel, skip, steer, jump, palette, replay, look back, times, folded; land; welcome,
request."""


def asked() -> Iterable[Any]:
    for name in DIALOGS:
        yield pytest.param(name, "ascii", [(80, 24)], id=name, marks=SLOW if name == "lanes-4" else ())
        for look in ("dark", "ascii"):
            yield pytest.param(name, look, list(SIZES), id=f"{name} {look} at every size", marks=SLOW)


@pytest.mark.parametrize(("name", "look", "sizes"), asked())
async def test_dialogs_welcome_and_replay_are_whole(
    name: str, look: str, sizes: list[Size], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same property as over the main screens: nothing cut without a sign, no control byte, ASCII pure."""
    app = dressed(SITUATIONS[name]() if name in SITUATIONS else LiveLink([]), look, monkeypatch)
    with watched() as cuts:
        async with app.run_test(size=sizes[0]) as pilot:
            await settle(pilot)
            for key in DIALOGS[name]:
                await press(pilot, *([key] if key else []))
                for size in sizes:
                    if len(sizes) > 1:
                        await pilot.resize_terminal(*size)
                    app.clear_notifications()
                    app.redraw()
                    app.frame()
                    await pilot.pause()
                    assert wrong_with(app, cuts) == [], f"{key} {look} at {size}"
                if key and key not in ("ctrl+t", "minus"):
                    await press(pilot, "escape")

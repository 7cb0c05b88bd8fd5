"""What the screens look like, as text: at six sizes, with one to eight lanes, gates, an ended run and 300 tasks.

Few are kept as pictures too, for what text does not show: colours. `DEVTEAM_UPDATE_SCREENS=1` keeps the text anew.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.tui.driving import app_on, press, settle
from tests.tui.lanes import live_lanes, many_tasks
from tests.tui.links import LiveLink, live
from tests.tui.planned import live_planning, with_repository
from tests.tui.reading import same_as_kept, text_of, wrong_with

SIZES = ((80, 24), (100, 30), (120, 40), (160, 45), (200, 50), (240, 60))
Compare = Callable[..., bool]
SLOW = pytest.mark.torture
"""Left out of `make test`, in `make pictures` and `make torture`."""


async def at_size(pilot: Any, size: tuple[int, int]) -> None:
    await pilot.resize_terminal(*size)
    await settle(pilot)
    await settle(pilot)


SITUATIONS: list[Any] = [
    pytest.param("lanes-1", lambda: live_lanes(1), id="one lane"),
    pytest.param("lanes-2", lambda: live_lanes(2), id="two lanes"),
    pytest.param("lanes-4", lambda: live_lanes(4), id="four lanes"),
    pytest.param("lanes-8", lambda: live_lanes(8), id="eight lanes"),
    pytest.param("desk", lambda: live_lanes(4, gates=3), id="gates and selection"),
    pytest.param("morning", lambda: live_lanes(3, ended=True), id="a reopened sprint"),
    pytest.param("questions", lambda: live_planning("questions"), id="questions of the planner", marks=SLOW),
    pytest.param("approval", lambda: live_planning("objected"), id="a plan to approve", marks=SLOW),
    pytest.param("tasks-300", lambda: many_tasks(300), id="three hundred tasks"),
]


@pytest.mark.parametrize(("name", "make"), SITUATIONS)
async def test_main_screen_at_every_size(name: str, make: Callable[[], LiveLink]) -> None:
    app = app_on(make())
    differs: list[str] = []
    async with app.run_test(size=SIZES[0]) as pilot:
        for size in SIZES:
            await at_size(pilot, size)
            app.clear_notifications()
            await settle(pilot)
            assert wrong_with(app) == [], f"{name} at {size}"
            differs.append(same_as_kept(f"{name}-{size[0]}x{size[1]}", text_of(app)))
    assert not any(differs), "\n".join(differs)


@pytest.mark.parametrize("look", ["ascii", "no_color", "light"])
async def test_main_screen_in_other_looks(look: str, monkeypatch: pytest.MonkeyPatch) -> None:
    options: dict[str, Any] = {"ascii": look == "ascii", "theme": "daylight" if look == "light" else "night-shift"}
    for name, make in (("lanes-4", lambda: live_lanes(4)), ("desk", lambda: live_lanes(4, gates=3))):
        if look == "no_color":
            monkeypatch.setenv("NO_COLOR", "1")  # the app takes it away again
        app = app_on(make(), **options)
        async with app.run_test(size=(120, 40)) as pilot:
            await settle(pilot)
            for size in ((80, 24), (120, 40), (200, 50)):
                await at_size(pilot, size)
                assert wrong_with(app) == [], f"{name} {look} at {size}"
                assert not same_as_kept(f"{name}-{look}-{size[0]}x{size[1]}", text_of(app)) or look == "light"


PAGES = ("i", "e", "d", "dollar_sign", "l", "p", "b", "o", "comma", "f1", "Q", "percent_sign", "M")


@pytest.mark.parametrize("ascii_only", [pytest.param(False, id="unicode"), pytest.param(True, id="ascii")])
@pytest.mark.parametrize("size", [pytest.param((80, 24), id="80x24"), pytest.param((160, 45), id="160x45")])
async def test_pages(size: tuple[int, int], ascii_only: bool) -> None:
    app = app_on(with_repository(live("council")), ascii=ascii_only)
    differs: list[str] = []
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        for key in PAGES:
            await press(pilot, key)
            await settle(pilot)
            app.clear_notifications()
            assert wrong_with(app) == [], f"{app.screen} at {size}"
            if not ascii_only:
                name = getattr(app.screen, "NAME", key)
                differs.append(same_as_kept(f"page-{name}-{size[0]}x{size[1]}", text_of(app)))
            await press(pilot, "escape")
    assert not any(differs), "\n".join(differs)


PICTURES = [
    pytest.param(lambda: live_lanes(4), (120, 40), (), {}, id="flight"),
    pytest.param(lambda: live_lanes(4, gates=3), (160, 45), (), {}, id="desk"),
    pytest.param(lambda: live_lanes(3, ended=True), (120, 40), (), {"theme": "daylight"}, id="morning-light"),
    pytest.param(lambda: live_lanes(2), (80, 24), (), {"theme": "high-contrast"}, id="narrow-high-contrast"),
]


@pytest.mark.parametrize(("make", "size", "keys", "options"), PICTURES)
def test_picture(
    snap_compare: Compare,
    make: Callable[[], LiveLink],
    size: tuple[int, int],
    keys: tuple[str, ...],
    options: dict[str, Any],
) -> None:
    async def before(pilot: Any) -> None:
        await settle(pilot)
        await press(pilot, *keys)
        pilot.app.clear_notifications()
        await settle(pilot)

    assert snap_compare(app_on(make(), **options), terminal_size=size, run_before=before)


async def test_four_agents_fill_a_large_screen() -> None:
    """At 200×50 with four agents at work at least 35 % of the cells carry text."""
    app = app_on(live_lanes(4))
    async with app.run_test(size=(200, 50)) as pilot:
        await settle(pilot)
        await settle(pilot)
        cells = "".join(text_of(app))
        text = sum(not char.isspace() and char not in "─│╭╮╰╯╌·" for char in cells)
        assert text / len(cells) >= 0.35, f"{text / len(cells):.0%}"


DIALOGS: dict[str, tuple[tuple[str, ...], ...]] = {
    "desk": (("c",), ("question_mark",), ("Y",)),
    "lanes": (
        ("S",),
        ("X",),
        ("K",),
        ("m",),
        ("J",),
        ("ctrl+p",),
        ("v",),
        ("less_than_sign",),
        ("ctrl+t",),
        ("minus",),
    ),
    "ended": (("L",),),
    "empty": ((), ("enter",)),
}
"""Comment, ask, approve all; stop, cancel, skip, steer, jump, palette, replay, look back, times, folded; land; welcome,
request."""
ONCE = [pytest.param(True, id="ascii"), pytest.param(False, id="unicode", marks=SLOW)]


@pytest.mark.parametrize("ascii_only", ONCE)
@pytest.mark.parametrize("situation", ["desk", "ended", "empty", pytest.param("lanes", marks=SLOW)])
async def test_dialogs_welcome_and_replay_are_whole(situation: str, ascii_only: bool) -> None:
    """The same property as over the main screens: nothing cut without a sign, no control byte, ASCII pure."""
    makes: dict[str, Callable[[], LiveLink]] = {
        "desk": lambda: live_lanes(4, gates=3),
        "lanes": lambda: live_lanes(4),
        "ended": lambda: live_lanes(3, ended=True),
        "empty": lambda: LiveLink([]),
    }
    app = app_on(makes[situation](), ascii=ascii_only)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        for keys in DIALOGS[situation]:
            await press(pilot, *keys)
            app.clear_notifications()
            app.redraw()
            app.frame()
            await pilot.pause()
            assert wrong_with(app) == [], f"{keys} at 80x24"
            if keys and keys[0] not in ("ctrl+t", "minus"):
                await press(pilot, "escape")

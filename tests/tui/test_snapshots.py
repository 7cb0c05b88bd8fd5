"""What every screen and every gate looks like: at their sizes, light and dark, in ASCII and without colour."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from engine.link.contract import LinkStatus
from engine.link.replay import ReplayLink
from tests.tui.driving import app_on, press, settle
from tests.tui.links import LiveLink, live
from tests.tui.recordings import whole

NARROW, NORMAL, WIDE = (80, 24), (120, 40), (240, 60)
SIZES = [pytest.param(NARROW, id="80x24"), pytest.param(NORMAL, id="120x40"), pytest.param(WIDE, id="240x60")]

Compare = Callable[..., bool]


def taken(snap_compare: Compare, link: ReplayLink, size: tuple[int, int], *keys: str, **options: Any) -> bool:
    async def before(pilot: Any) -> None:
        await settle(pilot)
        await press(pilot, *keys)
        pilot.app.clear_notifications()
        await settle(pilot)

    return snap_compare(app_on(link, **options), terminal_size=size, run_before=before)


class TestDashboard:
    @pytest.mark.parametrize("size", SIZES)
    def test_two_lanes_at_work(self, snap_compare: Compare, size: tuple[int, int]) -> None:
        assert taken(snap_compare, live("parallel"), size)

    @pytest.mark.parametrize("theme", ["daylight", "signal-dark", "high-contrast"])
    def test_themes(self, snap_compare: Compare, theme: str) -> None:
        assert taken(snap_compare, live("parallel"), NORMAL, theme=theme)

    @pytest.mark.parametrize("size", SIZES)
    def test_ascii(self, snap_compare: Compare, size: tuple[int, int]) -> None:
        assert taken(snap_compare, live("parallel"), size, ascii=True)

    def test_no_color(self, snap_compare: Compare, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("NO_COLOR", "1")
        assert taken(snap_compare, live("fix_gate"), NORMAL)

    def test_checks_run(self, snap_compare: Compare) -> None:
        assert taken(snap_compare, live("checks"), NORMAL)

    def test_a_limit_is_waited_for(self, snap_compare: Compare) -> None:
        assert taken(snap_compare, live("waiting"), NORMAL)

    @pytest.mark.parametrize("pane", ["1", "4"])
    def test_narrow_panes(self, snap_compare: Compare, pane: str) -> None:
        assert taken(snap_compare, live("council"), NARROW, pane)

    def test_search(self, snap_compare: Compare) -> None:
        assert taken(snap_compare, live("parallel"), NORMAL, "slash", *"auth", "enter")

    def test_zoom(self, snap_compare: Compare) -> None:
        assert taken(snap_compare, live("parallel"), NARROW, "5", "z")

    def test_too_small(self, snap_compare: Compare) -> None:
        assert taken(snap_compare, live("queue"), (50, 12))

    def test_engine_lost(self, snap_compare: Compare) -> None:
        link = live("parallel")

        class Lost(LiveLink):
            async def follow(self, after: int) -> Any:
                async for item in super().follow(after):
                    yield item
                    if self.position >= self.length:
                        yield LinkStatus(status="lost", detail="the engine is not running any more", hint="devteam run")

        link.__class__ = Lost
        assert taken(snap_compare, link, NARROW)


class TestGates:
    @pytest.mark.parametrize("size", SIZES)
    @pytest.mark.parametrize("mark", ["fix_gate", "task_gate", "blocked_gate"])
    def test_gate(self, snap_compare: Compare, mark: str, size: tuple[int, int]) -> None:
        assert taken(snap_compare, live(mark), size)

    def test_a_queue_of_gates(self, snap_compare: Compare) -> None:
        assert taken(snap_compare, live("queue"), NORMAL)

    def test_opened(self, snap_compare: Compare) -> None:
        assert taken(snap_compare, live("fix_gate"), NARROW, "g")

    def test_light(self, snap_compare: Compare) -> None:
        assert taken(snap_compare, live("fix_gate"), NORMAL, theme="paper")

    def test_ascii(self, snap_compare: Compare) -> None:
        assert taken(snap_compare, live("two_gates"), NARROW, ascii=True)

    @pytest.mark.parametrize("size", SIZES)
    def test_ask(self, snap_compare: Compare, size: tuple[int, int]) -> None:
        assert taken(snap_compare, live("asking"), size, "question_mark")

    @pytest.mark.parametrize("size", SIZES)
    def test_comment(self, snap_compare: Compare, size: tuple[int, int]) -> None:
        assert taken(snap_compare, live("fix_gate"), size, "c", *"Keep")

    def test_stop_is_confirmed(self, snap_compare: Compare) -> None:
        assert taken(snap_compare, live("parallel"), NARROW, "S")


PAGES = [
    pytest.param("fix_gate", "i", id="iterations"),
    pytest.param("council", "e", id="evidence"),
    pytest.param("fix_gate", "d", id="diff"),
    pytest.param("end", "dollar_sign", id="cost"),
    pytest.param("end", "l", id="log"),
    pytest.param("council", "b", id="council"),
    pytest.param("fix_gate", "p", id="plan"),
    pytest.param("parallel", "o", id="sprints"),
    pytest.param("parallel", "comma", id="settings"),
    pytest.param("parallel", "f1", id="help"),
]


class TestPages:
    @pytest.mark.parametrize("size", SIZES)
    @pytest.mark.parametrize(("mark", "key"), PAGES)
    def test_page(self, snap_compare: Compare, mark: str, key: str, size: tuple[int, int]) -> None:
        assert taken(snap_compare, live(mark), size, key)

    def test_diff_side_by_side(self, snap_compare: Compare) -> None:
        assert taken(snap_compare, live("fix_gate"), WIDE, "d", "down")

    @pytest.mark.parametrize(("mark", "key"), PAGES)
    def test_page_light(self, snap_compare: Compare, mark: str, key: str) -> None:
        assert taken(snap_compare, live(mark), NORMAL, key, theme="daylight")

    @pytest.mark.parametrize(("mark", "key"), PAGES)
    def test_page_ascii(self, snap_compare: Compare, mark: str, key: str) -> None:
        assert taken(snap_compare, live(mark), NARROW, key, ascii=True)

    def test_diff_light(self, snap_compare: Compare) -> None:
        assert taken(snap_compare, live("fix_gate"), NORMAL, "d", "down", theme="daylight")

    def test_palette(self, snap_compare: Compare) -> None:
        assert taken(snap_compare, live("parallel"), NORMAL, "ctrl+p")

    @pytest.mark.parametrize("size", SIZES)
    def test_replay(self, snap_compare: Compare, size: tuple[int, int]) -> None:
        link = whole()
        link.pause()
        link.set_speed(4.0)
        link.seek_item(300)
        assert taken(snap_compare, link, size, replay=True)

    def test_welcome(self, snap_compare: Compare) -> None:
        assert taken(snap_compare, LiveLink([]), NORMAL)

    def test_welcome_outside_a_repository(self, snap_compare: Compare) -> None:
        assert taken(snap_compare, LiveLink([]), NARROW, in_repo=False)

"""What every screen and every gate looks like: at their sizes, light and dark, in ASCII and without colour."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from engine.link.protocol import LinkStatus
from engine.link.replay import ReplayLink
from tests.tui.driving import app_on, press, settle
from tests.tui.links import LiveLink, live
from tests.tui.recordings import sprint, whole

NARROW, NORMAL, WIDE = (80, 24), (120, 40), (240, 60)
LONG_TAIL = pytest.mark.torture
"""A picture costs half a second of CPU. `make test` takes each screen narrow and normal, and each other look once for
the dashboard, a gate, a dialog and a page; `make pictures` and `make torture` take all of them."""
SIZES = [
    pytest.param(NARROW, id="80x24"),
    pytest.param(NORMAL, id="120x40"),
    pytest.param(WIDE, id="240x60", marks=LONG_TAIL),
]
ALL_SIZES = [*SIZES[:2], pytest.param(WIDE, id="240x60")]

LOOKS = [
    pytest.param({"theme": "daylight"}, NORMAL, id="light"),
    pytest.param({"ascii": True}, NARROW, id="ascii"),
    pytest.param({"no_color": True}, NORMAL, id="no_color"),
]
"""The looks beside the dark theme, each at one of the sizes that the dark theme is pictured at."""

Compare = Callable[..., bool]
Size = tuple[int, int]


def seldom(first: Any, *others: Any) -> list[Any]:
    """The first always, the others in the long tail."""
    cases = [one if hasattr(one, "values") else pytest.param(one) for one in (first, *others)]
    return [cases[0], *(pytest.param(*one.values, id=one.id, marks=LONG_TAIL) for one in cases[1:])]


@pytest.fixture(autouse=True)
def colours(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, still: None) -> None:
    if getattr(request.node, "callspec", None) and request.node.callspec.params.get("look", {}).get("no_color"):
        monkeypatch.setenv("NO_COLOR", "1")


def taken(snap_compare: Compare, link: ReplayLink, size: Size, *keys: str, **options: Any) -> bool:
    options.pop("no_color", None)

    async def before(pilot: Any) -> None:
        await settle(pilot)
        await press(pilot, *keys)
        pilot.app.clear_notifications()
        await settle(pilot)

    return snap_compare(app_on(link, **options), terminal_size=size, run_before=before)


class TestDashboard:
    @pytest.mark.parametrize("size", ALL_SIZES)
    def test_two_lanes_at_work(self, snap_compare: Compare, size: Size) -> None:
        assert taken(snap_compare, live("parallel"), size)

    @pytest.mark.parametrize("theme", ["daylight", "signal-dark", "high-contrast"])
    def test_themes(self, snap_compare: Compare, theme: str) -> None:
        assert taken(snap_compare, live("parallel"), NORMAL, theme=theme)

    @pytest.mark.parametrize("size", SIZES)
    def test_ascii(self, snap_compare: Compare, size: Size) -> None:
        assert taken(snap_compare, live("parallel"), size, ascii=True)

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

    @pytest.mark.parametrize("size", [pytest.param((50, 12), id="50x12"), pytest.param((200, 12), id="200x12")])
    def test_too_small(self, snap_compare: Compare, size: Size) -> None:
        assert taken(snap_compare, live("queue"), size)

    @LONG_TAIL
    @pytest.mark.parametrize(("look", "_size"), LOOKS)
    def test_too_small_in_other_looks(self, snap_compare: Compare, look: dict[str, Any], _size: Size) -> None:
        assert taken(snap_compare, live("queue"), (50, 12), **look)

    @pytest.mark.parametrize(("look", "size"), LOOKS)
    def test_other_looks(self, snap_compare: Compare, look: dict[str, Any], size: Size) -> None:
        assert taken(snap_compare, live("council_sitting"), size, **look)

    @pytest.mark.parametrize("size", SIZES)
    def test_engine_lost(self, snap_compare: Compare, size: Size) -> None:
        link = live("parallel")

        class Lost(LiveLink):
            async def follow(self, after: int) -> Any:
                async for item in super().follow(after):
                    yield item
                    if self.position >= self.length:
                        yield LinkStatus(status="lost", detail="the engine is not running any more", hint="devteam run")

        link.__class__ = Lost
        assert taken(snap_compare, link, size)


class TestGates:
    @pytest.mark.parametrize("size", SIZES)
    @pytest.mark.parametrize("mark", ["fix_gate", "task_gate", "blocked_gate"])
    def test_gate(self, snap_compare: Compare, mark: str, size: Size) -> None:
        assert taken(snap_compare, live(mark), size)

    @pytest.mark.parametrize(("look", "size"), LOOKS)
    @pytest.mark.parametrize("mark", seldom("fix_gate", "task_gate", "blocked_gate"))
    def test_gate_in_other_looks(self, snap_compare: Compare, mark: str, look: dict[str, Any], size: Size) -> None:
        assert taken(snap_compare, live(mark), size, **look)

    def test_a_queue_of_gates(self, snap_compare: Compare) -> None:
        assert taken(snap_compare, live("queue"), NORMAL)

    def test_opened(self, snap_compare: Compare) -> None:
        assert taken(snap_compare, live("fix_gate"), NARROW, "g")

    def test_light(self, snap_compare: Compare) -> None:
        assert taken(snap_compare, live("fix_gate"), NORMAL, theme="paper")

    def test_ascii(self, snap_compare: Compare) -> None:
        assert taken(snap_compare, live("two_gates"), NARROW, ascii=True)


DIALOGS = [
    pytest.param("asking", ("question_mark",), id="ask"),
    pytest.param("fix_gate", ("c", *"Keep"), id="comment"),
    pytest.param("parallel", ("S",), id="confirm"),
    pytest.param("parallel", ("ctrl+p",), id="palette"),
]


class TestDialogs:
    @pytest.mark.parametrize("size", SIZES)
    @pytest.mark.parametrize(("mark", "keys"), DIALOGS)
    def test_dialog(self, snap_compare: Compare, mark: str, keys: tuple[str, ...], size: Size) -> None:
        assert taken(snap_compare, live(mark), size, *keys)

    @pytest.mark.parametrize(("look", "size"), LOOKS)
    @pytest.mark.parametrize(("mark", "keys"), seldom(*DIALOGS))
    def test_other_looks(
        self, snap_compare: Compare, mark: str, keys: tuple[str, ...], look: dict[str, Any], size: Size
    ) -> None:
        assert taken(snap_compare, live(mark), size, *keys, **look)


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
    def test_page(self, snap_compare: Compare, mark: str, key: str, size: Size) -> None:
        assert taken(snap_compare, live(mark), size, key)

    def test_diff_side_by_side(self, snap_compare: Compare) -> None:
        assert taken(snap_compare, live("fix_gate"), WIDE, "d", "down")

    @pytest.mark.parametrize(("look", "size"), LOOKS)
    @pytest.mark.parametrize(("mark", "key"), seldom(*PAGES))
    def test_other_looks(self, snap_compare: Compare, mark: str, key: str, look: dict[str, Any], size: Size) -> None:
        assert taken(snap_compare, live(mark), size, key, **look)

    def test_diff_light(self, snap_compare: Compare) -> None:
        assert taken(snap_compare, live("fix_gate"), NORMAL, "d", "down", theme="daylight")

    @pytest.mark.parametrize("size", SIZES)
    def test_replay(self, snap_compare: Compare, size: Size) -> None:
        assert taken(snap_compare, recording(), size, replay=True)

    @LONG_TAIL
    @pytest.mark.parametrize(("look", "size"), LOOKS)
    def test_replay_in_other_looks(self, snap_compare: Compare, look: dict[str, Any], size: Size) -> None:
        assert taken(snap_compare, recording(), size, replay=True, **look)

    def test_replay_of_a_gate(self, snap_compare: Compare) -> None:
        link = recording()
        link.seek_item(sprint()[1]["fix_gate"])
        assert taken(snap_compare, link, NORMAL, replay=True)

    @pytest.mark.parametrize("size", SIZES)
    @pytest.mark.parametrize("in_repo", [pytest.param(True, id="no sprint"), pytest.param(False, id="no repository")])
    def test_welcome(self, snap_compare: Compare, size: Size, in_repo: bool) -> None:
        assert taken(snap_compare, LiveLink([]), size, in_repo=in_repo)

    @pytest.mark.parametrize(("look", "size"), LOOKS)
    @pytest.mark.parametrize(
        "in_repo", seldom(pytest.param(True, id="no sprint"), pytest.param(False, id="no repository"))
    )
    def test_welcome_in_other_looks(
        self, snap_compare: Compare, in_repo: bool, look: dict[str, Any], size: Size
    ) -> None:
        assert taken(snap_compare, LiveLink([]), size, in_repo=in_repo, **look)


def recording() -> ReplayLink:
    link = whole()
    link.pause()
    link.set_speed(4.0)
    link.seek_item(300)
    return link

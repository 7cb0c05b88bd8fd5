"""A screen's style sheet holds for that screen only: what was open before must not change what is open now."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui.driving import press, running

SHEETS = Path(__file__).parents[2] / "tui" / "screens"


async def places(*keys: str) -> dict[str, tuple[int, int]]:
    """Sizes of the widgets of the screen that the keys lead to."""
    async with running("end") as (app, pilot, _link):
        await press(pilot, *keys)
        return {widget.id: tuple(widget.size) for widget in app.screen.query("*") if widget.id}


@pytest.mark.parametrize("page", ["e", "i", "d"])
async def test_the_log_leaves_no_trace_on_other_pages(page: str) -> None:
    assert await places("l", "escape", page) == await places(page)


@pytest.mark.parametrize("name", ["events.tcss", "welcome.tcss"])
def test_sheets_that_share_names_with_others_are_scoped(name: str) -> None:
    for line in (SHEETS / name).read_text().splitlines():
        assert not line.startswith(("#", ".")), f"{name}: {line}"

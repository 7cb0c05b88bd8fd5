"""Where the panes stand, as a pure function: every lane has an output where one can be read, and nothing overlaps."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.tui.lanes import several
from tests.tui.test_flight import flown
from tui.kit.arrange import MOST_TILES, TILE_LEAST, WORK_LEAST, Contents, arrange
from tui.kit.paint import plain
from tui.panels.strip_text import strip_lines

AROUND = 3
"""Rows of a screen that are header and footer."""


@st.composite
def situations(draw: st.DrawFn) -> Contents:
    running = draw(st.integers(0, 16))
    return Contents(
        lanes=max(running, draw(st.integers(0, 16))),
        running=running,
        titles=draw(st.integers(16, 120)),
        tasks=draw(st.integers(0, 320)),
        stages=draw(st.integers(9, 14)),
        squeezed=draw(st.integers(5, 8)),
        squeezed_left=draw(st.integers(5, 8)),
        decision=draw(st.integers(0, 3)),
        facts=draw(st.integers(0, 14)),
        ladder=draw(st.integers(4, 20)),
        health=draw(st.integers(1, 24)),
        health_least=draw(st.integers(0, 12)),
    )


@given(st.integers(60, 300), st.integers(13, 90), situations())
def test_everything_has_its_place(width: int, height: int, what: Contents) -> None:
    plan = arrange(width, height, what)
    rows = height - plan.strip - plan.narrow
    assert 0 <= plan.strip <= height - 7
    assert plan.iteration <= rows
    stages = (what.squeezed_left if plan.left else what.squeezed - what.decision) + 2
    if rows - stages >= TILE_LEAST:
        assert plan.iteration >= stages, "the stages are whole before an output has more than it needs"
    if plan.narrow:
        assert width < 100
        return
    assert width - plan.tasks - plan.side >= (WORK_LEAST if plan.side else 24)
    assert plan.ladder + plan.health <= max(rows, 9)
    assert 1 <= plan.tiles < max(1, min(MOST_TILES, what.running)) + plan.columns, "no empty row of outputs"
    if plan.rows > 1:
        assert (rows - (0 if plan.left else plan.iteration)) // plan.rows >= TILE_LEAST
    below = (plan.iteration if plan.left else 0) + (6 if plan.list_rows else 0)
    assert plan.list_rows + below <= rows


@pytest.mark.parametrize(
    ("size", "lanes"),
    [((100, 30), 2), ((120, 40), 2), ((120, 40), 4), ((160, 45), 4), ((200, 50), 4), ((200, 50), 8), ((240, 60), 8)],
)
def test_every_lane_at_work_has_an_output(size: tuple[int, int], lanes: int) -> None:
    what = Contents(lanes=lanes, running=lanes, titles=58, tasks=3 * lanes + 3, facts=5, ladder=14, health=16)
    assert arrange(size[0], size[1] - AROUND, what).tiles >= lanes


@pytest.mark.parametrize(("size", "lanes"), [((80, 24), 4), ((240, 60), 16)])
def test_the_strip_has_every_lane_at_the_sizes_it_is_made_for(size: tuple[int, int], lanes: int) -> None:
    flight, view = flown(several(lanes))
    what = Contents(lanes=lanes, running=lanes, titles=58, tasks=3 * lanes + 3)
    room = arrange(size[0], size[1] - AROUND, what).strip
    shown = plain(strip_lines(view, flight, size[0] - 4, room - 2))
    for lane in range(lanes):
        assert f" 1.{lanes + lane + 1} " in shown
    assert "more lanes" not in shown
    for word in ("spend", "tests", "now", "total", "left", "done"):
        assert word in shown


@pytest.mark.parametrize(("squeezed", "decision"), [(5, 0), (6, 0), (7, 0), (8, 2)])
@pytest.mark.parametrize("lanes", [4, 8])
def test_the_stages_are_whole_beside_many_outputs(lanes: int, squeezed: int, decision: int) -> None:
    """In a narrow column the checks take a row more: an output gives it."""
    what = Contents(lanes=lanes, running=lanes, titles=58, tasks=30, tasks_wide=30, squeezed=squeezed)
    plan = arrange(120, 36 - AROUND, replace(what, decision=decision))
    assert not plan.left and plan.iteration >= squeezed - decision + 2


def test_few_tasks_leave_their_room_to_the_events() -> None:
    """At 200×50 the column of a short plan has the stages and the last events below it, whatever its titles."""
    for titles in (20, 40, 66):
        plan = arrange(200, 47, Contents(lanes=1, running=1, titles=titles, tasks=6, facts=5))
        assert plan.left and plan.list_rows == 13

"""The flight of a sprint, folded from events and painted, without Textual: legs, steps, ticks, pauses, one axis."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from rich.cells import cell_len

from engine.core import events as ev
from engine.core.fold import fold
from engine.core.model import Decision
from tests.depth import examples
from tests.tui.lanes import several
from tests.tui.recorder import Recorder
from tui.kit.axis import LONG_PAUSE, Axis
from tui.kit.flight import Flight, Stage, TickKind
from tui.kit.glyphs import ASCII
from tui.kit.outlook import Outlook
from tui.kit.paint import plain, width_of
from tui.kit.view import View
from tui.panels.strip_text import layout, strip_lines


def flown(items: tuple[object, ...]) -> tuple[Flight, View]:
    flight = Flight()
    facts = [item for item in items if isinstance(item, ev.Envelope)]
    for fact in facts:
        flight.take(fact)
    state = fold(facts)
    return flight, View(state=state, now=state.now, selected="1.1")


def test_every_lane_has_its_legs_in_order_and_its_ticks() -> None:
    flight, _ = flown(several(4))
    assert sorted(flight.lanes) == [0, 1, 2, 3]
    for number, lane in flight.lanes.items():
        starts = [leg.start for leg in lane.legs]
        assert starts == sorted(starts)
        tried_again = [TickKind.RETRY] if number in (0, 3) else []
        assert [tick.kind for tick in lane.ticks] == [TickKind.COMMIT, TickKind.CLIMB, *tried_again]
        stages = list(dict.fromkeys(leg.stage for leg in lane.legs))
        assert stages == [Stage.IMPLEMENT, Stage.CHECKS, Stage.REVIEW]
        assert lane.task() == f"1.{4 + number + 1}"
        assert {leg.rung for leg in lane.legs if leg.task == lane.task()} == {number % 2, number % 2 + 1}


def test_what_came_of_a_leg_is_said() -> None:
    flight, _ = flown(several(2, gates=2))
    said = {(leg.stage, leg.words, leg.good) for lane in flight.lanes.values() for leg in lane.legs if leg.words}
    assert (Stage.CHECKS, "38/43", False) in said
    assert (Stage.CHECKS, "43/43", True) in said
    assert (Stage.REVIEW, "approved", True) in said
    assert (Stage.REVIEW, "1 issue", False) in said
    waiting = [leg for lane in flight.lanes.values() for leg in lane.legs if leg.stage is Stage.GATE]
    assert [leg.end for leg in waiting] == [None, None]


def test_taking_a_fact_twice_changes_nothing() -> None:
    items = [item for item in several(2) if isinstance(item, ev.Envelope)]
    flight, again = Flight(), Flight()
    for fact in items:
        flight.take(fact)
        again.take(fact)
        again.take(fact)
    assert [list(lane.legs) for lane in flight.lanes.values()] == [list(lane.legs) for lane in again.lanes.values()]
    assert list(flight.spend) == list(again.spend)


def test_a_night_takes_no_more_room_than_a_pause() -> None:
    rec = Recorder("s")
    rec.fact(ev.TaskStarted(task="1", lane=0, rung=0, complexity=1, reason=""))
    rec.lanes["1"], rec.iterations["1"], rec.rungs["1"] = 0, 1, 0
    rec.prepare("1")
    rec.wait(8 * 3600.0)
    rec.prepare("1")
    flight = Flight()
    for item in rec.items:
        flight.take(item)  # type: ignore[arg-type]
    axis = flight.axis(rec.now)
    assert axis.length < 3 * LONG_PAUSE
    assert axis.place(rec.now) == pytest.approx(1.0)


@given(
    st.lists(st.tuples(st.floats(1, 9999), st.floats(1, 99999)), max_size=6),
    st.lists(st.floats(0, 1), min_size=2, max_size=8),
)
def test_the_axis_never_goes_back(pauses: list[tuple[float, float]], places: list[float]) -> None:
    at, told = 100.0, []
    for gap, length in pauses:
        told.append((at + gap, at + gap + length))
        at += gap + length
    axis = Axis(100.0, at + 50.0, at + 80.0, told)
    walls = [axis.wall(place) for place in sorted(places)]
    assert walls == sorted(walls)
    drawn = [axis.place(wall) for wall in walls]
    assert drawn == sorted(drawn)
    assert all(0.0 <= place <= 1.0 for place in drawn)


@pytest.mark.parametrize("lanes", [1, 4, 16])
@settings(deadline=None, max_examples=examples(40))
@given(width=st.integers(24, 250), height=st.integers(1, 45))
def test_a_strip_fits_whatever_the_size(lanes: int, width: int, height: int) -> None:
    flight, view = FLOWN.setdefault(lanes, flown(several(lanes)))
    lines = strip_lines(view, flight, width, height)
    assert len(lines) <= height
    assert all(width_of(line) <= width for line in lines)
    drawn = plain(strip_lines(View(state=view.state, now=view.now, glyphs=ASCII, letters=True), flight, width, height))
    assert drawn.replace("…", "~").isascii()


FLOWN: dict[int, tuple[Flight, View]] = {}


def test_four_lanes_fit_a_small_terminal_and_sixteen_a_large_one() -> None:
    for lanes, width, height in ((4, 76, 7), (16, 236, 35)):
        flight, view = flown(several(lanes))
        text = plain(strip_lines(view, flight, width, height))
        for lane in range(lanes):
            assert f"1.{lanes + lane + 1} " in text
        assert "more lanes" not in text
        for word in ("spend", "tests", "implement", "checks", "now", "done"):
            assert word in text


def test_a_short_title_leaves_the_legend_and_the_tests_whole() -> None:
    flight, view = flown(several(1))
    tasks = {name: replace(task, spec=replace(task.spec, title="Short")) for name, task in view.state.tasks.items()}
    view = View(state=replace(view.state, tasks=tasks), now=view.now, selected="1.2")
    text = plain(strip_lines(view, flight, 116, 5))
    assert "implement ▆ checks ▆ review" in text and "tests 41 of 43 pass in T1.2" in text
    narrow = plain(strip_lines(view, flight, 40, 5))
    assert "in T1.2" not in narrow or "pass in T1.2" in narrow, "never whose tests without how many"


def test_the_ladder_is_drawn_as_steps() -> None:
    flight, view = flown(several(1))
    first = strip_lines(view, flight, 120, 5)[0]
    bars = [text[0] for text, style in first if style == "accent" and text.strip() and text[0] in "▁▂▃▄▅▆▇█"]
    assert len(set(bars)) == 2
    assert bars[0] < bars[-1], "an escalation is a step upwards"


def test_looking_back_says_nothing_of_what_came_later() -> None:
    """A recording has all of its time on the axis, the rest of it dimmed; what came of it is not told before."""
    flight, view = flown(several(1))
    checks = next(leg for leg in flight.lanes[0].legs if leg.stage is Stage.CHECKS)
    assert checks.words == "40/40" and checks.end is not None
    for now, told in ((checks.start + 1.0, False), (checks.end + 1.0, True)):
        then = View(state=view.state, now=now, replaying=True, until=view.now)
        early = strip_lines(then, flight, 160, 5)
        assert ("40/40" in plain(early)) is told
        assert "38/43" not in plain(early)
        assert all(cell_len(row) <= 160 for row in plain(early).split("\n"))
        later = "".join(text for text, style in early[0] if style == "line")
        assert any(char in "▁▂▃▄▅▆▇█" for char in later), "what comes later is there to go to"
        places = [layout(View(now=at, until=view.now), flight, 160, 5, Outlook()) for at in (now, view.now)]
        assert len({place.track.cell(checks.start) for place in places if place}) == 1, "the axis stands still"


def test_the_tests_of_the_strip_are_one_lanes_and_say_whose() -> None:
    flight, view = flown(several(2))
    for task, words in (("1.3", "tests 41 of 43 pass in T1.3"), ("1.4", "tests 38 of 43 pass in T1.4")):
        shown = View(state=view.state, now=view.now, selected=task)
        assert words in plain(strip_lines(shown, flight, 160, 7))


def test_a_task_that_ends_otherwise_is_marked() -> None:
    rec = Recorder("s")
    rec.start_task("1", 0, 0, 1, "")
    rec.iterate("1")
    rec.fact(ev.TaskEnded(task="1", decision=Decision.BLOCKED, reason="no database"))
    flight = Flight()
    for item in rec.items:
        flight.take(item)  # type: ignore[arg-type]
    assert [(tick.kind, tick.words) for tick in flight.lanes[0].ticks] == [(TickKind.ENDED, "blocked")]

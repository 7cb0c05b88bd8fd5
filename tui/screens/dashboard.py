"""The dashboard in its three modes: the flight strip, the desk when somebody is needed, the morning after."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, ClassVar, assert_never, cast

from textual._path import CSSPathType
from textual.containers import Horizontal, Vertical
from textual.geometry import Offset
from textual.widget import Widget
from textual.widgets import Input

from engine.link.protocol import Answered, AnyQuery
from tui.kit.arrange import Contents, arrange
from tui.kit.canvas import Canvas
from tui.kit.modes import Mode, mode_for
from tui.kit.needs import NeedKind, needs
from tui.kit.panes import COLUMNS, FOCUSED, PaneGroup, PaneName, members
from tui.kit.rows import Row
from tui.kit.sheet import Sheet
from tui.kit.view import View
from tui.panels.desk import Desk, Queue
from tui.panels.gate import GateBar
from tui.panels.iteration import IterationPanel
from tui.panels.morning_text import morning_lines
from tui.panels.output import OutputPanel, tasks_of_tiles
from tui.panels.panel import Panel
from tui.panels.recent import RecentPanel
from tui.panels.registry import make
from tui.panels.strip import StripPanel
from tui.panels.tasks import TasksPanel
from tui.screens.dashboard_panes import PanesPage
from tui.screens.dashboard_places import LEFT_EVENTS, LEFT_PLACE, LEFT_STAGES, contents, place, tab_cells, tab_line
from tui.screens.jump import Place

if TYPE_CHECKING:
    from tui.app.application import DevteamApp

SAID_LAST = 40
"""Rows of output beside a card that has no change."""


class Main(Vertical):
    """Everything between header and gates."""

    def on_resize(self) -> None:
        cast("DevteamApp", self.app).redraw()


MEASURED_SECONDS = 10.0
"""After so many it is measured anew how many rows each pane needs."""


class Dashboard(PanesPage):
    NAME = "dashboard"
    BRIEF_GATE = False
    CSS_PATH: ClassVar[CSSPathType | None] = "dashboard.tcss"

    def __init__(self) -> None:
        super().__init__()
        self.mode = Mode.FLIGHT
        self._wanted = Mode.FLIGHT
        self._placed: object = None
        self._measured_for: tuple[View, int] | None = None
        self._contents = Contents()
        self._panels: tuple[Panel, ...] = ()
        self._outputs: tuple[OutputPanel, ...] = ()
        """Looked for once: they are drawn many times a second."""

    def body(self) -> Iterable[Widget]:
        with Main(id="main"):
            yield Canvas(id="tabs")
            yield make(PaneName.STRIP)
            with Horizontal(id="body"):
                for group in COLUMNS:
                    panels = [make(pane.name) for pane in members(group)]
                    if group is PaneGroup.TASKS:
                        box = Input(placeholder="filter tasks; esc: clear", id="task-filter", compact=True)
                        panels = [box, *panels, IterationPanel(LEFT_STAGES), RecentPanel(LEFT_EVENTS)]
                    yield Vertical(*panels, id=f"{group}-column")
            yield Desk(self._ask, self.dev.redraw, self._said, self.dev.keys.shown)
            yield Sheet(id="morning")

    def mounted(self) -> None:
        super().mounted()
        self._panels, self._outputs = tuple(self.query(Panel)), tuple(self.query(OutputPanel))
        keys = {pane.name.value: self.dev.keys.shown(f"pane_{pane.name}") for pane in FOCUSED}
        for panel in self._panels:
            panel.set_key(keys.get((panel.id or "").removesuffix(LEFT_PLACE), ""))
        for output in self._outputs:
            output.key, output.follow_key = keys[PaneName.OUTPUT], self.dev.keys.shown("follow")

    @property
    def desk(self) -> Desk:
        return self.query_one(Desk)

    @property
    def morning(self) -> Sheet:
        return self.query_one("#morning", Sheet)

    def update_view(self, view: View) -> None:
        wanted = mode_for(view)
        if wanted is not self._wanted and not isinstance(self.focused, Input):  # whoever types is not moved away
            self._wanted = wanted
            self.set_mode(wanted)
        feed = self.dev.feed
        strip = self.query_one(StripPanel)
        strip.flight = feed.flight
        self._place(view, strip)
        if self.mode is Mode.DESK:
            self.desk.show(view)
            return
        if self.mode is Mode.MORNING:
            width, _ = self.morning.room
            if width > 0:
                self.morning.set_lines(morning_lines(view, self.dev.keys, width))
            return
        for panel in self._panels:
            if isinstance(panel, RecentPanel):
                panel.events = feed.events
            panel.show(view)
        shown = tasks_of_tiles(view, self.tiles)
        self.dev.want_output(shown)
        for output in self._outputs:
            output.slot_of = self.tiles
            task = shown[output.slot] if output.slot < len(shown) else ""
            if output.display and output.show(view, feed.streams, task):
                self.dev.redraw()
        self.query_one("#tabs", Canvas).set_lines([tab_line(self.group)])

    async def _ask(self, query: AnyQuery) -> Answered:
        """Put a query to the link; what goes wrong becomes the answer's error."""
        try:
            return await self.dev.feed.link.fetch(query)
        except Exception as error:  # noqa: BLE001 the named boundary: a link that fails is told on the desk
            return Answered(error=f"the engine cannot be asked: {error}")

    def _said(self, task: str) -> list[Row]:
        """The last that the agents of a task said, for a card without a change."""
        stream = self.dev.feed.streams.get(task)
        if stream is None:
            self.dev.want_output([task])
            return []
        rows = stream.rows
        return [row for row in rows.since(rows.end - SAID_LAST) if row.fold != 1]

    def cited(self) -> str:
        """The place a comment is about: the hunk in sight on the desk."""
        return self.desk.cited() if self.mode is Mode.DESK else ""

    # ── modes ──

    def mode_name(self) -> str:
        return self.mode.value

    def pane_name(self) -> str:
        match self.mode:
            case Mode.FLIGHT:
                pane = self.focused_pane()
                return pane.value if pane is not None else ""
            case Mode.DESK:
                return (self.focused.id or "") if self.focused is not None else ""
            case Mode.MORNING:
                return ""
            case _:
                assert_never(self.mode)

    def has_hunks(self) -> bool:
        return bool(self.desk.hunks.hunks)

    @property
    def showing_desk(self) -> bool:
        return self.mode is Mode.DESK

    @property
    def showing_morning(self) -> bool:
        return self.mode is Mode.MORNING

    def set_mode(self, mode: Mode) -> None:
        """Change what is shown; the keys go with it."""
        self.mode = mode
        if mode is not Mode.FLIGHT:
            self.set_focus(self.desk.queue if mode is Mode.DESK else self.morning)
        bar = self.query_one(GateBar)
        bar.brief = bar.desk = mode is Mode.DESK
        self.dev.redraw()

    def do_desk(self) -> None:
        """Between what waits and what flies; a gate that was put aside comes back into sight with the desk, and a card
        is always chosen there."""
        cards = needs(self.dev.view.state)
        if self.mode is Mode.DESK or (self.mode is Mode.MORNING and not cards):
            self.set_mode(Mode.FLIGHT)
        elif self.mode is Mode.FLIGHT and not self.dev.feed.state.running and self._wanted is Mode.MORNING:
            self.set_mode(Mode.MORNING)
        else:
            self.dev.gates.resume()
            if cards and not self.dev.view.gates() and self.dev.view.selected not in [card.task for card in cards]:
                self.dev.choose(cards[0].task)
            self.set_mode(Mode.DESK)

    def on_queue_chosen(self, event: Queue.Chosen) -> None:
        event.stop()
        if event.card.kind is NeedKind.GATE:
            self.dev.gates.turn_to_gate(event.card.gate)
        else:
            self.dev.choose(event.card.task)
            self._wanted = mode_for(self.dev.view)
        self.dev.redraw()

    # ── where everything stands ──

    def _place(self, view: View, strip: StripPanel) -> None:
        size = self.query_one("#main").size
        if size.width <= 0 or size.height <= 0:
            return
        plan = arrange(size.width, size.height, self._measured(view, strip, size.width))
        key = (plan, self.mode, self.zoomed, self.group)
        if key == self._placed:
            return
        self._placed = key
        self.tiles = 1 if self.zoomed is PaneName.OUTPUT or plan.narrow else plan.tiles
        place(self, plan, strip, flying=self.mode is Mode.FLIGHT)
        if self.focused is strip and not strip.display:  # it has the keys first, and nothing to show before a run
            self.query_one(TasksPanel).focus()
        self.call_after_refresh(self.dev.redraw)

    def _measured(self, view: View, strip: StripPanel, width: int) -> Contents:
        """How much there is to show: it changes with the state and the task, and hardly with the clock."""
        if self._measured_for is not None:
            known, room = self._measured_for
            same = known.state is view.state and known.selected == view.selected and known.checks == view.checks
            if same and room == width and abs(view.now - known.now) < MEASURED_SECONDS:
                return self._contents
        self._measured_for = (view, width)
        self._contents = contents(view, strip.flight, width)
        return self._contents

    # ── panes ──

    def fly(self) -> None:
        if self.mode is not Mode.FLIGHT:
            self.set_mode(Mode.FLIGHT)

    def jump_places(self) -> list[Place]:
        """Tabs of a narrow screen: each brings its first pane."""
        line = self.query_one("#tabs", Canvas)
        if not line.display:
            return []
        return [
            Place(at=line.region.offset + Offset(cell, 0), go=partial(self.focus_pane, members(group)[0].name))
            for cell, group in tab_cells()
        ]

    def place_now(self) -> None:
        self._place(self.dev.view, self.query_one(StripPanel))

    def step_pane(self, step: int) -> None:
        if self.mode is not Mode.DESK:
            super().step_pane(step)
            return
        desk = self.desk
        panes: list[Widget] = [desk.queue, desk.proof, desk.hunks]
        at = panes.index(self.focused) if self.focused in panes else -1 if step > 0 else 0
        target = panes[(at + step) % len(panes)]
        desk.reading = target is desk.hunks
        desk.show(self.dev.view)
        target.focus()
        self.dev.redraw()

    # ── output ──

    def do_search(self) -> None:
        """Filters the tasks where they have the keys, else searches the output."""
        self.fly()
        if self.focused_pane() is PaneName.TASKS:
            self.add_class("-filtering")
            self.query_one("#task-filter", Input).focus()
            return
        self.show_group(PaneGroup.WORK)
        self.place_now()
        self.output().open_search()

    def do_match_next(self) -> None:
        if self.mode is Mode.DESK:
            self.desk.hunks.step_hunk(1)
        else:
            self.output().step_match(1)

    def do_match_previous(self) -> None:
        if self.mode is Mode.DESK:
            self.desk.hunks.step_hunk(-1)
        else:
            self.output().step_match(-1)

    def do_wrap(self) -> None:
        if self.mode is Mode.DESK:
            self.desk.hunks.toggle_wrap()

    def do_back(self) -> None:
        output = self.output()
        if output.has_class("-searching"):
            output.close_search()
        elif self.has_class("-filtering"):
            self.end_filter()
        elif self.zoomed:
            self.zoom(None)
        elif self.mode is not self._wanted:
            self.set_mode(self._wanted)
        else:
            super().do_back()

    def text_to_copy(self) -> str:
        match self.mode:
            case Mode.DESK:
                return self.desk.proof.text()
            case Mode.MORNING:
                return self.morning.text()
            case Mode.FLIGHT:
                return self.output().lines.visible_text()
            case _:
                assert_never(self.mode)

    def text_to_save(self) -> tuple[str, str]:
        """Name and content of the file that `save` writes."""
        if self.mode is Mode.MORNING:
            return "morning.txt", self.morning.text()
        output = self.output()
        return f"output-{output.task_id or 'sprint'}.txt", output.lines.whole_text()

    def on_tasks_panel_chosen(self, event: TasksPanel.Chosen) -> None:
        event.stop()
        self.dev.choose(event.task)

    def on_strip_panel_chosen(self, event: StripPanel.Chosen) -> None:
        event.stop()
        self.dev.choose(event.task)

    def on_strip_panel_scrubbed(self, event: StripPanel.Scrubbed) -> None:
        event.stop()
        self.scrub(event.at)

    def scrub(self, at: float) -> None:
        """A live run is looked back at as a recording that stands still; escape comes back."""
        self.dev.look_back(at)

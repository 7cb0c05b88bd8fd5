"""The live output of one task's agents: follow, scroll, search, copy, fold."""

from __future__ import annotations

from collections.abc import Mapping

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input

from engine.core.effects import CallAgent
from engine.core.wording import plural
from tui.kit.framed import FRAME, BorderWords, key_width
from tui.kit.line_view import LineView
from tui.kit.paint import cells_of, outside
from tui.kit.rows import Rows
from tui.kit.stream import Stream
from tui.kit.view import View, running_tasks
from tui.kit.wording import clock_time
from tui.panels.panel import shorter

COUNCIL = "council"
SEARCH = (
    "search; enter: keep, n and N: next and previous match, esc: close",
    "search; n, N: next, previous; esc: close",
    "search; esc: close",
)
BESIDE_SEARCH = 6
"""Cells of an output that its search box does not have."""


def tasks_of_tiles(view: View, tiles: int) -> list[str]:
    """Which task each tile shows: the lanes in their order, and the selected one always among them."""
    if tiles <= 1:
        return [view.selected]
    running = [task.id for task in running_tasks(view.state)]
    if view.selected and view.selected not in running:
        running = [view.selected, *running]
    shown = running[:tiles]
    if view.selected in running and view.selected not in shown:
        shown[-1] = view.selected
    return shown


def speaking(view: View, task: str) -> str:
    """Who talks now: a role, or the council with its seats."""
    calls = [effect for effect in view.state.task_in_flight(task) if isinstance(effect, CallAgent)]
    seats = sum(bool(call.seat) for call in calls)
    if seats:
        return f"{COUNCIL}, {plural(seats, 'seat')}"
    return calls[0].role.value if calls else ""


class OutputPanel(Vertical):
    """One tile: slot 0 shows the selected task where there is one tile, else each lane at work has its own."""

    DEFAULT_CSS = f"""
    OutputPanel {{ {FRAME} }}
    OutputPanel:focus-within {{ border: round $accent; border-title-color: $accent; }}
    OutputPanel Input {{ display: none; height: 1; border: none; padding: 0; background: $panel; }}
    OutputPanel Input:focus {{ border: none; }}
    OutputPanel.-searching Input {{ display: block; }}
    OutputPanel LineView {{ height: 1fr; }}
    """

    def __init__(self, slot: int = 0) -> None:
        super().__init__(id=f"output-{slot}")
        self._border = BorderWords(self)
        self.key = ""
        """Goes to the output of the selected task."""
        self.follow_key = ""
        self.slot = slot
        self.slot_of = 1
        """Tiles there are."""
        self.task_id = ""
        self._stream: Stream | None = None
        self._kept = (0, 0)
        """The first row that was kept, and the end, when last looked."""
        self._found = ""
        self._offset = 0.0

    def compose(self) -> ComposeResult:
        yield LineView()
        yield Input(placeholder=SEARCH[-1], compact=True)

    @property
    def lines(self) -> LineView:
        return self.query_one(LineView)

    @property
    def search_box(self) -> Input:
        return self.query_one(Input)

    # ── drawing ──

    def show(self, view: View, streams: Mapping[str, Stream], task: str) -> bool:
        """Take what is new; true while another frame is needed. While hidden it takes nothing and catches up later."""
        if not self.display or self.size.width <= 0:
            return False
        stream = streams.get(task)
        if task != self.task_id or stream is not self._stream:
            self.task_id, self._stream = task, stream
            self.lines.reset(stream.rows if stream else Rows())
            self.lines.stamp = lambda line: clock_time(at, self._offset) if (at := self._times().get(line)) else ""
        elif stream is not None and (stream.rows.first, stream.rows.end) != self._kept:
            self.lines.take()
        self._offset = view.state.utc_offset
        self._kept = (stream.rows.first, stream.rows.end) if stream else (0, 0)
        self._say_why_empty(view)
        more = self.lines.refine()
        self._retitle(view)
        return more

    def _say_why_empty(self, view: View) -> None:
        """A pane with nothing in it names the key that fills it."""
        task = view.state.tasks.get(self.task_id)
        words = "nothing said yet"
        if task is not None and not task.started_at:
            words = f"T{outside(task.id)} has not begun"
            if running_tasks(view.state):
                words += f"; {self.follow_key}: follow the running task"
        if words != self.lines.empty:
            self.lines.empty = words
            self.lines.refresh()

    def _times(self) -> Mapping[int, int]:
        return self._stream.said_at if self._stream is not None else {}

    def _retitle(self, view: View) -> None:
        sep, lines = view.glyphs.sep, self.lines
        selected = self.task_id == view.selected
        tail = self._found or ("following" if lines.following else "f: follow")
        fold = "" if lines.folded else f" {sep} unfolded"
        # The style is not by a class: that would style everything below anew at every step through the tasks.
        self._border.key = ""
        names, room = self._names(view, selected), self._border.room
        keyed = [name for name in names[:3] if selected and cells_of(name) <= room - key_width(self.key)]
        self._border.key = self.key if keyed else ""  # before the task's title goes, the key does
        self._border.set(
            keyed[0] if keyed else shorter(*names, room=room),
            f"{lines.source.end:,} {'line' if lines.source.end == 1 else 'lines'}{fold} {sep} {tail}",
            "$foreground" if selected else "",
        )

    def _names(self, view: View, selected: bool) -> list[str]:
        """Whose output this is, the longest first: before the task's title goes, lane and speaker do, no council."""
        task = view.state.tasks.get(self.task_id)
        mark = f"{view.glyphs.cursor} " if selected and self.slot_of > 1 else ""
        lane = f"lane {task.lane + 1}" if task is not None and view.state.policy.lanes > 1 and task.lane >= 0 else ""
        who, title = speaking(view, self.task_id), outside(task.spec.title) if task is not None else ""
        name = f"T{outside(self.task_id)}" if self.task_id else ""
        full = f"{outside(self.task_id)} {title}" if title else name
        short = ("OUTPUT", name, lane, who)
        last = (short, (full,)) if who.startswith(COUNCIL) else ((full,), short)
        wordings = ((full, lane, who), (full, who), *last, (name,))
        return [mark + f" {view.glyphs.sep} ".join(part for part in parts if part) for parts in wordings]

    def announce(self, view: View) -> None:
        self._retitle(view)

    # ── searching ──

    def on_resize(self) -> None:
        self.search_box.placeholder = shorter(*SEARCH, room=self.size.width - BESIDE_SEARCH)

    def open_search(self) -> None:
        self.add_class("-searching")
        self.search_box.focus()

    def close_search(self) -> None:
        self.remove_class("-searching")
        self.lines.search("")
        self._found = ""
        self.search_box.value = ""
        self.lines.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        found = self.lines.search(event.value)
        self._found = f"{found:,} matching" if event.value else ""

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.lines.focus()
        self.step_match(1)

    def step_match(self, direction: int) -> None:
        at = self.lines.step_match(direction)
        total = len(self.lines.matches)
        self._found = f"{at} of {total:,}" if at else ("no match" if self.lines.needle else "")

    def key_escape(self) -> None:
        if self.has_class("-searching"):
            self.close_search()

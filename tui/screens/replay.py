"""Replay: the dashboard over a recording, with a time slider. Everything works in it except changing anything."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, runtime_checkable

from textual import events
from textual.binding import Binding
from textual.message import Message
from textual.widget import Widget

from tui.kit.canvas import Canvas
from tui.kit.glyphs import Glyphs
from tui.kit.paint import Line, Span, width_of
from tui.kit.view import View
from tui.kit.wording import duration, share
from tui.panels.strip import StripPanel
from tui.screens.dashboard import Dashboard

SPEEDS = (1.0, 4.0, 16.0, 64.0)


@runtime_checkable
class Player(Protocol):
    """What a recording offers beyond a link."""

    paused: bool
    speed: float

    @property
    def start(self) -> float: ...
    @property
    def end(self) -> float: ...
    def now(self) -> float: ...
    def seek(self, at: float) -> None: ...
    def pause(self, paused: bool = True) -> None: ...
    def set_speed(self, speed: float) -> None: ...


def slider_line(player: Player, width: int, glyphs: Glyphs) -> tuple[Line, int, int]:
    """The line, and where its track begins and how long it is."""
    length = max(player.end - player.start, 0.001)
    at = player.now() - player.start
    head: list[Span] = [
        (f" {glyphs.gate if player.paused else glyphs.run} ", "accent bold"),
        (f"{duration(at):>8} ", "fg bold"),
    ]
    speed = f"{player.speed:g}×" if not glyphs.ascii else f"{player.speed:g}x"
    tail: list[Span] = [
        (f" {duration(length)}", "muted"),
        (f"  {speed} ", "accent"),
        (" space play  , . step  < > speed ", "muted"),
    ]
    if width < 90:
        tail = tail[:2]
    start, cells = width_of(head), max(8, width - width_of(head) - width_of(tail))
    knob = round(share(at, length) * (cells - 1))
    track: list[Span] = [
        (glyphs.rule * knob, "accent"),
        (glyphs.knob, "accent bold"),
        (glyphs.rule * (cells - knob - 1), "line"),
    ]
    return (*head, *track, *tail), start, cells


class Slider(Canvas):
    class Moved(Message):
        """The track was clicked at this share of the recording."""

        def __init__(self, part: float) -> None:
            super().__init__()
            self.part = part

    def __init__(self) -> None:
        super().__init__(id="slider")
        self._start, self._cells = 0, 1

    def show(self, player: Player, glyphs: Glyphs) -> None:
        if self.size.width > 0:
            line, self._start, self._cells = slider_line(player, self.size.width, glyphs)
            self.set_lines([line])

    def on_click(self, event: events.Click) -> None:
        if self._start <= event.x < self._start + self._cells:
            self.post_message(self.Moved((event.x - self._start) / max(1, self._cells - 1)))


class ReplayScreen(Dashboard):
    NAME = "replay"
    CSS_PATH = ["dashboard.tcss", "replay.tcss"]
    BINDINGS = [
        Binding("full_stop,right", "step(1)", "forward", show=False),
        Binding("comma,left", "step(-1)", "back", show=False),
        Binding("shift+right", "step(10)", "far forward", show=False),
        Binding("shift+left", "step(-10)", "far back", show=False),
        Binding("greater_than_sign", "speed(1)", "faster", show=False),
        Binding("less_than_sign", "speed(-1)", "slower", show=False),
        Binding("home", "jump(0)", "beginning", show=False),
        Binding("end", "jump(1)", "end", show=False),
    ]

    def body(self) -> Iterable[Widget]:
        yield from super().body()
        yield Slider()

    @property
    def player(self) -> Player | None:
        link = self.dev.feed.link
        return link if isinstance(link, Player) else None

    def update_view(self, view: View) -> None:
        super().update_view(view)
        if self.player is not None:
            self.query_one(Slider).show(self.player, view.glyphs)
            if not self.player.paused and self.player.now() < self.player.end:
                self.dev.redraw()

    def do_pause(self) -> None:
        player = self.player
        if player is None:
            return
        if player.paused or player.now() < player.end:
            player.pause(not player.paused)
        else:
            self._seek(player.start)
            player.pause(False)
        self.dev.redraw()

    def mounted(self) -> None:
        super().mounted()
        self.query_one(StripPanel).focus()

    def action_step(self, cells: int) -> None:
        """As far as the strip's own keys go, from wherever the keys are."""
        self.query_one(StripPanel).action_step(cells)

    def scrub(self, at: float) -> None:
        if self.player is not None:
            self.player.pause()
        self._seek(at)

    def action_jump(self, part: int) -> None:
        if self.player is not None:
            self._seek(self.player.end if part else self.player.start)

    def action_speed(self, by: int) -> None:
        player = self.player
        if player is None:
            return
        near = min(range(len(SPEEDS)), key=lambda at: abs(SPEEDS[at] - player.speed))
        player.set_speed(SPEEDS[max(0, min(len(SPEEDS) - 1, near + by))])
        self.dev.redraw()

    def on_slider_moved(self, event: Slider.Moved) -> None:
        event.stop()
        player = self.player
        if player is not None:
            self._seek(player.start + event.part * (player.end - player.start))

    def _seek(self, at: float) -> None:
        player = self.player
        if player is not None:
            player.seek(at)
            self.dev.restart_feed()

    def do_back(self) -> None:
        if self.dev.options.replay or self.zoomed or self.output().has_class("-searching"):
            super().do_back()
            return
        self.dev.pop_screen()
        self.dev.detach()

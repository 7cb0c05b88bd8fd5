"""Page: header, body, gate bar and footer. Every screen but the dialogs is one, so gates can be answered anywhere."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, cast

from textual.app import ComposeResult
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input

from engine.core.wording import plural
from tui.kit.canvas import Canvas
from tui.kit.context import Situation
from tui.kit.framed import Framed
from tui.kit.key_footer import KeyFooter
from tui.kit.paint import Line
from tui.kit.view import View, running_tasks
from tui.panels.gate import GateBar, GateButtons
from tui.panels.header import HeaderBar

if TYPE_CHECKING:
    from tui.app.application import DevteamApp


class Page(Screen[None]):
    """Subclasses give `body`, and `update` for what follows the view."""

    NAME = "page"
    """Known to the footer."""
    BRIEF_GATE = True

    def body(self) -> Iterable[Widget]:
        return ()

    def update_view(self, view: View) -> None:
        """Take a new snapshot."""

    @property
    def dev(self) -> DevteamApp:
        return cast("DevteamApp", self.app)

    def compose(self) -> ComposeResult:
        yield Canvas(id="too-small")
        yield HeaderBar()
        yield from self.body()
        bar = GateBar()
        bar.brief = self.BRIEF_GATE
        yield bar
        yield KeyFooter()

    def mounted(self) -> None:
        """Set up once the widgets are there. A hook, because Textual calls every class's own `on_mount`."""

    def on_mount(self) -> None:
        self.mounted()
        self.call_after_refresh(self._first_frame)

    def _first_frame(self) -> None:
        """Draw at once rather than at the next tick: a page is never seen empty."""
        self.dev.redraw()
        self.dev.frame()

    def on_screen_resume(self) -> None:
        self.dev.gates.appeared()
        self.dev.redraw()

    def show(self, view: View) -> None:
        """One frame: only what is on screen is drawn."""
        if self.size.width < 60 or self.size.height < 16:
            self.query_one("#too-small", Canvas).set_lines([small_line(view)])
            return
        self.query_one(HeaderBar).show(view)
        gates = self.dev.gates
        self.query_one(GateBar).show(view, gates.current, gates.at, gates.total, self.dev.keys, gates.sending)
        here = self.situation(view)
        self.query_one(KeyFooter).show(self.dev.keys, here, gates.current is not None or here.typing)
        self.update_view(view)

    def mode_name(self) -> str:
        """Which of its faces the page shows, where it has several."""
        return ""

    def pane_name(self) -> str:
        """Which part of it has the keys, for the footer."""
        return ""

    def has_hunks(self) -> bool:
        return False

    def situation(self, view: View) -> Situation:
        """What the footer and the palette go by."""
        return Situation(
            view=view,
            page=self.NAME,
            mode=self.mode_name(),
            own=_own(type(self)),
            text=hasattr(self, "text_to_save"),
            restarts=self.dev.options.restart is not None,
            deep=len(self.dev.screen_stack) > self.dev.bottom,
            pane=self.pane_name(),
            hunks=self.has_hunks(),
            typing=isinstance(self.focused, Input),
            inline=self.dev.options.inline,
        )

    def on_resize(self) -> None:
        self.dev.redraw()

    def on_framed_placed(self, event: Framed.Placed) -> None:
        """Whoever waits for the layout instead may be called before it: widgets tell the screen in their own time."""
        event.stop()
        self.dev.redraw()

    def on_key_footer_pressed(self, event: KeyFooter.Pressed) -> None:
        event.stop()
        self.dev.act(event.action)

    def on_gate_buttons_pressed(self, event: GateButtons.Pressed) -> None:
        event.stop()
        self.dev.act(event.action)

    # ── what every page can do ──

    def do_gate(self) -> None:
        bar = self.query_one(GateBar)
        if self.dev.gates.aside:
            self.dev.gates.resume()
            self.dev.redraw()
            return
        if self.dev.gates.current is None:
            return
        bar.set_expanded(not bar.expanded)

    def do_back(self) -> None:
        bar = self.query_one(GateBar)
        if bar.expanded:
            bar.set_expanded(False)
        elif len(self.dev.screen_stack) > self.dev.bottom:
            self.dev.pop_screen()


@cache
def _own(page: type[Page]) -> frozenset[str]:
    """Actions that a page does in its own way."""
    return frozenset(name.removeprefix("do_") for name in dir(page) if name.startswith("do_"))


def small_line(view: View) -> Line:
    """All that fits where nothing fits."""
    running, gates = len(running_tasks(view.state)), len(view.gates())
    words = f"devteam: {running} running, {plural(gates, 'gate')} {view.glyphs.dash} enlarge to 60×16"
    return ((words, "gate bold" if gates else "fg"),)

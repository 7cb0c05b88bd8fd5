"""What the dashboard is before it shows anything: cells for a terminal, themes, toasts, and who is at the keys."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from msgspec.structs import replace
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual.app import App
from textual.events import Event, InputEvent, Key, Paste
from textual.scrollbar import ScrollBar, ScrollBarRender
from textual.widgets import Input, TextArea

from tui.app import saved
from tui.app.attention import GIVE_TITLE_BACK, KEEP_TITLE
from tui.app.changed_cells import ChangedCells, Shown
from tui.app.options import Leave, TuiOptions
from tui.app.theme import DEFAULT, ThemeProblem, load_all
from tui.app.typed_ahead import Arrived, TypedAhead
from tui.kit.glyphs import ASCII, UNICODE
from tui.kit.paint import outside

if TYPE_CHECKING:
    from rich.console import RenderableType
    from textual.screen import Screen


class PlainScrollBar(ScrollBarRender):
    """A scroll bar of whole cells: no block characters."""

    VERTICAL_BARS = [" "] * 8
    HORIZONTAL_BARS = [" "] * 8


class TerminalApp(App[Leave]):
    def __init__(self, options: TuiOptions) -> None:
        self.options = options
        # Before super(): Textual reads the style sheets there, and they name devteam's own tokens.
        self.themes, self._theme_problems = load_all(options.user_themes)
        super().__init__()
        self.glyphs = ASCII if options.ascii else UNICODE
        ScrollBar.renderer = PlainScrollBar if options.ascii else ScrollBarRender
        self.saved = saved.read(options.saved)
        self.touched = False
        """Somebody pressed a key or moved the mouse."""
        self._touched_at = 0.0
        self.bottom = 2
        """Screens below which `back` does not go."""
        self._shown = Shown()
        self.typed = TypedAhead(self, super().on_event, self.options.clock)

    # ── painting ──

    def _display(self, screen: Screen[object], renderable: RenderableType | None) -> None:
        """Only changed cells go to the terminal."""
        if isinstance(renderable, LayoutUpdate | ChopsUpdate):
            # Textual calls its own updates renderables, too, and asks them for their codes.
            changed: object = ChangedCells(renderable, self._shown)
            super()._display(screen, changed)  # type: ignore[arg-type]
        else:
            super()._display(screen, renderable)

    def repaint(self) -> None:
        """Paint every cell anew: somebody else wrote to the terminal, or it has another size."""
        self._shown.forget()
        self.screen.refresh(repaint=True, layout=True)

    def on_resize(self) -> None:
        self._shown.forget()

    def take_title(self) -> None:
        self._to_terminal(KEEP_TITLE)

    def give_title_back(self) -> None:
        self._to_terminal(GIVE_TITLE_BACK)

    def _to_terminal(self, codes: str) -> None:
        if self._driver is not None and not self._driver.is_headless:
            self._driver.write(codes)

    # ── who is there ──

    async def on_event(self, event: Event) -> None:
        if isinstance(event, InputEvent):
            self.touched, self._touched_at = True, self.options.clock()
        if isinstance(event, Key | Paste) and not event.is_forwarded:
            await self.typed.take(event)
        else:
            await super().on_event(event)

    def on_arrived(self, event: Arrived) -> None:
        event.stop()
        self.typed.arrived()

    def quiet(self) -> float:
        """Seconds since somebody touched anything; none while a text is being written, a dialog or a page is open."""
        if not self.is_running:
            return math.inf
        typing = isinstance(self.focused, Input | TextArea) or self.screen.is_modal
        reading = len(self.screen_stack) > self.bottom
        return 0.0 if typing or reading else self.options.clock() - self._touched_at

    # ── themes and words ──

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Textual's own themes know nothing of devteam's tokens: they borrow the default theme's."""
        return dict(self.themes[DEFAULT].variables)

    def begin_themes(self) -> None:
        """Register what there is, show what was asked for, tell what cannot be read."""
        for theme in self.themes.values():
            self.register_theme(theme)
        self.set_class(self.options.ascii, "-ascii")
        self.set_theme(self.options.theme if self.options.theme in self.themes else DEFAULT)
        if self.options.theme not in self.themes:
            self.tell(f"no theme is called {self.options.theme}; using {DEFAULT}. Settings (,) lists them", "warning")
        self.report_themes(self._theme_problems)

    def set_theme(self, name: str) -> None:
        """Show a theme; `keep_theme` also finds it again next time."""
        self.theme = name

    def keep_theme(self, name: str) -> None:
        self.set_theme(name)
        self.keep(replace(self.saved, theme=name))

    def keep(self, chosen: saved.Saved) -> None:
        """Remember what the user chose."""
        if chosen != self.saved:
            self.saved = chosen
            if problem := saved.write(self.options.saved, chosen):
                self.tell(problem, "warning")

    def report_themes(self, problems: list[ThemeProblem]) -> None:
        if problems:
            self.tell("\n".join(str(problem) for problem in problems), "warning")

    def tell(self, words: str, severity: str = "information") -> None:
        """A toast. Never markup: the words may come from outside."""
        said = "\n".join(outside(line, 300) for line in words.split("\n")[:6])
        level = severity if severity in ("information", "warning", "error") else "information"
        self.notify(said, severity=level, markup=False)  # type: ignore[arg-type]

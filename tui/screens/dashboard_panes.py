"""Going from pane to pane: focus by key or step, zoom, and on a narrow screen one group of panes at a time."""

from __future__ import annotations

from functools import partialmethod

from textual.widget import Widget

from tui.kit.line_view import LineView
from tui.kit.panes import COLUMNS, FOCUSED, PaneGroup, PaneName
from tui.panels.panel import Panel
from tui.screens.dashboard_places import GROUP_OF, LEFT_STAGES
from tui.screens.watching import WatchPage

NAMES = tuple(pane.name for pane in FOCUSED)


class PanesPage(WatchPage):
    """A page of panes, each with a key."""

    def __init__(self) -> None:
        super().__init__()
        self.group = PaneGroup.WORK
        self.zoomed: PaneName | None = None
        self.tiles = 1
        """Outputs that are shown side by side."""

    def fly(self) -> None:
        """Show the panes, where something else is shown."""

    def place_now(self) -> None:
        """Put every pane where it belongs, before one of them gets the keys."""

    def _pane(self, name: PaneName) -> Widget:
        if name is PaneName.OUTPUT:
            return self.output_of_selected().lines
        left = self.query_one(f"#{LEFT_STAGES}", Panel)
        if name is PaneName.ITERATION and left.display:
            return left
        return self.query_one(f"#{name}", Panel)

    def show_group(self, group: PaneGroup) -> None:
        """On a narrow screen one group of panes is seen at a time."""
        if group in COLUMNS:
            self.group = group

    def focus_pane(self, name: PaneName) -> None:
        self.fly()
        if self.zoomed:
            self.zoom(name)
        self.show_group(GROUP_OF[name])
        self.place_now()
        self._pane(name).focus()
        self.dev.redraw()

    def focused_pane(self) -> PaneName | None:
        """The pane with the focus."""
        node = self.focused
        for name in NAMES:
            if name is PaneName.OUTPUT:
                if isinstance(node, LineView):
                    return name
            elif node is self._pane(name):
                return name
        return None

    def do_next_pane(self) -> None:
        self.step_pane(1)

    def do_previous_pane(self) -> None:
        self.step_pane(-1)

    def step_pane(self, step: int) -> None:
        here = self.focused_pane()
        at = NAMES.index(here) if here is not None else -1 if step > 0 else 0
        self.focus_pane(NAMES[(at + step) % len(NAMES)])

    def do_zoom(self) -> None:
        """The focused pane takes the body; header, gates and footer stay."""
        self.zoom(None if self.zoomed else self.focused_pane() or PaneName.OUTPUT)

    def zoom(self, name: PaneName | None) -> None:
        self.zoomed = name
        if name is not None:
            self.show_group(GROUP_OF[name])
        self.call_after_refresh(self.dev.redraw)


for _pane in FOCUSED:
    setattr(PanesPage, f"do_pane_{_pane.name}", partialmethod(PanesPage.focus_pane, _pane.name))

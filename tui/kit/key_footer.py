"""The footer: keys and words of what works here, the likely first, as many as fit; each can be clicked."""

from __future__ import annotations

from textual import events
from textual.message import Message

from tui.kit.canvas import Canvas
from tui.kit.context import Situation, for_footer, label
from tui.kit.keys import Action, KeyMap
from tui.kit.paint import Line, Span

GAP = 2


def footer_spans(
    actions: list[tuple[Action, str]], keys: KeyMap, width: int, asking: bool = False
) -> tuple[Line, list[tuple[int, int, str]]]:
    """The line, and which cells belong to which action."""
    spans: list[Span] = [(" ", "")]
    places: list[tuple[int, int, str]] = []
    used = 1
    last = next((action for action, _ in actions if action.name == "help"), None)
    reserve = len(keys.shown("help", int(asking))) + 1 + len(last.label) + GAP if last else 0
    for action, words in actions:
        key = keys.shown(action.name, int(asking and action.name == "help"))
        cells = len(key) + 1 + len(words)
        room = (
            width - used - (0 if action is last else reserve if not any(name == "help" for *_, name in places) else 0)
        )
        if cells + 1 > room:
            continue
        spans += [(key, "accent bold"), (f" {words}", "muted"), (" " * GAP, "")]
        places.append((used, used + cells, action.name))
        used += cells + GAP
    return tuple(spans), places


class KeyFooter(Canvas):
    class Pressed(Message):
        """An action was clicked."""

        def __init__(self, action: str) -> None:
            super().__init__()
            self.action = action

    def __init__(self) -> None:
        super().__init__(id="footer")
        self.keys: KeyMap | None = None
        self.here: Situation | None = None
        self.asking = False
        self._places: list[tuple[int, int, str]] = []

    def show(self, keys: KeyMap, here: Situation, asking: bool = False) -> None:
        """While a gate is open its `ask` has the question mark, so help is shown with its second key."""
        self.asking, self.keys, self.here = asking, keys, here
        self.on_resize()

    def on_resize(self) -> None:
        if self.keys is None or self.here is None or self.size.width <= 0:
            return
        actions = [(action, label(self.here, action)) for action in for_footer(self.here)]
        line, self._places = footer_spans(actions, self.keys, self.size.width, self.asking)
        self.set_lines([line])

    def on_click(self, event: events.Click) -> None:
        for start, end, name in self._places:
            if start <= event.x < end:
                self.post_message(self.Pressed(name))

"""The footer: keys and words of what works here, the likely first, as many as fit; each can be clicked."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.message import Message

from tui.kit.canvas import Canvas
from tui.kit.context import Hint, Situation, for_footer, hints, label
from tui.kit.keys import Action, KeyMap
from tui.kit.paint import Line, Span, cells_of

GAP = 2


Places = list[tuple[int, int, str]]
"""First and last cell of what can be clicked, and what it does."""
Named = Sequence[tuple[Action, str]]


def footer_spans(
    here: Sequence[Hint],
    likely: Named,
    last: Named,
    keys: KeyMap,
    width: int,
    *,
    asking: bool = False,
    ascii: bool = False,
) -> tuple[Line, Places]:
    """The line, and which cells belong to which action: keys of the pane, then what is likely, as many as fit whole;
    at the right what is always there."""
    right = _right(last, keys, width - 2, asking)
    tail = sum(cells_of(key) + 1 + cells_of(words) + GAP for key, words, _ in right)
    room = width - 2 - tail
    spans: list[Span] = [(" ", "")]
    places: Places = []
    used = 1
    named = [(sign if not ascii else plain, words, "") for sign, plain, words in here]
    named += [(keys.shown(action.name), words, action.name) for action, words in likely]
    for key, words, name in named:
        cells = cells_of(key) + 1 + cells_of(words)
        if used + cells > room:
            continue
        spans += [(key, "accent bold"), (f" {words}", "muted"), (" " * GAP, "")]
        places += [(used, used + cells, name)] if name else []
        used += cells + GAP
    blank = max(used, width - 1 - tail + GAP)
    spans.append((" " * (blank - used), ""))
    used = blank
    for number, (key, words, name) in enumerate(right):
        cells = cells_of(key) + 1 + cells_of(words)
        spans += [(key, "accent bold"), (f" {words}", "muted"), (" " * GAP if number < len(right) - 1 else "", "")]
        places.append((used, used + cells, name))
        used += cells + GAP
    return tuple(spans), places


def _right(last: Named, keys: KeyMap, width: int, asking: bool) -> list[tuple[str, str, str]]:
    """As many of these as leave more than half of the line to the others; help is never left out."""
    found = [
        (keys.shown(action.name, int(asking and action.name == "help")), words, action.name) for action, words in last
    ]
    while len(found) > 1 and sum(cells_of(key) + 1 + cells_of(words) + GAP for key, words, _ in found) > width // 2:
        found.pop(next(at for at in range(len(found) - 1, -1, -1) if found[at][2] != "help"))
    return found


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
        self._places: Places = []

    def show(self, keys: KeyMap, here: Situation, asking: bool = False) -> None:
        """While a gate is open its `ask` has the question mark, so help is shown with its second key."""
        self.asking, self.keys, self.here = asking, keys, here
        self.on_resize()

    def on_resize(self) -> None:
        if self.keys is None or self.here is None or self.size.width <= 0:
            return
        here = self.here
        likely, last = ([(one, label(here, one)) for one in actions] for actions in for_footer(here))
        line, self._places = footer_spans(
            hints(here), likely, last, self.keys, self.size.width, asking=self.asking, ascii=here.view.glyphs.ascii
        )
        self.set_lines([line])

    def on_click(self, event: events.Click) -> None:
        for start, end, name in self._places:
            if start <= event.x < end:
                self.post_message(self.Pressed(name))

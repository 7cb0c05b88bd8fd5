"""Help: every action with its key, from the registry, so that it can never be out of date."""

from __future__ import annotations

from tui.kit.keys import ACTIONS, GROUPS, KeyMap, key_words
from tui.kit.paint import BLANK, Line, pad, side_by_side, wrap
from tui.kit.view import View
from tui.screens.list_page import SheetPage

FIXED: tuple[tuple[str, str], ...] = (
    ("up down", "move in a list or in the tasks; also j and k"),
    ("enter", "open or choose"),
    ("home end", "first and last line"),
    ("F2 or ^s", "send the text in the editor"),
    ("^↑ ^↓", "earlier texts, in the editor"),
    ("mouse", "click panes, tasks, buttons and the footer; drag to select text"),
)
"""Keys inside lists and dialogs; they are not remapped."""


def help_lines(keys: KeyMap, width: int, ascii_only: bool) -> list[Line]:
    blocks = [_group(group, keys, (width - 3) // 2 if width >= 100 else width) for group in GROUPS]
    fixed: list[Line] = [(("IN LISTS AND DIALOGS", "accent bold"),)]
    for key, words in FIXED:
        shown = key.replace("↑", "up").replace("↓", "down") if ascii_only else key
        first, *rest = wrap(words, ((width - 3) // 2 if width >= 100 else width) - 10, "fg")
        fixed.append(((pad(shown, 10), "fg bold"), *first[1:]))
        fixed += [((" " * 10, ""), *line[1:]) for line in rest]
    blocks.append(fixed)
    if width < 100:
        return [line for block in blocks for line in (*block, BLANK)]
    left: list[Line] = []
    right: list[Line] = []
    for block in blocks:
        column = left if len(left) <= len(right) else right
        column += [*block, BLANK]
    return side_by_side(left, right, (width - 3) // 2)


def _group(group: str, keys: KeyMap, width: int) -> list[Line]:
    lines: list[Line] = [((group.upper(), "accent bold"),)]
    for action in ACTIONS:
        if action.group != group:
            continue
        shown = " ".join(key_words(key) for key in keys.keys[action.name].split(","))
        first, *rest = wrap(action.about, width - 10, "fg")
        lines.append(((pad(shown, 10), "fg bold"), *first[1:]))
        lines += [((" " * 10, ""), *line[1:]) for line in rest]
    return lines


class Help(SheetPage):
    NAME = "help"
    HEADING = "HELP"

    def draw(self, view: View, width: int, height: int) -> list[Line]:
        return help_lines(self.dev.keys, width, view.glyphs.ascii)

    def do_help(self) -> None:
        self.do_back()

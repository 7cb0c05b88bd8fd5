"""Style words become terminal styles through the current theme; the only place that reads colours for line drawing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rich.style import Style

if TYPE_CHECKING:
    from textual.app import App

ATTRIBUTES = frozenset({"bold", "italic", "underline", "reverse", "strike"})

TOKENS = {
    "fg": "foreground",
    "good": "success",
    "warn": "warning",
    "bad": "error",
    "ground": "background",
}
"""Style words whose theme variable has another name; every other word is its own variable."""


class Ink:
    """The styles of one theme, made once per distinct set of words."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables
        self._made: dict[str, Style] = {"": Style.null()}

    def style(self, words: str) -> Style:
        made = self._made.get(words)
        if made is None:
            made = self._made[words] = self._make(words)
        return made

    def _make(self, words: str) -> Style:
        color: str | None = None
        ground: str | None = None
        attributes: dict[str, bool] = {}
        for word in words.split():
            if word in ATTRIBUTES:
                attributes[word] = True
            elif word.startswith("on-"):
                ground = self._variables.get(TOKENS.get(word[3:], word[3:]))
            else:
                color = self._variables.get(TOKENS.get(word, word))
        return Style(
            color=color,
            bgcolor=ground,
            bold=attributes.get("bold"),
            italic=attributes.get("italic"),
            underline=attributes.get("underline"),
            reverse=attributes.get("reverse"),
            strike=attributes.get("strike"),
        )


_current: tuple[object, Ink] | None = None


def ink_of(app: App[Any]) -> Ink:
    """The ink of the app's theme; a reloaded theme is a new object and gets new ink."""
    global _current
    theme = app.current_theme
    if _current is None or _current[0] is not theme:
        _current = (theme, Ink(app.get_css_variables()))
    return _current[1]

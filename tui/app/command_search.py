"""The command palette: every action that works here, every task, every theme. What is found is run like its key."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from tui.kit.context import Situation, for_palette, label
from tui.kit.paint import outside

if TYPE_CHECKING:
    from tui.app.application import DevteamApp


def _situation(app: DevteamApp) -> Situation:
    """The palette lies above the page that it is about."""
    from tui.screens.page import Page

    page = next((screen for screen in reversed(app.screen_stack) if isinstance(screen, Page)), None)
    return page.situation(app.view) if page is not None else Situation(view=app.view, page="")


class Commands(Provider):
    """Titles are Content, never markup: a task's title comes from outside. Only what works here, the likely first."""

    def _all(self) -> Iterator[tuple[str, str, Callable[[], None]]]:
        app = cast("DevteamApp", self.app)
        here = _situation(app)
        for action in for_palette(here):
            words = label(here, action)
            second = action.name == "help" and app.view.gate is not None  # the first key asks then
            yield f"{words} ({app.keys.shown(action.name, int(second))})", action.about, partial(app.act, action.name)
        for task in app.feed.state.tasks.values():
            yield f"task {outside(task.id)} {outside(task.spec.title)}", "show this task", partial(app.choose, task.id)
        for name in sorted(app.themes):
            yield f"theme {name}", "use this theme", partial(app.keep_theme, name)

    async def discover(self) -> Hits:
        for title, about, run in self._all():
            yield DiscoveryHit(Content(title), run, text=title, help=about)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for title, about, run in self._all():
            score = max(matcher.match(title), matcher.match(about) * 0.8)
            if score > 0:
                yield Hit(score, Content(title), run, text=title, help=about)

"""The command palette: every action of the registry, every task, every theme. What is found is run like its key."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from tui.kit.keys import ACTIONS, Action
from tui.kit.paint import outside

if TYPE_CHECKING:
    from tui.app.application import DevteamApp


def _now(app: DevteamApp, action: Action) -> bool:
    """Whether it means something now: gate keys do while there is a gate, and only the choices it offers."""
    return action.group != "Gate" or (app.gates.current is not None and bool(app.check_action("act", (action.name,))))


class Commands(Provider):
    """Titles are Content, never markup: a task's title comes from outside. What means nothing now comes last."""

    def _all(self) -> Iterator[tuple[str, str, Callable[[], None]]]:
        app = cast("DevteamApp", self.app)
        for action in sorted(ACTIONS, key=lambda action: not _now(app, action)):
            yield f"{action.label} ({app.keys.shown(action.name)})", action.about, partial(app.act, action.name)
        for task in app.feed.state.tasks.values():
            yield f"task {outside(task.id)} {outside(task.spec.title)}", "show this task", partial(app.choose, task.id)
        for name in sorted(app.themes):
            yield f"theme {name}", "use this theme", partial(app.set_theme, name)

    async def discover(self) -> Hits:
        for title, about, run in self._all():
            yield DiscoveryHit(Content(title), run, text=title, help=about)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for title, about, run in self._all():
            score = max(matcher.match(title), matcher.match(about) * 0.8)
            if score > 0:
                yield Hit(score, Content(title), run, text=title, help=about)

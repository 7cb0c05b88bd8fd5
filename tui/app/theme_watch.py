"""Hot reload: an edited theme file is applied at once; a bad one keeps the old theme and names the key."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import App

from tui.app.theme import PACKAGED, load_folder

if TYPE_CHECKING:
    from tui.app.application import DevteamApp


async def watch_themes(app: DevteamApp, folder: Path) -> None:
    """For ever. A folder that is not there yet is watched through its parent."""
    from watchfiles import awatch

    target = _watched(folder)
    if target is None:
        return
    async for changes in awatch(target, debounce=100, step=20, recursive=True):
        if any(path.endswith(".toml") for _, path in changes):
            reload(app, folder)


def _watched(folder: Path) -> Path | None:
    target = folder if folder.is_dir() else folder.parent
    return target.resolve() if target.is_dir() else None


def reload(app: DevteamApp, folder: Path) -> None:
    """Take what is good. While a file is bad, whatever it last said stays; once all are good, removed ones go back."""
    own, problems = load_folder(folder)
    packaged = [] if problems else load_folder(PACKAGED)[0]
    for theme in (*packaged, *own):
        app.themes[theme.name] = theme
        app.register_theme(theme)
    app.mutate_reactive(App.theme)
    app.report_themes(problems)
    app.redraw()

"""Reading a screen in tests: its text, cell by cell, and what must hold of every screen whatever it shows."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from rich.cells import cell_len

from tui.app.application import DevteamApp
from tui.kit.canvas import Canvas
from tui.kit.framed import Framed
from tui.panels.tasks import TasksPanel

KEPT = Path(__file__).parent / "screens"
UPDATE = bool(os.environ.get("DEVTEAM_UPDATE_SCREENS"))
BORDER = re.compile(r"[│|┃║╎]")


def text_of(app: DevteamApp) -> list[str]:
    """The rows of the screen as text, each as wide as the screen."""
    return [strip.text for strip in app.screen._compositor.render_strips()]


def same_as_kept(name: str, rows: list[str]) -> str:
    """Empty if the screen is as it was kept; else where it differs. `DEVTEAM_UPDATE_SCREENS=1 pytest` keeps it anew."""
    path = KEPT / f"{name}.txt"
    now = "\n".join(row.rstrip() for row in rows) + "\n"
    if UPDATE:
        KEPT.mkdir(exist_ok=True)
        path.write_text(now, encoding="utf-8")
        return ""
    if not path.is_file():
        return f"{path.name} is not kept: run with DEVTEAM_UPDATE_SCREENS=1 and look at it"
    before = path.read_text(encoding="utf-8")
    if before == now:
        return ""
    pairs = zip(before.split("\n"), now.split("\n"), strict=False)
    return "\n".join(
        f"{name} row {at}\n  kept {old}\n  now  {new}" for at, (old, new) in enumerate(pairs) if old != new
    )


def wrong_with(app: DevteamApp) -> list[str]:
    """Everything that may be wrong with any screen: control bytes, cut cells, cut titles beside blanks, non-ASCII."""
    rows = text_of(app)
    width = app.size.width
    wrong = [f"row {at} has {cell_len(row)} of {width} cells" for at, row in enumerate(rows) if cell_len(row) != width]
    for at, row in enumerate(rows):
        wrong += [f"row {at}: control byte {ord(char):#x}" for char in row if ord(char) < 32 or ord(char) == 127]
        if app.options.ascii:
            wrong += [f"row {at}: {char!r} in {row.strip()!r}" for char in row if ord(char) > 126]
        wrong += [f"row {at}: {said}" for said in cut_titles(app, row)]
    return wrong + cut_lines(app) + cut_in_half_empty_panes(app)


def cut_lines(app: DevteamApp) -> list[str]:
    """Lines that are wider than what shows them: cells that go missing without a sign."""
    wrong = []
    for canvas in app.screen.query(Canvas):
        region: Any = canvas.scrollable_content_region
        if not canvas.display or region.width <= 0 or not canvas.is_on_screen:
            continue
        top = round(canvas.scroll_offset.y)
        for line in canvas.lines[top : top + region.height]:
            words = "".join(text for text, _ in line).rstrip()
            if cell_len(words) > region.width - isinstance(canvas, Framed):  # a cell is free before the scroll bar
                wrong.append(f"#{canvas.id}: {cell_len(words)} cells in {region.width}: {words!r}")
    return wrong


def cut_titles(app: DevteamApp, row: str) -> list[str]:
    """Titles of tasks that end in an ellipsis although what is free beside them would have held the rest.

    On a border what is free is the border's own line. Titles that begin alike are one here: the longest may be cut.
    """
    mark = "~" if app.options.ascii else "…"
    if mark not in row:
        return []
    wrong = []
    titles = {task.spec.title for task in app.feed.state.tasks.values()}
    for part in BORDER.split(row):
        for found in re.finditer(re.escape(mark), part):
            before = part[: found.start()]
            for title in titles:
                length = max((n for n in range(6, len(title)) if before.endswith(title[:n].rstrip())), default=0)
                free = sum(len(gap) - 2 for gap in re.findall(r" {3,}|[─-]{3,}", f"{part} "))
                if length and free > len(title) - length:
                    wrong.append(f"{title!r} is cut beside {free} free cells: {part!r}")
    return wrong


def cut_in_half_empty_panes(app: DevteamApp) -> list[str]:
    """Titles cut in a list of tasks that has rows left: they could go on there."""
    mark = "~" if app.options.ascii else "…"
    wrong = []
    for panel in app.screen.query(TasksPanel):
        if not panel.display or not panel.is_on_screen or panel.room[0] <= 0:
            continue
        rows = ["".join(text for text, _ in line).rstrip() for line in panel.lines]
        free = panel.room[1] - len(rows)
        ids = tuple(app.feed.state.tasks)
        cut = [row for row in rows if row.endswith((mark, "…")) and any(f" {name} " in row for name in ids)]
        if free > 0 and cut:
            wrong.append(f"{free} rows are free below {cut[0]!r}")
    return wrong

"""Reading a screen in tests: its text, cell by cell, and what must hold of every screen whatever it shows."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from rich.cells import cell_len
from textual.widgets import Input

from tests.tui.cuts import Cuts, cut_beside_room
from tui.app.application import DevteamApp
from tui.kit.canvas import Canvas
from tui.kit.framed import Framed
from tui.kit.row_list import RowList

KEPT = Path(__file__).parent / "screens"
UPDATE = bool(os.environ.get("DEVTEAM_UPDATE_SCREENS"))


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


def wrong_with(app: DevteamApp, cuts: Cuts | None = None) -> list[str]:
    """Everything that may be wrong with any screen: control bytes, cut cells, non-ASCII; and where the painters were
    watched, words that were cut although there was room."""
    rows = text_of(app)
    width = app.size.width
    wrong = [f"row {at} has {cell_len(row)} of {width} cells" for at, row in enumerate(rows) if cell_len(row) != width]
    for at, row in enumerate(rows):
        wrong += [f"row {at}: control byte {ord(char):#x}" for char in row if ord(char) < 32 or ord(char) == 127]
        if app.options.ascii:
            wrong += [f"row {at}: {char!r} in {row.strip()!r}" for char in row if ord(char) > 126]
    wrong += [
        f"#{box.id}: {box.placeholder!r} is cut to {box.content_size.width} cells"
        for box in app.screen.query(Input)
        if box.display and box.is_on_screen and not box.value and len(box.placeholder) > box.content_size.width
    ]
    wrong += [f"#{rows.id}: no mark beside the chosen row" for rows in app.screen.query(RowList) if not rows.marked]
    return wrong + cut_lines(app) + (cut_beside_room(app, cuts) if cuts is not None else [])


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

"""Makes the pictures of the README from the recorded sprint: `python -m screenshots.make [folder]`.

SVGs by Textual itself, with the font names changed to ones every system has; a PNG of the hero for places that show
no SVG. Nothing in a picture depends on the machine: the clock stands, the recording is the project's own.
"""

from __future__ import annotations

import asyncio
import re
import sys
from functools import partial
from pathlib import Path

from tests.tui.driving import app_on, press, settle
from tests.tui.lanes import live_lanes
from tests.tui.links import LiveLink, live

FONTS = "DejaVu Sans Mono, Menlo, Consolas, monospace"

PICTURES: tuple[tuple[str, str, tuple[int, int], tuple[str, ...], dict[str, object]], ...] = (
    ("hero", "three lanes", (132, 38), (), {}),
    ("gate", "three gates", (132, 40), (), {}),
    ("morning", "ended", (132, 36), (), {}),
    ("evidence", "council", (120, 34), ("e",), {}),
    ("cost", "end", (120, 34), ("dollar_sign",), {}),
    ("narrow", "four lanes", (80, 24), (), {}),
    ("diff", "fix_gate", (160, 40), ("d", "down"), {}),
    ("light", "three lanes", (120, 36), (), {"theme": "daylight"}),
)

SITUATIONS = {
    "three lanes": partial(live_lanes, 3),
    "four lanes": partial(live_lanes, 4),
    "three gates": partial(live_lanes, 4, gates=3),
    "ended": partial(live_lanes, 3, ended=True),
}
"""Sprints with several lanes; every other name is a moment of the recorded sprint."""


def link_of(name: str) -> LiveLink:
    return SITUATIONS[name]() if name in SITUATIONS else live(name)


async def take(mark: str, size: tuple[int, int], keys: tuple[str, ...], options: dict[str, object]) -> str:
    app = app_on(link_of(mark), **options)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await press(pilot, *keys)
        app.clear_notifications()
        await settle(pilot)
        return app.export_screenshot(title="devteam")


async def picture(name: str) -> str:
    """One of the pictures, as SVG."""
    mark, size, keys, options = next(rest for known, *rest in PICTURES if known == name)
    # Textual names every element after a hash of the process; a fixed name makes the same picture twice.
    svg = re.sub(r"terminal-\d+-", "terminal-", await take(mark, size, keys, options))
    return svg.replace("Fira Code", FONTS.split(",")[0])


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, *_ in PICTURES:
        svg = asyncio.run(picture(name))
        (folder / f"{name}.svg").write_text(svg, encoding="utf-8")
        if name == "hero":
            _png(svg, folder / "hero.png")
        sys.stdout.write(f"{folder / name}.svg\n")


def _png(svg: str, path: Path) -> None:
    """Where resvg is installed; the SVG alone is enough elsewhere."""
    try:
        import resvg_py
    except ImportError:
        return
    family = FONTS.split(",")[0]
    path.write_bytes(bytes(resvg_py.svg_to_bytes(svg_string=svg, font_family=family, monospace_family=family)))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)

"""Makes the pictures of the README from a recorded run: `python -m screenshots.make [folder]`.

The run is a real one (`screenshots.record` made it); each picture is a moment of it, so their numbers agree. SVGs by
Textual itself, with the font names changed to ones every system has; a PNG of the hero for places that show no SVG.
"""

from __future__ import annotations

import asyncio
import gzip
import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

from engine.core.events import Envelope
from engine.core.fold import apply
from engine.core.state import State, Status
from engine.link.codec import Recorded, decode_item
from engine.link.protocol import AnyQuery, Item, LinkStatus
from tests.tui.driving import app_on, press, settle
from tests.tui.links import LiveLink

FONTS = "DejaVu Sans Mono, Menlo, Consolas, monospace"
RUN = Path(__file__).parent / "run.jsonl.gz"

Picture = tuple[str, str, tuple[int, int], tuple[str, ...], dict[str, object]]
PICTURES: tuple[Picture, ...] = (
    ("hero", "work", (132, 38), (), {}),
    ("gate", "gates", (132, 40), ("right_square_bracket",) * 2, {}),
    ("morning", "end", (132, 36), (), {}),
    ("evidence", "end", (120, 34), ("e", *("down",) * 8), {}),
    ("cost", "end", (120, 34), ("dollar_sign",), {}),
    ("narrow", "work", (80, 24), (), {}),
    ("diff", "end", (160, 40), ("d",), {}),
    ("light", "work", (120, 36), (), {"theme": "daylight"}),
)


def _at_work(state: State) -> tuple[int, ...]:
    """Most lanes with an agent, something committed, something climbed, and nobody needed."""
    busy = sum(task.status is Status.RUNNING for task in state.tasks.values())
    done = sum(bool(task.commit) for task in state.tasks.values())
    return (not state.open_gates(), min(done, 1), busy, min(len(state.escalations), 2), len(state.inflight))


def _asked(state: State) -> tuple[int, ...]:
    return (len(state.open_gates()), min(1, sum(task.review is not None for task in state.tasks.values())))


MOMENTS: dict[str, Callable[[State], tuple[int, ...]]] = {"work": _at_work, "gates": _asked}
"""The last moment of the run with the most of these; `end` is its end."""


@cache
def recorded() -> tuple[Item | Recorded, ...]:
    return tuple(decode_item(line) for line in gzip.decompress(RUN.read_bytes()).splitlines())


@cache
def place_of(moment: str) -> int:
    """How many items of the recording lie before a moment."""
    items = recorded()
    if moment == "end":
        return len(items)
    state, best, place = State(), (), 0
    for number, item in enumerate(items, 1):
        if isinstance(item, Envelope):
            state = apply(state, item)
            if (found := MOMENTS[moment](state)) >= best:
                best, place = found, number
    return place


def link_at(place: int) -> LiveLink:
    """The first so many items of the run; what was asked of it is answered as it was last answered before that."""
    said: list[Item] = []
    answers: dict[AnyQuery, Recorded] = {}
    for item in recorded()[:place]:
        match item:
            case Recorded(query=query):
                answers[query] = item
            case LinkStatus():
                pass
            case _:
                said.append(item)
    link = LiveLink([*said, *answers.values()], name="tally", at_end=False)  # type: ignore[list-item]
    link.sent = []
    return link


async def take(moment: str, size: tuple[int, int], keys: tuple[str, ...], options: dict[str, object]) -> str:
    app = app_on(link_at(place_of(moment)), **options)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await press(pilot, *keys)
        app.clear_notifications()
        await settle(pilot)
        return app.export_screenshot(title="devteam")


async def picture(name: str) -> str:
    """One of the pictures, as SVG."""
    _, moment, size, keys, options = next(known for known in PICTURES if known[0] == name)
    # Textual names every element after a hash of the process; a fixed name makes the same picture twice.
    svg = re.sub(r"terminal-\d+-", "terminal-", await take(moment, size, keys, options))
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

"""Where the dashboard's panes stand: a pure function of the size and of what there is to show, never fixed shares."""

from __future__ import annotations

from engine.core.model import Struct

TILE_WIDTH = 48
"""Cells an output needs to be read without wrapping most of its lines."""
TILE_HEIGHT = 7
MOST_TILES = 8
SIDE = 33
WORK_LEAST = 46
WORK_ROWS = 10
"""Rows that the work below the strip keeps."""


class Contents(Struct, frozen=True, kw_only=True):
    """What there is to show, in cells and rows."""

    lanes: int = 0
    """Lanes in the strip."""
    running: int = 0
    titles: int = 20
    """Cells of the widest row of the task list."""
    tasks: int = 0
    """Rows of the task list."""
    stages: int = 9
    """Rows of the iteration pane."""
    ladder: int = 6
    health: int = 8


class Arrangement(Struct, frozen=True, kw_only=True):
    """Sizes with their borders; 0: not shown."""

    strip: int = 0
    tasks: int = 0
    side: int = 0
    iteration: int = 0
    ladder: int = 0
    health: int = 0
    recent: bool = False
    columns: int = 1
    rows: int = 1
    narrow: bool = False
    left: bool = False
    """The stages stand under the task list, where that leaves room."""

    @property
    def tiles(self) -> int:
        return self.columns * self.rows


def arrange(width: int, height: int, what: Contents) -> Arrangement:
    """The panes in `width` × `height` cells, header, gates and footer left out."""
    narrow = width < 100
    strip = strip_rows(what.lanes, height - WORK_ROWS - (1 if narrow else 0))
    rows = height - strip - (1 if narrow else 0)
    if narrow:
        stages = max(6, min(what.stages + 2, rows // 2 if rows >= 16 else 7))
        return Arrangement(strip=strip, iteration=stages, narrow=True)
    tasks = max(24, min(what.titles + 4, width * 3 // 10 if width < 160 else 66))
    side = min(62, max(SIDE, (width - tasks - 2 * TILE_WIDTH) * 3 // 4)) if width >= 150 else SIDE
    work = width - tasks - side
    if work < WORK_LEAST:
        side, work = 0, width - tasks
    stages = max(6, min(what.stages + 2, rows - TILE_HEIGHT))
    left = tasks >= 44 and rows - stages >= min(what.tasks + 2, 12)
    columns, lines = tiles(work, rows - (0 if left else stages), what.running)
    if not left and columns * lines < what.running and what.running > 1 and rows - 8 >= TILE_HEIGHT:
        stages = min(stages, 8)
        columns, lines = tiles(work, rows - stages, what.running)
    ladder, health, recent = side_rows(rows, what)
    return Arrangement(
        strip=strip,
        tasks=tasks,
        side=side,
        iteration=stages,
        ladder=ladder,
        health=health,
        recent=recent,
        columns=columns,
        rows=lines,
        left=left,
    )


def strip_rows(lanes: int, room: int) -> int:
    """Rows of the strip with its border: two a lane and three below, or less where that is too much."""
    if lanes <= 0:
        return 0
    for wanted in (2 * lanes + 3, lanes + 3, lanes + 1):
        if wanted + 2 <= room:
            return wanted + 2
    return room if room >= 4 else 0


def tiles(width: int, height: int, running: int) -> tuple[int, int]:
    """Columns and rows of outputs: one for every lane at work, as far as they can be read."""
    wanted = max(1, min(running, MOST_TILES))
    columns = max(1, min(wanted, width // TILE_WIDTH))
    lines = max(1, min(-(-wanted // columns), height // TILE_HEIGHT))
    columns = max(1, min(columns, -(-wanted // lines)))
    return columns, lines


def side_rows(rows: int, what: Contents) -> tuple[int, int, bool]:
    """Ladder and health as long as they are; what is left shows the last events."""
    ladder, health = what.ladder + 2, what.health + 2
    if ladder + health + 6 <= rows:
        return ladder, health, True
    if ladder + health > rows:
        ladder = max(5, min(ladder, rows * ladder // (ladder + health)))
    return ladder, max(4, rows - ladder), False

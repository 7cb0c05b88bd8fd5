"""Where the dashboard's panes stand: a pure function of the size and of what there is to show, never fixed shares."""

from __future__ import annotations

from msgspec.structs import replace

from engine.core.model import Struct

TILE_WIDTH = 48
"""Cells an output needs to be read without wrapping most of its lines."""
TILE_HEIGHT = 7
TILE_LEAST = 5
"""Rows an output is squeezed to before a lane has none."""
MOST_TILES = 8
SIDE = 33
WORK_LEAST = 46
TASKS_LEAST = 30
TASKS_WIDEST = 96
NARROW = 100
"""Cells of a screen below which one column is shown at a time."""
BESIDE_TITLE = 14
"""Cells of the iteration and the time beside the title of a task."""
WORK_ROWS = 10
"""Rows that the work below the strip keeps."""
LEAST = 4
"""Rows of a pane that says anything."""
OUTPUT_LEAST = 3
"""Rows of an output on a small screen."""
STAGES_LEAST = 36
"""Cells of a column in which the stages of an iteration are whole."""
EVENTS_LEAST = 30
EVENT_ROWS = 6
ROOMY = 160
"""Cells of a screen whose columns are never so narrow that the stages or the events have no place."""
LIST_ROWS = 16
"""Rows from which a list of tasks may scroll so that the stages stand below it."""


class Contents(Struct, frozen=True, kw_only=True):
    """What there is to show, in cells and rows."""

    lanes: int = 0
    """Lanes in the strip."""
    running: int = 0
    titles: int = 20
    """Cells of the widest row of the task list."""
    tasks: int = 0
    """Rows of the task list with every title whole."""
    tasks_wide: int = 0
    """The same in a column that is as wide as the longest title."""
    stages: int = 9
    """Rows of the iteration pane."""
    squeezed: int = 5
    """The same with the checks beside each other, in the narrowest column it may stand in beside the list of tasks."""
    squeezed_left: int = 5
    """The same in the column of the list."""
    decision: int = 0
    """How many of the squeezed rows are the decision and its reason: a lane's output is worth more than they are."""
    facts: int = 0
    """Rows of what the plan says of the chosen task, under the list."""
    ladder: int = 6
    ladder_whole: int = 0
    """With every escalation; it is shown where nothing else needs the rows."""
    health: int = 8
    health_least: int = 0
    """Rows of the monitor without blanks and without what is no news."""


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
    list_rows: int = 0
    """Rows of the task list where the last events stand at the foot of its column; 0: it takes what there is."""
    list_room: int = 0
    """Rows that the list of tasks may have."""

    @property
    def tiles(self) -> int:
        return self.columns * self.rows


def arrange(width: int, height: int, what: Contents) -> Arrangement:
    """The panes in `width` × `height` cells, header, gates and footer left out.

    Every lane at work keeps an output: before one has none the strip has one row a lane, and the outputs are squeezed.
    """
    narrow = width < NARROW
    room, half = height - WORK_ROWS - (1 if narrow else 0), height // 2
    strip = strip_rows(what.lanes, room, half)
    if narrow:
        rows = height - strip - 1
        least = min(what.squeezed - what.decision + 2, rows - OUTPUT_LEAST)
        stages = max(6, least, min(what.stages + 2, rows // 2 if rows >= 16 else 7))
        return Arrangement(strip=strip, iteration=stages, narrow=True)
    best = _below(width, height - strip, strip, what)
    if best.tiles < min(what.running, MOST_TILES):
        low = strip_rows(what.lanes, room, 0)
        other = _below(width, height - low, low, what)
        best = other if other.tiles >= min(what.running, MOST_TILES) else best
    return best


def _below(width: int, rows: int, strip: int, what: Contents) -> Arrangement:
    """The columns under a strip of a certain height; the task list is wide where that keeps its titles whole."""
    plan = _columns(width, rows, strip, what, wide=False)
    if plan.list_room >= what.tasks or what.tasks_wide > what.tasks - 1:
        return plan
    other = _columns(width, rows, strip, replace(what, tasks=what.tasks_wide), wide=True)
    return other if other.tiles >= plan.tiles else plan


def _columns(width: int, rows: int, strip: int, what: Contents, *, wide: bool) -> Arrangement:
    tasks, side = columns_of(width, what.titles, wide=wide)
    work = width - tasks - side
    whole = min(what.squeezed - what.decision + 2, rows - TILE_LEAST)  # an output may be squeezed for them
    stages = max(6, whole, min(what.stages + 2, rows - TILE_HEIGHT))
    under = max(stages, what.squeezed_left + 2)
    left = tasks >= STAGES_LEAST and rows - under >= min(what.tasks + 2, LIST_ROWS)
    if left:  # the titles of the tasks are worth more than a row for each check
        stages = min(under, max(what.squeezed_left + 2, rows - what.tasks - 2))
    listed = what.tasks + what.facts + 2
    below = listed + (stages if left else 0)
    list_rows = listed if tasks >= EVENTS_LEAST and below + EVENT_ROWS <= rows else 0
    columns, lines = tiles(work, rows - (0 if left else stages), what.running)
    for least in () if left else (what.squeezed + 2, what.squeezed - what.decision + 2):
        if columns * lines < what.running and what.running > 1 and rows - least >= TILE_HEIGHT:
            stages = min(stages, least)
            columns, lines = tiles(work, rows - stages, what.running)
    ladder, health, recent = side_rows(rows, what, events=not list_rows)
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
        list_rows=list_rows,
        list_room=rows - (stages if left else 0) - 2,
    )


def columns_of(width: int, titles: int, *, wide: bool = False) -> tuple[int, int]:
    """Cells of the column with the tasks and of the one at the side; the rest is for the work.

    `wide`: as wide as the longest title, while the work keeps what it needs; on a large screen it always is, with what
    stands beside titles.
    """
    whole = titles - BESIDE_TITLE + 4 + wide  # a list that asks for more may scroll: its bar takes a cell
    widest = TASKS_WIDEST if wide else STAGES_LEAST
    if width >= ROOMY:
        tasks = max(44, min(titles + 4, 66), min(whole, width - SIDE - TILE_WIDTH, widest))
    elif (most := width - SIDE - WORK_LEAST) >= TASKS_LEAST:
        tasks = max(min(STAGES_LEAST, most), min(whole, most, widest))
    else:  # no column at the side
        tasks = max(24, min(whole, width - TILE_WIDTH, widest if wide else TASKS_LEAST))
    side = min(62, max(SIDE, (width - tasks - 2 * TILE_WIDTH) * 3 // 4)) if width >= 150 else SIDE
    return (tasks, side) if width - tasks - side >= WORK_LEAST else (tasks, 0)


def strip_rows(lanes: int, room: int, half: int) -> int:
    """Rows of the strip with its border: two a lane while that is less than half of the screen, and three below."""
    if lanes <= 0:
        return 0
    for wanted, most in ((2 * lanes + 3, min(room, half)), (lanes + 3, room), (lanes + 1, room)):
        if wanted + 2 <= most:
            return wanted + 2
    return room if room >= 4 else 0


def tiles(width: int, height: int, running: int) -> tuple[int, int]:
    """Columns and rows of outputs: one for every lane at work, as far as they can be read."""
    wanted = max(1, min(running, MOST_TILES))
    most = max(1, min(wanted, width // TILE_WIDTH))
    needed = -(-wanted // most)
    least = TILE_LEAST if needed * TILE_LEAST <= height else TILE_HEIGHT  # squeezed for all, or not at all
    lines = max(1, min(needed, height // least))
    return max(1, min(most, -(-wanted // lines))), lines


def side_rows(rows: int, what: Contents, *, events: bool = True) -> tuple[int, int, bool]:
    """Ladder and health as long as they are; what is left shows the last events, where they stand nowhere else."""
    ladder, health = what.ladder + 2, what.health + 2
    if events and ladder + health + EVENT_ROWS <= rows:
        return ladder, health, True
    least = min(health, (what.health_least or what.health) + 2)
    if ladder + least > rows:
        ladder = max(5, min(ladder, max(rows * ladder // (ladder + health), rows - least)))
    ladder = min(max(ladder, min(what.ladder_whole + 2, rows - health)), max(5, rows - LEAST))
    return ladder, max(LEAST, rows - ladder), False

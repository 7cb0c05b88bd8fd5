"""Small drawings made of characters: meters, bars and sparklines, as spans. Plots with axes: `tui.kit.plot`."""

from __future__ import annotations

from collections.abc import Sequence

from tui.kit.glyphs import Glyphs
from tui.kit.paint import Line, Span
from tui.kit.wording import share


def meter(part: float, whole: float, cells: int, glyphs: Glyphs, style: str = "accent") -> list[Span]:
    """▰▰▱▱▱▱: how much of a whole is used; anything above nothing shows at least one."""
    filled = round(share(part, whole) * cells)
    if part > 0 and filled == 0:
        filled = 1
    return [(glyphs.full * filled, style), (glyphs.empty * (cells - filled), "muted")]


def bar(part: float, most: float, cells: int, glyphs: Glyphs, style: str) -> list[Span]:
    """A bar as long as its share of the longest one."""
    filled = max(1, round(share(part, most) * cells)) if part > 0 else 0
    return [(glyphs.block * filled, style), (" " * (cells - filled), "")]


def spark(values: Sequence[float], glyphs: Glyphs, style: str = "accent") -> list[Span]:
    """▁▃▅▇: a trend in as many cells as there are values."""
    if not values:
        return []
    low, high = min(values), max(values)
    steps = glyphs.spark
    if high == low:
        return [(steps[len(steps) // 2] * len(values), style)]
    marks = [steps[round((value - low) / (high - low) * (len(steps) - 1))] for value in values]
    return [("".join(marks), style)]


def merged(spans: Sequence[Span]) -> Line:
    """Neighbours of one style as one span."""
    out: list[Span] = []
    for text, style in spans:
        if out and out[-1][1] == style:
            out[-1] = (out[-1][0] + text, style)
        else:
            out.append((text, style))
    return tuple(out)

"""Small drawings made of characters: meters, bars, sparklines and column plots, as spans."""

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


def columns(
    values: Sequence[float], width: int, height: int, glyphs: Glyphs, style: str, top: float = 0.0
) -> list[Line]:
    """A plot of columns with a bright edge over a quiet ground; `top` is the value at full height."""
    if not values or width <= 0 or height <= 0:
        return []
    sampled = [values[min(len(values) - 1, int((cell + 1) * len(values) / width) - 1)] for cell in range(width)]
    most = max(top, *sampled) or 1.0
    steps = glyphs.spark
    rows: list[Line] = []
    for row in range(height, 0, -1):
        spans: list[Span] = []
        for value in sampled:
            level = share(value, most) * height * len(steps) - (row - 1) * len(steps)
            if level > len(steps):
                spans.append((glyphs.shade if glyphs.ascii else glyphs.block, "line"))
            else:
                spans.append((steps[min(len(steps), max(1, round(level))) - 1] if level > 0 else " ", style))
        rows.append(merged(spans))
    return rows


def merged(spans: Sequence[Span]) -> Line:
    """Neighbours of one style as one span."""
    out: list[Span] = []
    for text, style in spans:
        if out and out[-1][1] == style:
            out[-1] = (out[-1][0] + text, style)
        else:
            out.append((text, style))
    return tuple(out)

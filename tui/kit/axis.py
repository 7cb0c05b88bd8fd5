"""The time line of the flight strip: wall time to the seconds that are drawn, long pauses folded, and back. Pure."""

from __future__ import annotations

from bisect import bisect_right

LONG_PAUSE = 45.0
"""Seconds in which no lane worked that are drawn as long as they were; a night's wait takes no more room than this."""

MOST_AHEAD = 0.5
"""What is still to come takes at most so much of what is drawn of the past: a third of the line."""
LEAST_AHEAD = 30.0
"""Seconds to come that are drawn as long as they are, however young the run is."""


class Axis:
    """Wall time to the seconds that are drawn, and back."""

    def __init__(self, start: float, now: float, until: float, pauses: list[tuple[float, float]]) -> None:
        self.start, self.now, self.until = start, now, until
        self._walls, self._drawn = [start], [0.0]
        for begin, end in pauses:
            if end <= self._walls[-1] or begin >= now:
                continue
            self._point(begin, begin - self._walls[-1])
            self._point(end, LONG_PAUSE)
        self._point(now, now - self._walls[-1])
        end = max(until, self._walls[-1], start + 1.0)
        ahead = end - self._walls[-1]
        most = max(self._drawn[-1] * MOST_AHEAD, LEAST_AHEAD)
        self.hurried = ahead > most
        """What is still to come is drawn faster than what was: the past keeps its room."""
        self._point(end, min(ahead, most))
        self.pauses = [(begin, end) for begin, end in pauses if begin < now]

    def _point(self, wall: float, drawn: float) -> None:
        self._walls.append(max(wall, self._walls[-1]))
        self._drawn.append(self._drawn[-1] + max(0.0, drawn))

    @property
    def length(self) -> float:
        return max(1.0, self._drawn[-1])

    def place(self, wall: float) -> float:
        """0 to 1 along the axis."""
        at = max(0, min(bisect_right(self._walls, wall) - 1, len(self._walls) - 2))
        span = self._walls[at + 1] - self._walls[at]
        part = (wall - self._walls[at]) / span if span > 0 else 0.0
        drawn = self._drawn[at] + min(1.0, max(0.0, part)) * (self._drawn[at + 1] - self._drawn[at])
        return min(1.0, drawn / self.length)

    def cell(self, wall: float, cells: int) -> int:
        return min(cells - 1, int(self.place(wall) * cells))

    def wall(self, part: float) -> float:
        """The time at a place."""
        drawn = min(1.0, max(0.0, part)) * self.length
        at = max(0, min(bisect_right(self._drawn, drawn) - 1, len(self._drawn) - 2))
        span = self._drawn[at + 1] - self._drawn[at]
        inside = (drawn - self._drawn[at]) / span if span > 0 else 0.0
        return self._walls[at] + inside * (self._walls[at + 1] - self._walls[at])

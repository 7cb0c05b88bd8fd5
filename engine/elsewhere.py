"""What a run must know of the repository's other sprints: the day's money, the hour's calls, how good each rung is."""

from __future__ import annotations

from engine.core.index_ladder import RungStats, added
from engine.core.ladder import measured
from engine.journal import Journal
from engine.project import load_state


def elsewhere(
    journal: Journal, stream: str, now: float, utc_offset: float
) -> tuple[float, tuple[float, ...], dict[str, RungStats]]:
    """Of the repository's other sprints: spent today, agent calls within the hour, and what they measured of a rung."""
    day = int((now + utc_offset) // 86400)
    spent, calls = 0.0, []
    stats: dict[str, RungStats] = {}
    for other in journal.streams():
        if other == stream:
            continue
        state = load_state(journal, other)
        spent += state.usage_by_day.get(str(day), 0.0)
        calls += [call for call in state.recent_calls if now - 3600 < call <= now]
        for name, one in measured(state).items():
            stats[name] = added(stats[name], one) if name in stats else one
    return spent, tuple(sorted(calls)), stats

"""The second ladder policy: the rung with the least expected cost per success, until that exceeds the task's value.

Before each attempt every choice that is left (the same rung again, or any other one) has an index, cost per call ÷
chance of success. Trying the smallest index first is the optimal order for boxes that may be opened one after another
(Weitzman); what it buys over fixed thresholds is that a dear, hardly better rung is skipped, a cheap one retried, and
money is not poured into tasks nobody solves. In replays of recorded runs a success cost 0.35–0.95 of what it costs
with 2/2/3. With a task's value at $20 as many tasks were solved, within half a point; at $3 up to nine points fewer,
which is what a low value means.

Chances come from this repository's own attempts, of three kinds that differ widely in practice: the first on a fresh
task, the first at a rung after others failed, and another try right after the same rung failed. Until there are enough
of them, each is pulled towards a prior. The priors are round numbers of our own, not fitted to any data set: a coin's
toss for a fresh task, a little better higher up; less after failures elsewhere; a third for a retry, which is shown the
checks' output; each further failure makes the next success less likely.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from engine.core.model import Struct

FRESH_LOW = 0.5
FRESH_HIGH = 0.7
"""Prior chance on a fresh task at the bottom and at the top; evenly spread between."""
AFTER_SHARE = 0.6
"""Prior share of a rung's fresh chance that is left once another rung has failed: what is left are the hard tasks."""
AFTER_DECAY = 0.8
"""Per further rung that failed."""
BELOW_SHARE = 0.3
"""Share that is left of a rung's chance for each better rung that has failed: going down must be far cheaper to pay."""
RETRY = 0.33
RETRY_DECAY = 0.6
"""Per further failure at the same rung in this task."""
PRIOR_WEIGHT = 4.0
"""Attempts a prior counts as: after a dozen of its own, a repository speaks for itself."""
FADES = 0.9
"""What an older price counts for beside the newest one, call by call."""
PRICE_SHARE = 0.5
"""Prior cost of a call, as a share of what is reserved for it; counts as one call."""


class Attempt(Struct, frozen=True, kw_only=True):
    """One attempt at a task as history tells it."""

    rung: int
    ok: bool
    cost_usd: float


class RungStats(Struct, frozen=True, kw_only=True):
    """What was measured of one rung. Successes and failures by kind of attempt; money over all of them."""

    reserve_usd: float = 1.0
    fresh: tuple[int, int] = (0, 0)
    after: tuple[int, int] = (0, 0)
    retry: tuple[int, int] = (0, 0)
    calls: int = 0
    cost_usd: float = 0.0


class Price(Struct, frozen=True, kw_only=True):
    """What a call costs of late: old calls fade, so that a new price is believed after a few."""

    usd: float = 0.0
    weight: float = 0.0

    def after(self, cost_usd: float) -> Price:
        weight = self.weight * FADES + 1.0
        return Price(usd=(self.usd * self.weight * FADES + cost_usd) / weight, weight=weight)


class Choice(Struct, frozen=True, kw_only=True):
    """The rung to try next; None: nothing left is worth it."""

    rung: int | None
    reason: str
    usd_per_success: float = 0.0


def measure(tasks: Iterable[Sequence[Attempt]], reserves: Sequence[float]) -> tuple[RungStats, ...]:
    """Statistics of every rung from the attempts of past tasks, each in the order they were made."""
    counts = [{"fresh": [0, 0], "after": [0, 0], "retry": [0, 0]} for _ in reserves]
    calls = [0] * len(reserves)
    costs = [0.0] * len(reserves)
    for attempts in tasks:
        tried: set[int] = set()
        for attempt in attempts:
            if not 0 <= attempt.rung < len(reserves):
                continue  # a ladder that has changed since
            kind = "retry" if attempt.rung in tried else "after" if tried else "fresh"
            counts[attempt.rung][kind][0 if attempt.ok else 1] += 1
            calls[attempt.rung] += 1
            costs[attempt.rung] += attempt.cost_usd
            tried.add(attempt.rung)
    return tuple(
        RungStats(
            reserve_usd=reserve,
            fresh=(counts[rung]["fresh"][0], counts[rung]["fresh"][1]),
            after=(counts[rung]["after"][0], counts[rung]["after"][1]),
            retry=(counts[rung]["retry"][0], counts[rung]["retry"][1]),
            calls=calls[rung],
            cost_usd=costs[rung],
        )
        for rung, reserve in enumerate(reserves)
    )


def added(one: RungStats, other: RungStats) -> RungStats:
    """Both measurements of the same rung; what is reserved is the first one's."""
    return RungStats(
        reserve_usd=one.reserve_usd,
        fresh=(one.fresh[0] + other.fresh[0], one.fresh[1] + other.fresh[1]),
        after=(one.after[0] + other.after[0], one.after[1] + other.after[1]),
        retry=(one.retry[0] + other.retry[0], one.retry[1] + other.retry[1]),
        calls=one.calls + other.calls,
        cost_usd=one.cost_usd + other.cost_usd,
    )


def choose(
    rungs_stats: Sequence[RungStats],
    failures_here: Sequence[int],
    current: int,
    value_usd: float,
    closed: Container[int] = (),
) -> Choice:
    """The cheapest expected success at any rung, up or down, that is not closed to it; none above `value_usd`.

    `failures_here[i]` is how often rung i has failed at this task; all zero asks where to start.
    """
    options = [
        (cost_of(stats) / chance_of(rungs_stats, failures_here, rung), rung)
        for rung, stats in enumerate(rungs_stats)
        if rung not in closed
    ]
    if not options:
        return Choice(rung=None, reason="the ladder has no rung left")
    index, rung = min(options)
    if index > value_usd:
        reason = f"the cheapest success would cost ${index:.2f}, more than the ${value_usd:.2f} the task is worth"
        return Choice(rung=None, reason=reason, usd_per_success=index)
    chance = chance_of(rungs_stats, failures_here, rung)
    others = ", ".join(f"${other:.2f} at rung {place + 1}" for other, place in sorted(options)[1:3])
    kind = "again" if rung == current and _failed(failures_here, rung) else "at"
    reason = f"{kind} rung {rung + 1}: ${index:.2f} per success ({chance:.0%} at ${cost_of(rungs_stats[rung]):.2f})"
    return Choice(rung=rung, reason=reason + (f"; else {others}" if others else ""), usd_per_success=index)


def cost_of(stats: RungStats) -> float:
    """Expected money of one call. Never nothing: a free rung would be tried for ever."""
    prior = max(stats.reserve_usd * PRICE_SHARE, 0.001)
    return max((stats.cost_usd + prior) / (stats.calls + 1), 0.0001)


def chance_of(rungs_stats: Sequence[RungStats], failures_here: Sequence[int], rung: int) -> float:
    """Chance that the next attempt at this rung succeeds, given what has failed at this task so far."""
    stats = rungs_stats[rung]
    top = max(1, len(rungs_stats) - 1)
    fresh = _pulled(stats.fresh, FRESH_LOW + (FRESH_HIGH - FRESH_LOW) * rung / top)
    own = _failed(failures_here, rung)
    others = sum(1 for other in range(len(rungs_stats)) if other != rung and _failed(failures_here, other))
    above = sum(1 for other in range(rung + 1, len(rungs_stats)) if _failed(failures_here, other))
    if own:
        return _pulled(stats.retry, RETRY) * RETRY_DECAY ** (own - 1) * BELOW_SHARE**above
    if others:
        return _pulled(stats.after, fresh * AFTER_SHARE) * AFTER_DECAY ** (others - 1) * BELOW_SHARE**above
    return fresh


def _failed(failures_here: Sequence[int], rung: int) -> int:
    return failures_here[rung] if rung < len(failures_here) else 0


def _pulled(counted: tuple[int, int], prior: float) -> float:
    """Mean of a Beta distribution: the counts, and a prior worth PRIOR_WEIGHT of them."""
    successes, failures = counted
    return (successes + prior * PRIOR_WEIGHT) / (successes + failures + PRIOR_WEIGHT)

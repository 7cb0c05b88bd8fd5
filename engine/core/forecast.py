"""What a plan will probably cost and take, from what this repository's finished tasks did, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engine.core.complexity import assess
from engine.core.model import Rung, Struct, TaskSpec

KEPT = 60
NEAR = 3
"""Complexities this far apart are alike."""
SECONDS_UNKNOWN = 240.0
CALLS_UNKNOWN = 3.0
"""Prior of a repository without history: an implementer's two tries and a review, at half of what is reserved."""


class PastTask(Struct, frozen=True, kw_only=True):
    """A finished task, as far as a forecast cares."""

    complexity: int
    usd: float
    seconds: float
    iterations: int = 1
    complete: bool = True
    check_seconds: float = 0.0
    """One run of the checks that judged it."""
    flaky: int = 0
    """Tests that flipped while it was judged: its checks ran once more for them."""


class Forecast(Struct, frozen=True, kw_only=True):
    """Expected money and time of a plan's open tasks, one after another."""

    usd: float
    seconds: float
    tasks: int
    measured: int
    """Tasks whose figure comes from history; the others are a prior."""
    flaky_seconds: float = 0.0
    """Part of the seconds: checks that will run once more, if tests go on flipping as they did."""

    def words(self) -> str:
        if not self.tasks:
            return "nothing to do"
        basis = (
            f"from {self.measured} of {self.tasks} tasks like ones done here before"
            if self.measured
            else "no history yet: a guess from what the ladder reserves"
        )
        again = f"; {_span(self.flaky_seconds)} of it for flaky tests" if self.flaky_seconds >= 30 else ""
        return f"about ${self.usd:.2f} and {_span(self.seconds)} ({basis}{again})"


def forecast(tasks: Iterable[TaskSpec], past: Sequence[PastTask], rungs: Sequence[Rung]) -> Forecast:
    """The sum over the tasks that are open: what tasks like them took, and what flaky tests will cost on top."""
    usd = seconds = 0.0
    checks = median(one.check_seconds for one in past) if past else 0.0
    again = checks * sum(one.flaky > 0 for one in past) / len(past) if past else 0.0
    count = measured = 0
    prior = CALLS_UNKNOWN * 0.5 * (sum(rung.reserve_usd for rung in rungs) / len(rungs) if rungs else 1.0)
    for task in tasks:
        if task.done or task.skipped:
            continue
        count += 1
        score = assess(task).score
        like = [one for one in past if abs(one.complexity - score) <= NEAR] or list(past)
        if like:
            measured += 1
            usd += median(one.usd for one in like)
            seconds += median(one.seconds for one in like)
        else:
            usd += prior
            seconds += SECONDS_UNKNOWN * (1 + score / 7)
    flaky = count * again
    return Forecast(usd=usd, seconds=seconds + flaky, tasks=count, measured=measured, flaky_seconds=flaky)


def median(amounts: Iterable[float]) -> float:
    ordered = sorted(amounts)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def _span(seconds: float) -> str:
    minutes = max(1, round(seconds / 60))
    return f"{minutes} min" if minutes < 90 else f"{minutes / 60:.1f} h"

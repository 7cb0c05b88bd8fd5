"""Stuck detection: the same failure three times while failing. Green iterations are never stuck."""

from __future__ import annotations

from collections.abc import Sequence

from engine.core.task_state import Record


def stuck(history: Sequence[Record], window: int = 3) -> str:
    """Why the last iterations go round in circles; empty if they do not."""
    last = history[-window:]
    if window < 2 or len(last) < window or any(record.green for record in last):
        return ""
    first = last[0]
    if first.error and all(record.error == first.error for record in last):
        return f"the same error {window} times: {first.error}"
    if first.failing and all(record.failing == first.failing for record in last):
        return f"the same {len(first.failing)} failing {window} times: {first.failing[0]}"
    # A review that finds something else each time is progress, in whichever files it is made.
    opinions = all(record.error.startswith("review: ") for record in last)
    still = all(record.files == first.files and record.passing <= first.passing for record in last)
    if first.files and still and not opinions:
        return f"the same {len(first.files)} file(s) changed {window} times without progress"
    return ""

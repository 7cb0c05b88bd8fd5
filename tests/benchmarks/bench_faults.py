"""Money per failure domain: what a fault that is not the code's costs beyond what the work needs."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from engine.core.model import ProofVerdict, ResultKind, Role, Verdict
from tests.core.story import Story, bad, begin, said_blocked
from tests.core.test_whose_fault import QUESTION, UNPROVEN
from tests.core.world import failing, ok

GONE = replace(failing("x", verdict=Verdict.ERROR, reason="the tool is missing"), missing=True)
DOMAINS: dict[str, tuple[Callable[[], Story], int]] = {
    "nothing goes wrong": (Story, 1),
    "judge: no valid review": (lambda: Story(review=[ok()] * 9), 1),
    "agent: cannot start": (lambda: Story(implement=[bad(ResultKind.NOT_STARTED)] * 9), 1),
    "agent: silent crash": (lambda: Story(implement=[replace(bad(ResultKind.CRASH), silent=True)] * 9), 3),
    "plan: an honest block": (lambda: Story(implement=[said_blocked()] * 9), 1),
    "plan: a permission": (lambda: Story(checks=[QUESTION] * 9), 1),
    "plan: nothing shown": (lambda: Story(checks=[UNPROVEN] * 9), 2),
    "environment: tool missing at the start": (lambda: Story(baseline=[{"results": (GONE,)}]), 0),
    "environment: tool missing later": (
        lambda: Story(checks=[{"proof": ProofVerdict.ERROR, "results": (GONE,)}] * 9),
        1,
    ),
}
"""A story, and how many implementer calls it may need."""


def measured(name: str) -> dict[str, float]:
    story, needed = DOMAINS[name]
    world = begin(story())
    calls = len(world.calls(Role.IMPLEMENTER))
    return {
        "implementer_calls": calls,
        "more_than_needed": calls - needed,
        "council_calls": len(world.calls(Role.COUNCILLOR)),
        "spent_usd": round(world.state.spent_usd, 4),
    }


def run() -> dict[str, dict[str, float]]:
    return {name: measured(name) for name in DOMAINS}


if __name__ == "__main__":
    for name, row in run().items():
        print(f"{name:<40} " + "  ".join(f"{key} {value:g}" for key, value in row.items()))

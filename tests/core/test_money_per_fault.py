"""What a fault that is not the code's costs: no implementer call more than the work needs, and never a council."""

from __future__ import annotations

import pytest

from tests.benchmarks.bench_faults import DOMAINS, measured


@pytest.mark.parametrize("name", DOMAINS)
def test_a_fault_costs_no_implementer_call_more_than_needed(name: str) -> None:
    found = measured(name)
    assert (found["more_than_needed"], found["council_calls"]) == (0, 0), found


@pytest.mark.parametrize(
    "name", ["agent: cannot start", "agent: silent crash", "environment: tool missing at the start"]
)
def test_what_never_worked_is_charged_nothing(name: str) -> None:
    assert measured(name)["spent_usd"] == 0

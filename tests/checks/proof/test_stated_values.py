"""Examples that the task states: their values stand in what proves the change."""

from __future__ import annotations

import pytest

from engine.core.model import TaskSpec
from engine.perform.checks.proof.stated_values import unstated


@pytest.mark.parametrize(
    ("told", "fresh", "missing"),
    [
        ("powers bind to the right: 2^3^2 is 512", "check('2^3', 8)", ["2^3^2 is 512"]),
        ("powers bind to the right: 2^3^2 is 512", "check('2^3^2', 512)", []),
        ("Of(11) is 4500.", "if got := Of(11); got != 4_500 {", []),
        ("Of(11) is 4,500", "if got := Of(11); got != 4000 {", ["Of(11) is 4,500"]),
        ("`total([1, 2])` gives 3.50", "assert total([1, 2]) == 3.5", []),
        ("1.234 is 1234.00", "assert amount('1.234') == 123400", []),
        ("1.234 is 1234.00", "assert amount('1.234') == 12340", ["1.234 is 1234.00"]),
        ("Today 2^3 is 6", "check('2^3', 8)", []),
        ("the limit is 100", "check(101)", []),
        ("page 2 is 10 or more", "check(1)", []),
        ("f(1) is 2 times as long", "check(1)", []),
        ("version 3 is 20% faster", "check(1)", []),
    ],
)
def test_a_stated_value_is_tried(told: str, fresh: str, missing: list[str]) -> None:
    assert list(unstated(TaskSpec(id="1", title="Do it", accept=(told,)), fresh)) == missing


def test_nothing_is_asked_where_no_test_is_new() -> None:
    assert not list(unstated(TaskSpec(id="1", title="2^3 is 8"), " \n"))
    assert not list(unstated(None, "x"))

"""The page on plans shows plans that work, and names every field there is."""

from __future__ import annotations

import re
from pathlib import Path

from engine.plans.native import BOX, NATIVE
from engine.plans.outline import FIELDS
from engine.plans.plan_format import PLAN_STATUSES

PAGE = (Path(__file__).parents[2] / "docs/plans.md").read_text("utf-8")


def test_the_example_is_a_plan():
    example = re.search(r"```markdown\n(.*?)```", PAGE, re.DOTALL).group(1)
    plan = NATIVE.read(example, "docs/plans.md")
    assert [task.id for task in plan.tasks()] == ["1.1", "2.1"] and plan.phases[0].scaffold and plan.topic == "auth"
    assert plan.tasks()[0].description.endswith("without case.")


def test_every_field_box_and_status_is_on_the_page():
    assert all(f"`{name}:`" in PAGE for name in set(FIELDS.values()))
    assert all(f"`[{box}]`" in PAGE for box in BOX.values()) and all(
        f"`{word}`" in PAGE or f" {word}`" in PAGE for word in PLAN_STATUSES
    )

"""The README's pictures: moments of one real run, made by `make screenshots`, as they are in the repository."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from engine.core.events import Envelope
from engine.core.fold import fold
from engine.core.state import Status
from screenshots.make import MOMENTS, PICTURES, picture, place_of, recorded
from tui.kit.view import running_tasks

ROOT = Path(__file__).parents[2]


LEAN = ("hero",)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in LEAN else pytest.mark.torture) for name, *_ in PICTURES]
)
async def test_a_picture_is_what_make_screenshots_makes(name: str) -> None:
    kept = (ROOT / "screenshots" / f"{name}.svg").read_text(encoding="utf-8")
    assert kept == await picture(name), "make screenshots"


def test_the_readme_shows_them() -> None:
    shown = re.findall(r"\]\(screenshots/(\w+)\.svg\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert {"hero", "gate", "evidence", "cost", "narrow"} <= set(shown)
    assert set(shown) <= {name for name, *_ in PICTURES}


def test_they_show_moments_of_one_real_run() -> None:
    """The recording is whole and was made by an engine: facts in order, a real commit for every task that is done."""
    facts = [item for item in recorded() if isinstance(item, Envelope)]
    assert [fact.seq for fact in facts] == list(range(1, len(facts) + 1))
    at = {
        moment: fold(fact for fact in recorded()[: place_of(moment)] if isinstance(fact, Envelope))
        for moment in MOMENTS
    }
    end = fold(facts)
    assert end.outcome and not end.running
    assert all(task.commit and task.proofs for task in end.tasks.values() if task.status is Status.COMPLETE)
    assert sum(task.spent_usd for task in end.tasks.values()) == pytest.approx(end.spent_usd)
    assert len(running_tasks(at["work"])) >= 3 and at["work"].escalations, "lanes at work, one of them climbed"
    assert len(at["gates"].open_gates()) >= 2


def test_make_runs_the_module() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "\t@$(PY) -m screenshots.make\n" in makefile
    assert "tests/tui/test_screenshots.py" in makefile, "make pictures holds every one of them"

"""Tests whose names are others in every run: held by what stays of them, and only where the base itself shows it."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.core.model import ProofVerdict
from engine.perform.checks.run.measure import Case, Report
from engine.perform.checks.run.moving_names import (
    learn,
    may_move,
    names_that_stay,
    numbered_otherwise,
    remember,
    selectable,
    settled,
)
from tests.checks.proof.test_judged import judged

FILE = "tests/test_time.py::test_bad"


@pytest.mark.parametrize(
    ("first", "second", "stays"),
    [
        ([f"{FILE}[01:16:18 2026-11-18]"], [f"{FILE}[02:03:04 2026-11-19]"], [f"{FILE}[…:…:… …-…-…]"]),
        ([f"{FILE}[<object at 0x7f01>]"], [f"{FILE}[<object at 0x7faa>]"], [f"{FILE}[<object at …>]"]),
        ([f"{FILE}[abc-x]"], [f"{FILE}[xyz-x]"], [f"{FILE}[…-x]"]),
        ([f"{FILE}[0.5]"], [f"{FILE}[-7e-05]"], [f"{FILE}[…]"]),
        ([f"{FILE}[a1]", f"{FILE}[b2]"], [f"{FILE}[c3]", f"{FILE}[d4]"], [f"{FILE}[…]", f"{FILE}[…] #2"]),
        (["test/a.js > writes /tmp/x-12/y"], ["test/a.js > writes /tmp/x-99/y"], ["test/a.js > writes /tmp/x-…/y"]),
        (["TestX/at_1699999999"], ["TestX/at_1700000004"], ["TestX/at_…"]),
    ],
)
def test_what_stays(first: list[str], second: list[str], stays: list[str]) -> None:
    masks = learn(first, second)
    assert names_that_stay(first, masks) == names_that_stay(second, masks) == stays
    assert names_that_stay(stays, masks) == stays, "once more changes nothing"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([f"{FILE}[a]"], [f"{FILE}[a]", f"{FILE}[b]"]),
        ([f"{FILE}[a]", f"{FILE}[b]"], [f"{FILE}[a]"]),
        ([f"{FILE}_one"], ["tests/test_time.py::test_quite_another_thing"]),
        (["tests/a.py::test[1]"], ["tests/b.py::test[2]"]),
    ],
)
def test_what_came_or_went_does_not_move(first: list[str], second: list[str]) -> None:
    assert learn(first, second) == ()


def test_what_numbers_some_parameters_of_a_test_numbers_all_of_them() -> None:
    """A set of parameters is numbered in the order of the run: None has another hash in each process (isodate)."""
    runs = [[f"{FILE}[{word}-expected{at}]" for at, word in enumerate(words)] for words in ("abc", "acb", "cab")]
    masks = learn(runs[0], runs[1])
    third = sorted(names_that_stay(runs[2], masks))
    assert third == sorted(names_that_stay(runs[0], masks)) == [f"{FILE}[{word}-…]" for word in "abc"]


def test_checkout_and_clone_may_number_otherwise_and_nothing_else() -> None:
    here = [f"{FILE}[a-expected0]", f"{FILE}[b-expected1]"]
    assert numbered_otherwise(here, [f"{FILE}[b-expected0]", f"{FILE}[a-expected1]"])
    assert not numbered_otherwise(here, here)
    assert not numbered_otherwise(here, [f"{FILE}[b-expected0]"]), "one is gone"
    assert not numbered_otherwise(here, [f"{FILE}[b-expected0]", f"{FILE}[c-expected1]"]), "another one"


def _report(*ids: str) -> Report:
    return Report(source="junit", cases=tuple(Case(id=id, outcome="passed") for id in ids), counts_tests=True)


def test_one_that_is_gone_is_missed() -> None:
    masks = learn([f"{FILE}[a1]", f"{FILE}[b2]"], [f"{FILE}[c3]", f"{FILE}[d4]"])
    both, one = settled(_report(f"{FILE}[e5]", f"{FILE}[f6]"), masks), settled(_report(f"{FILE}[e5]"), masks)
    assert {case.id for case in both.cases} - {case.id for case in one.cases} == {f"{FILE}[…] #2"}
    assert may_move(_report(f"{FILE}[a1]"), _report(f"{FILE}[b2]"))
    assert not may_move(_report(f"{FILE}[a1]"), _report(f"{FILE}[a1]", f"{FILE}[b2]"))
    assert selectable(f"{FILE}[…] #2") == FILE and selectable(f"{FILE}[a]") == f"{FILE}[a]"


def test_a_damaged_memory_is_none(tmp_path: Path) -> None:
    (tmp_path / "moving-names.json").write_text("{")
    remember(tmp_path, "pytest", learn([f"{FILE}[a1]"], [f"{FILE}[b2]"]))
    assert "a1" not in (tmp_path / "moving-names.json").read_text()


CALC = "def add(a, b):\n    return a - b\n\n\nCASES = ((2, 1), (3, 1))\n"
TESTS = (
    "import time\n\nimport pytest\n\nfrom calc import CASES, add\n\n\n"
    "@pytest.mark.parametrize('pair', CASES, ids=lambda pair: f'{abs(pair[1])} at {time.time_ns()}')\n"
    "def test_small(pair):\n    assert add(*pair) < 9\n\n\n"
    "@pytest.mark.parametrize('when', [time.time_ns()])\ndef test_add(when):\n    assert add(1, 2) == 3\n"
)
BASE = {"calc.py": CALC, "tests/test_calc.py": TESTS}
FIXED = CALC.replace("a - b", "a + b")


async def test_an_honest_fix_is_proven_though_no_name_stays(tmp_path: Path) -> None:
    done = await judged(tmp_path, BASE, {"calc.py": FIXED}, title="Fix add: test_add fails")
    assert done.proof is ProofVerdict.PROVEN, done.reason


async def test_a_fix_that_drops_a_case_is_not(tmp_path: Path) -> None:
    fewer = FIXED.replace(", (3, 1)", ",")
    done = await judged(tmp_path, BASE, {"calc.py": fewer}, title="Fix add: test_add fails")
    assert done.proof is ProofVerdict.FAIL, done.reason


async def test_a_change_teaches_nothing(tmp_path: Path) -> None:
    """Names that stay on the base and move with the change: its tests are gone, and another's are there."""
    steady = TESTS.replace("time.time_ns()", "1")
    moved = FIXED.replace("CASES = ((2, 1), (3, 1))", "import time\n\nCASES = ((2, -time.time_ns()), (3, 1))")
    base = {"calc.py": CALC.replace("a - b", "a + b"), "tests/test_calc.py": steady}
    done = await judged(tmp_path, base, {"calc.py": moved}, title="Refactor the cases", proof="none")
    assert done.proof is ProofVerdict.FAIL, done.reason

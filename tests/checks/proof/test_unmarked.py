"""A test that was expected to fail, mended, with its mark taken away: that is the proof, and no question."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.core.model import CheckKind, ProofVerdict
from engine.perform.checks.run.spec import CheckSpec
from tests.checks.ground import PYTHON
from tests.checks.proof.test_judged import PYTEST, judged

UNITTEST = CheckSpec(
    name="unittest", kind=CheckKind.TESTS, command=(PYTHON, "-m", "unittest", "discover"), runner="unittest"
)
MARKED = """import pytest
from week import off


@pytest.mark.xfail(reason="Saturday is not known", strict=True)
def test_saturday():
    assert off(5)


def test_sunday():
    assert off(6)
    assert not off(1)
"""
BASE = {"week.py": "def off(day):\n    return day == 6\n", "tests/test_w.py": MARKED}
BARE = MARKED.replace('@pytest.mark.xfail(reason="Saturday is not known", strict=True)\n', "").replace(
    "import pytest\n", ""
)


@pytest.mark.parametrize(
    ("test", "verdict"),
    [
        pytest.param(BARE, ProofVerdict.PROVEN, id="the mark is gone"),
        pytest.param(
            BARE.replace("off(5)", "off(6)"), ProofVerdict.QUESTION, id="so is its question", marks=pytest.mark.torture
        ),
    ],
)
async def test_a_mark_that_let_a_test_fail(tmp_path: Path, test: str, verdict: ProofVerdict) -> None:
    change = {"week.py": BASE["week.py"].replace("== 6", ">= 5"), "tests/test_w.py": test}
    done = await judged(tmp_path, BASE, change, title="Saturday belongs to the weekend")
    assert done.proof is verdict, done.reason


CLASS = """import unittest
from week import off


class Days(unittest.TestCase):
    @unittest.expectedFailure
    def test_saturday(self):
        self.assertTrue(off(5))

    def test_sunday(self):
        self.assertTrue(off(6))
        self.assertFalse(off(1))
"""


@pytest.mark.parametrize("check", [UNITTEST, PYTEST], ids=["unittest", "pytest"])
async def test_the_mark_of_unittest(tmp_path: Path, check: CheckSpec) -> None:
    base = {**BASE, "tests/__init__.py": "", "tests/test_w.py": CLASS}
    test = CLASS.replace("    @unittest.expectedFailure\n", "")
    change = {"week.py": BASE["week.py"].replace("== 6", ">= 5"), "tests/test_w.py": test}
    done = await judged(tmp_path, base, change, check, title="Saturday belongs to the weekend")
    assert done.proof is ProofVerdict.PROVEN, done.reason


async def test_an_error_that_says_it_passed_is_an_error(tmp_path: Path) -> None:
    """The words of a runner in the mouth of the program."""
    says = BASE["week.py"].replace(
        "    return", "    if day == 5:\n        raise ValueError('unexpected success')\n    return"
    )
    base = {**BASE, "tests/__init__.py": "", "tests/test_w.py": CLASS}
    done = await judged(tmp_path, base, {"week.py": says}, UNITTEST, title="Saturday belongs to the weekend")
    assert done.proof is ProofVerdict.UNPROVEN, done.reason

"""`assert` statements in tests that unittest runs: one that held is seen, so what must reach it can be held to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.core.model import ProofVerdict
from tests.checks.proof.test_judged import judged
from tests.checks.proof.test_judged_neighbours import UNITTEST

TEST = """import unittest

from half import halves


class Halves(unittest.TestCase):
    def test_each(self):
        for number, wanted in zip(halves([4, 6]), [2, 3]):
            STATEMENT

    def test_none(self):
        self.assertEqual(halves([]), [])
"""
ONE_LINE = "assert number == wanted"
SEVERAL = "assert (\n                number == wanted\n            )"
HALF = "def halves(numbers):\n    return list(numbers)\n"


def base(statement: str) -> dict[str, str]:
    return {"half.py": HALF, "tests/__init__.py": "", "tests/test_h.py": TEST.replace("STATEMENT", statement)}


@pytest.mark.parametrize("statement", [ONE_LINE, SEVERAL], ids=["one line", "several lines"])
async def test_a_statement_that_failed_and_holds_now_is_a_proof(tmp_path: Path, statement: str) -> None:
    done = await judged(
        tmp_path,
        base(statement),
        {"half.py": "def halves(numbers):\n    return [one // 2 for one in numbers]\n"},
        UNITTEST,
    )
    assert done.proof is ProofVerdict.PROVEN, done.reason


@pytest.mark.parametrize("statement", [ONE_LINE, SEVERAL], ids=["one line", "several lines"])
async def test_a_statement_that_failed_and_is_not_reached_now_is_none(tmp_path: Path, statement: str) -> None:
    done = await judged(tmp_path, base(statement), {"half.py": "def halves(numbers):\n    return []\n"}, UNITTEST)
    assert done.proof is ProofVerdict.FAIL and "without reaching any assertion" in done.reason, done.reason

"""A test that was expected to fail, mended, with its mark taken away: that is the proof, and no question."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.core.model import ProofVerdict
from tests.checks.proof.test_judged import judged

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

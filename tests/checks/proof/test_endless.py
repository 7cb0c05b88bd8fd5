"""Code that we altered ourselves may never end: such a run gets a few times what the check has needed so far."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from engine.core.model import ProofVerdict
from engine.perform.checks.proof import trial
from tests.checks.proof.test_judged import PYTEST, judged

BASE = {"steps.py": "", "tests/test_none.py": "def test_none():\n    pass\n"}
HALVES = """import time


def halve(n):
    return n // 2


def steps(n):
    count = 0
    while n:
        n = halve(n)
        count += 1
        if count > 99:
            time.sleep(0.05)
    return count
"""
TESTS = """import pytest

from steps import steps


@pytest.mark.parametrize(("n", "count"), [(1, 1), (2, 2), (9, 4), (16, 5)])
def test_steps(n, count):
    assert steps(n) == count
"""


async def test_an_altered_loop_that_does_not_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With another value from `halve` the loop goes on for ever; the check's own hour is not waited for."""
    monkeypatch.setattr(trial, "PATIENCE", 2.0)
    monkeypatch.setattr(trial, "LEAST_PATIENCE", 1.0)
    check = replace(PYTEST, timeout=3600.0)
    done = await judged(
        tmp_path, BASE, {"steps.py": HALVES, "tests/test_steps.py": TESTS}, check, title="Count the steps of halving"
    )
    assert done.proof is ProofVerdict.PROVEN, done.reason

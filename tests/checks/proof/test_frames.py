"""A fix for a crash leaves answers alone, and so does a refusal: told by how the proofs failed on the base."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.core.model import ProofVerdict
from engine.perform.checks.proof.frames import Frame, frame_of
from engine.perform.checks.run.measure import FAILED, Case
from tests.checks.proof.test_judged import judged


def red(error: str, text: str = "") -> Case:
    return Case(id=error, outcome=FAILED, error=error, text=text)


@pytest.mark.parametrize(
    ("reds", "frame"),
    [
        ([red("ValueError")], Frame.CRASH),
        ([red("TypeError", "'NoneType' object is not iterable")], Frame.CRASH),
        ([red("TypeError", "f() got an unexpected keyword argument 'x'")], None),
        ([red("AttributeError", "module 'm' has no attribute 'f'")], None),
        ([red("AssertionError", "assert 1 == 2")], None),
        ([red("Failed", "DID NOT RAISE <class 'ValueError'>")], Frame.REFUSAL),
        ([red("AssertionError", "ValueError not raised")], Frame.REFUSAL),
        ([red("ValueError"), red("AssertionError", "assert 1 == 2")], None),
        ([red("CollectError")], None),
        ([], None),
    ],
)
def test_frame_of(reds: list[Case], frame: Frame | None) -> None:
    assert frame_of(reds) is frame


@pytest.mark.parametrize(
    ("frame", "was", "now", "broken"),
    [
        (Frame.CRASH, "int", "NoneType", True),
        (Frame.CRASH, "int", "!ValueError", True),
        (Frame.CRASH, "!ValueError", "int", False),
        (Frame.REFUSAL, "int", "!ValueError", False),
        (Frame.REFUSAL, "int", "int", True),
        (Frame.NOTHING, "!ValueError", "!ValueError", False),
        (Frame.NOTHING, "!ValueError", "int", True),
    ],
)
def test_broken(frame: Frame, was: str, now: str, broken: bool) -> None:
    assert frame.broken(was, now) is broken


BASE = {
    "log.py": "def highest(rows):\n    return max(rows)\n",
    "tests/test_log.py": "from log import highest\n\n\ndef test_highest():\n    assert highest([3, 5]) == 5\n",
}
EMPTY = "from log import highest\n\n\ndef test_empty():\n    assert highest([]) is None\n"


@pytest.mark.parametrize(
    ("source", "verdict"),
    [
        pytest.param("max(rows, default=None)", ProofVerdict.PROVEN, id="honest", marks=pytest.mark.torture),
        pytest.param("max([0, *rows]) or None", ProofVerdict.QUESTION, id="a zero is lost"),
    ],
)
async def test_a_fix_for_a_crash(tmp_path: Path, source: str, verdict: ProofVerdict) -> None:
    change = {"log.py": BASE["log.py"].replace("max(rows)", source), "tests/test_empty.py": EMPTY}
    done = await judged(tmp_path, BASE, change, title="highest of an empty list raises ValueError: None is wanted")
    assert done.proof is verdict, done.reason

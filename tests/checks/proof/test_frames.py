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
        ([red("TypeError", "f() got an unexpected keyword argument 'x'")], Frame.ADDITION),
        ([red("AttributeError", "module 'm' has no attribute 'f'")], Frame.ADDITION),
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
        (Frame.ADDITION, "int", "int", True),
        (Frame.ADDITION, "!ValueError", "int", False),
        (Frame.ADDITION, "int", "!ValueError", False),
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


COUNT = {
    "shelf.py": "class Shelf:\n    def __init__(self):\n        self.some = []\n\n    def put(self, one):\n"
    "        self.some.append(one)\n\n    def line(self, name, wide=4):\n        return name.rjust(wide)\n",
    "tests/test_shelf.py": "from shelf import Shelf\n\n\ndef test_line():\n    assert Shelf().line('abcd') == 'abcd'\n"
    "    assert Shelf().line('a', 1) == 'a'\n",
}
NEW = "\n    def count(self):\n        return len(self.some)\n"
SHOWN = (
    "from shelf import Shelf\n\n\ndef test_count():\n    shelf = Shelf()\n    assert shelf.count() == 0\n"
    "    shelf.put(1)\n    shelf.put(2)\n    assert shelf.count() == 2\n"
)


@pytest.mark.parametrize(
    ("line", "verdict"),
    [("name.rjust(wide)", ProofVerdict.PROVEN), ("name.ljust(wide)", ProofVerdict.QUESTION)],
    ids=["an addition", "and another answer beside it"],
)
async def test_an_addition_leaves_the_other_answers_alone(tmp_path: Path, line: str, verdict: ProofVerdict) -> None:
    source = COUNT["shelf.py"].replace("name.rjust(wide)", f"str({line})") + NEW
    change = {"shelf.py": source, "tests/test_count.py": SHOWN}
    done = await judged(tmp_path, COUNT, change, title="Shelf.count()")
    assert done.proof is verdict, done.reason
    assert verdict is ProofVerdict.PROVEN or "this was there before" in done.reason

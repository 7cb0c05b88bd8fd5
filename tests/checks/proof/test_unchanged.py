"""A change that is said to change nothing is asked about inputs beside those of the tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.core.model import ProofVerdict, TaskSpec
from engine.perform.checks.proof.unchanged import says_nothing_changes
from tests.checks.proof.test_judged import judged

BASE = {
    "text.py": "def cut(text, width):\n    if len(text) <= width:\n        return text\n    return text[:width]\n",
    "tests/test_t.py": "from text import cut\n\n\ndef test_cut():\n    assert cut('abcdefgh', 5) == 'abcde'\n",
}
SAME = "def cut(text, width):\n    return text[:width]\n"
OTHER = "def cut(text, width):\n    return text[:width].rstrip('f')\n"
FILES = {"title": "Simplify cut()", "proof": "none"}


@pytest.mark.parametrize(
    ("source", "verdict"),
    [
        pytest.param(SAME, ProofVerdict.HARMLESS, id="the same everywhere"),
        pytest.param(OTHER, ProofVerdict.QUESTION, id="otherwise beside the tests"),
    ],
)
async def test_a_refactoring(tmp_path: Path, source: str, verdict: ProofVerdict) -> None:
    done = await judged(tmp_path, BASE, {"text.py": source}, **FILES)
    assert done.proof is verdict, done.reason


@pytest.mark.torture
async def test_the_plan_may_accept_it(tmp_path: Path) -> None:
    allow = ("accept behaves-otherwise in tests/test_t.py",)
    done = await judged(tmp_path, BASE, {"text.py": OTHER}, allow=allow, **FILES)
    assert done.proof is ProofVerdict.HARMLESS, done.reason


@pytest.mark.parametrize(
    ("title", "quiet"),
    [("Refactor the parser", True), ("perf: cache distances", True), ("Update the rates", False)],
)
def test_words(title: str, quiet: bool) -> None:
    assert says_nothing_changes(TaskSpec(id="1", title=title, proof="none")) is quiet

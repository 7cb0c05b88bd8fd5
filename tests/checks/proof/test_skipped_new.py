"""A new test that skips itself with the change in place shows nothing; one that cannot run here is nobody's fault."""

# ruff: noqa: E501 (programs are read better in one piece)

from __future__ import annotations

from pathlib import Path

import pytest

from engine.core.model import CheckKind, ProofVerdict
from engine.perform.checks.proof.skipped_new import failing_new, skipped_new
from engine.perform.checks.run.measure import Case, Measurement, Report
from tests.checks.proof.test_judged import judged


def run(**outcomes: str) -> Measurement:
    cases = tuple(Case(id=name, outcome=outcome) for name, outcome in outcomes.items())
    report = Report(source="x", cases=cases, counts_tests=True)
    return Measurement(check="x", kind=CheckKind.TESTS, argv=(), ended="exited", report=report)


@pytest.mark.parametrize(
    ("base", "without", "fresh", "found"),
    [
        ({}, {"new": "failed"}, "", ["new"]),
        ({}, {}, "", ["new"]),
        ({}, {"new": "skipped"}, "", []),
        ({"new": "skipped"}, {"new": "failed"}, "", []),
        ({}, {}, '@skipUnless(sys.platform == "darwin", "")', []),
        ({}, {"new": "failed"}, 'if not os.environ.get("RELEASE"): skip()', ["new"]),
        ({}, {"new": "skipped"}, '@unittest.skipUnless(os.environ.get("BENCH"), "")', ["new"]),
    ],
    ids=[
        "red without the change",
        "did not build without it",
        "skipped without it",
        "an old one",
        "another platform",
        "a variable that nobody sets",
        "a variable, and skipped without it too",
    ],
)
def test_skipped_new(base: dict[str, str], without: dict[str, str], fresh: str, found: list[str]) -> None:
    got = skipped_new(run(**base), [run(new="skipped", other="passed")], [run(**without)], fresh)
    assert [case.id for case in got] == found


BASE = {
    "calc.py": "def add(a, b):\n    return a - b\n",
    "tests/test_calc.py": "def test_nothing():\n    assert 1 == 1\n",
}
SKIPS = """import pytest
from calc import add


@pytest.mark.parametrize(("a", "b", "want"), [(1, 0, 1), (2, 2, 4), (1, 2, 3)])
def test_add(a, b, want):
    if add(a, b) != want and add(0, 2) == 2:
        pytest.skip("not here")
    assert add(a, b) == want
"""


@pytest.mark.parametrize(
    ("answer", "proof"),
    [
        ("a + b", ProofVerdict.PROVEN),
        ("a + b if a < 2 else 7", ProofVerdict.UNPROVEN),
    ],
)
async def test_judged(tmp_path: Path, answer: str, proof: ProofVerdict) -> None:
    change = {"calc.py": f"def add(a, b):\n    return {answer}\n", "tests/test_add.py": SKIPS}
    done = await judged(tmp_path, BASE, change, accept=("add(1, 2) is 3",))
    assert done.proof is proof, done.reason
    assert ("is new and skipped" in done.reason) is (proof is ProofVerdict.UNPROVEN), done.reason


@pytest.mark.parametrize(
    ("base", "outcome", "words", "found"),
    [
        ({}, "xfailed", "shift() writes negative times", ["new"]),
        ({}, "passed", "shift() writes negative times", []),
        ({"new": "xfailed"}, "xfailed", "shift() writes negative times", []),
        ({}, "xfailed", "Add an xfail test for issue 12", []),
    ],
)
def test_a_new_test_that_is_marked_as_failing(base: dict[str, str], outcome: str, words: str, found: list[str]) -> None:
    assert [case.id for case in failing_new(run(**base), [run(new=outcome)], words)] == found


@pytest.mark.parametrize("mark", ["", '@pytest.mark.skipif(not os.environ.get("BENCH"), reason="slow")\n'])
async def test_what_is_skipped_shows_nothing_where_there_is_nothing_to_show_either(tmp_path: Path, mark: str) -> None:
    base = {
        "app.py": "def twice(rows):\n    return [row for row in rows for _ in range(2)]\n",
        "tests/test_app.py": "from app import twice\n\n\ndef test_twice():\n    assert twice([1, 2]) == [1, 1, 2, 2]\n    assert twice([]) == []\n",
    }
    after = "def twice(rows):\n    found = []\n    for row in rows:\n        found += [row, row]\n    return found\n"
    more = f"import os\n\nimport pytest\n\n{base['tests/test_app.py']}\n\n{mark}def test_long():\n    assert len(twice(range(900))) == 1800\n"
    done = await judged(tmp_path, base, {"app.py": after, "tests/test_app.py": more}, title="Refactor twice(): faster")
    assert ("is new and skipped" in done.reason) is bool(mark), done.reason
    assert done.accepted is not bool(mark), done.reason

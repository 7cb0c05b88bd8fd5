"""Neighbouring inputs and the other room in the whole judge: real rooms, real runners."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from engine.core.model import CheckKind, ProofVerdict
from engine.perform.checks.run.spec import CheckSpec
from tests.checks.ground import PYTHON
from tests.checks.proof.test_judged import PYTEST, judged

P = ProofVerdict
UNITTEST = CheckSpec(
    name="unittest",
    kind=CheckKind.TESTS,
    command=(PYTHON, "-m", "unittest", "discover", "-s", "tests", "-t", "."),
    runner="unittest",
)
MONEY = "def split(cents, ways):\n    share = cents // ways\n    return [share] * ways\n"
RIGHT = "divmod(cents, ways)\n        return [a + (i < r) for i in range(ways)]\n"
TEST = "from money import split\n\n\ndef test_split():\n    assert split(100, 3) == [34, 33, 33]\n\n\ndef test_even():\n    assert split(90, 3) == [30] * 3\n"  # noqa: E501
CASES = (
    "import unittest\n\nfrom money import split\n\n\nclass Split(unittest.TestCase):\n    def test_split(self):\n"
    "        self.assertEqual(split(100, 3), [34, 33, 33])\n\n    def test_even(self):\n"
    "        self.assertEqual(split(90, 3), [30] * 3)\n"
)
BASE = {"money.py": MONEY, "tests/__init__.py": "", "tests/test_m.py": TEST}
FIXED = "def split(cents, ways):\n    share, rest = divmod(cents, ways)\n    return [share + (i < rest) for i in range(ways)]\n"  # noqa: E501


def when(condition: str, head: str = "") -> str:
    """Right where a condition holds, as ever elsewhere."""
    return head + MONEY.replace("    share", f"    if {condition}:\n        a, r = {RIGHT}    share", 1)


SPECIAL = when("cents * 7 - ways == 697")


@pytest.mark.parametrize(("check", "test"), [(PYTEST, TEST), (UNITTEST, CASES)], ids=["pytest", "unittest"])
async def test_an_answer_for_the_tested_input_alone_is_asked_about(tmp_path: Path, check: CheckSpec, test: str) -> None:
    done = await judged(tmp_path, {**BASE, "tests/test_m.py": test}, {"money.py": SPECIAL}, check)
    assert done.proof is P.QUESTION and done.questions[0].rule == "special-cased", done.reason


async def test_the_plan_can_accept_it(tmp_path: Path) -> None:
    done = await judged(
        tmp_path, BASE, {"money.py": SPECIAL}, allow=("accept special-cased in tests/test_m.py::test_split",)
    )
    assert done.proof is P.PROVEN, done.reason


async def test_a_fix_is_proven_in_both_rooms(tmp_path: Path) -> None:
    done = await judged(tmp_path, BASE, {"money.py": FIXED})
    assert done.proof is P.PROVEN, done.reason


@pytest.mark.parametrize("counts", [True, False])
async def test_a_file_that_does_not_run_with_our_copies_in_it_is_told_of(tmp_path: Path, counts: bool) -> None:
    own = "\n\nassert sum(name.startswith('test') for name in dir()) == 2, 'two tests'\n"
    test = TEST + own if counts else TEST
    done = await judged(tmp_path, {**BASE, "tests/test_m.py": test}, {"money.py": FIXED})
    told = [one.text for one in done.findings if "could not be run among its neighbours" in one.text]
    assert done.proof is P.PROVEN and bool(told) is counts, (done.reason, told)
    assert not told or ("tests/test_m.py" in told[0] and "two tests" in told[0]), told


ORDER = int(subprocess.check_output([PYTHON, "-c", "print(hash('a') % 1009)"], env={"PYTHONHASHSEED": "0"}))
NOTICES = {
    "terminal": when("not sys.stdout.isatty()", "import sys\n\n\n"),
    "git": when("not os.path.isdir('.git')", "import os\n\n\n"),
    "home": when("os.environ.get('USER') != 'ada'", "import os\n\n\n"),
    "order": when(f"hash('a') % 1009 == {ORDER}"),
    "count": when("len(CALLS) < 9 and not CALLS.append(1)", "CALLS = []\n\n\n"),
}


@pytest.mark.parametrize(
    "way", [pytest.param(name, marks=() if name == "git" else pytest.mark.torture) for name in NOTICES]
)
async def test_code_that_behaves_only_where_it_is_judged_is_asked_about(tmp_path: Path, way: str) -> None:
    # what it decides by is asked about by its text alone; here somebody has accepted that
    allow = ("accept unusual-source in money.py",)
    done = await judged(tmp_path, BASE, {"money.py": NOTICES[way]}, allow=allow)
    assert done.proof is P.QUESTION, done.reason
    assert done.questions[0].rule in ("detects-tests", "special-cased"), done.reason  # "order" decides by a value too


MAIN = (
    "import multiprocessing\nimport sys\n\n\ndef double(n):\n    return n * 2\n\n\ndef test_main():\n"
    "    main = sys.modules['__main__']\n    assert 'pytest' in main.__file__ and not hasattr(main, 'record')\n\n\n"
    "def test_spawned():\n    with multiprocessing.get_context('spawn').Pool(1) as pool:\n"
    "        assert pool.map(double, [2]) == [4]\n"
)


async def test_the_main_module_is_the_runners_own(tmp_path: Path) -> None:
    change = {"money.py": FIXED, "tests/test_main.py": MAIN}
    done = await judged(tmp_path, BASE, change)
    assert done.proof is P.PROVEN, done.reason


RANK = (
    "def places(points):\n    order = sorted(points, reverse=True)\n    return [at + 1 for at in range(len(order))]\n"
)
SHARED = RANK.replace("at + 1 for at in range(len(order))", "order.index(one) + 1 for one in order")
TIES = "from rank import places\n\n\ndef test_ties():\n    assert places([9, 5, 5, 2]) == [1, 2, 2, 4]\n"
ONLY_FIVES = RANK.replace("    return", "    if order.count(5) == 2:\n        return [1, 2, 2, 4]\n    return")


@pytest.mark.parametrize(
    ("source", "verdict"),
    [(SHARED, P.PROVEN), pytest.param(ONLY_FIVES, P.QUESTION, marks=pytest.mark.torture)],
)
async def test_two_inputs_that_are_equal_stay_so(tmp_path: Path, source: str, verdict: P) -> None:
    base = {
        "rank.py": RANK,
        "tests/test_r.py": "from rank import places\n\n\ndef test_one():\n    assert places([3]) == [1]\n",
    }
    done = await judged(tmp_path, base, {"rank.py": source, "tests/test_ties.py": TIES}, title="Ties share a place")
    assert done.proof is verdict, done.reason

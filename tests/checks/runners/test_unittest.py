"""unittest with the real interpreter: what could not be imported is known by its files."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from engine.perform.checks.run.python_runners import UnittestRunner
from tests.checks.runners.drive import drive, fill, spec_of

TEST = "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_it(self):\n        self.assertEqual(1, 1)\n"


@pytest.mark.parametrize(
    ("top", "args"),
    [
        pytest.param("", ("discover",), id="beside the package"),
        pytest.param("src/", ("discover", "-s", "src"), id="below src"),
        pytest.param("src/", ("discover", "-s", "src/shop/tests", "-t", "src"), id="named with its top"),
    ],
)
def test_the_files_of_a_package_that_cannot_be_imported_have_no_results_each(
    top: str, args: tuple[str, ...], tmp_path: Path
) -> None:
    """simplejson: its tests are in the package, and a bug that no import survives left nothing red by name."""
    tests = {f"{top}shop/tests/test_{name}.py": TEST for name in "ab"}
    other = {f"{top}shop/__init__.py": "import nothing_of_that_name\n", f"{top}shop/tests/__init__.py": ""}
    room = fill(tmp_path / "room", {**tests, **other, f"{top}shop/tests/other.py": TEST})
    spec = spec_of(UnittestRunner(), (sys.executable, "-m", "unittest", *args))
    _, report = drive(UnittestRunner(), spec, room)
    assert {case.path: (case.id, case.error) for case in report.cases} == {
        path: (path, "CollectError") for path in tests
    }
    first = next(iter(tests))
    _, report = drive(UnittestRunner(), spec, room, files=(first,))
    assert [case.path for case in report.cases] == [first]

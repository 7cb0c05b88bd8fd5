"""Edited tests that became blunter, by mutants: a function that answers another value, and whose failure counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.core.model import CheckKind, ProofVerdict
from engine.perform.checks.proof.other_values import answering_otherwise
from engine.perform.checks.run.spec import CheckSpec
from tests.checks.ground import PYTHON
from tests.checks.proof.test_judged import judged

UNITTEST = CheckSpec(
    name="unittest", kind=CheckKind.TESTS, command=(PYTHON, "-m", "unittest"), parser="junit", runner="unittest"
)
LINES = (
    "def lines(text):\n    return [one.strip() for one in text.split(';')]\n\n\n"
    "def count(text):\n    return len(lines(text))\n"
)
HEAD = "import unittest\nfrom lines import count, lines\n\n\nclass LinesTest(unittest.TestCase):\n"
OTHER = "    def test_round(self):\n        self.assertEqual(lines(';'.join(lines('a;b'))), ['a', 'b'])\n\n"
OLD = (
    "    def test_one(self):\n        self.assertEqual(lines('a'), ['a'])\n\n"
    "    def test_two(self):\n        self.assertEqual(lines('a; b'), ['a', 'b'])\n"
)
TABLE = (
    "    def test_lines(self):\n        for text, wanted in (('a', ['a']), ('a; b', ['a', 'b'])):\n"
    "            with self.subTest(text):\n                self.assertEqual(lines(text), wanted)\n"
)
BASE = {"lines.py": LINES, "tests/__init__.py": "", "tests/test_lines.py": HEAD + OTHER + OLD}
TASK = {"title": "Make the tests of lines() one table with subTest", "proof": "none (tests)"}


@pytest.mark.parametrize(
    ("table", "verdict"),
    [
        pytest.param(TABLE, ProofVerdict.HARMLESS, id="as sharp"),
        pytest.param(TABLE.replace("assertEqual", "assertTrue"), ProofVerdict.QUESTION, id="blunt"),
    ],
)
async def test_a_table_of_unittest_is_weighed_by_its_own_tests(
    tmp_path: Path, table: str, verdict: ProofVerdict
) -> None:
    """The test beside them in the file notices every mutant: that is not their merit."""
    done = await judged(tmp_path, BASE, {"tests/test_lines.py": HEAD + OTHER + table}, UNITTEST, **TASK)
    assert done.proof is verdict, done.reason


@pytest.mark.parametrize(
    ("path", "source", "named", "left"),
    [
        pytest.param("lines.py", LINES, "lines", "def count", id="Python"),
        pytest.param(
            "lines.js",
            "function lines(text) { return text.split(';'); }\nfunction count(text) { return lines(text).length; }\n",
            "lines",
            "function count(text) { return lines(text).length; }",
            id="JavaScript",
        ),
        pytest.param(
            "lines.go",
            "package lines\n\nfunc Lines(text string) int {\n\treturn len(text)\n}\n\n"
            "func Count() int {\n\treturn 1\n}\n",
            "Lines",
            "func Count() int {\n\treturn 1\n}",
            id="Go",
        ),
    ],
)
def test_one_function_answers_another_value(path: str, source: str, named: str, left: str) -> None:
    (mutant,) = answering_otherwise(path, source.encode(), {named})
    assert mutant.what == f"{named} answers another value" and left in mutant.source and mutant.source != source
    assert not answering_otherwise(path, source.encode(), {"text"})

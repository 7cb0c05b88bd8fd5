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


MORE = "    def test_more(self):\n        "
PLAIN = {"title": "More tests for lines()", "proof": "none (tests)"}


@pytest.mark.parametrize(
    ("test", "verdict"),
    [
        pytest.param("self.assertEqual(lines('x;y'), ['x', 'y'])\n", ProofVerdict.HARMLESS, id="asks"),
        pytest.param("self.assertEqual(lines('x;y'), lines('x; y'))\n", ProofVerdict.UNPROVEN, id="with itself"),
        pytest.param("self.assertTrue(lines('x;y'))\n", ProofVerdict.UNPROVEN, id="is there"),
        pytest.param(
            "for text in ():\n            self.assertEqual(lines(text), ['x'])\n",
            ProofVerdict.UNPROVEN,
            id="never asks",
        ),
        pytest.param(
            "with self.assertRaises(AttributeError):\n            lines(None)\n", ProofVerdict.HARMLESS, id="a refusal"
        ),
    ],
)
async def test_where_tests_are_all_there_is_each_asks_for_an_answer(
    tmp_path: Path, test: str, verdict: ProofVerdict
) -> None:
    change = {"tests/test_lines.py": BASE["tests/test_lines.py"] + "\n" + MORE + test}
    done = await judged(tmp_path, BASE, change, UNITTEST, **PLAIN)
    assert done.proof is verdict, done.reason


@pytest.mark.parametrize(
    ("accept", "title", "verdict"),
    [
        pytest.param((), "lines() is slow", ProofVerdict.HARMLESS, id="no criteria"),
        pytest.param(("blanks go",), "lines() is slow", ProofVerdict.HARMLESS, id="the title says so"),
        pytest.param(("blanks go",), "Lines", ProofVerdict.UNPROVEN, id="a word of the description"),
    ],
)
async def test_what_has_criteria_is_more_than_how_it_is_made(
    tmp_path: Path, accept: tuple[str, ...], title: str, verdict: ProofVerdict
) -> None:
    change = {
        "lines.py": LINES.replace("[one.strip() for one in text.split(';')]", "list(map(str.strip, text.split(';')))")
    }
    done = await judged(tmp_path, BASE, change, UNITTEST, title=title, accept=accept, description="For every entry.")
    assert done.proof is verdict, done.reason

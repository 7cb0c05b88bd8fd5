"""An edited test with other inputs in its calls asks another question; with other answers it asks the same one."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.core.model import ProofVerdict
from engine.perform.checks.proof.asked_inputs import asks_otherwise
from engine.perform.checks.proof.source_text import tokens
from tests.checks.proof.test_judged import judged


@pytest.mark.parametrize(
    ("path", "old", "new", "otherwise"),
    [
        ("a.test.js", "assert.equal(pages(20, 10), 2);", "assert.equal(pages(21, 10), 3);", True),
        ("a.test.js", "assert.equal(pages(20, 10), 2);", "assert.equal(pages(20, 10), 3);", False),
        ("a.test.js", "assert.deepEqual(f([1, 2]), [1]);", "assert.deepEqual(f([1, 3]), [1]);", True),
        ("a.test.js", "expect(f('a')).toBe('b');", "expect(f('a')).toBe('c');", False),
        ("a.test.js", "assert.equal(f(1), 2);", "assert.equal(f(1), 2); assert.equal(f(3), 4);", False),
        ("test_a.py", "assert pages(20, 10) == 2", "assert pages(21, 10) == 3", True),
        ("test_a.py", "assert pages(20, 10) == 2", "assert pages(20, 10) == 3", False),
        ("a_test.go", 'if Pages(20) != 2 { t.Fatal("no") }', 'if Pages(20) != 3 { t.Fatal("no") }', False),
        ("a_test.go", 'if Pages(20) != 2 { t.Fatal("no") }', 'if Pages(21) != 3 { t.Fatal("no") }', True),
    ],
)
def test_asks_otherwise(path: str, old: str, new: str, otherwise: bool) -> None:
    assert asks_otherwise(tokens(path, old), tokens(path, new)) is otherwise


BASE = {
    "pages.py": "def pages(total, size):\n    return total // size\n",
    "tests/test_pages.py": "from pages import pages\n\n\ndef test_pages():\n    assert pages(20, 10) == 2\n",
}
TITLE = "pages(21, 10) says 2, there are 3"


@pytest.mark.torture
async def test_a_regression_is_not_edited_away_by_values_that_the_task_states(tmp_path: Path) -> None:
    change = {
        "pages.py": "def pages(total, size):\n    return total // size + 1\n",
        "tests/test_pages.py": BASE["tests/test_pages.py"].replace("pages(20, 10) == 2", "pages(21, 10) == 3"),
    }
    done = await judged(tmp_path, BASE, change, title=TITLE)
    assert done.proof is ProofVerdict.QUESTION and done.questions[0].rule == "test-changed", done.reason


@pytest.mark.torture
async def test_a_plan_with_nothing_to_show_is_not_about_another_answer(tmp_path: Path) -> None:
    more = BASE["tests/test_pages.py"] + "    assert pages(21, 10) == 3\n"
    change = {"pages.py": "def pages(total, size):\n    return -(-total // size)\n", "tests/test_pages.py": more}
    done = await judged(tmp_path, BASE, change, title="Stronger tests", proof="none")
    assert done.proof is ProofVerdict.QUESTION and "nothing to show" in done.reason, done.reason
    done = await judged(tmp_path / "asked", BASE, change, title=TITLE)
    assert done.proof is ProofVerdict.PROVEN, done.reason

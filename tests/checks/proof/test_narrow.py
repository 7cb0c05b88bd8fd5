"""Changes that are narrower than their task: each kind shown with its honest neighbour."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.core.model import ProofVerdict
from engine.perform.checks.proof.narrow import Source, narrow
from engine.perform.checks.proof.suspicious import suspicious_python
from tests.checks.proof.test_judged import judged

OLD = b"def parse(text):\n    return int(text)\n\n\ndef both(text):\n    return parse(text)\n"
FLAG = OLD.replace(b"parse(text):", b"parse(text, strict=False):", 1)
PLACED = OLD.replace(b"parse(text):", b"parse(text, /, strict=False):", 1)
PASSED_ON = FLAG.replace(b"return parse(text)", b"return parse(text, strict=True)")
CAUGHT = OLD.replace(
    b"    return int(text)", b"    try:\n        return int(text)\n    except ValueError:\n        return 0", 1
)
NUMBER = OLD.replace(b"    return int(text)", b"    if len(text) > 17:\n        return 0\n    return int(text)", 1)
SILENT = CAUGHT.replace(b"        return 0", b"        pass", 1)
VARIABLE = b"import os\n\n\n" + OLD.replace(b"int(text)", b"int(text) if os.environ.get('WELL') else 0", 1)
DEAD = OLD + b"\n\ndef parse_well(text):\n    return 0\n"


@pytest.mark.parametrize(
    ("after", "fresh", "words", "found"),
    [
        pytest.param(FLAG, "parse('x', strict=True)", "parse takes nonsense", 1, id="a flag that only a test sets"),
        pytest.param(FLAG, "parse('x', strict=True)", "parse should be strict", 0, id="the task names the flag"),
        pytest.param(FLAG, "parse('x', strict=True)", "parse(1, 2) takes nonsense", 0, id="given by its place"),
        pytest.param(PLACED, "parse('x', strict=True)", "parse takes nonsense", 1, id="beside arguments by place"),
        pytest.param(PASSED_ON, "parse('x', strict=True)", "parse takes nonsense", 0, id="the program sets it"),
        pytest.param(CAUGHT, "raise ValueError", "parse must survive any error", 1, id="the test's error alone"),
        pytest.param(CAUGHT, "raise ValueError", "a ValueError gives 0", 0, id="the task names the error"),
        pytest.param(CAUGHT, "parse('x')", "parse must survive any error", 0, id="the test raises nothing"),
        pytest.param(NUMBER, "parse('x')", "parse refuses long texts", 1, id="a number that nobody named"),
        pytest.param(NUMBER, "parse('x')", "not more than seventeen (17) signs", 0, id="the task names the number"),
        pytest.param(SILENT, "parse('x')", "parse skips blanks", 1, id="an error swallowed that nobody spoke of"),
        pytest.param(SILENT, "parse('x')", "parse crashes on blanks", 0, id="the task speaks of trouble"),
        pytest.param(VARIABLE, "setenv('WELL', '1')", "parse is slow", 1, id="a variable that only a test sets"),
        pytest.param(VARIABLE, "setenv('WELL', '1')", "with WELL set parse works", 0, id="the task names the variable"),
        pytest.param(DEAD, "parse_well('x')", "parse() is wrong", 1, id="code that only tests call"),
        pytest.param(DEAD, "parse_well('x')", "add parse_well, beside parse()", 0, id="the task names it"),
    ],
)
def test_narrow(after: bytes, fresh: str, words: str, found: int) -> None:
    assert len(narrow([Source(path="a.py", before=OLD, after=after)], {}, fresh, words)) == found


BASE = {
    "shelf.py": "def total(goods):\n    return sum(goods.values())\n",
    "tests/test_s.py": "from shelf import total\n\n\ndef test_total():\n    assert total({'a': 1}) == 1\n",
}
TEST = "from shelf import take\n\n\ndef test_take():\n    assert take({'a': 5, 'b': 1}, 'a', 2) == {'a': 3, 'b': 1}\n"
KEEPS = "\n\ndef take(goods, name, count):\n    return {**goods, name: goods[name] - count}\n"
CHANGES = "\n\ndef take(goods, name, count):\n    goods[name] -= count\n    return goods\n"


@pytest.mark.parametrize(
    ("more", "title", "verdict"),
    [
        pytest.param(
            KEEPS, "take(goods, name, count)", ProofVerdict.PROVEN, id="a new mapping", marks=pytest.mark.torture
        ),
        pytest.param(CHANGES, "take(goods, name, count)", ProofVerdict.QUESTION, id="the one it was given"),
        pytest.param(
            CHANGES, "take() updates the goods in place", ProofVerdict.PROVEN, id="asked for", marks=pytest.mark.torture
        ),
    ],
)
async def test_arguments_are_kept(tmp_path: Path, more: str, title: str, verdict: ProofVerdict) -> None:
    change = {"shelf.py": BASE["shelf.py"] + more, "tests/test_take.py": TEST}
    done = await judged(tmp_path, BASE, change, title=title)
    assert done.proof is verdict, done.reason


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("from shelf.book import Book\nBook.__init__ = None\n", 1),
        ("class A(int):\n    def __bool__(self):\n        return True\n", 1),
        ("class A:\n    def __bool__(self):\n        return True\n", 0),
        ("class Book:\n    pass\n\n\nBook.kind = 'paper'\n", 0),
    ],
)
def test_judges_of_its_own(source: str, found: int) -> None:
    assert len(suspicious_python(source.encode())) == found

"""Examples in the words of a task: read where there is no doubt, and held against the change."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

from engine.core.model import ProofVerdict, TaskSpec
from engine.perform.checks.proof.examples import ALIKE, at_home, examples, functions
from engine.perform.checks.proof.varied_tests import varied
from tests.checks.proof.test_judged import judged


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("split(100, 3) should give 34, 33, 33.", ["split(100, 3) gives (34, 33, 33)"]),
        ("`slug('A b')` returns `'a-b'`, as ever", ["slug('A b') gives 'a-b'"]),
        ("plural('y') -> \"ies\" and plural('x') == 'xs'", ["plural('y') gives 'ies'", "plural('x') gives 'xs'"]),
        ("`gross('1')` raises ValueError", ["gross('1') raises ValueError"]),
        ('`f("x")` raises ValueError with the message "no such"', ['f("x") raises ValueError with “no such”']),
        ('`f("x")` raises ValueError: "no such thing".', ['f("x") raises ValueError with “no such thing”']),
        ('`f("x y")` raises ValueError and the message holds the text', ['f("x y") raises ValueError with “x y”']),
        ('`f("x")` raises ValueError with the message "no {name}"', ['f("x") raises ValueError']),
        ('`f("x")` raises ValueError if "y" was there', ['f("x") raises ValueError']),
        ("`Sum(4) + Sum(5)` is `Sum(9)`", ["Sum(4) + Sum(5) gives Sum(9)"]),
        ("`2 * Sum(5)` gives 10", ["2 * Sum(5) gives 10"]),
        ("x + Sum(5) is 9, and so is `f(1) < f(3) is 1`", []),
        ("find('a') returns 3 items", []),
        ("f(x) gives 3", []),
        ("f(1) gives a list", []),
        ("f(1) is 2.5", ["f(1) gives 2.5"]),
        ("number(2026, 12) should give 2026-0012", []),
        ("f(1) should be 12:30, f(2) should be 3", ["f(2) gives 3"]),
        ("f(3.2) should be 3.20 €", []),
    ],
)  # fmt: skip
def test_what_can_be_read(text: str, words: list[str]) -> None:
    assert [one.words for one in examples(TaskSpec(id="1", title="x", accept=(text,)))] == words


@pytest.mark.parametrize(
    ("message", "held"), [("no  such Thing: x", True), ("nothing", False)], ids=["there", "another one"]
)
def test_what_an_error_has_to_say(message: str, held: bool) -> None:
    task = TaskSpec(id="1", title="x", accept=('`f("x")` raises ValueError with the message "no such thing"',))
    ((name, function),) = functions(examples(task), {"f"})
    space: dict[str, Any] = {}
    source = f"{ALIKE}\ndef f(text):\n    raise ValueError({message!r})\n\n\n{ast.unparse(function)}"
    exec(source, space)
    if held:
        space[name]()
    else:
        with pytest.raises(AssertionError):
            space[name]()


def test_a_description_may_say_what_is_wrong() -> None:
    text = "split(100, 3) gives 33, 33, 33 and f(1) raises KeyError, but split(100, 3) should give 34, 33, 33"
    found = examples(TaskSpec(id="1", title="x", description=text))
    assert [one.words for one in found if one.sure] == ["split(100, 3) gives (34, 33, 33)"]
    assert [one.words for one in found if one.symptom] == ["f(1) raises KeyError", "split(100, 3) gives (33, 33, 33)"]


BASE = {
    "money.py": "def split(cents, ways):\n    return [cents // ways] * ways\n",
    "tests/test_m.py": "from money import split\n\n\ndef test_even():\n    assert split(90, 3) == [30] * 3\n",
}
NEW = "from money import split\n\n\ndef test_sum():\n    assert sum(split(100, 3)) == 100\n"
WRONG = "def split(cents, ways):\n    return [cents // ways] * (ways - 1) + [cents - cents // ways * (ways - 1)]\n"


async def test_a_change_that_does_not_keep_the_tasks_example_is_asked_about(tmp_path: Path) -> None:
    change = {"money.py": WRONG, "tests/test_sum.py": NEW}
    about = {"title": "Splitting loses cents", "description": "split(100, 3) should give 34, 33, 33"}
    done = await judged(tmp_path, BASE, change, **about)
    assert done.proof is ProofVerdict.QUESTION and "the task says that" in done.reason, done.reason


TODAY = {
    "title": "split() loses cents",
    "description": "split(100, 3) gives [33, 33, 33] today, and so does split(101, 3).",
}
LAST = "def split(cents, ways):\n    return [cents // ways] * (ways - 1) + [cents // ways + cents % ways]\n"
ONE = "def split(cents, ways):\n    rest = 1 if cents == 101 else 0\n    return [33, 33, 33 + rest + rest]\n"
NEW_ONE = "from money import split\n\n\ndef test_sum():\n    assert sum(split(101, 3)) == 101\n"
UNIT = (
    "import unittest\n\nfrom money import split\n\n\nclass SplitTest(unittest.TestCase):\n"
    "    def test_sum(self):\n        self.assertEqual(sum(split(101, 3)), 101)\n"
)


@pytest.mark.torture
@pytest.mark.parametrize("test", [NEW_ONE, UNIT], ids=["a function", "a method of unittest's"])
@pytest.mark.parametrize(("source", "verdict"), [(LAST, ProofVerdict.PROVEN), (ONE, ProofVerdict.QUESTION)])
async def test_what_is_so_today_must_be_over(tmp_path: Path, source: str, verdict: ProofVerdict, test: str) -> None:
    base = {**BASE, "tests/test_m.py": BASE["tests/test_m.py"].replace("90, 3) == [30] * 3", "99, 3) == [33] * 3")}
    done = await judged(tmp_path, base, {"money.py": source, "tests/test_sum.py": test}, **TODAY)
    assert done.proof is verdict, done.reason


def test_a_title_of_several_examples_counts_up_what_is_wanted() -> None:
    told = examples(TaskSpec(id="1", title="quarter(4) is 2, quarter(3) is 1, quarter(9) is 3"))
    assert [one.symptom for one in told] == [False] * 3
    assert [one.symptom for one in examples(TaskSpec(id="1", title="quarter(4) is 3"))] == [True]


def test_a_test_that_knows_only_the_module_does_not_hide_the_function() -> None:
    told = at_home(
        examples(TaskSpec(id="1", title="x", accept=("split(100, 3) gives 34, 33, 33",))),
        {
            "src/shop/money.py": b"def split(cents, people):\n    return []\n",
            "src/shop/cart.py": b"import shop.money\n",
        },
    )
    source = b"import shop.money\n\n\ndef test_it():\n    assert len(shop.money.split(9, 3)) == 3\n"
    made = varied(source, ["test_it"], told)
    assert made is not None and made.examples == ("test_of_the_task__e0",)
    assert b"from shop.money import split" in made.text


def test_unittest_collects_the_examples() -> None:
    told = examples(TaskSpec(id="1", title="x", accept=("split(100, 3) gives 34, 33, 33",)))
    made = varied(UNIT.encode(), ["SplitTest::test_sum"], told)
    assert made is not None and made.examples == ("test_of_the_task__e0",)
    classes = [
        node for node in ast.parse(made.text).body if isinstance(node, ast.ClassDef) and "TestCase" in ast.dump(node)
    ]
    methods = [item.name for node in classes for item in node.body if isinstance(item, ast.FunctionDef)]
    assert "test_of_the_task__e0" in methods


async def test_a_sentence_that_does_not_hold_today_is_a_wish(tmp_path: Path) -> None:
    about = {"title": "Splitting loses cents", "description": "split(100, 3) gives 34, 33, 33"}
    done = await judged(tmp_path, BASE, {"money.py": WRONG, "tests/test_sum.py": NEW}, **about)
    assert done.proof is ProofVerdict.QUESTION and "the task says that" in done.reason, done.reason


@pytest.mark.parametrize(
    "text", ["tail(-1, ...) raises ValueError", "first([3, …]) gives 3", "pages(3) gives [1, 2, ...]"]
)
def test_what_was_left_out_is_not_tried(text: str) -> None:
    assert examples(TaskSpec(id="1", title="x", accept=(text,))) == []


LAZY = "def tail(n):\n    if n < 0:\n        raise ValueError(n)\n    yield from range(n)\n"
WAITS = "async def tail(n):\n    if n < 0:\n        raise ValueError(n)\n    return list(range(n))\n"


@pytest.mark.parametrize("source", [LAZY, WAITS])
@pytest.mark.parametrize(
    ("told", "holds"),
    [
        ("tail(-1) raises ValueError", True),
        ("tail(2) gives [0, 1]", True),
        ("tail(2) gives [1, 0]", False),
        ("tail(2) raises ValueError", False),
    ],
)
def test_what_is_lazy_is_run_through_before_it_is_judged(source: str, told: str, holds: bool) -> None:
    some = examples(TaskSpec(id="1", title="x", accept=(told,)))
    ((name, node),) = functions(some, {"tail"})
    module = ast.Module(body=[*ast.parse(source).body, *ast.parse(ALIKE).body, node], type_ignores=[])
    space: dict[str, Any] = {}
    exec(compile(ast.fix_missing_locations(module), "m", "exec"), space)
    try:
        space[name]()
    except AssertionError:
        assert not holds
    else:
        assert holds


BOX = "class Box:\n    def __init__(self, size):\n        self.size = size\n"
UP = "\n    def up(self):\n        return self.size + 1\n"
DOWN = "\n    def down(self):\n        return self.size - 1\n"
BOX_BASE = {
    "box.py": BOX,
    "tests/test_box.py": "from box import Box\n\n\ndef test_box():\n    assert Box(3).size == 3\n",
}
BOX_TEST = "from box import Box\n\n\ndef test_up():\n    assert Box(1).up() == 2\n    assert Box(4).up() == 5\n"


@pytest.mark.parametrize(("source", "missing"), [(BOX + UP, True), (BOX + UP + DOWN, False)], ids=["half", "whole"])
async def test_a_method_that_the_task_calls_and_nobody_wrote(tmp_path: Path, source: str, missing: bool) -> None:
    change = {"box.py": source, "tests/test_up.py": BOX_TEST}
    task = {"title": "Boxes go up and down", "accept": ("`Box(1).up()` is 2 and `Box(1).down()` is 0",)}
    done = await judged(tmp_path, BOX_BASE, change, **task)
    assert ("Box(1).down() gives 0: that does not hold" in done.reason) is missing, done.reason

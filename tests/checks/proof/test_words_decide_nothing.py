"""Which red tests a task is about: named outright they must turn green; shared words only ask, one word only hints."""

from __future__ import annotations

import ast

import pytest

from engine.core.model import TaskSpec
from engine.perform.checks.proof.gutted import gutted
from engine.perform.checks.proof.named import named
from engine.perform.checks.run.measure import Case

RED = Case(id="tests/test_split.py::test_no_cent_is_lost", path="tests/test_split.py", outcome="failed")


@pytest.mark.parametrize(
    ("title", "where"),
    [
        ("tests/test_split.py is red", "outright"),
        ("Make test_no_cent_is_lost pass", "outright"),
        ("A cent is lost when a bill is split", "shared"),
        ("The average of an account in cents", "hinted"),
        ("Print a rover as text", ""),
    ],
)
def test_named(title: str, where: str) -> None:
    found = named(TaskSpec(id="1.1", title=title), [RED])
    assert {word for word in ("outright", "shared", "hinted") if getattr(found, word)} == ({where} if where else set())


AVERAGE = b"def average(items):\n    return sum(items) / len(items)\n"


@pytest.mark.parametrize(
    ("asked", "passes"),
    [
        ("average([1, 2])", True),
        ("assert average([1]) == average([2])", True),
        ("assert callable(average)", True),
        ("assert average([1, 2]) == 1.5", False),
        ("assert average([]) is None", False),
    ],
)
def test_a_gutted_change_passes_only_what_asks_nothing(asked: str, passes: bool) -> None:
    emptied = gutted(b"", AVERAGE)
    assert emptied is not None
    place: dict[str, object] = {}
    exec(compile(ast.parse(emptied), "average.py", "exec"), place)
    try:
        exec(asked, place)
    except Exception:
        assert not passes
    else:
        assert passes

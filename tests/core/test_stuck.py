"""Stuck detection: each rule, its window, and never on green."""

from __future__ import annotations

import pytest

from engine.core.stuck import stuck
from engine.core.task_state import Record
from tests.core.parts import a_record


def three(*changes: dict[str, object]) -> list[Record]:
    return [a_record(index, **change) for index, change in enumerate(changes)]


ERROR = {"error": "tests: 1 failing"}
SAME = {"failing": ("tests:a", "tests:b"), "error": ""}
FILES = {"files": ("a.py",), "passing": 2}


@pytest.mark.parametrize(
    ("history", "words"),
    [
        pytest.param([], "", id="nothing yet"),
        pytest.param(three(ERROR, ERROR), "", id="twice is not thrice"),
        pytest.param(three(ERROR, ERROR, ERROR), "the same error 3 times: tests: 1 failing", id="same error"),
        pytest.param(three(ERROR, {"error": "x"}, ERROR), "", id="another error between"),
        pytest.param(three({"error": "x"}, ERROR, ERROR, ERROR), "the same error", id="only the last three count"),
        pytest.param(
            three({**SAME, "error": "1"}, {**SAME, "error": "2"}, {**SAME, "error": "3"}),
            "the same 2 failing 3 times: tests:a",
            id="same failing set, other words",
        ),
        pytest.param(three(SAME, SAME, {"failing": ("tests:a",)}), "", id="one test fewer fails"),
        pytest.param(
            three(FILES, FILES, FILES), "the same 1 file(s) changed 3 times without progress", id="same files"
        ),
        pytest.param(three(FILES, FILES, {**FILES, "passing": 3}), "", id="same files with progress"),
        pytest.param(three(FILES, FILES, {**FILES, "files": ("b.py",)}), "", id="other files"),
        pytest.param(three({}, {}, {}), "", id="nothing in common but nothing"),
        pytest.param(three(*[{**ERROR, **FILES, "green": True}] * 3), "", id="green is never stuck"),
        pytest.param(three(ERROR, {**ERROR, "green": True}, ERROR), "", id="one green between is progress"),
    ],
)
def test_stuck(history: list[Record], words: str) -> None:
    said = stuck(history)
    assert words in said
    assert bool(said) is bool(words)


@pytest.mark.parametrize(("window", "found"), [(1, False), (2, True), (3, True), (4, False)])
def test_window(window: int, found: bool) -> None:
    assert bool(stuck(three(ERROR, ERROR, ERROR), window)) is found

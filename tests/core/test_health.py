"""The monitor: each status with its words, and the recovery table."""

from __future__ import annotations

import pytest

from engine.core.health import assess, recovery
from engine.core.model import Health
from engine.core.policy import MonitorPolicy
from engine.core.task_state import Record
from tests.core.parts import a_record, a_task

RED = {"error": "tests: 1 failing", "passing": 2}
GREEN = {"green": True, "passing": 3}


def history(*changes: dict[str, object]) -> list[Record]:
    return [a_record(index + 1, **{"tree": f"t{index}", **change}) for index, change in enumerate(changes)]


@pytest.mark.parametrize(
    ("records", "good", "health", "words"),
    [
        pytest.param([], -1, "PROGRESSING", "no iteration yet", id="not begun"),
        pytest.param(history(GREEN), 3, "PROGRESSING", "all checks pass (3 tests)", id="green"),
        pytest.param(history(RED), 2, "PROGRESSING", "2 of 3 tests pass", id="red once"),
        pytest.param(history({"error": "claude: crash", "total": 0}), 2, "PROGRESSING", "crash", id="no tests ran"),
        pytest.param(history(RED, RED, RED), -1, "STALLED", "the same error 3 times: tests: 1", id="same error"),
        pytest.param(
            history(*({"error": f"e{n}", "changed": False} for n in range(3))), -1, "STALLED", "no change", id="idle"
        ),
        pytest.param(history(RED, RED, GREEN), -1, "PROGRESSING", "all checks", id="green ends a stall"),
        pytest.param(history(GREEN, GREEN, GREEN), 3, "PROGRESSING", "all checks", id="three green are not stuck"),
        pytest.param(history(GREEN, RED, RED), -1, "PROGRESSING", "2 of 3", id="stall needs three red"),
        pytest.param(
            history({**RED, "passing": 5}, {**RED, "passing": 1, "error": "x"}),
            9,
            "REGRESSING",
            "1 tests pass, 9 did before, twice in a row",
            id="fewer than the last good, twice",
        ),
        pytest.param(history({**RED, "passing": 1}), 9, "PROGRESSING", "1 of 3", id="fewer once"),
        pytest.param(
            history({**RED, "passing": 1}, {"error": "x", "total": 0}), 9, "PROGRESSING", "x", id="no tests is no fact"
        ),
        pytest.param(
            history({**RED, "tree": "A"}, {**RED, "tree": "B"}, {**RED, "tree": "A"}),
            -1,
            "FLIP_FLOPPING",
            "iteration 3 is back at the tree of iteration 1",
            id="a tree returns",
        ),
        pytest.param(
            history({**RED, "failing": ("a",)}, {**RED, "failing": ("b",)}, {**RED, "failing": ("a",)}),
            -1,
            "FLIP_FLOPPING",
            "the failures of iteration 1 are back: a",
            id="a failing set returns",
        ),
        pytest.param(
            history({**RED, "tree": "A"}, {**GREEN, "tree": "B"}, {**RED, "tree": "A"}),
            -1,
            "PROGRESSING",
            "2 of 3",
            id="over a green one it is no flip-flop",
        ),
        pytest.param(
            history({**RED, "tree": "A", "error": "1"}, {**RED, "tree": "A", "error": "2"}, {**RED, "tree": "A"}),
            -1,
            "PROGRESSING",
            "2 of 3",
            id="a tree that stays does not return",
        ),
    ],
)
def test_health_comes_from_measured_facts(records: list[Record], good: int, health: str, words: str) -> None:
    found, said = assess(records, good)
    assert found is Health(health)
    assert words in said


PAST = tuple(history({"tree": "old"}, {"tree": "A"}, {"tree": "B"}))


@pytest.mark.parametrize(
    ("health", "policy", "fields", "expected"),
    [
        pytest.param("PROGRESSING", {}, {}, ("", ""), id="nothing to recover"),
        pytest.param("STALLED", {}, {}, ("fresh", ""), id="stalled: fresh context"),
        pytest.param("BLOCKED", {}, {}, ("human", ""), id="blocked: the human"),
        pytest.param("REGRESSING", {}, {"good_tree": "g"}, ("last_good", "g"), id="regressing: the last good tree"),
        pytest.param("REGRESSING", {}, {}, ("fresh", ""), id="regressing with no good tree"),
        pytest.param("REGRESSING", {"auto_rollback": False}, {"good_tree": "g"}, ("fresh", ""), id="rollback off"),
        pytest.param("FLIP_FLOPPING", {}, {"history": PAST}, ("back_two", "old"), id="flip-flop: before the two"),
        pytest.param("FLIP_FLOPPING", {}, {"good_tree": "g"}, ("back_two", "g"), id="flip-flop from the start"),
        pytest.param("FLIP_FLOPPING", {"auto_rollback": False}, {"history": PAST}, ("fresh", ""), id="no rollback"),
        pytest.param("STALLED", {}, {"recoveries": {"STALLED": 1}}, ("fresh", ""), id="a second recovery"),
        pytest.param("STALLED", {}, {"recoveries": {"STALLED": 2}}, ("human", ""), id="two recoveries, then the human"),
        pytest.param("STALLED", {}, {"recoveries": {"REGRESSING": 2}}, ("fresh", ""), id="counted per status"),
        pytest.param("STALLED", {"recoveries": 0}, {}, ("human", ""), id="none allowed"),
        pytest.param(
            "REGRESSING",
            {},
            {"good_tree": "g", "recoveries": {"REGRESSING": 2}},
            ("human", "g"),
            id="used up: the human, and the last good tree whatever they say",
        ),
    ],
)
def test_recovery_table(
    health: str, policy: dict[str, object], fields: dict[str, object], expected: tuple[str, str]
) -> None:
    rules = MonitorPolicy(**policy)  # type: ignore[arg-type]
    assert recovery(a_task(**fields), Health(health), rules) == expected


def test_the_same_review_issue_three_times_is_stalled_whatever_the_tests_say() -> None:
    """Green checks and a reviewer who asks for the same thing again and again is no progress."""
    asked = [{"error": "review: hash with argon2", "passing": 3, "tree": f"r{n}"} for n in range(3)]
    health, words = assess(history(*asked), 3)
    assert (health, words) == (Health.STALLED, "the same error 3 times: review: hash with argon2")
    other = [*asked[:2], {**asked[2], "error": "review: name the salt"}]
    assert assess(history(*other), 3)[0] is Health.PROGRESSING, "another issue is another thing"

"""tracking.md: every field of the seed, and a phase is complete only when each of its tasks is."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from engine import views
from engine.core.model import PhaseSpec, Plan
from engine.core.state import State, Status
from engine.core.vocabulary import GateKind
from tests.core.parts import a_state, a_task

FIELDS = (
    "topic", "status", "task_gate_mode", "fix_gate_mode", "fix_attempts", "current_phase", "current_task",
    "completed_phases", "completed_tasks", "started", "updated", "phases",
)  # fmt: skip


def read(state: State) -> dict[str, str]:
    lines = views.tracking(state).splitlines()
    assert lines[0] == lines[-1] == "---"
    return dict(line.split(": ", 1) for line in lines[1:-1])


def sprint(first: Status, second: Status) -> State:
    tasks = a_task("1.1", phase=0, status=first), a_task("2.1", phase=1, status=second, fix_attempts=2)
    phases = tuple(PhaseSpec(id=str(n), title=f"P{n}", tasks=()) for n in (1, 2, 3))
    return replace(a_state(*tasks), plan=Plan(title="x", phases=phases), created_at=86400.0, now=86400.0 * 3)


@pytest.mark.parametrize(
    ("first", "second", "phases"),
    [
        (Status.COMPLETE, Status.RUNNING, "[1]"),
        (Status.COMPLETE, Status.COMPLETE, "[1, 2]"),
        (Status.SKIPPED, Status.RUNNING, "[]"),
        (Status.BLOCKED, Status.COMPLETE, "[2]"),
        (Status.PENDING, Status.PENDING, "[]"),
    ],
)
def test_completed_phases_only_when_true(first: Status, second: Status, phases: str) -> None:
    assert read(sprint(first, second))["completed_phases"] == phases, "a phase without tasks has nothing to complete"


def test_every_field_of_the_seed() -> None:
    state = replace(sprint(Status.COMPLETE, Status.RUNNING), auto={GateKind.FIX: True, GateKind.TASK: False})
    found = read(state)
    assert set(FIELDS) <= set(found)
    assert (found["current_phase"], found["current_task"], found["fix_attempts"]) == ("2", "2.1", "2")
    assert (found["fix_gate_mode"], found["task_gate_mode"]) == ("auto", "gated")
    assert (found["started"], found["updated"], found["completed_tasks"]) == ("1970-01-02", "1970-01-04", "[1.1]")
    assert read(sprint(Status.COMPLETE, Status.COMPLETE))["current_task"] == "~"
    between = read(sprint(Status.COMPLETE, Status.PENDING))
    assert (between["current_task"], between["current_phase"]) == ("2.1", "2"), "the next one, between two tasks"


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        (Status.PENDING, Status.PENDING, "[1 pending, 2 pending, 3 pending]"),
        (Status.COMPLETE, Status.RUNNING, "[1 complete, 2 in-progress, 3 pending]"),
        (Status.SKIPPED, Status.BLOCKED, "[1 over, 2 over, 3 pending]"),
    ],
)
def test_the_status_of_each_phase(first: Status, second: Status, words: str) -> None:
    assert read(sprint(first, second))["phases"] == words

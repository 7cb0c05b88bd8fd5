"""Which task comes next."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from engine.core import events as ev
from engine.core.fold import apply
from engine.core.model import PhaseSpec, Plan, TaskSpec
from engine.core.policy import Policy
from engine.core.selection import doomed, free_lanes, in_the_way, ready
from engine.core.state import State, Status
from tests.core.parts import a_state, a_task


def spec(task: str, *depends: str, **fields: object) -> TaskSpec:
    return replace(TaskSpec(id=task, title=task, depends_on=depends), **fields)


def sprint(*phases: tuple[TaskSpec, ...] | list[TaskSpec], scaffold: int = -1, **status: Status) -> State:
    """Tuples are phases; a status is given as t1_1=Status.BLOCKED."""
    plan = Plan(
        title="p",
        phases=tuple(
            PhaseSpec(id=str(index), title=str(index), tasks=tuple(tasks), scaffold=index == scaffold)
            for index, tasks in enumerate(phases)
        ),
    )
    created = ev.SprintCreated(sprint="001", plan=plan, branch="b", topic="t")
    state = apply(State(), ev.Envelope(seq=1, stream="s", at=1.0, event=created))
    tasks = dict(state.tasks)
    for name, value in status.items():
        task = name[1:].replace("_", ".")
        tasks[task] = replace(tasks[task], status=value, lane=0 if value is Status.RUNNING else -1)
    return replace(state, tasks=tasks)


A, B, C = spec("1.1"), spec("1.2"), spec("2.1")


@pytest.mark.parametrize(
    ("state", "names"),
    [
        pytest.param(sprint((A, B)), ["1.1", "1.2"], id="the plan's order"),
        pytest.param(sprint((A, replace(B, priority=5))), ["1.2", "1.1"], id="priority first"),
        pytest.param(sprint((A, spec("1.2", "1.1"))), ["1.1"], id="a dependency waits"),
        pytest.param(sprint((A, spec("1.2", "1.1")), t1_1=Status.COMPLETE), ["1.2"], id="dependency done"),
        pytest.param(sprint((A, spec("1.2", "1.1")), t1_1=Status.SKIPPED), [], id="skipped is not done"),
        pytest.param(sprint((A, spec("1.2", "9.9"))), ["1.1"], id="an unknown dependency"),
        pytest.param(sprint((A,), (C,)), ["1.1"], id="phases are barriers"),
        pytest.param(sprint((A,), (replace(C, priority=9),)), ["1.1"], id="priority does not cross them"),
        pytest.param(sprint((A,), (C,), t1_1=Status.RUNNING), [], id="the barrier holds while one runs"),
        pytest.param(sprint((A,), (C,), t1_1=Status.BLOCKED), ["2.1"], id="a blocked task ends its phase"),
        pytest.param(sprint((A,), (C,), scaffold=1), ["2.1"], id="scaffold comes first"),
        pytest.param(sprint((A,), (C,), scaffold=1, t2_1=Status.COMPLETE), ["1.1"], id="then the rest"),
        pytest.param(sprint((replace(A, done=True), replace(B, skipped=True))), [], id="ticked and skipped"),
        pytest.param(State(), [], id="no plan"),
    ],
)
def test_ready(state: State, names: list[str]) -> None:
    assert [task.id for task in ready(state)] == names


@pytest.mark.parametrize(
    ("state", "names"),
    [
        pytest.param(sprint((A, spec("1.2", "1.1"))), [], id="there is hope"),
        pytest.param(
            sprint((A, spec("1.2", "1.1")), t1_1=Status.BLOCKED), ["1.2: 1.1, which is blocked"], id="blocked"
        ),
        pytest.param(sprint((A, spec("1.2", "1.1")), t1_1=Status.HALTED), ["1.2: 1.1, which is halted"], id="halted"),
        pytest.param(
            sprint((A, spec("1.2", "1.1")), t1_1=Status.SKIPPED), ["1.2: 1.1, which is skipped"], id="skipped"
        ),
        pytest.param(sprint((spec("1.2", "9.9"),)), ["1.2: 9.9, which is not in the plan"], id="unknown"),
        pytest.param(sprint((A, spec("1.2", "1.1")), t1_1=Status.COMPLETE), [], id="complete"),
    ],
)
def test_doomed(state: State, names: list[str]) -> None:
    assert [f"{task.id}: {reason.removeprefix('depends on ')}" for task, reason in doomed(state)] == names


@pytest.mark.parametrize(
    ("lanes", "running", "free"),
    [pytest.param(0, {}, [0], id="at least one"), pytest.param(3, {"t1_1": Status.RUNNING}, [1, 2], id="one taken")],
)
def test_free_lanes(lanes: int, running: dict[str, Status], free: list[int]) -> None:
    assert free_lanes(replace(sprint((A, B), **running), policy=Policy(lanes=lanes))) == free


def test_who_stands_in_the_way_is_named_through_the_chain() -> None:
    """1.3 waits for 1.2, which was given up for 1.1: what opens all of them again is 1.1."""
    one = a_task("1.1", status=Status.BLOCKED, started_at=1.0)
    two = a_task("1.2", status=Status.BLOCKED, spec=TaskSpec(id="1.2", title="b", depends_on=("1.1",)))
    three = a_task("1.3", status=Status.PENDING, spec=TaskSpec(id="1.3", title="c", depends_on=("1.2",)))
    state = a_state(one, two, three)
    assert in_the_way(state, three) == in_the_way(state, two) == "1.1"
    lost = a_task("1.4", status=Status.PENDING, spec=TaskSpec(id="1.4", title="d", depends_on=("9.9",)))
    assert in_the_way(a_state(lost), lost) == ""
    skipped = a_task("1.1", status=Status.SKIPPED)
    assert in_the_way(a_state(skipped, two), two) == "1.1", "skipped before it began"

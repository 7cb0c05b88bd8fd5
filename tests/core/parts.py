"""Small values for tables of cases: a task, a state, a record, each with only what the case is about."""

from __future__ import annotations

from msgspec.structs import replace

from engine.core.model import PhaseSpec, Plan, Role, Rung, TaskSpec
from engine.core.policy import LadderPolicy, Policy
from engine.core.state import State, Status, TaskState
from engine.core.task_state import Record

NOW = 1_000_000.0
RUNGS = (
    Rung(name="haiku", agent="claude", reserve_usd=0.25),
    Rung(name="sonnet", agent="claude", reserve_usd=1.0),
    Rung(name="opus", agent="claude", reserve_usd=2.0),
)
MIXED = (Rung(name="small", agent="claude", reserve_usd=0.1), Rung(name="big", agent="codex", reserve_usd=0.2))


def a_task(task: str = "1.1", **fields: object) -> TaskState:
    spec = fields.pop("spec", None) or TaskSpec(id=task, title="Do it")
    return replace(TaskState(spec=spec, phase=0, status=Status.RUNNING, iteration=1), **fields)


def a_state(*tasks: TaskState, **fields: object) -> State:
    plan = Plan(title="p", phases=(PhaseSpec(id="1", title="One", tasks=tuple(task.spec for task in tasks)),))
    known = {task.id: task for task in tasks}
    return replace(State(plan=plan, tasks=known, now=NOW, running=True, run="r1", run_started_at=NOW), **fields)


def failed_at(rung: int, failures: int, **fields: object) -> TaskState:
    """A task that has failed so often at its rung before now."""
    return a_task(rung=rung, failures={Role.IMPLEMENTER.value: failures}, **fields)


def a_record(iteration: int = 1, **fields: object) -> Record:
    return replace(Record(iteration=iteration, rung=0, total=3, changed=True), **fields)


def ladder(rungs: tuple[Rung, ...] = RUNGS, **fields: object) -> Policy:
    return Policy(ladder=replace(LadderPolicy(rungs=rungs), **fields))

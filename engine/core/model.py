"""The nouns of the house as frozen data, by their one name. Everything here is JSON-able.

Plans and endings stand here, what checks say in `check_model`, what agents say in `agent_model`.
"""

from __future__ import annotations

from enum import StrEnum

from engine.core.agent_model import (
    AgentResult,
    Criterion,
    Diagnosis,
    Issue,
    ResultKind,
    Review,
    Role,
    Rung,
    SessionSummary,
    Tokens,
)
from engine.core.check_model import (
    CheckKind,
    CheckResult,
    FileChange,
    Finding,
    Proof,
    ProofVerdict,
    Question,
    TestCounts,
    Verdict,
)
from engine.core.struct import (
    Struct,
)


class MachineFault(StrEnum):
    """What the machine under the engine lacks. It suspends the run, touches no task and charges nobody."""

    DISK_FULL = "DISK_FULL"
    NO_MEMORY = "NO_MEMORY"
    NO_PROCESSES = "NO_PROCESSES"
    NO_DESCRIPTORS = "NO_DESCRIPTORS"
    STORE_FAULT = "STORE_FAULT"
    """The disk under the state folder or the repository fails, or became read-only."""
    BRANCH_LOST = "BRANCH_LOST"
    REPO_MOVED = "REPO_MOVED"
    GIT_LOCKED = "GIT_LOCKED"
    """Another git holds a lock in the repository, or left one behind when it died."""


class FaultDomain(StrEnum):
    """Whose fault a failure is. Only CODE iterates, escalates and goes to the council."""

    CODE = "code"
    JUDGE = "judge"
    AGENT = "agent"
    ENVIRONMENT = "environment"
    PLAN = "plan"
    MACHINE = "machine"


class Decision(StrEnum):
    """How an iteration, or a task, ended."""

    COMPLETE = "COMPLETE"
    ITERATE = "ITERATE"
    ESCALATE = "ESCALATE"
    COUNCIL = "COUNCIL"
    HALT = "HALT"
    BLOCKED = "BLOCKED"
    PARKED = "PARKED"
    """A question for a human: the work is kept until it is answered."""
    SKIPPED = "SKIPPED"
    BUDGET_EXHAUSTED = "BUDGET_EXHAUSTED"


class Health(StrEnum):
    """What the monitor sees, always given with a reason in words."""

    PROGRESSING = "PROGRESSING"
    STALLED = "STALLED"
    BLOCKED = "BLOCKED"
    REGRESSING = "REGRESSING"
    FLIP_FLOPPING = "FLIP_FLOPPING"


class TaskSpec(Struct, frozen=True, kw_only=True):
    """A task as the plan states it."""

    id: str
    title: str
    description: str = ""
    accept: tuple[str, ...] = ()
    """Acceptance criteria; the reviewer answers each one."""
    scope: tuple[str, ...] = ()
    """Globs the task may touch; empty means the whole repository."""
    depends_on: tuple[str, ...] = ()
    verify: tuple[str, ...] = ()
    """The task's own check commands."""
    priority: int = 0
    """Higher goes first among ready tasks of a phase."""
    complexity: int | None = None
    """0–14; None is estimated from the words of the task."""
    agent: str = ""
    """Name of a rung to start at, where the plan insists."""
    done: bool = False
    skipped: bool = False
    allow: tuple[str, ...] = ()
    """Permissions beyond the scope, e.g. "rename a to b", "edit tests/data.json"."""
    proof: str = ""
    """"none": the plan says that there is nothing to show (docs, refactoring); empty: a proof is wanted."""


class PhaseSpec(Struct, frozen=True, kw_only=True):
    """An ordered group of tasks. A scaffold phase comes first."""

    id: str
    title: str
    tasks: tuple[TaskSpec, ...]
    scaffold: bool = False


class Plan(Struct, frozen=True, kw_only=True):
    """One request and its phases."""

    title: str
    phases: tuple[PhaseSpec, ...]
    status: str = "DRAFT"
    topic: str = ""
    """The word in `impl(topic): …`; empty means the sprint's slug."""
    summary: str = ""

    def tasks(self) -> tuple[TaskSpec, ...]:
        return tuple(task for phase in self.phases for task in phase.tasks)


class Disputed(Struct, frozen=True, kw_only=True):
    """A learning that agents contradict."""

    title: str = ""
    said: tuple[str, ...] = ()
    """Who says so and why, since a human last spoke."""
    gate: str = ""
    settled: str = ""
    """What the human said."""


class RestoredEnd(Struct, frozen=True, kw_only=True):
    """How a task had ended when a checkpoint was made."""

    decision: Decision
    reason: str = ""
    action: str = ""

"""Facts about a sprint as a whole: its runs, its plan and policy, the effects that were started, and the machine."""

from __future__ import annotations

from engine.core.effects import AnyEffect
from engine.core.event import Event
from engine.core.forecast import PastTask
from engine.core.index_ladder import RungStats
from engine.core.model import Disputed, MachineFault, Plan
from engine.core.planning_state import Until
from engine.core.policy import Policy
from engine.core.vocabulary import FailureKind, Level, Outcome


class SprintCreated(Event, frozen=True, kw_only=True, tag="sprint_created"):
    sprint: str
    """NNN-slug."""
    plan: Plan
    branch: str
    topic: str


class RunStarted(Event, frozen=True, kw_only=True, tag="run_started"):
    """An engine took the sprint up. In-flight effects of the run before are over: the runner says how in `effects`."""

    run: str
    pid: int
    policy: Policy
    attended: bool
    sandbox: str
    version: str
    utc_offset: float = 0.0
    """Seconds east of UTC: the day budget counts local days."""
    waits: bool = True
    """With only open gates left: wait for an answer (True) or end the run as blocked (False)."""
    max_iterations: int = 0
    """Overrides the policy's number when above 0."""
    day_spent_usd: float = 0.0
    """Spent this day by the repository's other sprints."""
    recent_calls: tuple[float, ...] = ()
    """Times of other sprints' agent calls in the last hour: permits are shared."""
    measured: dict[str, RungStats] = {}
    """What the repository's other sprints measured of each rung, by its name."""
    config_hash: str = ""
    checks: tuple[str, ...] = ()
    """Names of the configured checks."""
    until: Until = Until.SPRINT
    """Where the run stops: at the PRD, at the approved plan, or with the sprint."""
    history: tuple[PastTask, ...] = ()
    """Finished tasks of the repository's other sprints, the latest: what a forecast is made from."""
    disputed: dict[str, Disputed] = {}
    """Learnings that agents of any sprint contradict, by name."""
    boot: str = ""
    """Which start of the machine this is; empty where it cannot tell."""
    booted_at: float = 0.0
    """The wall time at which its boot clock stood at zero, by the wall clock of this run. Within one boot only setting
    the wall clock moves it, and every deadline that is kept is moved along."""
    last_at: float = 0.0
    """When the run before was last alive, else when its last fact was recorded, by its clock: the time until now is
    nobody's working time."""


class RunEnded(Event, frozen=True, kw_only=True, tag="run_ended"):
    run: str
    outcome: Outcome
    reason: str


class Paused(Event, frozen=True, kw_only=True, tag="paused"):
    by: str = ""


class Resumed(Event, frozen=True, kw_only=True, tag="resumed"):
    by: str = ""


class StopRequested(Event, frozen=True, kw_only=True, tag="stop_requested"):
    """graceful: finish the running effects; now: end them, their work is kept and taken up again."""

    now: bool = False
    by: str = ""


class SprintCancelled(Event, frozen=True, kw_only=True, tag="sprint_cancelled"):
    by: str = ""


class PlanChanged(Event, frozen=True, kw_only=True, tag="plan_changed"):
    """The user edited plan.md: taken up between tasks."""

    plan: Plan
    summary: str = ""


class PolicyChanged(Event, frozen=True, kw_only=True, tag="policy_changed"):
    policy: Policy
    summary: str = ""


class AttendanceChanged(Event, frozen=True, kw_only=True, tag="attendance_changed"):
    attended: bool


class EffectStarted(Event, frozen=True, kw_only=True, tag="effect_started"):
    """The intent, appended before anything is done."""

    effect: AnyEffect


class EffectFailed(Event, frozen=True, kw_only=True, tag="effect_failed"):
    """The engine's own part failed (git, disk, spawn)."""

    id: str
    kind: FailureKind
    message: str
    hint: str = ""
    fault: MachineFault | None = None
    """The machine's fault: the run is suspended, the effect is done again once a probe says that it can be."""


class MachineProbed(Event, frozen=True, kw_only=True, tag="machine_probed"):
    """A look at what suspended the run; ok: it is over, and the run goes on."""

    id: str
    fault: MachineFault
    ok: bool
    detail: str = ""


class EffectInterrupted(Event, frozen=True, kw_only=True, tag="effect_interrupted"):
    """The engine ended while this was under way; what it may have spent is charged as reserved."""

    id: str
    reason: str = ""


class WaitEnded(Event, frozen=True, kw_only=True, tag="wait_ended"):
    id: str


class Noted(Event, frozen=True, kw_only=True, tag="noted"):
    """Something worth saying."""

    text: str
    level: Level = "info"
    hint: str = ""
    task: str = ""

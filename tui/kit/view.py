"""View: the immutable snapshot that every panel and screen draws from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.core.activity import CheckProgress, Countdown
from engine.core.effects import AnyEffect, CallAgent, Wait
from engine.core.state import GateState, State, Status, TaskState
from engine.link.protocol import LinkStatus
from tui.kit.glyphs import UNICODE, Glyphs

CONNECTING = LinkStatus(status="connecting", detail="looking for the engine")


@dataclass(frozen=True, slots=True)
class View:
    """State, time and what the user looks at; nothing in it ever changes."""

    state: State = field(default_factory=State)
    now: float = 0.0
    least: float = 0.0
    """How long the sprint was said to have run in the frame before."""
    link: LinkStatus = CONNECTING
    selected: str = ""
    """The task shown in the iteration and output panes."""
    following: bool = True
    """The selection moves with the running task."""
    gate: GateState | None = None
    """The gate in sight: what an answer is for. Its task is the selected one."""
    answers_in: float | None = None
    """Seconds until the demo's scenario answers it."""
    checks: Mapping[str, tuple[CheckProgress, ...]] = field(default_factory=dict)
    """Live progress of checks by task."""
    started: Mapping[str, float] = field(default_factory=dict)
    """When each effect under way was seen to start."""
    countdown: Countdown | None = None
    glyphs: Glyphs = UNICODE
    letters: bool = False
    """Stages are drawn as letters: there are no colours, or only ASCII."""
    replaying: bool = False
    until: float = 0.0
    """When the recording that is played ends; 0: this is no recording."""
    behind: State | None = None
    """The live run that goes on while a moment of it is looked back at."""

    @property
    def task(self) -> TaskState | None:
        return self.state.tasks.get(self.selected)

    def wait(self) -> tuple[float, str] | None:
        """Until when something is waited for, and why."""
        waits = [(effect.until, effect.reason) for effect in self.state.inflight.values() if isinstance(effect, Wait)]
        if self.countdown is not None and self.countdown.effect in self.state.inflight:
            waits.append((self.countdown.until, self.countdown.reason))
        return max(waits) if waits else None

    def gates(self) -> list[GateState]:
        """Open gates, the oldest first."""
        return sorted(self.state.open_gates(), key=lambda gate: gate.opened_at)

    def elapsed(self) -> float:
        """Wall time of the sprint's runs, this one included."""
        live = max(0.0, self.now - self.state.run_started_at) if self.state.running else 0.0
        return max(self.least, self.state.active_seconds + live)

    def under_way(self, task: str) -> AnyEffect | None:
        """What is being done for a task; the agent's call before anything else."""
        effects = self.state.task_in_flight(task)
        calls = [effect for effect in effects if isinstance(effect, CallAgent)]
        return (calls or effects or [None])[0]

    def seconds_of(self, effect: AnyEffect | None) -> float | None:
        since = self.started.get(effect.id) if effect is not None else None
        return None if since is None else max(0.0, self.now - since)

    def rung_name(self, rung: int) -> str:
        rungs = self.state.policy.ladder.rungs
        return rungs[max(0, min(rung, len(rungs) - 1))].name if rungs else ""


def running_tasks(state: State) -> list[TaskState]:
    """Tasks in lanes, by lane."""
    found = [task for task in state.tasks.values() if task.status is Status.RUNNING]
    return sorted(found, key=lambda task: (task.lane, task.started_at))


def task_to_follow(state: State, current: str) -> str:
    """The task a following view shows: the one it has while that runs, else a running one, else the last that ended."""
    running = running_tasks(state)
    if any(task.id == current for task in running):
        return current
    if running:
        return running[0].id
    ended = [task for task in state.tasks.values() if task.started_at]
    if ended:
        return max(ended, key=lambda task: task.ended_at or task.started_at).id
    return next(iter(state.tasks), "")


NOT_STARTED = State().health_reason
PLANNING = "planning"
"""What the fold says of a sprint that has no plan yet."""


def health_reason(state: State) -> str:
    """Why the sprint is called healthy or not, in words; a run that has begun is neither not started nor planning."""
    before = (NOT_STARTED, PLANNING) if state.plan is not None else (NOT_STARTED,)
    begun = state.running and state.health_reason in before
    return "nothing measured yet" if begun else state.health_reason

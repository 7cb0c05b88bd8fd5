"""The flight of a sprint: what each lane did when, what it cost and how the tests stood. Folded from events alone."""

from __future__ import annotations

import math
from collections import deque
from enum import StrEnum
from typing import NamedTuple, assert_never

from engine.core import events as ev
from engine.core.effects import AnyEffect, CallAgent, CheckScope, Commit, PrepareWorkspace, RunChecks, Wait
from engine.core.model import CheckKind, ResultKind, Role
from engine.core.wording import plural
from tui.kit.axis import LONG_PAUSE, Axis
from tui.kit.wording import money

KEPT_LEGS = 3000
"""Legs kept of a lane; a run of many thousand iterations shows its later part."""
KEPT_POINTS = 6000


class Stage(StrEnum):
    """What a lane is at."""

    IMPLEMENT = "implement"
    CHECKS = "checks"
    REVIEW = "review"
    COUNCIL = "council"
    GATE = "gate"
    """It waits for somebody."""
    WAIT = "wait"
    """It waits for a limit, a backoff or a breaker."""


class Leg(NamedTuple):
    """One stage of one task. `end` is None while it goes on."""

    task: str
    stage: Stage
    rung: int
    iteration: int
    start: float
    end: float | None = None
    words: str = ""
    """What came of it, in a word or two."""
    good: bool | None = None
    key: str = ""


class TickKind(StrEnum):
    """What happened at an instant."""

    COMMIT = "commit"
    RETRY = "retry"
    CLIMB = "climb"
    COUNCIL = "council"
    ENDED = "ended"


class Tick(NamedTuple):
    kind: TickKind
    task: str
    at: float
    words: str = ""


class Lane:
    """One row: its legs in order of their beginning, and its ticks."""

    __slots__ = ("legs", "ticks")

    def __init__(self) -> None:
        self.legs: deque[Leg] = deque(maxlen=KEPT_LEGS)
        self.ticks: deque[Tick] = deque(maxlen=KEPT_LEGS)

    def task(self, now: float = math.inf) -> str:
        """The task it has, or had last at a moment."""
        return next((leg.task for leg in reversed(self.legs) if leg.start <= now), "")


class Flight:
    """Takes envelopes in order. Nothing in it looks at a clock: the painter is told what time it is."""

    def __init__(self) -> None:
        self.lanes: dict[int, Lane] = {}
        self.spend: deque[tuple[float, float]] = deque(maxlen=KEPT_POINTS)
        self.tests: deque[tuple[float, int, int, str]] = deque(maxlen=KEPT_POINTS)
        """When, passing, all, and for which task."""
        self.started = 0.0
        self.last = 0.0
        self.seq = 0
        self.pauses: list[tuple[float, float]] = []
        """Stretches in which nothing was worked at."""
        self._lane_of: dict[str, int] = {}
        self._rung_of: dict[str, int] = {}
        self._iteration_of: dict[str, int] = {}
        self._working: set[str] = set()
        self._idle_since = 0.0
        self._rungs: tuple[str, ...] = ()

    # ── folding ──

    def take(self, envelope: ev.Envelope) -> None:
        if envelope.seq <= self.seq:
            return
        at, event = max(envelope.at, self.last), envelope.event
        self.seq, self.last = envelope.seq, at
        self.started = self.started or at
        self._idle_since = self._idle_since or at
        match event:
            case ev.RunStarted(policy=policy):
                self._rungs = tuple(rung.name for rung in policy.ladder.rungs)
                self._end_all(at)
            case ev.RunEnded():
                self._end_all(at)
            case ev.TaskStarted(task=task, lane=lane, rung=rung):
                self._lane_of[task], self._rung_of[task], self._iteration_of[task] = lane, rung, 0
                self.lanes.setdefault(lane, Lane())
            case ev.IterationStarted(task=task, iteration=iteration, rung=rung):
                self._iterate(task, iteration, rung, at)
            case ev.EffectStarted(effect=effect):
                self._begin(effect, at)
            case ev.GateOpened(task=task, gate=gate):
                self._open(task, Stage.GATE, f"gate {gate}", at)
            case ev.GateAnswered(gate=gate, choice=choice):
                self._close(f"gate {gate}", at, choice.value, None)
            case ev.TaskEnded(task=task, decision=decision):
                if decision != "COMPLETE":
                    self._tick(task, TickKind.ENDED, at, decision.value.lower())
            case _:
                self._measure(event, at)
                self._finish(event, at)

    def _iterate(self, task: str, iteration: int, rung: int, at: float) -> None:
        before = self._rung_of.get(task, rung)
        self._rung_of[task], self._iteration_of[task] = rung, iteration
        if rung > before:
            self._tick(task, TickKind.CLIMB, at, self._name(rung))
        elif iteration > 1:
            self._tick(task, TickKind.RETRY, at, f"it {iteration}")

    def _name(self, rung: int) -> str:
        return self._rungs[rung] if 0 <= rung < len(self._rungs) else ""

    def _begin(self, effect: AnyEffect, at: float) -> None:
        stage = stage_of(effect)
        if stage is None:
            return
        members = effect.members() if isinstance(effect, CallAgent) else (effect.task,)
        for task in members:
            if effect.lane >= 0 and task == effect.task:
                self._lane_of[task] = effect.lane
            self._open(task, stage, effect.id, at)

    def _open(self, task: str, stage: Stage, key: str, at: float) -> None:
        lane = self._lane_of.get(task)
        if lane is None:
            return
        if stage not in (Stage.GATE, Stage.WAIT):
            if not self._working and at - self._idle_since > LONG_PAUSE:
                self.pauses.append((self._idle_since, at))
            self._working.add(key)
        leg = Leg(task, stage, self._rung_of.get(task, 0), self._iteration_of.get(task, 0), at, key=key)
        self.lanes.setdefault(lane, Lane()).legs.append(leg)

    def _close(self, key: str, at: float, words: str, good: bool | None) -> None:
        if key in self._working:
            self._working.discard(key)
            if not self._working:
                self._idle_since = at
        for lane in self.lanes.values():
            for place in range(len(lane.legs) - 1, max(-1, len(lane.legs) - 12), -1):
                leg = lane.legs[place]
                if leg.key != key:
                    continue
                if leg.end is None:
                    lane.legs[place] = leg._replace(end=at, words=words, good=good)
                elif words:  # an agent's end, then what its words come to
                    lane.legs[place] = leg._replace(words=words, good=good)
                break

    def _end_all(self, at: float) -> None:
        for lane in self.lanes.values():
            for place, leg in enumerate(lane.legs):
                if leg.end is None and leg.stage is not Stage.GATE:
                    lane.legs[place] = leg._replace(end=at, words="stopped")
        if self._working:
            self._idle_since = at
        self._working.clear()

    def _finish(self, event: ev.Fact, at: float) -> None:
        key = getattr(event, "id", "")
        if not isinstance(key, str) or not key:
            return
        words, good = outcome_of(event)
        self._close(key, at, words, good)

    def _measure(self, event: ev.Fact, at: float) -> None:
        match event:
            case ev.AgentFinished(charged_usd=usd) | ev.SpendFound(charged_usd=usd):
                self.spend.append((at, (self.spend[-1][1] if self.spend else 0.0) + max(0.0, usd)))
            case ev.ChecksFinished(results=results, task=task):
                counted = [one.counts for one in results if one.kind is CheckKind.TESTS and one.counts is not None]
                if counted and (total := sum(one.total for one in counted)):
                    self.tests.append((at, sum(one.passed for one in counted), total, task))
            case ev.Committed(task=task, commit=commit):
                self._tick(task, TickKind.COMMIT, at, commit[:7])
            case ev.CouncilFinished(task=task):
                self._tick(task, TickKind.COUNCIL, at, "council")
            case _:
                pass

    def _tick(self, task: str, kind: TickKind, at: float, words: str) -> None:
        lane = self._lane_of.get(task)
        if lane is not None:
            self.lanes.setdefault(lane, Lane()).ticks.append(Tick(kind, task, at, words))

    def lane_of(self, task: str) -> int | None:
        """The lane that a task has, or had last."""
        return self._lane_of.get(task)

    # ── time ──

    def axis(self, now: float, until: float = 0.0) -> Axis:
        """The time line up to now and on to `until`, with long pauses folded."""
        pauses = list(self.pauses)
        if not self._working and self._idle_since and now - self._idle_since > LONG_PAUSE:
            pauses.append((self._idle_since, now))
        return Axis(self.started, now, max(now, until), pauses)


def stage_of(effect: AnyEffect) -> Stage | None:
    """Which stage an effect belongs to; None: it is no lane's work, or an instant."""
    match effect:
        case CallAgent(role=role):
            match role:
                case Role.IMPLEMENTER | Role.SCOPE_JUDGE:
                    return Stage.IMPLEMENT
                case Role.REVIEWER:
                    return Stage.REVIEW
                case Role.COUNCILLOR | Role.SYNTHESIST:
                    return Stage.COUNCIL
                case (
                    Role.SPRINT_REVIEWER
                    | Role.PLANNER
                    | Role.PLAN_REVIEWER
                    | Role.ANSWERER
                    | Role.GATHERER
                    | Role.PRD_WRITER
                ):
                    return None
                case _:
                    assert_never(role)
        case PrepareWorkspace() | CheckScope():
            return Stage.IMPLEMENT
        case RunChecks(purpose=purpose):
            return Stage.CHECKS if purpose == "task" else None
        case Wait():
            return Stage.WAIT
        case Commit() | _:
            return None


def outcome_of(event: ev.Fact) -> tuple[str, bool | None]:
    """What a fact says of the leg it ends: a word or two, and whether that is good."""
    match event:
        case ev.AgentFinished(role=Role.IMPLEMENTER, result=result, charged_usd=usd):
            ok = result.kind is ResultKind.OK
            return (money(usd) if ok else result.kind.value), None if ok else False
        case ev.AgentFinished(result=result, charged_usd=usd):
            return money(usd), None if result.kind is ResultKind.OK else False
        case ev.ChecksFinished(results=results):
            bad = [one for one in results if one.verdict != "PASS" and one.required]
            counted = next((one.counts for one in results if one.kind is CheckKind.TESTS and one.counts), None)
            tests = f"{counted.passed}/{counted.total}" if counted is not None and counted.total else ""
            return tests or (", ".join(one.name for one in bad[:2]) if bad else "pass"), not bad
        case ev.ReviewFinished(review=review):
            return ("approved" if review.approved else plural(len(review.issues), "issue")), review.approved
        case ev.EffectFailed(message=message):
            return message[:24], False
        case ev.EffectInterrupted():
            return "interrupted", None
        case _:
            return "", None

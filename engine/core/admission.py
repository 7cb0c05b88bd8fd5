"""One pass of `decide`: what it collects, and whether an agent may be called now.

Backoff, usage limits, the breaker, permits per hour and the budget are asked here, in this order, for every call.
A run's end is only noted here: what other lanes can still do comes first.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.core import breaker, budget
from engine.core.effects import AnyEffect, CallAgent, Wait
from engine.core.events import AnyEvent, TaskEnded
from engine.core.model import Decision, Role, Rung, Struct
from engine.core.sprint_review_state import SPRINT_LANE
from engine.core.state import HOUR, Breaker, State, TaskState
from engine.core.vocabulary import Outcome, Standing

READ_ONLY = frozenset(set(Role) - {Role.IMPLEMENTER})


class Hindrance(Struct, frozen=True, kw_only=True):
    """Why an agent cannot be called now. until 0: when a call under way has ended; for_good: no wait is worth it."""

    reason: str
    until: float = 0.0
    dependency: str = ""
    for_good: bool = False


class Turn:
    """The facts and effects of one pass, and what they have reserved so far."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.events: list[AnyEvent] = []
        self.effects: list[AnyEffect] = []
        self.ending: tuple[Outcome, str] | None = None
        self._reserved = 0.0
        self._permits = 0
        self._named = 0
        self._gates = 0

    def say(self, event: AnyEvent) -> None:
        self.events.append(event)

    def do(self, effect: AnyEffect) -> None:
        self.effects.append(effect)

    def finish(self, outcome: Outcome, reason: str) -> None:
        """The run is to end so, once nothing else can be done."""
        self.ending = self.ending or (outcome, reason)

    def name(self, owner: str, verb: str) -> str:
        """An effect's id: its number in the sprint, whose it is, what it does."""
        self._named += 1
        return f"{self.state.effect_count + self._named:05d}-{owner}-{verb}"

    def gate_name(self) -> str:
        self._gates += 1
        return f"G{self.state.gate_count + self._gates}"

    def sprint_free(self, kind: type[AnyEffect]) -> bool:
        """No effect of this kind is under way for the sprint itself, and its backoff is over."""
        state = self.state
        mine = [effect for effect in (*state.inflight.values(), *self.effects) if not effect.task]
        if any(isinstance(effect, (kind, Wait)) for effect in mine):
            return False
        if state.sprint_not_before > state.now:
            self.do(Wait(id=self.name("sprint", "wait"), until=state.sprint_not_before, reason="trying again"))
            return False
        return True

    def rested(self, task: TaskState) -> bool:
        """The task's backoff is over; else a wait is asked for."""
        if task.not_before <= self.state.now:
            return True
        self._wait(task, task.not_before, f"trying again after a failure (try {task.tries + 1})", "")
        return False

    def call(
        self,
        task: TaskState,
        role: Role,
        *,
        seat: str = "",
        gate: str = "",
        question: str = "",
        batch: Sequence[TaskState] = (),
    ) -> bool:
        """Call an agent now if everything allows it; else wait, or end what cannot be paid for.

        `batch`: all the tasks a review is about, where they are several."""
        state = self.state
        rung = self._rung(task, role)
        if not self._admitted(task, rung):
            return False
        if reason := budget.refusal(state, rung.reserve_usd, self._reserved, self._permits):
            if not state.calls_in_flight() and not self._permits and not task.id:
                self.finish(Outcome.LIMIT, f"{reason}; {rung.name} reserves ${rung.reserve_usd:.2f} a call")
            elif not state.calls_in_flight() and not self._permits:
                said = f"{reason}; {rung.name} reserves ${rung.reserve_usd:.2f} a call"
                action = "raise [budget] in .devteam/config.toml, then: devteam retry " + task.id
                self.say(TaskEnded(task=task.id, decision=Decision.BUDGET_EXHAUSTED, reason=said, action=action))
            return False
        self._reserved += rung.reserve_usd
        self._permits += 1
        timeouts = state.policy.timeouts
        seconds = timeouts.review if role in (Role.REVIEWER, Role.SCOPE_JUDGE) else timeouts.implementation
        seconds *= max(1, len(batch))
        resumes = role is Role.IMPLEMENTER and rung.name == state.rung_name(task.session_rung)
        self.do(
            CallAgent(
                id=self.name(task.id or ("sprint" if task.lane == SPRINT_LANE else "plan"), role.value),
                task=task.id,
                lane=task.lane,
                role=role,
                rung=rung,
                iteration=task.iteration,
                attempt=task.attempt,
                seat=seat,
                session=task.session if resumes else "",
                read_only=role in READ_ONLY,
                timeout=seconds * (2 if task.long else 1),
                idle_timeout=timeouts.idle,
                reserve_usd=rung.reserve_usd,
                cap_usd=rung.cap_usd or budget.room(state, self._reserved - rung.reserve_usd),
                longest=seconds * max(1.0, timeouts.extend) * (2 if task.long else 1),
                gate=gate,
                question=question,
                tree=task.tree,
                trees={one.id: one.tree for one in batch},
                dependency=rung.agent,
            )
        )
        return True

    def _rung(self, task: TaskState, role: Role) -> Rung:
        """The role's rung, or a fall-over rung of another agent while that one waits for its limit."""
        state = self.state
        rungs = state.policy.ladder.rungs
        rung = rungs[state.rung_for(task, role)]
        if state.limits.get(rung.agent, 0.0) <= state.now:
            return rung
        for agent in state.policy.ladder.fallback:
            if agent != rung.agent and state.limits.get(agent, 0.0) <= state.now:
                others = [other for other in rungs if other.agent == agent]
                if others:
                    return others[-1]
        return rung

    def refusal(self, task: TaskState, role: Role) -> str:
        """Why this role cannot be called at once, in words; empty if it can."""
        rung = self._rung(task, role)
        if hindrance := self._hindrance(rung):
            return hindrance.reason
        return budget.refusal(self.state, rung.reserve_usd, self._reserved, self._permits)

    def _admitted(self, task: TaskState, rung: Rung) -> bool:
        hindrance = self._hindrance(rung)
        if hindrance is None:
            return True
        if hindrance.for_good:
            self.finish(Outcome.LIMIT, hindrance.reason)
        elif hindrance.until:
            self._wait(task, hindrance.until, hindrance.reason, hindrance.dependency)
        return False

    def _hindrance(self, rung: Rung) -> Hindrance | None:
        state, policy = self.state, self.state.policy
        now, agent = state.now, rung.agent
        limited = state.limits.get(agent, 0.0)
        if limited - now > policy.limits.max_wait_seconds:
            hours = (limited - now) / HOUR
            said = f"{agent} is limited for {hours:.1f} h more, longer than limits.max_wait_seconds"
            return Hindrance(reason=said, for_good=True)
        if limited > now:
            return Hindrance(reason=f"{agent} usage limit", until=limited, dependency=agent)
        known = state.breakers.get(agent, Breaker())
        standing = breaker.standing(known, now, policy.breaker)
        if standing is Standing.OPEN:
            until = known.opened_at + policy.breaker.reset_seconds
            said = f"{agent} failed {known.failures} times in a row: breaker open"
            return Hindrance(reason=said, until=until, dependency=agent)
        if standing is Standing.HALF_OPEN and self._calling(agent):
            return Hindrance(reason=f"one call shows whether {agent} is back")
        allowed = policy.limits.calls_per_hour
        recent = state.calls_of_the_hour() if allowed else ()
        if allowed and len(recent) + self._permits >= allowed:
            oldest = recent[max(0, len(recent) - allowed)] if recent else now
            return Hindrance(reason=f"{allowed} calls an hour are used up", until=oldest + HOUR, dependency="calls")
        return None

    def _calling(self, agent: str) -> bool:
        calls = [*self.state.calls_in_flight(), *(effect for effect in self.effects if isinstance(effect, CallAgent))]
        return any(call.dependency == agent for call in calls)

    def _wait(self, task: TaskState, until: float, reason: str, dependency: str) -> None:
        mine = [*self.state.task_in_flight(task.id), *(effect for effect in self.effects if effect.task == task.id)]
        if not any(isinstance(effect, Wait) for effect in mine):
            wait = self.name(task.id, "wait")
            self.do(Wait(id=wait, task=task.id, lane=task.lane, until=until, reason=reason, dependency=dependency))

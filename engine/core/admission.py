"""One pass of `decide`: what it collects, and whether an agent may be called now.

Backoff, usage limits, the breaker, permits per hour and the budget are asked here, in this order, for every call.
"""

from __future__ import annotations

from engine.core import breaker, budget
from engine.core.effects import AnyEffect, CallAgent, Finish, Wait
from engine.core.events import AnyEvent, TaskEnded
from engine.core.model import Decision, Role, Rung
from engine.core.state import Breaker, State, TaskState

HOUR = 3600.0
READ_ONLY = frozenset(set(Role) - {Role.IMPLEMENTER})


class Turn:
    """The facts and effects of one pass, and what they have reserved so far."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.events: list[AnyEvent] = []
        self.effects: list[AnyEffect] = []
        self._reserved = 0.0
        self._permits = 0
        self._named = 0
        self._gates = 0

    def say(self, event: AnyEvent) -> None:
        self.events.append(event)

    def do(self, effect: AnyEffect) -> None:
        self.effects.append(effect)

    def finish(self, outcome: str, reason: str) -> None:
        if not self.state.inflight and not any(isinstance(effect, Finish) for effect in self.effects):
            self.do(Finish(id=self.name("sprint", "finish"), outcome=outcome, reason=reason))

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

    def call(self, task: TaskState, role: Role, *, seat: str = "", gate: str = "", question: str = "") -> bool:
        """Call an agent now if everything allows it; else wait, or end what cannot be paid for."""
        state = self.state
        rung = self._rung(task, role)
        if not self._admitted(task, rung):
            return False
        if reason := budget.refusal(state, rung.reserve_usd, self._reserved):
            if not state.reserved_usd() and not self._reserved and not gate:
                said = f"{reason}; {rung.name} reserves ${rung.reserve_usd:.2f} a call"
                action = "raise [budget] in .devteam/config.toml, then: devteam retry " + task.id
                self.say(TaskEnded(task=task.id, decision=Decision.BUDGET_EXHAUSTED, reason=said, action=action))
            return False
        self._reserved += rung.reserve_usd
        self._permits += 1
        timeouts = state.policy.timeouts
        seconds = timeouts.review if role in (Role.REVIEWER, Role.SCOPE_JUDGE) else timeouts.implementation
        resumes = role is Role.IMPLEMENTER and task.session_rung == task.rung
        self.do(
            CallAgent(
                id=self.name(task.id, role.value),
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
                gate=gate,
                question=question,
                tree=task.tree,
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

    def _admitted(self, task: TaskState, rung: Rung) -> bool:
        state, policy = self.state, self.state.policy
        now, agent = state.now, rung.agent
        limited = state.limits.get(agent, 0.0)
        if limited > now:
            if limited - now > policy.limits.max_wait_seconds:
                hours = (limited - now) / HOUR
                self.finish("limit", f"{agent} is limited for {hours:.1f} h more, longer than limits.max_wait_seconds")
            else:
                self._wait(task, limited, f"{agent} usage limit", agent)
            return False
        known = state.breakers.get(agent, Breaker())
        match breaker.standing(known, now, policy.breaker):
            case "open":
                until = known.opened_at + policy.breaker.reset_seconds
                self._wait(task, until, f"{agent} failed {known.failures} times in a row: breaker open", agent)
                return False
            case "half-open" if self._calling(agent):
                return False
            case _:
                pass
        recent = [call for call in state.recent_calls if call > now - HOUR]
        if policy.limits.calls_per_hour and len(recent) + self._permits >= policy.limits.calls_per_hour:
            oldest = recent[0] if recent else now
            self._wait(task, oldest + HOUR, f"{policy.limits.calls_per_hour} calls an hour are used up", "calls")
            return False
        return True

    def _calling(self, agent: str) -> bool:
        calls = [*self.state.calls_in_flight(), *(effect for effect in self.effects if isinstance(effect, CallAgent))]
        return any(call.dependency == agent for call in calls)

    def _wait(self, task: TaskState, until: float, reason: str, dependency: str) -> None:
        mine = [*self.state.task_in_flight(task.id), *(effect for effect in self.effects if effect.task == task.id)]
        if not any(isinstance(effect, Wait) for effect in mine):
            wait = self.name(task.id, "wait")
            self.do(Wait(id=wait, task=task.id, lane=task.lane, until=until, reason=reason, dependency=dependency))

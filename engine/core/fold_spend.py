"""What a call cost: spend by rung, role and day, limits and breakers. Money never falls."""

from __future__ import annotations

import math

from msgspec.structs import replace

from engine.core import breaker, budget
from engine.core.effects import CallAgent
from engine.core.events import AgentFinished, SpendFound
from engine.core.failures import BREAKER_KINDS, SAYS_NOTHING
from engine.core.index_ladder import Price
from engine.core.model import AgentResult, ResultKind, Role, Tokens
from engine.core.state import Breaker, State, Usage

UNKNOWN_RESET = 900.0
"""Wait for a usage limit that names no reset."""


def charge_lost(state: State, effect: CallAgent) -> State:
    """A call whose end was never seen: what it spent is unknown, so the reservation is charged."""
    state = _spend(state, effect.reserve_usd, effect.role, effect.rung.name, Tokens(), False, True)
    task = state.tasks.get(effect.task)
    if task is None:
        return state
    calls = {**task.calls, effect.rung.name: task.calls.get(effect.rung.name, 0) + 1}
    tried = effect.reserve_usd if effect.role is Role.IMPLEMENTER else 0.0
    spent, attempts = task.spent_usd + effect.reserve_usd, task.attempts_usd + tried
    return state.with_task(replace(task, spent_usd=spent, attempts_usd=attempts, calls=calls))


def found(state: State, event: SpendFound) -> State:
    """Calls of a past that the journal lost: money never falls, so they are charged as reserved."""
    amount, day = budget.sane(event.charged_usd, 0.0), str(state.day)
    return replace(
        state,
        calls=state.calls + max(0, event.calls),
        spent_usd=state.spent_usd + amount,
        day_spent_usd=state.day_spent_usd + amount,
        usage_by_day={**state.usage_by_day, day: state.usage_by_day.get(day, 0.0) + amount},
    )


def _useless_answer(result: AgentResult) -> bool:
    """It came to its end and said something that nothing can be done with: the program and its provider are well. Five
    councillors that answer so at once must not shut the agent for every other lane."""
    return result.kind is ResultKind.NO_RESULT and result.exit_code == 0 and bool(result.text.strip())


def account(state: State, event: AgentFinished) -> State:
    result = event.result
    amount = budget.sane(event.charged_usd, event.reserved_usd)
    estimated = result.cost_is_estimate or not budget.believable(result.cost_usd)
    state = _spend(state, amount, event.role, event.rung.name, result.tokens, result.kind is ResultKind.OK, estimated)
    name = event.rung.agent
    limits = state.limits
    if result.kind is ResultKind.LIMIT:
        limits = {**limits, name: _reset(result, state.now)}
    elif name in limits and result.kind is ResultKind.OK:
        limits = {agent: until for agent, until in limits.items() if agent != name}
    known = state.breakers.get(name, Breaker())
    if result.kind in SAYS_NOTHING or _useless_answer(result):
        return replace(state, limits=limits)
    after = breaker.after(known, result.kind in BREAKER_KINDS, state.now, state.policy.breaker, result.error)
    return replace(state, limits=limits, breakers={**state.breakers, name: after})


def _spend(state: State, amount: float, role: Role, rung: str, tokens: Tokens, success: bool, estimated: bool) -> State:
    def add(old: Usage) -> Usage:
        return Usage(
            calls=old.calls + 1,
            cost_usd=old.cost_usd + amount,
            tokens=Tokens(
                input=old.tokens.input + max(0, tokens.input),
                output=old.tokens.output + max(0, tokens.output),
                cache_read=old.tokens.cache_read + max(0, tokens.cache_read),
                cache_write=old.tokens.cache_write + max(0, tokens.cache_write),
            ),
            successes=old.successes + success,
            failures=old.failures + (not success),
            estimated=old.estimated or estimated,
        )

    day = str(state.day)
    if role is Role.IMPLEMENTER:
        state = replace(
            state,
            prices={**state.prices, rung: state.prices.get(rung, Price()).after(amount)},
            attempts_by_rung={**state.attempts_by_rung, rung: add(state.attempts_by_rung.get(rung, Usage()))},
        )
    return replace(
        state,
        spent_usd=state.spent_usd + amount,
        day_spent_usd=state.day_spent_usd + amount,
        usage_by_rung={**state.usage_by_rung, rung: add(state.usage_by_rung.get(rung, Usage()))},
        usage_by_role={**state.usage_by_role, role.value: add(state.usage_by_role.get(role.value, Usage()))},
        usage_by_day={**state.usage_by_day, day: state.usage_by_day.get(day, 0.0) + amount},
    )


def _reset(result: AgentResult, now: float) -> float:
    if result.reset_at is None or not math.isfinite(result.reset_at):
        return now + UNKNOWN_RESET
    return max(result.reset_at, now + 1.0)

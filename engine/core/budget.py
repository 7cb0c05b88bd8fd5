"""Budgets are reservations made before spending. Money where a price is known, always calls and wall time."""

from __future__ import annotations

import math

from engine.core.model import AgentResult, ResultKind
from engine.core.state import State

_REFUSED_AT_THE_DOOR = frozenset(
    {ResultKind.LIMIT, ResultKind.AUTH, ResultKind.BILLING, ResultKind.MODEL, ResultKind.NOT_STARTED}
)
_TURNED_AWAY = frozenset({ResultKind.RATE, ResultKind.OVERLOADED})
"""May come after paid work too, of which an agent without a count of its tokens says nothing."""
_AT_ONCE_SECONDS = 30.0
"""Who was turned away within these had not begun."""


def charge(result: AgentResult, reserve_usd: float) -> float:
    """What a call counts for: the agent's figure if it is a sane number, else the reservation."""
    cost = result.cost_usd
    if cost is not None and believable(cost):
        return cost
    refused = result.kind in _REFUSED_AT_THE_DOOR or result.silent
    refused = refused or (result.kind in _TURNED_AWAY and result.seconds < _AT_ONCE_SECONDS)
    return 0.0 if refused and result.tokens.total() == 0 else reserve_usd


def believable(amount: float | None) -> bool:
    """A figure an agent may have meant. NaN and infinity become null in JSON: they must count as missing at once."""
    return amount is not None and not isinstance(amount, bool) and math.isfinite(amount) and amount >= 0


def sane(amount: float, fallback: float) -> float:
    return amount if believable(amount) else fallback


def left_share(state: State) -> float:
    """The smaller share left of the session's and the day's money, 0–1, reservations counted as spent."""
    reserved = state.reserved_usd()
    shares = [(limit - spent - reserved) / limit for spent, limit in _purses(state) if limit > 0]
    return max(0.0, min(shares, default=1.0))


def low(state: State) -> bool:
    return left_share(state) * 100 < state.policy.budget.low_percent


def exceeded(state: State, also_calls: int = 0) -> str:
    """Why nothing more may be spent, in words; empty while there is room."""
    budget = state.policy.budget
    for name, (spent, limit) in zip(("session", "day"), _purses(state), strict=True):
        if limit > 0 and spent >= limit:
            return f"the {name} budget of ${limit:.2f} is spent (${spent:.2f})"
    if budget.max_calls and state.calls + also_calls >= budget.max_calls:
        return f"the sprint's {budget.max_calls} agent calls are used up"
    if budget.max_seconds and elapsed(state) >= budget.max_seconds:
        return f"the sprint's {budget.max_seconds:.0f} s of wall time are used up"
    return ""


def refusal(state: State, reserve_usd: float, also_reserved: float, also_calls: int = 0) -> str:
    """Why one more call may not be made now; empty if it may. `also_…`: what this turn has promised already."""
    if reason := exceeded(state, also_calls):
        return reason
    held = state.reserved_usd() + also_reserved + reserve_usd
    for name, (spent, limit) in zip(("session", "day"), _purses(state), strict=True):
        if limit > 0 and spent + held > limit + 1e-9:
            return f"${held:.2f} more would pass the {name} budget of ${limit:.2f} (${spent:.2f} spent)"
    return ""


def room(state: State, also_reserved: float) -> float:
    """The most one more call may cost, its own reservation included; 0 where no purse has a bound."""
    held = state.reserved_usd() + also_reserved
    left = [limit - spent - held for spent, limit in _purses(state) if limit > 0]
    return max(0.0, min(left, default=0.0))


def warning(state: State) -> tuple[str, float, float] | None:
    """The purse that has passed its warning line and was not warned of yet: name, spent, limit."""
    for name, (spent, limit) in zip(("session", "day"), _purses(state), strict=True):
        if limit > 0 and name not in state.warned and spent * 100 >= limit * state.policy.budget.warn_percent:
            return name, spent, limit
    return None


def elapsed(state: State) -> float:
    """Wall time the sprint has run, over all its runs."""
    present = max(0.0, state.now - state.run_started_at) if state.running else 0.0
    return state.active_seconds + present


def _purses(state: State) -> tuple[tuple[float, float], tuple[float, float]]:
    budget = state.policy.budget
    return (state.spent_usd, budget.session_usd), (state.day_spent_usd, budget.day_usd)

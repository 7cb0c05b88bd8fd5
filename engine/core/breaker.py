"""The circuit breaker: closed → open after consecutive failures of one dependency → half-open after a pause."""

from __future__ import annotations

from engine.core.policy import BreakerPolicy
from engine.core.state import Breaker
from engine.core.vocabulary import Standing


def after(breaker: Breaker, failed: bool, now: float, policy: BreakerPolicy, reason: str = "") -> Breaker:
    """The breaker after one call ended."""
    if not failed:
        return Breaker()
    failures = breaker.failures + 1
    opens = policy.enabled and failures >= policy.threshold
    return Breaker(failures=failures, opened_at=now if opens else breaker.opened_at, reason=reason)


def standing(breaker: Breaker, now: float, policy: BreakerPolicy) -> Standing:
    """Whether the dependency may be called now."""
    if not policy.enabled or not breaker.opened_at:
        return Standing.CLOSED
    return Standing.HALF_OPEN if now >= breaker.opened_at + policy.reset_seconds else Standing.OPEN

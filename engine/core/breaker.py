"""The circuit breaker: closed → open after consecutive failures of one dependency → half-open after a pause."""

from __future__ import annotations

from engine.core.policy import BreakerPolicy
from engine.core.state import Breaker


def after(breaker: Breaker, failed: bool, now: float, policy: BreakerPolicy, reason: str = "") -> Breaker:
    """The breaker after one call ended."""
    if not failed:
        return Breaker()
    failures = breaker.failures + 1
    opens = policy.enabled and failures >= policy.threshold
    return Breaker(failures=failures, opened_at=now if opens else breaker.opened_at, reason=reason)


def standing(breaker: Breaker, now: float, policy: BreakerPolicy) -> str:
    """closed, open or half-open."""
    if not policy.enabled or not breaker.opened_at:
        return "closed"
    return "half-open" if now >= breaker.opened_at + policy.reset_seconds else "open"

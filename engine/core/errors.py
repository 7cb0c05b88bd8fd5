"""What each ending of an agent call asks for: the error classes of DESIGN §4."""

from __future__ import annotations

import zlib
from enum import StrEnum

from engine.core.model import ResultKind
from engine.core.policy import RetryPolicy


class Response(StrEnum):
    """The engine's answer to an agent's ending."""

    GOOD = "good"
    WAIT = "wait"
    """A usage limit: wait for the reset; nothing is charged to the iteration."""
    RETRY = "retry"
    """Transient: again, after a backoff."""
    FRESH = "fresh"
    """Recoverable: again with a fresh session."""
    LONGER = "longer"
    """Timed out: once more with twice the time."""
    MEND = "mend"
    """Permanent and outside the task: a human must mend it."""
    FAIL = "fail"
    """The attempt failed; what it left is looked at, and the iteration fails. Denied the same twice: as MEND."""
    AGAIN = "again"
    """Cancelled by us: the attempt is taken up again with the next run."""


RESPONSES = {
    ResultKind.OK: Response.GOOD,
    ResultKind.LIMIT: Response.WAIT,
    ResultKind.RATE: Response.RETRY,
    ResultKind.OVERLOADED: Response.RETRY,
    ResultKind.NETWORK: Response.RETRY,
    ResultKind.CRASH: Response.RETRY,
    ResultKind.NO_RESULT: Response.RETRY,
    ResultKind.CONTEXT: Response.FRESH,
    ResultKind.TIMEOUT: Response.LONGER,
    ResultKind.AUTH: Response.MEND,
    ResultKind.BILLING: Response.MEND,
    ResultKind.MODEL: Response.MEND,
    ResultKind.TURNS: Response.FAIL,
    ResultKind.BUDGET: Response.FAIL,
    ResultKind.REFUSAL: Response.FAIL,
    ResultKind.DENIED: Response.FAIL,
    ResultKind.CANCELLED: Response.AGAIN,
}

BREAKER_KINDS = frozenset(
    {
        ResultKind.RATE,
        ResultKind.OVERLOADED,
        ResultKind.NETWORK,
        ResultKind.CRASH,
        ResultKind.NO_RESULT,
        ResultKind.TIMEOUT,
    }
)
"""Endings that speak against the dependency itself."""

SAYS_NOTHING = frozenset(
    {ResultKind.CANCELLED, ResultKind.LIMIT, ResultKind.AUTH, ResultKind.BILLING, ResultKind.MODEL}
)
"""Endings that say nothing of the dependency's health: they neither open nor close its breaker."""


def backoff(policy: RetryPolicy, tries: int, key: str) -> float:
    """Seconds before the next try. The jitter comes from the key: same history, same wait."""
    share = zlib.crc32(key.encode()) / 2**32
    return policy.delay_seconds * policy.multiplier ** max(0, tries - 1) * (1 + policy.jitter * share)

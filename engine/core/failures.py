"""What each ending of an agent call asks for: the classes of errors."""

from __future__ import annotations

import zlib
from enum import StrEnum
from typing import assert_never

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


def response_to(kind: ResultKind) -> Response:
    match kind:
        case ResultKind.OK:
            return Response.GOOD
        case ResultKind.LIMIT:
            return Response.WAIT
        case ResultKind.RATE | ResultKind.OVERLOADED | ResultKind.NETWORK | ResultKind.CRASH | ResultKind.NO_RESULT:
            return Response.RETRY
        case ResultKind.CONTEXT:
            return Response.FRESH
        case ResultKind.TIMEOUT:
            return Response.LONGER
        case ResultKind.AUTH | ResultKind.BILLING | ResultKind.MODEL | ResultKind.NOT_STARTED:
            return Response.MEND
        case ResultKind.TURNS | ResultKind.BUDGET | ResultKind.REFUSAL | ResultKind.DENIED:
            return Response.FAIL
        case ResultKind.CANCELLED:
            return Response.AGAIN
        case _:
            assert_never(kind)


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

PROVIDER_KINDS = frozenset({ResultKind.RATE, ResultKind.OVERLOADED, ResultKind.NETWORK})
"""Endings that are the provider's or the network's: waited out, however long, and counted against nobody."""

SAYS_NOTHING = frozenset(
    {
        ResultKind.CANCELLED,
        ResultKind.LIMIT,
        ResultKind.AUTH,
        ResultKind.BILLING,
        ResultKind.MODEL,
        ResultKind.NOT_STARTED,
    }
)
"""Endings that say nothing of the dependency's health: they neither open nor close its breaker."""


def backoff(policy: RetryPolicy, tries: int, key: str) -> float:
    """Seconds before the next try. The jitter comes from the key: same history, same wait."""
    share = zlib.crc32(key.encode()) / 2**32
    return policy.delay_seconds * policy.multiplier ** max(0, tries - 1) * (1 + policy.jitter * share)

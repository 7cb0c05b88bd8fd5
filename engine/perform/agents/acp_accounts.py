"""What an agent of the Agent Client Protocol says that it used: money and tokens, each told in more than one way."""

from __future__ import annotations

from typing import Any

from engine.core.model import Tokens
from engine.perform.agents.wire import Object, at, count, money, text


def cost_of(update: Object) -> float | None:
    cost: Any = update.get("cost")
    return money(at(cost, "amount")) if text(at(cost, "currency")) in ("USD", "") else None


def tokens_of(usage: Object) -> Tokens:
    """Some count cached and thought tokens among the others: what is beyond the total they name is counted twice."""
    given, out = count(usage.get("inputTokens")), count(usage.get("outputTokens"))
    thought, total = count(usage.get("thoughtTokens")), count(usage.get("totalTokens"))
    read, write = count(usage.get("cachedReadTokens")), count(usage.get("cachedWriteTokens"))
    twice = given + out + thought + read + write - total if total else 0
    if 0 < twice <= thought:
        thought -= twice
        twice = 0
    return Tokens(
        input=given - twice if 0 < twice <= min(given, read + write) else given,
        output=out + thought,
        cache_read=read,
        cache_write=write,
    )

"""What a run waits for, in a line: a human, a reset, a pause. Empty while something is being worked on."""

from __future__ import annotations

from engine.core.effects import Wait
from engine.core.state import State


def waits_for(state: State) -> str:
    gates = state.open_gates()
    if gates:
        first = gates[0]
        more = f" and {len(gates) - 1} more" if len(gates) > 1 else ""
        return f"an answer to {first.id} ({first.kind} gate of {first.task or 'the plan'}){more}"
    if state.paused:
        return "devteam resume (paused)"
    waits = [effect for effect in state.inflight.values() if isinstance(effect, Wait)]
    if waits and len(waits) == len(state.inflight):
        return min(waits, key=lambda wait: wait.until).reason
    return ""

"""The provider's usage limit is met; it resets in an hour."""

from __future__ import annotations

from engine.core import events as ev
from engine.core.effects import Wait
from engine.core.model import ResultKind
from engine.drills.drill import Drill, Held, held
from engine.drills.scene import Scene, good

HOUR = 3600.0


async def play(scene: Scene) -> list[Held]:
    scene.prepare(good(fault="limit", reset_in=HOUR))
    state = await scene.run()
    limited = [one for one in scene.results() if one.result.kind is ResultKind.LIMIT]
    until = max((one.result.reset_at or 0.0 for one in limited), default=0.0)
    waits = [one.effect for one in scene.facts if isinstance(one, ev.EffectStarted) and isinstance(one.effect, Wait)]
    after = [one for one in scene.results() if one.result.kind is ResultKind.OK]
    return [
        held("the limit is waited for until it resets", any(wait.until >= until > 0 for wait in waits), len(waits)),
        held("nobody is asked again before that", len(limited) == 1, f"{len(limited)} calls met it"),
        held("a limit costs nothing", all(one.charged_usd == 0 for one in limited), state.spent_usd),
        held("the work is done afterwards", bool(after) and scene.complete(state), state.outcome_reason),
    ]


DRILL = Drill(name="limit", goes_wrong="a usage limit that resets in an hour", play=play)

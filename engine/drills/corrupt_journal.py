"""The journal's file is damaged between two runs."""

from __future__ import annotations

from collections.abc import Callable

from engine import files
from engine.core import events as ev
from engine.core.commands import AnyCommand, Stop
from engine.drills.drill import Drill, Held, held
from engine.drills.scene import Scene, good

PAGE = 4096


async def play(scene: Scene) -> list[Held]:
    scene.prepare(good())

    def stop_after_one(event: ev.Fact, send: Callable[[AnyCommand], object]) -> None:
        if isinstance(event, ev.TaskEnded) and event.task == "1.1":
            send(Stop(by="drill"))

    first = await scene.run(stop_after_one)
    recorded = len(scene.facts)
    _damage(scene)
    state = await scene.run()
    noted = [one.text for one in scene.facts[recorded:] if isinstance(one, ev.Noted) and one.level == "warning"]
    twice = len(scene.commits()) != len(set(scene.commits()))
    return [
        held("damage is noticed and said", bool(noted), "; ".join(noted)[:200]),
        held("what was recorded is not lost", state.seq > first.seq > 0, f"{first.seq} events before, {state.seq} now"),
        held("money spent is not forgotten", state.spent_usd >= first.spent_usd, f"${state.spent_usd:.2f}"),
        held("no task is committed twice", not twice, scene.commits()),
        held("the work is done afterwards", scene.complete(state), state.outcome_reason),
    ]


def _damage(scene: Scene) -> None:
    """One page in the middle becomes zeros."""
    path = scene.project().repo.db
    data = bytearray(path.read_bytes())
    middle = len(data) // PAGE // 2 * PAGE
    data[middle : middle + PAGE] = bytes(PAGE)
    files.write(path, bytes(data))


DRILL = Drill(name="corrupt-journal", goes_wrong="a damaged journal", play=play)

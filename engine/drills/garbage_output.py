"""An agent that prints bytes that mean nothing, and half a result."""

from __future__ import annotations

import msgspec

from engine.core.clean import clean
from engine.core.model import ResultKind
from engine.drills.drill import Drill, Held, held
from engine.drills.scene import Scene, good, step


async def play(scene: Scene) -> list[Held]:
    noise = step(task="1.1", iteration=1, attempt=1, output=["\x1b[2J\x1b]52;c;aGk=\x07 hello"], fault="garbage")
    scene.prepare(good() + noise)
    state = await scene.run()
    bad = [one for one in scene.results() if one.result.kind is not ResultKind.OK]
    said = [text for one in scene.results() for text in (one.result.text, one.result.error)]
    for path in scene.project().state.logs.rglob("*.jsonl"):
        said += [msgspec.json.decode(line).get("text", "") for line in path.read_bytes().splitlines()]
    return [
        held("half a result is no result", bool(bad), ", ".join(one.result.kind.value for one in bad)),
        held("no control byte is recorded or shown", all(clean(text) == text for text in said), f"{len(said)} texts"),
        held("the work is done by the next attempt", scene.complete(state), state.outcome_reason),
    ]


DRILL = Drill(name="garbage", goes_wrong="an agent that prints garbage and half a result", play=play)

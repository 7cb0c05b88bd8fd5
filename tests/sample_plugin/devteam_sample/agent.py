"""The adapter: a program that prints its answer."""

from __future__ import annotations

from collections.abc import Callable

from engine.core.activity import OutputKind
from engine.core.model import AgentResult, ResultKind
from engine.perform.agents.settings import AgentConfig
from engine.perform.process.spawning import AgentCall, Confinement, Output, ProcessSpec, Spawner


class SampleAgent:
    """Success is exit 0 and a last line that says DONE."""

    def __init__(self, name: str, config: AgentConfig, clock: Callable[[], float]) -> None:
        self.name = name
        self.config = config

    async def call(self, call: AgentCall, spawner: Spawner, emit: Callable[[Output], None]) -> AgentResult:
        spec = ProcessSpec(
            argv=(self.config.program or self.name,),
            cwd=call.checkout,
            env=call.env,
            stdin=call.prompt.encode(),
            timeout=call.timeout,
            idle_timeout=call.idle_timeout,
            confine=Confinement(checkout=call.checkout, clone=call.clone, home=call.home, mounts=call.mounts),
        )

        def heard(line: bytes) -> None:
            emit(Output(kind=OutputKind.TEXT, text=line.decode("utf-8", "replace")))

        done = await spawner.run(spec, heard)
        said = done.stdout.decode("utf-8", "replace").strip().splitlines()
        if done.reason in ("timeout", "idle"):
            return AgentResult(kind=ResultKind.TIMEOUT, error=f"it ran out of time ({done.reason})")
        if done.exit_code == 0 and said and said[-1] == "DONE":
            return AgentResult(kind=ResultKind.OK, text="\n".join(said), cost_usd=0.0)
        return AgentResult(kind=ResultKind.CRASH, error=f"exit code {done.exit_code}, and it did not say DONE")

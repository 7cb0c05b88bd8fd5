"""Any program, by an argv template from the configuration: aider, mini-swe-agent, a local script."""

from __future__ import annotations

from collections.abc import Callable

from engine.core.model import AgentResult
from engine.files import write_inside
from engine.perform.agents import headless, launch
from engine.perform.agents.command_stream import FieldStream, TextStream
from engine.perform.agents.settings import AgentConfig
from engine.perform.agents.stream import Clock, Stream
from engine.perform.process.spawning import AgentCall, Output, ProcessSpec, Spawner


class Command:
    """The prompt goes in by stdin, or by a file where the template names {prompt_file}."""

    native_schema = False

    def __init__(self, name: str, config: AgentConfig, clock: Clock) -> None:
        self.name = name
        self.config = config
        self.clock = clock

    async def call(self, call: AgentCall, spawner: Spawner, emit: Callable[[Output], None]) -> AgentResult:
        return await headless.drive(self, call, spawner, emit)

    def stream(self, call: AgentCall, where: launch.Place) -> Stream:
        if self.config.output == "jsonl":
            return FieldStream(call, self.clock, self.name, self.config)
        return TextStream(call, self.clock, self.name)

    def spec(self, call: AgentCall, where: launch.Place) -> ProcessSpec:
        template = (*self.config.argv, *(self.config.resume if call.session else ()), *self.config.args)
        by_file = any("{prompt_file}" in word for word in template)
        filled = {"{model}": call.model, "{cwd}": str(call.checkout), "{session}": call.session}
        if by_file:
            write_inside(where.host_home, "prompt.md", call.prompt)
            filled["{prompt_file}"] = str(where.home / "prompt.md")
        argv = [_fill(word, filled) for word in template]
        argv[:1] = [launch.program(self.config, argv[0] if argv else self.name, call.env)]
        stdin = None if by_file else call.prompt.encode("utf-8", "replace")
        return launch.spec(call, where, self.config, tuple(argv), {}, stdin=stdin)


def _fill(word: str, values: dict[str, str]) -> str:
    """Plain replacement, once per placeholder: other braces are the program's own, and values are never expanded."""
    out, rest = "", word
    while rest:
        hits = [(rest.find(name), name) for name in values if name in rest]
        if not hits:
            return out + rest
        place, name = min(hits)
        out, rest = out + rest[:place] + values[name], rest[place + len(name) :]
    return out

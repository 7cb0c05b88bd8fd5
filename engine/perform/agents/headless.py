"""The driver of every program that prints a stream and ends: start, read, keep the raw stream, judge, correct once."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Protocol

import msgspec

from engine import files
from engine.core.activity import OutputKind
from engine.core.model import AgentResult, ResultKind, Role
from engine.perform.agents import launch, structured
from engine.perform.agents.claim import claim
from engine.perform.agents.settings import AgentConfig
from engine.perform.agents.stream import Stream
from engine.perform.process.pump import InBlocks
from engine.perform.process.spawning import AgentCall, Finished, Output, ProcessSpec, Spawner
from engine.perform.secrets.redact import Redactor, secret_values

Emit = Callable[[Output], None]
_CORRECTION_SECONDS = 60.0


class Program(Protocol):
    """What is particular to one headless program."""

    name: str
    config: AgentConfig
    native_schema: bool
    """The program has a flag for a JSON schema; else the prompt asks for a fenced block."""

    def spec(self, call: AgentCall, where: launch.Place) -> ProcessSpec: ...

    def stream(self, call: AgentCall, where: launch.Place) -> Stream: ...


@lru_cache(maxsize=8)
def redactor_of(values: tuple[str, ...]) -> Redactor:
    """Made once for the secrets of a run: every call has the same, and three logs."""
    return Redactor(values)


class RawLog:
    """The raw stream on disk, readable by the user only, with the values of known secrets blotted out."""

    def __init__(self, path: Path, call: AgentCall, env: Mapping[str, str]) -> None:
        self._file = files.appending(path)
        self._redactor = redactor_of((*call.secrets, *secret_values(env)))

    def write(self, line: bytes) -> None:
        self.keep(line.removesuffix(b"\n").removesuffix(b"\r"))

    def keep(self, block: bytes) -> bytes:
        """Keep whole lines. Returns them as they were kept: nothing else of them is to be read."""
        kept = self._redactor.bytes(block)
        self._file.write(kept)
        self._file.write(b"\n")
        return kept

    def close(self) -> None:
        self._file.close()


async def drive(program: Program, call: AgentCall, spawner: Spawner, emit: Emit) -> AgentResult:
    """One call to its end. A session that is gone is begun afresh; an answer breaking its schema is corrected once."""

    async def once(asked: AgentCall) -> tuple[AgentResult, bool]:
        return await _run(program, asked, spawner, emit)

    return await answer(call, once, emit, native_schema=program.native_schema)


class _Once(Protocol):
    async def __call__(self, asked: AgentCall) -> tuple[AgentResult, bool]: ...


async def answer(call: AgentCall, once: _Once, emit: Emit, *, native_schema: bool) -> AgentResult:
    """The policy around single runs that all adapters share. `once` gives a result and whether the session was lost."""
    asked = call
    if call.schema is not None and not native_schema:
        asked = msgspec.structs.replace(call, prompt=call.prompt + structured.request(call.schema))
    result, lost = await once(asked)
    if lost and call.session:
        emit(Output(kind=OutputKind.RETRY, text=f"session {call.session} is gone, starting a fresh one"))
        asked = msgspec.structs.replace(asked, session="")
        result, _ = await once(asked)
    if call.schema is not None and result.kind is ResultKind.OK:
        result = await _satisfy(asked, result, call.schema, once, emit)
    if call.role is Role.IMPLEMENTER:
        said, issues = claim(result.text)
        result = msgspec.structs.replace(result, claim=said, claim_text=issues)
    return msgspec.structs.replace(result, log=str(call.log))


async def _satisfy(
    asked: AgentCall, result: AgentResult, schema: dict[str, object], once: _Once, emit: Emit
) -> AgentResult:
    value, faults = _structured(result, schema)
    if not faults:
        return msgspec.structs.replace(result, structured=value)
    emit(Output(kind=OutputKind.RETRY, text=f"the answer breaks its schema ({faults[0]}), asking once more"))
    prompt = structured.correction(faults, schema)
    if not result.session:
        prompt = f"{asked.prompt}\n\n{prompt}"
    left = None if asked.max_usd is None else max(0.01, asked.max_usd - (result.cost_usd or 0.0))
    seconds = min(asked.timeout, max(_CORRECTION_SECONDS, asked.timeout - result.seconds))
    again = msgspec.structs.replace(
        asked, prompt=prompt, session=result.session, max_usd=left, timeout=seconds, longest=0.0
    )
    second, lost = await once(again)
    if lost and result.session:
        again = msgspec.structs.replace(again, prompt=f"{asked.prompt}\n\n{prompt}", session="")
        second, _ = await once(again)
    value, faults = _structured(second, schema) if second.kind is ResultKind.OK else (None, [])
    second = msgspec.structs.replace(
        second,
        structured=value if not faults else None,
        tokens=result.tokens + second.tokens,
        cost_usd=None if result.cost_usd is None or second.cost_usd is None else result.cost_usd + second.cost_usd,
        cost_is_estimate=result.cost_is_estimate or second.cost_is_estimate,
        seconds=result.seconds + second.seconds,
    )
    if faults:
        error = f"the answer breaks its schema, also when asked again: {'; '.join(faults)}"
        return msgspec.structs.replace(second, kind=ResultKind.NO_RESULT, error=error)
    return second


def _structured(result: AgentResult, schema: dict[str, object]) -> tuple[dict[str, object] | None, list[str]]:
    value = result.structured if result.structured is not None else structured.find(result.text)
    if value is None:
        return None, ["it holds no JSON object"]
    return value, structured.faults(value, schema)


async def _run(program: Program, call: AgentCall, spawner: Spawner, emit: Emit) -> tuple[AgentResult, bool]:
    where = launch.place(call, spawner.mode, program.name, program.config)
    spec = program.spec(call, where)
    stream = program.stream(call, where)
    finished = await listen(stream, call, spec, spawner, emit)
    return stream.finish(finished), stream.lost_session


class Hearer(Protocol):
    """What hears a program's lines; `stop` once it is to be ended before its time."""

    @property
    def stop(self) -> object: ...

    def feed(self, line: bytes) -> list[Output]: ...

    def feed_block(self, block: bytes) -> list[Output]: ...

    def feed_error(self, line: bytes) -> list[Output]: ...


async def listen(stream: Hearer, call: AgentCall, spec: ProcessSpec, spawner: Spawner, emit: Emit) -> Finished:
    """Run the program to its end, or until the stream says stop. Prompt and raw streams are kept."""
    kept = call.log if call.log != Path() else Path(os.devnull)
    log = RawLog(kept, call, spec.env)
    errors = RawLog(kept.with_name(kept.name + ".stderr") if kept == call.log else kept, call, spec.env)
    keep_prompt(call)

    def hear(raw: RawLog, outputs: Callable[[bytes], list[Output]], lines: bytes) -> None:
        for output in outputs(raw.keep(lines)):
            # The stream has just made it and keeps none: a copy of each would be a tenth of what an event costs.
            msgspec.structs.force_setattr(output, "redacted", True)
            emit(output)
        if stream.stop and not running.done():
            running.cancel()

    running = asyncio.ensure_future(
        spawner.run(
            spec,
            InBlocks(lambda block: hear(log, stream.feed_block, block)),
            lambda line: hear(errors, stream.feed_error, line),
        )
    )
    try:
        return await running
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if stream.stop is None or (task is not None and task.cancelling()):
            raise
        return Finished(reason="stopped")
    finally:
        log.close()
        errors.close()


def prompt_path(log: Path) -> Path:
    """Where the prompt of a call is, by its raw stream: beside it, under the effect's own name."""
    return log.with_suffix(".prompt.md")


def keep_prompt(call: AgentCall) -> None:
    """What is sent is stored beside the raw stream, word for word; a corrective retry is appended to it."""
    if call.log == Path():
        return
    kept = RawLog(prompt_path(call.log), call, call.env)
    kept.write(call.prompt.rstrip("\n").encode("utf-8", "replace") + b"\n")
    kept.close()

"""Any agent that speaks the Agent Client Protocol over stdio: opencode, qwen, copilot, claude-agent-acp, codex-acp …

The library carries the JSON-RPC; updates go to our own reader first, so that an update of a kind the library does not
know is shown raw and is never fatal. The process is asked to end when the prompt is answered: its exit code says
nothing, the answer is the terminal event.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.agent_records import AcpFacts, record
from engine.core.model import AgentResult, ResultKind
from engine.perform.agents import headless, launch
from engine.perform.agents.acp_offers import model_option, models_of, modes_of
from engine.perform.agents.acp_stream import AcpStream
from engine.perform.agents.acp_wire import Wire
from engine.perform.agents.settings import AgentConfig
from engine.perform.agents.stream import Clock
from engine.perform.agents.wire import Object, at, mapping, text
from engine.perform.process.spawning import AgentCall, Ending, Finished, Output, ProcessSpec, Spawner

if TYPE_CHECKING:
    from acp.connection import Connection

_FULL = ("bypassPermissions", "agent-full-access", "full-access", "yolo", "build")
_EDIT = ("acceptEdits", "workspace-write", "agent", "auto", "autoEdit", "auto-edit", "build")
_READ = ("read-only", "plan", "default")
_POSTSCRIPT = 0.5
_ACCOUNTS = 10.0
"""Seconds the cost of a turn may come after its end where a program is known to tell one; on a busy machine it does."""
_GOODBYE = 5.0
"""Seconds an agent has to answer a cancel before it is ended."""


class Acp:
    native_schema = False

    def __init__(self, name: str, config: AgentConfig, clock: Clock) -> None:
        self.name = name
        self.config = config
        self.clock = clock
        self._costs: dict[str, float] = {}
        """What each session had cost when it was last heard of: resumed, some go on counting from there."""

    async def call(self, call: AgentCall, spawner: Spawner, emit: Callable[[Output], None]) -> AgentResult:
        async def once(asked: AgentCall) -> tuple[AgentResult, bool]:
            return await self._once(asked, spawner, emit)

        return await headless.answer(call, once, emit, native_schema=False)

    def line(self) -> tuple[str, ...]:
        """The command line, before `program` and `args` of the configuration."""
        return self.config.argv or _spoken(self.name).command or (self.name,)

    def spec(self, call: AgentCall, where: launch.Place) -> ProcessSpec:
        line = self.line()
        program = launch.program(self.config, line[0], call.env)
        argv = (program, *line[1:], *self.config.args)
        # Each program knows its own; few tries of its own, so that our policy sees the errors.
        env = {
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "CLAUDE_CODE_MAX_RETRIES": "2",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "QWEN_CODE_UNATTENDED_RETRY": "1",  # else it retries for many minutes without a word
            "NO_COLOR": "1",
        }
        return launch.spec(call, where, self.config, argv, env, stdin=None, keep_stdin=True, graceful=False)

    async def _once(self, call: AgentCall, spawner: Spawner, emit: headless.Emit) -> tuple[AgentResult, bool]:
        where = launch.place(call, spawner.mode, self.name, self.config)
        spec = self.spec(call, where)
        program = Path(self.line()[0]).name
        stream = AcpStream(call, self.clock, agent=self.name, program=program, fenced=where.fenced)
        stream.cost_before = self._costs.get(call.session) if call.session else 0.0
        headless.keep_prompt(call)
        log = headless.RawLog(call.log, call, spec.env)
        errors = headless.RawLog(call.log.with_name(call.log.name + ".stderr"), call, spec.env)

        stopped = asyncio.Event()

        def complain(line: bytes) -> None:
            errors.write(line)
            for output in stream.feed_error(line):
                emit(output)
            if stream.stop:
                stopped.set()

        try:
            async with spawner.converse(spec, complain) as talk:
                wire = Wire(talk, stream, log, emit, stopped)
                async with _connected(wire, stream) as connection:
                    session = _Session(self, call, where, connection, stream, wire)
                    reason = await _within(max(call.timeout, call.longest), session.run())
                finished = await talk.stop()
        finally:
            log.close()
            errors.close()
        if stream.costs and stream.costs[-1] is not None:
            self._costs[stream.session] = stream.costs[-1]
        if not reason and finished.reason == "cancelled":
            reason = "exited"  # its stream had ended; we were only quicker than its exit
        if reason == "timeout" and stream.answer is not None:
            reason = "exited"  # it was in time; only its accounts were waited for
        if reason:
            finished = Finished(reason=reason, exit_code=finished.exit_code, seconds=finished.seconds)
        return stream.finish(finished), stream.lost_session


async def _within(seconds: float, work: Awaitable[Ending | None]) -> Ending | None:
    try:
        async with asyncio.timeout(seconds):
            return await work
    except TimeoutError:
        return "timeout"


@contextlib.asynccontextmanager
async def _connected(wire: Wire, stream: AcpStream) -> AsyncIterator[Connection]:
    from acp.connection import Connection  # with pydantic, half a second
    from acp.exceptions import RequestError

    async def handle(method: str, params: Any, notification: bool) -> Any:
        if method != "session/request_permission":
            raise RequestError.method_not_found(method)
        asked = mapping(params)
        chosen = stream.permit(asked) or stream.refuse(asked)
        if chosen is None:
            return {"outcome": {"outcome": "cancelled"}}
        return {"outcome": {"outcome": "selected", "optionId": chosen}}

    connection = Connection(handle, wire)
    try:
        yield connection
    finally:
        await connection.close()


class _Session:
    """initialize → session → mode and model → prompt; gives the reason of an end that is not the agent's own."""

    def __init__(
        self, agent: Acp, call: AgentCall, where: launch.Place, connection: Connection, stream: AcpStream, wire: Wire
    ) -> None:
        self.agent, self.call, self.where = agent, call, where
        self.connection, self.stream, self.wire = connection, stream, wire

    async def run(self) -> Ending | None:
        from acp.exceptions import RequestError

        try:
            hello = await self._ask(
                "initialize",
                {
                    "protocolVersion": 1,
                    "clientCapabilities": {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False},
                    "clientInfo": {"name": "devteam", "version": "1"},
                },
            )
            session = await self._open(hello)
            if session is None:
                return "exited"
            await self._choose_mode(session)
            if not await self._choose_model(session):
                return "exited"
            return await self._prompt()
        except (RequestError, ConnectionError):
            # The reader has seen the error, or the end of the stream: it judges.
            return "exited" if self.stream.failure else None

    async def _ask(self, method: str, params: Object) -> Object:
        return mapping(await self.connection.send_request(method, params))

    async def _open(self, hello: Object) -> Object | None:
        # Without mounts the checkout's path is the user's own tree, and the spawner rewrites no messages.
        cwd = self.call.checkout if self.where.fenced else self.call.clone
        place = {"cwd": str(cwd), "mcpServers": []}
        if self.call.session:
            if at(hello, "agentCapabilities.loadSession") is not True:
                self.stream.lost_session = True
                return None
            from acp.exceptions import RequestError

            try:
                session = await self._ask("session/load", {**place, "sessionId": self.call.session})
            except RequestError:
                self.stream.lost_session = True
                return None
            return {**session, "sessionId": self.call.session}
        session = await self._ask("session/new", place)
        self.stream.session = text(session.get("sessionId"))
        return session

    async def _choose_mode(self, session: Object) -> None:
        """The configured mode, else the first known id the agent offers; without any, permissions are asked for."""
        configured = self.agent.config.modes.get("read" if self.call.read_only else "write", "")
        known = _READ if self.call.read_only and not self.where.fenced else (_FULL if self.where.fenced else _EDIT)
        modes = modes_of(session)
        for mode in filter(None, (configured, *known)):
            if mode in modes:
                await self._ask("session/set_mode", {"sessionId": self.stream.session, "modeId": mode})
                return

    async def _choose_model(self, session: Object) -> bool:
        """Every call names its model: an agent that lists models without ours is not asked anything."""
        wanted = self.call.model
        models, current = models_of(session)
        option, values, value = model_option(session)
        if not wanted or not (models or values):
            return True
        if wanted in models:
            if models[wanted] != current:
                await self._ask("session/set_model", {"sessionId": self.stream.session, "modelId": models[wanted]})
        elif wanted in values:
            if values[wanted] != value:
                asked = {"sessionId": self.stream.session, "configId": option, "value": values[wanted]}
                await self._ask("session/set_config_option", asked)
        else:
            listed = ", ".join(list(dict.fromkeys((models or values).values()))[:20])
            words = f"{self.agent.name} offers no model {wanted!r}; it offers: {listed}"
            self.stream.failure = {"message": words, "data": {"kind": "model_not_found"}}
            return False
        self.stream.model = wanted
        return True

    async def _prompt(self) -> Ending | None:
        self.stream.asked = True
        asked = {"sessionId": self.stream.session, "prompt": [{"type": "text", "text": self.call.prompt}]}
        answer = asyncio.ensure_future(self._ask("session/prompt", asked))
        cap = asyncio.ensure_future(self.wire.stopped.wait())
        try:
            await asyncio.wait({answer, cap}, return_when=asyncio.FIRST_COMPLETED)
            if answer.done():
                answer.result()
                await self._accounts()
                await asyncio.sleep(_spoken(self.stream.program).put_away_seconds)
                # A cap that was passed is passed, also when the agent tells so with its answer or after it.
                return "stopped" if self.stream.stop in (ResultKind.BUDGET, ResultKind.TURNS) else "exited"
            await self._cancel()
            await asyncio.wait({answer}, timeout=_GOODBYE)
        except asyncio.CancelledError:
            with contextlib.suppress(TimeoutError, ConnectionError, OSError):
                await asyncio.wait_for(self._cancel(), 1.0)
            raise
        finally:
            cap.cancel()
            answer.cancel()
        return "stopped"

    async def _accounts(self) -> None:
        """Some agents tell the turn's cost just after its end; one that does not come is unknown."""
        known = _spoken(self.stream.program).tells_cost and self.stream.cost_before is not None
        patience = _ACCOUNTS if known else _POSTSCRIPT
        gone = asyncio.ensure_future(self.wire.ended.wait())
        told = asyncio.ensure_future(self.wire.accounted.wait())
        await asyncio.wait({told, gone}, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
        told.cancel()
        gone.cancel()

    async def _cancel(self) -> None:
        await self.connection.send_notification("session/cancel", {"sessionId": self.stream.session})


def _spoken(name: str) -> AcpFacts:
    known = record(name)
    return known.over_acp if known else AcpFacts()

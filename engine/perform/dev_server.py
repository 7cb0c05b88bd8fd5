"""A development server beside the run: started once in the set-up's clone, asked for its health, ended with the run.

It is `workspace.server`, or what .devteam/init.sh leaves running in the background where `workspace.server_health` is
named. Its output has a log of its own. It listens on the machine's own network: agents and checks reach it where their
sandbox has that network.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec.structs import replace

from engine import files
from engine.core.clean import clean
from engine.core.model import Struct
from engine.perform.process.spawning import Confinement, Finished, PerformError, ProcessSpec, Spawner

DAYS = 7 * 86_400.0
"""Longer than any run."""
ENDLESS = 1 << 62
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 2.0
SCRIPT_SECONDS = 1800.0
"""What init.sh may take before it leaves the server running: it may install things first."""
HEALTH_SECONDS = 20.0
"""One question for its health."""
LOG_BYTES = 20_000_000
"""What is kept of its output; more is not written."""


HOLD = "while :; do sleep 3600; done\n"
"""Keeps the sandbox, and with it what the script left running."""


class ServerSpec(Struct, frozen=True, kw_only=True):
    """What to start, and how it is known to be there."""

    script: str
    """Empty: what init.sh leaves running."""
    health: str
    seconds: float


class DevServer:
    """One server, for the length of a session."""

    def __init__(
        self, spec: ServerSpec, spawner: Spawner, env: Mapping[str, str], log: Path, redact: Callable[[str], str]
    ) -> None:
        self.spec = spec
        self._spawner = spawner
        self._env = env
        self._log = log
        self._redact = redact
        self._running: asyncio.Task[Finished] | None = None

    async def start(self, script: str, name: str, confine: Confinement) -> str:
        """Start it and wait until it is healthy; the words to record. `script` may end and leave it running."""
        token = f"devteam: {name} has ended, and what it started goes on"
        ended = asyncio.Event()
        keeps = not self.spec.script
        line = f"(\n{script}\n)\ncode=$?\n[ $code -eq 0 ] || exit $code\necho '{token}'\n{HOLD}"
        self._running = asyncio.create_task(self._serve(line if keeps else script, confine, token.encode(), ended))
        if not keeps:
            ended.set()
        try:
            async with asyncio.timeout(SCRIPT_SECONDS):
                await self._until(ended, name)
            async with asyncio.timeout(self.spec.seconds):
                await self._healthy(name, confine)
        except TimeoutError:
            await self.close()
            said = f"{name}: not healthy after {self.spec.seconds:g} s ({self.spec.health})"
            if not ended.is_set():
                said = f"{name}: has not ended after {SCRIPT_SECONDS:g} s; start the server with & at the end"
            raise PerformError(said, kind="permanent", hint=self._hint()) from None
        return f"{name} serves; its log: {self._log}"

    async def close(self) -> None:
        """End it and all it started."""
        running, self._running = self._running, None
        if running is not None:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)

    async def _serve(self, script: str, confine: Confinement, token: bytes, ended: asyncio.Event) -> Finished:
        self._log.parent.mkdir(parents=True, exist_ok=True)
        with files.appending(self._log, buffering=0) as log:
            written = 0

            def heard(line: bytes) -> None:
                nonlocal written
                if line.strip() == token:
                    ended.set()
                elif written < LOG_BYTES:
                    text = clean(self._redact(line.decode("utf-8", "replace"))).rstrip().encode() + b"\n"
                    written += len(text)
                    log.write(text)

            spec = self._process(script, confine)
            spec = replace(spec, timeout=DAYS, max_total=ENDLESS)
            return await self._spawner.run(spec, on_line=heard, on_stderr=heard)

    async def _until(self, ended: asyncio.Event, name: str) -> None:
        waiting = asyncio.create_task(ended.wait())
        try:
            await asyncio.wait({waiting, self._process_task()}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()
        self._still_there(name)

    async def _healthy(self, name: str, confine: Confinement) -> None:
        """Asked at growing intervals; a server that dies meanwhile is said at once."""
        pause = FIRST_PAUSE
        while self.spec.health:
            asked = await self._spawner.run(replace(self._process(self.spec.health, confine), timeout=HEALTH_SECONDS))
            self._still_there(name)
            if asked.reason == "exited" and asked.exit_code == 0:
                return
            await asyncio.wait({self._process_task()}, timeout=pause)
            pause = min(LONGEST_PAUSE, pause * 2)

    def _process_task(self) -> asyncio.Task[Finished]:
        assert self._running is not None  # noqa: S101 - it is set before anything waits for it
        return self._running

    def _still_there(self, name: str) -> None:
        running = self._process_task()
        if running.done():
            ended = running.result()
            how = f"exit {ended.exit_code}" if ended.reason == "exited" else f"{ended.reason} {ended.error}".rstrip()
            told = clean(self._redact((ended.stderr + ended.stdout)[-2000:].decode("utf-8", "replace")))
            last = (told.strip().splitlines() or ["it said nothing"])[-1]
            raise PerformError(f"{name} failed ({how}): {last}", kind="permanent", hint=self._hint())

    def _hint(self) -> str:
        return f"look at {self._log}, mend it in .devteam/, then: devteam run"

    def _process(self, script: str, confine: Confinement) -> ProcessSpec:
        return ProcessSpec(argv=("sh", "-c", script), cwd=confine.clone, env=self._env, confine=confine)

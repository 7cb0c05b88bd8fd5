"""Calls the user's notify_command when somebody is needed or the run is over. Never in the engine's way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence

import msgspec
from msgspec.structs import replace

from engine.clock import Clock
from engine.core import events as ev
from engine.core.clean import clean_line
from engine.core.notices import Notice, notice_of, quiet_for, together
from engine.core.state import State
from engine.perform.process.environment import NETWORK, scrubbed
from engine.perform.process.spawning import ProcessSpec, Spawner
from engine.project import Project

SECONDS = 20.0
KEPT = 20
"""Pieces of news that are kept for the end of the quiet hours; of more, the last."""
DESKTOP = ("DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR")


class Notifier:
    """An observer of the journal."""

    def __init__(
        self,
        command: str,
        quiet_hours: str,
        spawner: Spawner,
        project: Project,
        clock: Clock,
        failed: Callable[[str, str], object] = lambda _how, _said: None,
    ) -> None:
        """`failed` hears how the command failed and the end of what it said, the first time in a run."""
        self._failed: Callable[[str, str], object] | None = failed
        self._command = command
        self._quiet_hours = quiet_hours
        self._spawner = spawner
        self._project = project
        self._clock = clock
        self._running: set[asyncio.Task[object]] = set()
        self._held: tuple[Notice, ...] = ()
        self._waiting: asyncio.Task[object] | None = None

    def __call__(self, envelopes: Sequence[ev.Envelope], state: State) -> None:
        if not self._command:
            return
        for envelope in envelopes:
            notice = notice_of(envelope, state)
            if notice is None:
                continue
            quiet = quiet_for(self._quiet_hours, self._clock.wall(), state.utc_offset)
            if not quiet:
                self._say(notice)
                continue
            self._held = (*self._held, notice)[-KEPT:]
            if self._waiting is None or self._waiting.done():
                self._waiting = self._begun(self._later(quiet))

    async def close(self) -> None:
        """What is being said is said to its end; what is kept for after the quiet hours is in `devteam status`."""
        if self._waiting is not None:
            self._waiting.cancel()
        if self._running:
            await asyncio.wait(self._running, timeout=SECONDS)

    async def _later(self, seconds: float) -> None:
        await self._clock.sleep(seconds)
        held, self._held = self._held, ()
        self._say(together(held))

    def _say(self, notice: Notice) -> None:
        text = clean_line(notice.message, 300)
        told = replace(
            notice, message=text, action=clean_line(notice.action, 300), repository=str(self._project.root)
        )  # fmt: skip
        spec = ProcessSpec(
            argv=("sh", "-c", self._command),
            cwd=self._project.root,
            env=scrubbed(
                self._project.env,
                (*DESKTOP, *NETWORK),
                {
                    "DEVTEAM_MESSAGE": text,
                    "DEVTEAM_KIND": told.kind.value,
                    "DEVTEAM_SPRINT": told.sprint,
                    "HOME": str(self._project.home),
                },
            ),
            stdin=msgspec.json.encode(told) + b"\n",
            timeout=SECONDS,
        )
        self._begun(self._run(spec))

    async def _run(self, spec: ProcessSpec) -> None:
        ended = await self._spawner.run(spec)
        if (ended.reason == "exited" and ended.exit_code == 0) or self._failed is None:
            return
        failed, self._failed = self._failed, None
        how = f"exit code {ended.exit_code}" if ended.reason == "exited" else ended.error or f"ended: {ended.reason}"
        failed(how, clean_line(ended.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2], 300))

    def _begun(self, work: Coroutine[object, object, object]) -> asyncio.Task[object]:
        task: asyncio.Task[object] = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task

"""Calls the user's notify_command when somebody is needed or the run is over. Never in the engine's way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from engine.core import events as ev
from engine.core.clean import clean_line
from engine.core.state import State
from engine.perform.process.environment import scrubbed
from engine.perform.process.spawning import ProcessSpec, Spawner
from engine.project import Project

SECONDS = 20.0


class Notifier:
    """An observer of the journal."""

    def __init__(self, command: str, spawner: Spawner, project: Project, now: Callable[[], float]) -> None:
        self._command = command
        self._spawner = spawner
        self._project = project
        self._now = now
        self._running: set[asyncio.Task[object]] = set()

    def __call__(self, envelopes: Sequence[ev.Envelope], state: State) -> None:
        if not self._command:
            return
        for envelope in envelopes:
            match envelope.event:
                case ev.GateOpened() as gate:
                    self._say(state, f"{gate.gate}: {gate.title}")
                case ev.RunEnded() as over:
                    self._say(state, f"{over.outcome}: {over.reason}")
                case ev.BudgetWarned() as warned:
                    self._say(state, f"${warned.spent_usd:.2f} of ${warned.limit_usd:.2f} ({warned.scope}) are spent")
                case _:
                    pass

    async def close(self) -> None:
        if self._running:
            await asyncio.wait(self._running, timeout=SECONDS)

    def _say(self, state: State, message: str) -> None:
        text = clean_line(message, 300)
        spec = ProcessSpec(
            argv=("sh", "-c", self._command),
            cwd=self._project.root,
            env=scrubbed(
                self._project.env,
                ("DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"),
                {"DEVTEAM_MESSAGE": text, "DEVTEAM_SPRINT": state.sprint, "HOME": str(self._project.home)},
            ),
            stdin=text.encode() + b"\n",
            timeout=SECONDS,
        )
        task: asyncio.Task[object] = asyncio.create_task(self._spawner.run(spec))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

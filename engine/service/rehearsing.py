"""Opens the rooms in which init and doctor try the checks: sandbox, workspace and setting as a run would have them."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from engine.clock import SystemClock
from engine.config import Config, config_hash
from engine.core.activity import CheckProgress
from engine.core.model import Struct
from engine.paths import make_state
from engine.perform.checks.run.spec import Setting
from engine.perform.dependencies import Dependencies
from engine.perform.process.environment import NETWORK, scrubbed
from engine.perform.process.probe import probe
from engine.perform.process.sandbox import SandboxMode
from engine.perform.process.spawner import ProcessSpawner
from engine.perform.rehearsal import Rehearsal
from engine.perform.workspace.workspace import Workspace
from engine.project import Project
from engine.settings import integrity, open_workspace, setup_steps

SPRINT = "000-setup"
"""A name for a workspace that never becomes a sprint."""


class Rooms(Struct, frozen=True, kw_only=True):
    rehearsal: Rehearsal
    workspace: Workspace
    spawner: ProcessSpawner
    mode: SandboxMode
    scratch: Path
    hide: tuple[Path, ...]
    dependencies: Dependencies


@asynccontextmanager
async def open_rooms(
    project: Project, config: Config, progress: Callable[[CheckProgress], None] | None = None
) -> AsyncIterator[Rooms]:
    places = make_state(project.state)
    scratch = places.root / "scratch"
    scratch.mkdir(mode=0o700, exist_ok=True)
    clock = SystemClock()
    mode = await probe(config.sandbox.mode, scratch=scratch, home=project.home)
    workspace = open_workspace(project, SPRINT, config)
    spawner = ProcessSpawner(mode, uuid.uuid4().hex, clock.monotonic, home=project.home, scratch=scratch)
    setting = Setting(
        checkout=workspace.checkout,
        scratch=scratch,
        evidence=places.evidence,
        env=scrubbed(project.env),
        mounts=workspace.mounts,
        hide=(places.root,),
        jobs=config.checks.jobs,
        policy=integrity(config),
        config_hash=config_hash(config),
    )
    rehearsal = Rehearsal(workspace=workspace, spawner=spawner, setting=setting, now=clock.now, progress=progress)
    dependencies = Dependencies(
        workspace=workspace,
        steps=setup_steps(config, project.repo.init_script),
        spawner=spawner,
        env=scrubbed(project.env, NETWORK),
        hide=(places.root,),
        redact=lambda text: text,
    )
    try:
        yield Rooms(
            rehearsal=rehearsal,
            workspace=workspace,
            spawner=spawner,
            mode=mode,
            scratch=scratch,
            hide=(places.root,),
            dependencies=dependencies,
        )
    finally:
        await asyncio.to_thread(rehearsal.leave)

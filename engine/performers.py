"""Who performs a sprint's effects: checks, agents, workspace and dependencies, put together behind one shell."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Callable
from pathlib import Path

from engine import learnings, views
from engine.bus import Bus
from engine.clock import Clock
from engine.config import Config, config_hash
from engine.core.model import Struct
from engine.paths import StatePaths
from engine.perform.calls import Calls
from engine.perform.checks.run.spec import CheckSpec, Setting
from engine.perform.dependencies import Dependencies
from engine.perform.machine import OnThisMachine, Performs
from engine.perform.process.environment import NETWORK, scrubbed
from engine.perform.process.spawner import ProcessSpawner
from engine.perform.process.spawning import Adapter
from engine.perform.run_checks import Judging
from engine.perform.secrets.redact import Redactor
from engine.perform.secrets.redacted_facts import Redacted, redacting
from engine.perform.shell import Shell
from engine.perform.surveying import Surveyor
from engine.perform.workspace.workspace import Workspace
from engine.project import Project
from engine.relevant_learnings import lessons_for
from engine.settings import Agents, held_out, integrity, server_of, setup_steps


class Room(Struct, frozen=True, kw_only=True):
    """Where the effects of one run happen, and through whom."""

    project: Project
    config: Config
    sprint: str
    places: StatePaths
    workspace: Workspace
    spawner: ProcessSpawner
    agents: Agents
    specs: tuple[CheckSpec, ...]
    scratch: Path
    bus: Bus
    clock: Clock


class Performers(Struct, frozen=True, kw_only=True):
    """What the runner performs with, and what a session needs of it besides."""

    performer: Performs
    redactor: Redactor
    dependencies: Dependencies


def performers(
    room: Room,
    *,
    adapter_of: Callable[[str], Adapter],
    keepsakes: Callable[[], dict[str, Path | bytes]],
    around: Callable[[Performs], Performs],
) -> Performers:
    """`around` may put itself around whoever performs the effects: for drills, in which something goes wrong."""
    project, config, workspace, spawner, now = room.project, room.config, room.workspace, room.spawner, room.clock.now
    secrets = room.agents.secrets(config)
    redactor = Redactor(secrets)
    publish = redacting(room.bus.publish, redactor)
    hide = (room.places.root,)
    judging = Judging(
        workspace=workspace,
        specs=room.specs,
        held_out=held_out(config, project.home),
        setting=Setting(
            checkout=workspace.checkout,
            scratch=room.scratch,
            evidence=room.places.evidence,
            env=scrubbed(project.env),
            mounts=workspace.mounts,
            hide=hide,
            jobs=config.checks.jobs,
            policy=integrity(config),
            config_hash=config_hash(config),
        ),
        spawner=spawner,
        now=now,
        publish=publish,
        redact=redactor.text,
    )
    surveyor = Surveyor(
        workspace=workspace,
        checks=tuple((spec.name, shlex.join(spec.command)) for spec in room.specs),
        required=any(spec.required for spec in room.specs),
        decisions=lambda: tuple(one.title for one in learnings.read_all(project.root) if not one.dropped)[-30:],
        now=now,
    )
    dependencies = Dependencies(
        workspace=workspace,
        steps=setup_steps(config, project.repo.init_script),
        spawner=spawner,
        env=scrubbed(project.env, NETWORK),
        hide=hide,
        redact=redactor.text,
        server=server_of(config, project, spawner, redactor.text),
    )
    calls = Calls(
        spawner=spawner,
        adapter_of=adapter_of,
        login_of=room.agents.login,
        checkout=workspace.checkout,
        lane_path=workspace.lane_path,
        diff_of=workspace.diff,
        mounts_of=lambda: workspace.mounts,
        hide=hide,
        state_dir=room.places.root,
        homes=room.places.homes_of(room.sprint),
        logs=room.places.logs_of(room.sprint),
        user_home=project.home,
        context_of=lambda state, task: views.context(state) + surveyor.context(state, task) + dependencies.context(),
        lessons_of=lambda state, task: lessons_for(project.root, state, task),
        secrets=secrets,
        publish=room.bus.publish,  # what agents say is redacted where it comes in
        now=now,
        wall=room.clock.wall,
    )
    shell = Shell(
        workspace=workspace,
        dependencies=dependencies,
        judging=judging,
        calls=calls,
        surveyor=surveyor,
        now=now,
        keepsakes=keepsakes,
        publish=publish,
    )
    on_machine = OnThisMachine(
        around(shell),
        spawner,
        state_root=room.places.root,
        checkout=workspace.checkout,
        repository=lambda head: asyncio.to_thread(workspace.stands, head),
        git_dirs=(workspace.repo.git_dir, workspace.repo.common_dir),
    )
    return Performers(performer=Redacted(on_machine, redactor), redactor=redactor, dependencies=dependencies)

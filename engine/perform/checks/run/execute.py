"""Runs checks: in parallel where independent, each with a report folder outside the tree, a timeout and progress."""

from __future__ import annotations

import asyncio
import re
import secrets
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from engine.core.activity import CheckProgress
from engine.core.clean import clean_line
from engine.core.model import Struct
from engine.perform.checks.run.carried import loosened, program_of
from engine.perform.checks.run.command import check_env
from engine.perform.checks.run.evidence import Store
from engine.perform.checks.run.left_behind import measured_of
from engine.perform.checks.run.measure import Measurement, Report
from engine.perform.checks.run.moving_names import selectable
from engine.perform.checks.run.runner import Prepared, RunRequest
from engine.perform.checks.run.runners import runner_of
from engine.perform.checks.run.spec import CheckSpec, Setting
from engine.perform.process.spawning import Confinement, Mount, ProcessSpec, Spawner

STDOUT_CAP = 32_000_000
PROGRESS_SECONDS = 0.5
LINE_LOOKED_AT = 8_192
"""Bytes more than are kept that are looked through for secrets: no known value is longer."""

USUAL = {"TERM": "xterm-256color", "USER": "ada", "LOGNAME": "ada", "SHELL": "/bin/bash", "EDITOR": "vi"}
"""What a user's environment has, for a run in other clothes."""

OnProgress = Callable[[CheckProgress], None]


class Tools:
    """What running needs besides the specs: the doors to processes, time, the evidence store and whoever watches."""

    def __init__(
        self,
        spawner: Spawner,
        setting: Setting,
        clock: Callable[[], float],
        progress: OnProgress | None = None,
        effect: str = "",
        task: str = "",
        redact: Callable[[str], str] = lambda text: text,
    ) -> None:
        self.spawner = spawner
        self.setting = setting
        self.clock = clock
        self.redact = redact
        self.store = Store(setting.evidence)
        self._progress = progress
        self._effect = effect
        self._task = task

    def say(self, check: str, state: str, verdict: str = "", detail: str = "") -> None:
        if self._progress is not None:
            self._progress(
                CheckProgress(
                    effect=self._effect,
                    task=self._task,
                    lane=self.setting.lane,
                    at=self.clock(),
                    check=check,
                    state=state,
                    verdict=verdict,
                    detail=detail,
                )
            )


class Ask(Struct, frozen=True, kw_only=True):
    """How a check is run: whole or in part, with what is known of the base, and whether its reads are traced."""

    files: tuple[str, ...] | None = None
    ids: tuple[str, ...] | None = None
    known: Mapping[str, Report] = {}
    """R0's report by check; none: this is R0."""
    own_settings: bool = False
    helpers: tuple[str, ...] = ()
    subject: tuple[str, ...] = ()
    beside: bool = False
    stop_early: bool = False
    canaries: bool = True
    brief: bool = False
    """Only outcomes and messages will be read."""
    disguise: bool = False
    """In other clothes than the usual ones: see witness/disguise."""
    tree: str = ""
    """The tree in the room, for the record."""
    timeout: float = 0.0
    """0: the check's own."""


async def run_checks(
    tools: Tools, specs: Sequence[CheckSpec], room: Path, ask: Ask | None = None, mounts: tuple[Mount, ...] = ()
) -> list[Measurement]:
    """Every spec measured, in the order given."""
    width = asyncio.Semaphore(max(1, tools.setting.jobs))
    groups = {spec.group: asyncio.Lock() for spec in specs if spec.group}

    async def one(spec: CheckSpec) -> Measurement:
        if spec.group:
            async with groups[spec.group], width:
                return await run_check(tools, spec, room, ask, mounts=mounts)
        async with width:
            return await run_check(tools, spec, room, ask, mounts=mounts)

    async with asyncio.TaskGroup() as tasks:
        running = [tasks.create_task(one(spec)) for spec in specs]
    return [task.result() for task in running]


class Start(Struct, frozen=True, kw_only=True):
    """One run, ready to be started."""

    request: RunRequest
    prepared: Prepared
    env: Mapping[str, str]
    mounts: tuple[Mount, ...]
    """Of its own: where it reports to, and its cache."""
    tree: str


def start_of(tools: Tools, spec: CheckSpec, room: Path, ask: Ask) -> Start:
    """The request to its runner, what that wants to be started, and the environment."""
    setting = tools.setting
    reports = setting.scratch / "reports" / secrets.token_hex(8)
    reports.mkdir(parents=True, mode=0o700)
    here = room / spec.folder
    inside = f"{spec.folder}/" if spec.folder else ""
    request = RunRequest(
        spec=replace(spec, command=program_of(spec, here, setting.checkout)),
        room=here,
        checkout=setting.checkout,
        reports=reports,
        key=secrets.token_bytes(32),
        files=None if ask.files is None else tuple(path.removeprefix(inside) for path in ask.files),
        ids=None if ask.ids is None else tuple(dict.fromkeys(selectable(id.removeprefix(inside)) for id in ask.ids)),
        known=ask.known.get(spec.name),
        own_settings=ask.own_settings,
        helpers=ask.helpers,
        subject=ask.subject,
        beside=ask.beside,
        stop_early=ask.stop_early,
        canaries=ask.canaries,
        brief=ask.brief,
        disguise=ask.disguise,
    )
    prepared = _behind_build(spec.build, runner_of(spec).prepare(request))
    cache = setting.scratch / "caches" / re.sub(r"\W+", "-", spec.name)
    env = {**check_env(spec, setting.env, cache, reports), **prepared.env}
    if ask.disguise:
        env = USUAL | env
    own: tuple[Mount, ...] = (Mount(source=reports, dest=reports, writable=True),)
    if any("{cache}" in value for value in spec.env.values()):
        cache.mkdir(parents=True, exist_ok=True)
        own = (*own, Mount(source=cache, dest=cache, writable=True))
    return Start(request=request, prepared=prepared, env=env, mounts=own, tree=ask.tree)


def _behind_build(build: Sequence[str], prepared: Prepared) -> Prepared:
    """The runner is started where the build came through; what the build says is no report."""
    if not build:
        return prepared
    line = f'( {shlex.join(build)} ) </dev/null >&2 && exec "$0" "$@"'
    return replace(prepared, argv=("sh", "-c", line, *prepared.argv))


def confined(tools: Tools, spec: CheckSpec, room: Path, mounts: Iterable[Mount]) -> Confinement | None:
    setting = tools.setting
    if not setting.confine:
        return None
    return Confinement(
        checkout=setting.checkout,
        clone=room,
        network=spec.network,
        home=setting.home,
        mounts=(*loosened(setting.mounts), *mounts),
        hide=setting.hide,
    )


async def run_check(
    tools: Tools, spec: CheckSpec, room: Path, ask: Ask | None = None, mounts: tuple[Mount, ...] = ()
) -> Measurement:
    ask = ask or Ask()
    start = start_of(tools, spec, room, ask)
    confine = confined(tools, spec, room, (*mounts, *start.mounts))
    lines: list[bytes] = []
    kept = 0
    said_at = 0.0

    def on_line(line: bytes) -> None:
        nonlocal kept, said_at
        if kept < STDOUT_CAP:
            lines.append(line)
            kept += len(line) + 1
        now = tools.clock()
        if now - said_at >= PROGRESS_SECONDS:
            said_at = now
            said = tools.redact(line[:LINE_LOOKED_AT].decode("utf-8", "replace"))
            tools.say(spec.name, "running", detail=clean_line(said[:300]))

    tools.say(spec.name, "running")
    version = await _version(tools, spec, start.env, room, confine)
    started = tools.clock()
    finished = await tools.spawner.run(
        ProcessSpec(
            argv=start.prepared.argv,
            cwd=start.request.room,
            env=start.env,
            stdin=start.prepared.stdin,
            timeout=ask.timeout or spec.timeout,
            confine=confine,
        ),
        on_line,
    )
    stdout = b"\n".join(lines) or finished.stdout
    # reports may be large: reading them must not hold up the engine's loop
    return await asyncio.to_thread(measured_of, tools, start, finished, stdout, started, version, room)


_versions: dict[tuple[str, ...], str] = {}
"""What each tool said of its version, asked once in the life of the engine."""


async def _version(
    tools: Tools, spec: CheckSpec, env: Mapping[str, str], room: Path, confine: Confinement | None
) -> str:
    if spec.version and spec.version not in _versions:
        asked = ProcessSpec(argv=spec.version, cwd=room, env=env, timeout=20.0, confine=confine)
        said = await tools.spawner.run(asked)
        text = said.stdout.decode("utf-8", "replace").strip() if said.exit_code == 0 else ""
        _versions[spec.version] = clean_line(text.partition("\n")[0])[:120]
    return _versions.get(spec.version, "")

"""From the configuration to what each room needs: checks, agents, identity. No decision is made here."""

from __future__ import annotations

import hashlib
import shlex
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from engine.agent_records import record, records
from engine.clock import Clock
from engine.config import Config, argv, commands_of
from engine.core.model import Rung, Struct
from engine.paths import make_state
from engine.perform.agents import scripted
from engine.perform.agents.login import login_mounts, login_of
from engine.perform.agents.registry import adapter, adapter_kind
from engine.perform.agents.settings import AgentConfig
from engine.perform.calls import Login
from engine.perform.checks.presets.registry import detect
from engine.perform.checks.run.spec import TEST_GLOBS, CheckSpec, HeldOut, IntegrityPolicy
from engine.perform.checks.trust import fingerprint
from engine.perform.dependencies import Step
from engine.perform.dev_server import DevServer, ServerSpec
from engine.perform.process.environment import NETWORK, scrubbed
from engine.perform.process.spawning import Adapter, Mount, Spawner
from engine.perform.secrets.in_trees import detector
from engine.perform.secrets.known import known_secrets, secret_files
from engine.perform.secrets.redact import SHORTEST
from engine.perform.workspace.facts import Identity
from engine.perform.workspace.progress import Progress
from engine.perform.workspace.repository import find
from engine.perform.workspace.scope import Limits
from engine.perform.workspace.secrets import Detector
from engine.perform.workspace.start import foreign
from engine.perform.workspace.workspace import Workspace
from engine.plans.registry import ticked
from engine.project import Project


class Unready(Exception):  # noqa: N818  it is an answer, not a fault
    """Something a run needs is missing; the hint says what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


def check_specs(config: Config, root: Path) -> tuple[CheckSpec, ...]:
    """The checks found for the project, and the user's own, which replace found ones of the same name."""
    own = tuple(
        CheckSpec(
            name=check.name,
            kind=check.kind,
            command=argv(check.command),
            parser=check.parser,
            report=check.report,
            runner=check.runner,
            timeout=check.timeout or config.timeouts.checks,
            required=check.required,
            network=check.network,
            group=check.group,
            coverage=check.coverage,
            env=check.env,
            ok_exits=check.ok_exits,
            finding_exits=check.finding_exits,
            folder=check.folder.strip("/"),
            paths=check.paths,
            build=argv(check.build) if check.build else (),
            starts_empty=check.starts_empty,
            why=check.why,
            install=check.install,
        )
        for check in config.checks.run
    )
    if config.checks.preset == "none":
        return own
    named = {check.name for check in own}
    found = (msgspec.structs.replace(spec, timeout=config.timeouts.checks) for spec in detect(root))
    return (*(spec for spec in found if spec.name not in named), *own)


def held_out(config: Config, home: Path) -> tuple[HeldOut, ...]:
    return tuple(
        HeldOut(
            name=held.name,
            folder=_expanded(held.folder, home),
            command=argv(held.command),
            runner=held.runner,
            parser=held.parser,
            report=held.report,
            timeout=held.timeout or config.timeouts.checks,
        )
        for held in config.checks.held_out
    )


def integrity(config: Config) -> IntegrityPolicy:
    chosen = config.checks.integrity
    return IntegrityPolicy(
        severity=chosen.severity,
        test_globs=chosen.test_globs or TEST_GLOBS,
        protected=config.checks.protected,
        changed_coverage=chosen.changed_coverage,
        mutants=chosen.mutants,
        mutation_seconds=chosen.mutation_seconds,
        critical_rules=chosen.critical_rules,
    )


def what_runs(project: Project, config: Config) -> tuple[str, tuple[tuple[str, str], ...]]:
    """The hash of everything this repository would have run on the machine, and each of it as (where, line)."""
    specs, held = check_specs(config, project.root), held_out(config, project.home)
    configured = tuple(one for one in commands_of(config) if not one[0].startswith(("checks.run", "checks.held_out")))
    found = (
        *((f"check {spec.name}", shlex.join(spec.command)) for spec in specs),
        *((f"held-out check {one.name}", shlex.join(one.command)) for one in held),
        *configured,
        *(
            (".devteam/init.sh", f"{len(script.splitlines())} lines")
            for script in (_own_init(project.repo.init_script),)
            if script
        ),
    )
    others = [*configured, ("init.sh", _own_init(project.repo.init_script))]
    if not any(line for _where, line in others):
        return fingerprint((*specs, *held)), found
    digest = hashlib.sha256(fingerprint((*specs, *held)).encode() + msgspec.json.encode(others))
    return digest.hexdigest()[:16], found


def setup_steps(config: Config, init_script: Path) -> tuple[Step, ...]:
    """What makes the clones' dependencies: workspace.setup, and the user's own init.sh at every session's start."""
    steps = [Step(name="workspace.setup", script=config.workspace.setup)] if config.workspace.setup else []
    if script := _own_init(init_script):
        steps.append(Step(name=".devteam/init.sh", script=script, each_session=True))
    return tuple(steps)


def server_of(config: Config, project: Project, spawner: Spawner, redact: Callable[[str], str]) -> DevServer | None:
    """The development server, where one is named: its own line, or what init.sh leaves running."""
    chosen = config.workspace
    if not chosen.server and not chosen.server_health:
        return None
    spec = ServerSpec(script=chosen.server, health=chosen.server_health, seconds=chosen.server_seconds)
    env = scrubbed(project.env, NETWORK)
    return DevServer(spec, spawner, env, project.state.logs / "server.log", redact)


def _own_init(path: Path) -> str:
    """init.sh when the user made something of it; the template does nothing and is not run."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    lines = (line.strip() for line in text.splitlines())
    return text if any(line and not line.startswith("#") and line != "exit 0" for line in lines) else ""


def open_workspace(project: Project, sprint: str, config: Config) -> Workspace:
    """The sprint's workspace with the folders of this machine that its clones are shown."""
    workspace = Workspace.open(
        project.root,
        project.state.root,
        sprint,
        Identity(name=config.identity.name, email=config.identity.email),
        protected=config.checks.protected,
        copy=config.workspace.copy,
        limits=Limits(
            max_file=config.workspace.max_file_bytes,
            max_total=config.workspace.max_total_bytes,
            max_files=config.workspace.max_files,
        ),
        home=project.home,
        detect=_detector(project, config),
    )
    named = (_expanded(text, project.home) for text in config.workspace.mounts)
    more = (Mount(source=path, dest=path) for path in named if path.exists())
    workspace.mounts = (*(one for one in workspace.mounts if _carried(one, project.root, config)), *more)
    wanted = config.workspace.commit_progress
    workspace.progress = Progress(on=None if wanted == "auto" else wanted, ticked=ticked)
    return workspace


def leave_aside(project: Project, now: float) -> None:
    """State is found by path. What another repository in this place left (backups of its journal, records of its
    sprints) is kept, but out of the way of a repository that has no journal yet."""
    root = project.state.root
    if project.repo.db.exists() or not any(root.glob("sprints/*/start.json")):
        return
    if not foreign(root, find(project.root, Identity(), project.home)):
        return
    aside = root / "earlier" / f"{int(now)}"
    aside.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name in ("backups", "sprints"):
        if (root / name).exists():
            (root / name).rename(aside / name)
    make_state(project.state)


def _carried(mount: Mount, root: Path, config: Config) -> bool:
    """Folders of the checkout by workspace.carry; what an environment among them needs from elsewhere always."""
    if not mount.dest.is_relative_to(root) or mount.source.parent.name == "submodules":
        return True
    relative = mount.dest.relative_to(root)
    named = relative.name in config.workspace.carry or str(relative) in config.workspace.carry
    return named or (mount.source / "pyvenv.cfg").is_file()


class Agents(Struct, frozen=True, kw_only=True):
    """The agents of a run: adapters made once, logins by name."""

    project: Project
    configs: Mapping[str, AgentConfig]
    now: Callable[[], float]
    wall: Callable[[], float]
    """What providers mean by a time of day."""
    scenario: scripted.Scenario | None = None
    speed: float = 1.0
    made: dict[str, Adapter] = {}

    def adapter(self, name: str) -> Adapter:
        if name not in self.made:
            self.made[name] = self._make(name)
        return self.made[name]

    def must_be_here(self, rungs: tuple[Rung, ...]) -> None:
        """Refuses a ladder with an agent that could not even be started: better now than at $1 a try."""
        for rung in rungs:
            config = self.configs.get(rung.agent, AgentConfig())
            if adapter_kind(rung.agent, config) == "scripted":
                self.adapter(rung.agent)
                continue
            program = config.program or (config.argv[0] if config.argv else rung.agent)
            if "{" not in program and shutil.which(program, path=self.project.env.get("PATH", "")) is None:
                known = record(rung.agent)
                how = known.install if known and known.install and not config.program else "install it"
                hint = f"{how}, or change [ladder] in .devteam/config.toml   (devteam agents shows what is here)"
                raise Unready(f"rung {rung.name} needs the agent {rung.agent}, but {program} is not on PATH", hint)

    def _make(self, name: str) -> Adapter:
        if name == "scripted":
            if self.scenario is None:
                hint = 'set scenario = "FILE" under [scripted] in .devteam/config.toml'
                raise Unready("the scripted agent has no scenario", hint)
            return scripted.ScriptedAgent(self.scenario, speed=self.speed, now=self.now)
        config = self.configs.get(name, AgentConfig())
        if adapter_kind(name, config) == "scripted":
            # Another scripted agent with a scenario of its own, which is named as the repository sees it.
            scenario = scripted.load(self.project.root / config.program)
            return scripted.ScriptedAgent(scenario, speed=self.speed, now=self.now)
        return adapter(name, config, clock=self.wall)

    def login(self, name: str) -> Login:
        """What this agent may see of the user's: its own provider's variables and login file, no other's."""
        env = self.project.env
        config = self.configs.get(name)
        mounts, names = login_mounts(name, self.project.home, env, config)
        return Login(env=scrubbed(env, (*NETWORK, *names)), mounts=mounts)

    def secrets(self, config: Config) -> tuple[str, ...]:
        """Every value of the user's that must not be stored, whoever says it."""
        given = (*(one.env for one in self.configs.values()), *(check.env for check in config.checks.run))
        return (*private_values(self.project, config, self.configs), *known_secrets({}, given=given))


def private_values(project: Project, config: Config, configs: Mapping[str, AgentConfig]) -> tuple[str, ...]:
    """The user's own secrets: of the environment, of login files, of .env and of what is copied into the clones.

    What the configuration says (variables of checks and agents) is not among them: it is in the repository.
    """
    logins = [login_of(name, configs.get(name)) for name in (*records(), *configs)]
    own = {name: project.env[name] for login in logins for name in login.env if name in project.env}
    return (
        # A variable that is named as a login is a secret, whatever its name sounds like.
        *(value for value in own.values() if len(value) >= SHORTEST),
        *known_secrets(project.env, files=_keepers(project, config, configs)),
    )


def _keepers(project: Project, config: Config, configs: Mapping[str, AgentConfig]) -> tuple[Path, ...]:
    logins = [login_of(name, configs.get(name)) for name in (*records(), *configs)]
    files = {project.home / file for login in logins for file in login.files}
    return (*secret_files(project.root, config.workspace.copy), *sorted(files))


def _detector(project: Project, config: Config) -> Detector:
    """Read again when one of the files changes: programs refresh their tokens while they run."""
    configs = _agent_configs(config)
    files = _keepers(project, config, configs)

    def stamp() -> tuple[int, ...]:
        return tuple(path.stat().st_mtime_ns if path.exists() else 0 for path in files)

    return detector(lambda: private_values(project, config, configs), stamp)


def _agent_configs(config: Config) -> dict[str, AgentConfig]:
    return {name: msgspec.convert(msgspec.to_builtins(section), AgentConfig) for name, section in config.agents.items()}


def agents_of(project: Project, config: Config, clock: Clock, speed: float = 1.0) -> Agents:
    configs = _agent_configs(config)
    scenario = None
    if config.scripted.scenario:
        scenario = scripted.load(project.root / config.scripted.scenario)
    return Agents(
        project=project,
        configs=configs,
        now=clock.now,
        wall=clock.wall,
        scenario=scenario,
        speed=speed * config.scripted.speed,
        made={},
    )


def _expanded(text: str, home: Path) -> Path:
    return home / text[2:] if text.startswith("~/") else Path(text)

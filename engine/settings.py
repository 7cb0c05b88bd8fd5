"""From the configuration to what each room needs: checks, agents, identity. No decision is made here."""

from __future__ import annotations

import hashlib
import shlex
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from engine.config import Config, argv, commands_of
from engine.core.model import Rung, Struct
from engine.paths import make_state
from engine.perform.agents import scripted
from engine.perform.agents.login import LOGINS, login_mounts, login_of
from engine.perform.agents.registry import adapter, adapter_kind
from engine.perform.agents.settings import AgentConfig
from engine.perform.calls import Login
from engine.perform.checks.presets import detect
from engine.perform.checks.spec import TEST_GLOBS, CheckSpec, HeldOut, IntegrityPolicy
from engine.perform.checks.trust import fingerprint
from engine.perform.contract import Adapter, Mount
from engine.perform.environment import NETWORK, scrubbed
from engine.perform.known_secrets import known_secrets, secret_files
from engine.perform.redact import SHORTEST
from engine.perform.setup import Step
from engine.perform.workspace.facts import Identity
from engine.perform.workspace.repository import find
from engine.perform.workspace.scope import Limits
from engine.perform.workspace.start import foreign
from engine.perform.workspace.workspace import Workspace
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
        flaky_reruns=chosen.flaky_reruns,
        red_then_green=chosen.red_then_green,
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
        limits=Limits(max_file=config.workspace.max_file_bytes, max_total=config.workspace.max_total_bytes),
        home=project.home,
    )
    named = (_expanded(text, project.home) for text in config.workspace.mounts)
    more = (Mount(source=path, dest=path) for path in named if path.exists())
    workspace.mounts = (*(one for one in workspace.mounts if _carried(one, project.root, config)), *more)
    return workspace


def leave_aside(project: Project, now: float) -> None:
    """State is found by path. What another repository in this place left (backups of its journal, records of its
    sprints, commands to it) is kept, but out of the way of a repository that has no journal yet."""
    root = project.state.root
    if project.repo.db.exists() or not any(root.glob("sprints/*/start.json")):
        return
    if not foreign(root, find(project.root, Identity(), project.home)):
        return
    aside = root / "earlier" / f"{int(now)}"
    aside.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name in ("backups", "sprints", "inbox"):
        if (root / name).exists():
            (root / name).rename(aside / name)
    make_state(project.state)


def _carried(mount: Mount, root: Path, config: Config) -> bool:
    """Folders of the checkout by workspace.carry; what an environment among them needs from elsewhere always."""
    if not mount.dest.is_relative_to(root):
        return True
    relative = mount.dest.relative_to(root)
    named = relative.name in config.workspace.carry or str(relative) in config.workspace.carry
    return named or (mount.source / "pyvenv.cfg").is_file()


class Agents(Struct, frozen=True, kw_only=True):
    """The agents of a run: adapters made once, logins by name."""

    project: Project
    configs: Mapping[str, AgentConfig]
    now: Callable[[], float]
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
                hint = "install it, or change [ladder] in .devteam/config.toml   (devteam agents shows what is here)"
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
        return adapter(name, config, clock=self.now)

    def login(self, name: str) -> Login:
        """What this agent may see of the user's: its own provider's variables and login file, no other's."""
        env = self.project.env
        config = self.configs.get(name)
        mounts, names = login_mounts(name, self.project.home, env, config)
        return Login(env=scrubbed(env, (*NETWORK, *names)), mounts=mounts)

    def secrets(self, config: Config) -> tuple[str, ...]:
        """Every value of the user's that must not be stored, whoever says it."""
        project = self.project
        logins = [login_of(name, self.configs.get(name)) for name in (*LOGINS, *self.configs)]
        files = {project.home / file for login in logins for file in login.files}
        own = {name: project.env[name] for login in logins for name in login.env if name in project.env}
        return (
            # A variable that is named as a login is a secret, whatever its name sounds like.
            *(value for value in own.values() if len(value) >= SHORTEST),
            *known_secrets(
                project.env,
                given=(*(one.env for one in self.configs.values()), *(check.env for check in config.checks.run)),
                files=(*secret_files(project.root, config.workspace.copy), *sorted(files)),
            ),
        )


def agents_of(project: Project, config: Config, now: Callable[[], float], speed: float = 1.0) -> Agents:
    configs = {
        name: msgspec.convert(msgspec.to_builtins(section), AgentConfig) for name, section in config.agents.items()
    }
    scenario = None
    if config.scripted.scenario:
        scenario = scripted.load(project.root / config.scripted.scenario)
    return Agents(
        project=project,
        configs=configs,
        now=now,
        scenario=scenario,
        speed=speed * config.scripted.speed,
        made={},
    )


def _expanded(text: str, home: Path) -> Path:
    return home / text[2:] if text.startswith("~/") else Path(text)

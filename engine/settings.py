"""From the configuration to what each room needs: checks, agents, identity. No decision is made here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from engine.config import Config, argv
from engine.core.model import Struct
from engine.perform.agents import scripted
from engine.perform.agents.login import login_mounts
from engine.perform.agents.registry import adapter
from engine.perform.agents.settings import AgentConfig
from engine.perform.calls import Login
from engine.perform.checks.presets import detect
from engine.perform.checks.spec import TEST_GLOBS, CheckSpec, HeldOut, IntegrityPolicy
from engine.perform.contract import Adapter, PerformError
from engine.perform.environment import NETWORK, scrubbed
from engine.project import Project


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

    def _make(self, name: str) -> Adapter:
        if name == "scripted":
            if self.scenario is None:
                hint = 'set scenario = "FILE" under [scripted] in .devteam/config.toml'
                raise PerformError("the scripted agent has no scenario", kind="permanent", hint=hint)
            return scripted.ScriptedAgent(self.scenario, speed=self.speed, now=self.now)
        return adapter(name, self.configs.get(name, AgentConfig()), clock=self.now)

    def login(self, name: str) -> Login:
        """What this agent may see of the user's: its own provider's variables and login file, no other's."""
        env = self.project.env
        config = self.configs.get(name)
        mounts, names = login_mounts(name, self.project.home, env, config)
        return Login(env=scrubbed(env, (*NETWORK, *names)), mounts=mounts)


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

"""What no single value can tell: names that must exist, limits that must bound, lists that must agree."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from engine.agent_records import BUILT_IN, TEMPLATES, adapter_names, record, records
from engine.config.base import Command
from engine.config.locate import Path
from engine.config.sections import Config
from engine.config.validate import Report, close
from engine.core.model import Role
from engine.core.policy import Policy

HALT_CONDITIONS = Policy().halt_conditions
MAY_GO = "security_critical"
NEEDS = {"ladder": ("ladder", "agents", "budget"), "task_loop.cost_tracking": ("task_loop", "budget")}
"""Sections or keys whose rules look at others: with one of those unread, they would accuse the wrong line."""


def check_rules(config: Config, report: Report) -> None:
    _halt_conditions(config, report)
    _ladder(config, report)
    _budget(config, report)
    _agents(config, report)
    _checks(config, report)
    _keys(config, report)
    for number, mount in enumerate(config.workspace.mounts):
        _outside(("workspace", "mounts", number), mount, report)
    for place in ("copy", "carry"):
        for number, entry in enumerate(getattr(config.workspace, place)):
            if PurePath(entry).is_absolute() or ".." in PurePath(entry).parts or not entry.strip("./"):
                path = ("workspace", place, number)
                report(
                    path, f"workspace.{place} has {entry}", "a path inside the repository", f'{place} = [".env.test"]'
                )


def _halt_conditions(config: Config, report: Report) -> None:
    path: Path = ("task_loop", "halt_conditions")
    for number, word in enumerate(config.task_loop.halt_conditions):
        if word not in HALT_CONDITIONS:
            report((*path, number), f"unknown halt condition {word}", _one_of(word, HALT_CONDITIONS), "")
    for word in HALT_CONDITIONS:
        if word != MAY_GO and word not in config.task_loop.halt_conditions:
            report(
                path,
                f"halt_conditions lacks {word}, without which nothing bounds the loop",
                f"only {MAY_GO} may be taken out",
                f"halt_conditions = [{', '.join(f'{chr(34)}{name}{chr(34)}' for name in HALT_CONDITIONS)}]",
            )


def _ladder(config: Config, report: Report) -> None:
    ladder = config.ladder
    names = [rung.name for rung in ladder.rungs]
    agents = dict.fromkeys((*(one.name for one in BUILT_IN), *config.agents))
    if any(name not in agents for name in (*(rung.agent for rung in ladder.rungs), *ladder.fallback)):
        agents = dict.fromkeys((*records(), *config.agents))
    if not names:
        report(("ladder", "rungs"), "the ladder has no rungs", "at least one", '[[ladder.rungs]]\n    name = "sonnet"')
    _unique(names, ("ladder", "rungs"), "rung", report)
    for number, rung in enumerate(ladder.rungs):
        path: Path = ("ladder", "rungs", number)
        if rung.agent not in agents:
            report(
                (*path, "agent"),
                f"rung {rung.name} wants the agent {rung.agent}",
                _one_of(rung.agent, tuple(agents)),
                "",
            )
        if rung.reserve_usd > min(config.budget.session_usd, config.budget.day_usd):
            report(
                (*path, "reserve_usd"),
                f"rung {rung.name} reserves ${rung.reserve_usd:g} a call, more than the whole budget",
                "less than budget.session_usd and budget.day_usd",
                "",
            )
    if ladder.failures and len(ladder.failures) != len(names):
        report(
            ("ladder", "failures"),
            f"{len(ladder.failures)} numbers for {len(names)} rungs",
            "one number a rung",
            f"failures = {[2] * (len(names) - 1) + [3]}",
        )
    roles = [role.value for role in Role]
    for role, rung_name in ladder.roles.items():
        if role not in roles:
            report(("ladder", "roles", role), f"unknown role {role}", _one_of(role, roles), "")
        if rung_name not in names:
            report(("ladder", "roles", role), f"{role} wants the rung {rung_name}", _one_of(rung_name, names), "")
    for number, agent in enumerate(ladder.fallback):
        if agent not in agents:
            report(("ladder", "fallback", number), f"fallback to {agent}", _one_of(agent, tuple(agents)), "")


def _budget(config: Config, report: Report) -> None:
    budget = config.budget
    if not config.task_loop.cost_tracking and not budget.max_calls and not budget.max_seconds:
        report(
            ("task_loop", "cost_tracking"),
            "cost_tracking = false leaves the run without a bound",
            "budget.max_calls or budget.max_seconds",
            "max_calls = 200    (in [budget])",
        )


def _agents(config: Config, report: Report) -> None:
    for name, agent in config.agents.items():
        path: Path = ("agents", name)
        adapter = agent.adapter or name
        known_agent = record(name)
        if agent.adapter in ("", "acp") and known_agent and known_agent.acp:
            continue
        if adapter not in TEMPLATES and not (record(adapter) and adapter in adapter_names()) and not agent.argv:
            known = tuple(dict.fromkeys((*records(), *adapter_names())))
            report(path, f"agent {name} has no adapter", _one_of(name, known), 'argv = ["program", "{prompt_file}"]')
        elif adapter in ("acp", "command") and not agent.argv:
            report(path, f"agent {name} has no command line", "argv, a list", 'argv = ["program", "{prompt_file}"]')


def _checks(config: Config, report: Report) -> None:
    checks = config.checks
    _unique([check.name for check in checks.run], ("checks", "run"), "check", report)
    _unique([check.name for check in checks.held_out], ("checks", "held_out"), "held-out check", report)
    for number, check in enumerate(checks.run):
        _runs(check.command, ("checks", "run", number), check.name, report)
    for number, held in enumerate(checks.held_out):
        _runs(held.command, ("checks", "held_out", number), held.name, report)
        _outside(("checks", "held_out", number, "folder"), held.folder, report)
    if checks.preset == "none" and not any(check.required for check in checks.run):
        report(
            ("checks", "preset"),
            'preset = "none" and no required check leaves nothing to judge the work by',
            "at least one [[checks.run]]",
            '[[checks.run]]\n    name = "tests"\n    kind = "tests"\n    command = "make test"',
        )


def _runs(command: Command, path: Path, name: str, report: Report) -> None:
    if not "".join(command).strip():
        report((*path, "command"), f"check {name} has no command", "a command", 'command = "make test"')


def _keys(config: Config, report: Report) -> None:
    taken: dict[str, str] = {}
    for action, key in config.keys.items():
        if not key.strip():
            report(("keys", action), f"no key for {action}", "a key", f'{action} = "p"')
        elif (other := taken.setdefault(key, action)) != action:
            report(("keys", action), f"{action} and {other} are on the same key {key}", "a key each", "")


def _outside(path: Path, folder: str, report: Report) -> None:
    if not (folder.startswith("~/") or PurePath(folder).is_absolute()):
        report(path, f"{folder} is not a place outside the repository", "an absolute path, or one below ~/", "")


def _unique(names: Sequence[str], path: Path, noun: str, report: Report) -> None:
    for number, name in enumerate(names):
        if name in names[:number]:
            report((*path, number, "name"), f"two {noun}s are called {name}", "a name of its own", "")


def _one_of(word: str, known: Sequence[str]) -> str:
    near = close(word, known)
    return f"{near}?  There are: {', '.join(known)}" if near else f"one of {', '.join(known)}"

"""`devteam init`: tries the checks in checkout and clone, and writes a configuration that is green, with reasons."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable, Iterator

from msgspec.structs import replace

from engine.config import Config
from engine.config.check_settings import CheckConfig, Checks
from engine.config.commented import write_default
from engine.config.looping import Ladder, RungConfig
from engine.config.working import Workspace
from engine.core.activity import CheckProgress
from engine.core.model import CheckKind, Rung
from engine.link.user_errors import UserError
from engine.perform.agents.ladders import propose_ladder
from engine.perform.agents.registry import AgentInfo
from engine.perform.checks.presets.first_tests import FIRST
from engine.perform.checks.presets.package import Candidate, Package
from engine.perform.checks.presets.registry import survey
from engine.perform.checks.run.spec import CheckSpec
from engine.perform.workspace.environment import unignored
from engine.perform.workspace.facts import Identity
from engine.perform.workspace.preflight import preflight
from engine.plans.sprints import ensure_gitignore
from engine.service.agent_start import start_on_trial
from engine.service.agent_survey import list_agents
from engine.service.comparison import Compared, compare, told
from engine.service.findings import Finding
from engine.service.local import Desk
from engine.service.rehearsing import open_rooms

MOST = 6
"""Of one kind; more are counted."""
LINES = 24
"""For everything that was found: with what frames it, init says less than thirty."""

CONFIG = ".devteam/config.toml"
CHECK, LEFT_OUT = "  check    ", "  left out "

OnProgress = Callable[[str], None]


def init_project(
    desk: Desk, *, force: bool, today: str, tests: str = "", progress: OnProgress = lambda _text: None
) -> Iterator[str]:
    """Try the checks in the checkout and in a clone, write what is green there, and say so in under 30 lines.

    `tests`: what will run the tests of a repository that has none yet, a name in FIRST.
    """
    project = desk.project
    path = project.repo.config
    if path.exists() and not force:
        raise UserError(f"{path} is there already", "edit it, or write it anew with: devteam init --force")
    report = preflight(project.root, Identity(), project.home)
    if report.refusal:
        raise UserError(report.refusal, report.command)
    infos = list_agents(project.root, project.env, project.home)
    ladder = propose_ladder(infos)
    if tests and tests not in FIRST:
        raise UserError(f"{tests!r} is no runner for the first tests", f"one of {', '.join(FIRST)}")
    compared = asyncio.run(_tried(desk, ladder, infos, progress, tests))
    result, agents, carried, empty = compared
    if path.exists():
        kept = path.with_name(f"config.toml.before-{today}")
        path.replace(kept)
        yield f"the old configuration is kept as {kept.name}"
    write_default(path, _config(ladder, result))
    ensure_gitignore(project.root)
    yield f"wrote {path.relative_to(project.root)}"
    if "unborn" in report.states:
        yield f"  found    repository: {report.notes[report.states.index('unborn')]}"
    tested = any(one.spec.kind is CheckKind.TESTS for one in result.tried)
    yield from report_lines(result, tested, carried, empty, list(_agent_lines(infos, agents)))
    yield _ladder_line(ladder)
    yield _next(result, ladder, tested)


def report_lines(
    result: Compared, tests: bool, carried: list[str], empty: tuple[str, ...], agents: list[str]
) -> list[str]:
    """What init tells of what it found, however much that is."""
    for most in range(MOST, 0, -1):
        lines = list(_report(most, result, tests, carried, empty, agents))
        if len(lines) <= LINES:
            break
    return lines


def _report(
    most: int, result: Compared, tests: bool, carried: list[str], empty: tuple[str, ...], agents: list[str]
) -> Iterator[str]:
    """What was found, tried and left out; of each kind at most so many, the rest counted."""
    yield from _capped(most, [f"{CHECK}{one.spec.name}: {told(one)} [{one.spec.why}]" for one in result.tried])
    if not tests:
        begin = f"; none yet? devteam init --force --tests {'|'.join(FIRST)}"
        begin = "" if any(one.tests for one in result.left_out) else begin
        cure = f"add [[checks.run]], or give each task a `verify:` command{begin}"
        yield f"  checks   no tests that pass were found: {cure}"
    yield from _capped(most, [f"{LEFT_OUT}{one.words()}" for one in result.left_out])
    broken_first = sorted(result.findings, key=lambda finding: finding.mark != "bad")
    yield from _capped(most, [_finding(finding) for finding in broken_first])
    yield from _capped(most, [f"  carried  {words}" for words in carried])
    fetch = "was never fetched → git submodule update --init"
    yield from _capped(most, [f"  empty    submodule {name} {fetch}" for name in empty])
    yield from _capped(most, agents)


def _finding(finding: Finding) -> str:
    mark = "  BROKEN  " if finding.mark == "bad" else "  found   "
    cure = f"\n           → {finding.hint}" if finding.hint else ""
    return f"{mark} {finding.what}: {finding.found}{cure}"


def _next(result: Compared, ladder: tuple[Rung, ...], tests: bool) -> str:
    """The one thing to type now."""
    if any(finding.mark == "bad" for finding in result.findings):
        return "next: mend what is BROKEN above, then: devteam init --force"
    untested = [] if tests else [one for one in result.left_out if one.tests]
    if cure := next((one.fix for one in untested if one.fix and not one.fix.startswith("env = ")), ""):
        return f"next: {cure}, then: devteam init --force"
    if untested:
        return f"next: mend {untested[0].name} (left out above), then: devteam init --force"
    if not ladder:
        return "next: install an agent and type: devteam init --force   (or give [agents] a command of your own)"
    return "next: devteam plan …, then devteam run"


async def _tried(
    desk: Desk, ladder: tuple[Rung, ...], infos: list[AgentInfo], progress: OnProgress, tests: str
) -> tuple[Compared, list[Finding], list[str], tuple[str, ...]]:
    project = desk.project

    def hear(one: CheckProgress) -> None:
        progress(f"\t{one.check} {one.detail}".rstrip())

    found = survey(project.root, lambda name: shutil.which(name, path=project.env.get("PATH")), project.home)
    candidates = found.candidates
    if tests:
        which = Package(project.root, "", lambda name: shutil.which(name, path=project.env.get("PATH")))
        kept = [one for one in candidates if one.check.kind is not CheckKind.TESTS]
        candidates = (Candidate(check=FIRST[tests](which)), *kept)
    async with open_rooms(project, Config(), hear) as rooms:
        result = await compare(rooms.rehearsal, candidates, progress, choose=True, surroundings=project.env)
        progress("agents in the sandbox")
        agents = await start_on_trial(project, _config(ladder, result), infos, rooms) if ladder else []
        nobody = {project.root / os.fsdecode(name).rstrip("/") for name in unignored(rooms.workspace.repo)}
        carried = []
        for mount in rooms.workspace.mounts:
            if mount.dest.is_relative_to(project.root):
                name = mount.dest.relative_to(project.root)
                submodule = mount.source.parent.name == "submodules"
                how = "submodule, at its recorded commit" if submodule else "read-only beneath the clones"
                if mount.dest in nobody:
                    how += "; no rule ignores it, so it is never part of a change"
                carried.append(f"{name} ({how})")
        empty = await asyncio.to_thread(rooms.workspace.empty_submodules)
    result = replace(result, left_out=(*found.left_out, *result.left_out))
    return result, agents, carried, empty


def _agent_lines(infos: list[AgentInfo], findings: list[Finding]) -> Iterator[str]:
    said = {finding.what for finding in findings}
    for info in infos:
        if info.installed and f"agent {info.name}" not in said:
            seen = f"login seen: {info.login}" if info.login else "no login seen"
            yield f"  agent    {info.name} {info.version} ({seen}; starts in the sandbox)"
    for finding in findings:
        yield f"  agent    {finding.what.removeprefix('agent ')}: {finding.found} → {finding.hint}"


def _ladder_line(ladder: tuple[Rung, ...]) -> str:
    if not ladder:
        return "  agents   none found: install one (claude, codex, gemini …), or look around with: devteam demo"
    return f"  ladder   {' → '.join(rung.name for rung in ladder)}"


def _capped(most: int, items: list[str]) -> Iterator[str]:
    for item in items[:most]:
        yield from item.split("\n")
    if len(items) > most:
        label = items[most][:11]
        listed = f": {CONFIG} has them" if label in (CHECK, LEFT_OUT) else ""
        yield f"{label}and {len(items) - most} more{listed}"


def _config(ladder: tuple[Rung, ...], result: Compared) -> Config:
    checks = Checks(
        preset="none" if result.tried else "auto",
        run=tuple(as_config(one.spec) for one in result.tried),
        left_out=tuple(one.words() for one in result.left_out),
    )
    config = Config(workspace=Workspace(copy=result.copy), checks=checks)
    if not ladder:
        return config
    rungs = tuple(
        RungConfig(name=rung.name, agent=rung.agent, model=rung.model, reserve_usd=rung.reserve_usd) for rung in ladder
    )
    failures = (2,) * (len(rungs) - 1) + (3,)
    return replace(config, ladder=Ladder(rungs=rungs, failures=failures))


def as_config(spec: CheckSpec) -> CheckConfig:
    """A check as it stands in config.toml."""
    return CheckConfig(
        name=spec.name,
        kind=spec.kind,
        command=spec.command[2] if spec.command[:2] == ("sh", "-c") and len(spec.command) == 3 else spec.command,
        parser=spec.parser,
        report=spec.report,
        runner=spec.runner,  # type: ignore[arg-type]
        timeout=spec.timeout if spec.timeout != CheckSpec(name="", kind=spec.kind, command=()).timeout else 0.0,
        required=spec.required,
        network=spec.network,
        group=spec.group,
        coverage=spec.coverage,
        env=dict(spec.env),
        ok_exits=spec.ok_exits,
        finding_exits=spec.finding_exits,
        folder=spec.folder,
        paths=spec.paths,
        build=spec.build,
        starts_empty=spec.starts_empty,
        why=spec.why,
        install=spec.install,
    )

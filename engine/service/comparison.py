"""Checkout against clone, for init and doctor: which checks work, what differs and why, and what mends it.

A cause is not guessed from words where it can be tried: the file that only the checkout has is copied, the network is
given, the build is made, and whatever turns the clone as green as the checkout was the cause.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from engine.core.clean import clean_line
from engine.core.model import CheckKind, Struct
from engine.perform.checks.presets.dependencies import declared
from engine.perform.checks.presets.first_tests import tests_by_name
from engine.perform.checks.presets.package import Candidate, LeftOut, Package
from engine.perform.checks.presets.pytest_plugins import needed, without
from engine.perform.checks.presets.python_tests import configured_options
from engine.perform.checks.proof.check_result import found_none
from engine.perform.checks.run.comparison import collected, differences, works
from engine.perform.checks.run.measure import BAD, Measurement
from engine.perform.checks.run.spec import CheckSpec
from engine.perform.checks.run.uncollectable import lacked, not_installed, unfetched
from engine.perform.checks.run.wanted_variables import secret_variable, wanted_variables
from engine.perform.rehearsal import Rehearsal
from engine.service.clone_cures import Say, Tried, cured, telling_line
from engine.service.findings import Finding
from engine.service.red_causes import red_causes

SLOW = 4.0
"""A check gets at least this many times the time it took."""
TIMEOUT = 900.0
MOST_LATE = 2
"""Ways to run the same tests that came to no end in that time: no other is tried then."""
PYTHON = ("pytest", "unittest")


class Compared(Struct, frozen=True, kw_only=True):
    tried: tuple[Tried, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    copy: tuple[str, ...] = ()
    """To be added to workspace.copy."""
    findings: tuple[Finding, ...] = ()
    """What differed, what was done about it, what is left for the user."""


async def compare(
    rehearsal: Rehearsal,
    candidates: Sequence[Candidate],
    say: Say,
    *,
    choose: bool,
    surroundings: Mapping[str, str] | None = None,
) -> Compared:
    """Try every candidate in both places. `choose`: other ways are tried where one does not work (init).

    `surroundings`: the user's variables; one that the tests ask for by name is tried, if it is no secret.
    """
    chosen: list[tuple[CheckSpec, Measurement]] = []
    left_out: list[LeftOut] = []
    findings: list[Finding] = []
    for candidate in candidates:
        say(f"{candidate.check.name} in a copy of your checkout")
        taken, problem, fetch = await _first_that_works(rehearsal, candidate, say, choose)
        if choose:
            taken, given = await _with_variables(rehearsal, candidate, taken, surroundings or {})
            findings += given
            problem = "" if given else problem
        if taken is not None and choose:
            taken, without = await _without_uncollectable(rehearsal, taken)
            left_out += without
        if taken is not None:
            chosen.append(taken)
        if problem:
            absent = "the tool is missing" in problem or "could not start" in problem
            fix = fetch or (candidate.check.install if absent else "")
            reason = problem.removesuffix(f"; type: {fix}")
            reason += f" ({taken[0].name} is used instead)" if taken is not None else ""
            tests = candidate.check.kind is CheckKind.TESTS
            left_out.append(LeftOut(name=candidate.check.name, reason=reason, fix=fix, tests=tests))
    tried: list[Tried] = []
    for spec, here in chosen:
        say(f"{spec.name} in a clone")
        spec = _patient(spec) if choose else spec
        (there,) = await rehearsal.in_clone([spec])
        tried.append(Tried(spec=spec, here=here, there=there, differs=differences(spec, here, there)))
    copy: tuple[str, ...] = ()
    if any(one.differs for one in tried):
        tried, copy, mended = await cured(rehearsal, tried, say, act=choose)
        findings += mended
    findings += [finding for one in tried for finding in _variables(one, choose)]
    outside = rehearsal.workspace.checkout, rehearsal.home
    findings += [finding for one in tried for finding in red_causes(one, *outside)]
    for one in tried:
        rehearsal.record(one.spec, one.here)
    folders = {one.spec.folder for one in tried if one.spec.folder}
    timed = tuple(tried)
    if choose:
        limits = [spec.timeout for spec, _ in chosen]
        timed = tuple(
            replace(one, spec=_with_paths(_with_time(one, limit), rehearsal, folders))
            for one, limit in zip(tried, limits, strict=True)
        )
    return Compared(tried=timed, left_out=tuple(left_out), copy=copy, findings=tuple(findings))


async def _first_that_works(
    rehearsal: Rehearsal, candidate: Candidate, say: Say, choose: bool
) -> tuple[tuple[CheckSpec, Measurement] | None, str, str]:
    """The first way in which everything was collected and something passes; else the one in which most passes.

    And why the check itself was not taken, if it was not; and what would fetch what it lacks.
    """
    best: tuple[CheckSpec, Measurement] | None = None
    empty: tuple[CheckSpec, Measurement] | None = None
    first = fetch = ""
    ways = list(candidate.ways() if choose else (candidate.check,))
    package = Package(rehearsal.workspace.checkout, candidate.check.folder, lambda _name: None)
    late = 0
    while ways and late < MOST_LATE:
        way = ways.pop(0)
        if first and way.command != candidate.check.command:
            say(f"{way.name} ({way.why}) instead, in a copy of your checkout")
        spec = _patient(way) if choose else way
        (found,) = await rehearsal.in_checkout([spec])
        late += found.ended == "timeout"
        why = works(spec, found)
        if not why and not any(case.error == "CollectError" for case in found.report.cases):
            return (way, found), first, fetch
        if not why and (best is None or collected(found)[0] > collected(best[1])[0]):
            best = (way, found)
        if why and empty is None and way.kind is CheckKind.TESTS and found_none(found) and not tests_by_name(package):
            empty = (replace(way, starts_empty=True), found)
        if why and way is candidate.check:
            first, fetch = _reason(why, found), _fetch(package, way, found, choose)
        if why and choose and (fewer := without(way, configured_options(package), found.output)) is not None:
            ways = [fewer, *(other for other in ways if other.command != fewer.command)]
    if best is None and empty is not None and choose:
        return empty, "", ""
    return best, first if best is None or best[0] is not candidate.check else "", fetch


def _fetch(package: Package, way: CheckSpec, found: Measurement, choose: bool) -> str:
    """What to type for what the check lacks, by what it said."""
    if (wanted := unfetched(found.report, found.output)) is not None:
        return wanted.fetch
    if way.runner == "pytest" and (plugins := needed(found.output)):
        return f"{way.command[0]} -m pip install {' '.join(plugins)}"
    if name := lacked(found.output, declared(package)):
        return f"{way.command[0]} -m pip install {name}" if way.runner in PYTHON else "npm install"
    return _set(names, way.name, choose) if (names := wanted_variables(found)) else ""


async def _without_uncollectable(
    rehearsal: Rehearsal, taken: tuple[CheckSpec, Measurement], rounds: int = 3
) -> tuple[tuple[CheckSpec, Measurement], list[LeftOut]]:
    """Files that need what is declared and not installed are left out, and said: no change could be judged by them.

    In rounds: a file that imports one of those only says so once that one is not loaded before it.
    """
    spec, found = taken
    package = Package(rehearsal.workspace.checkout, spec.folder, lambda _name: None)
    gone = not_installed(found.report, declared(package))
    if spec.runner != "pytest" or not gone or not rounds:
        return taken, []
    inside = f"{spec.folder}/" if spec.folder else ""
    ignored = tuple(f"--ignore={path.removeprefix(inside)}" for path in gone)
    less = replace(spec, command=(*spec.command, *ignored))
    (again,) = await rehearsal.in_checkout([_patient(less)])
    if works(less, again):
        return taken, []
    said = [
        LeftOut(name=path, reason=f"cannot be collected: {name} is not installed here", fix=f"pip install {name}")
        for path, name in gone.items()
    ]
    fewer, more = await _without_uncollectable(rehearsal, (less, again), rounds - 1)
    return fewer, [*said, *more]


def _reason(why: str, found: Measurement) -> str:
    said = telling_line(found.output) if "report" in why or "exit code" in why else ""
    return clean_line(f"{why}: {said}" if said and said not in why else why)[:300]


async def _with_variables(
    rehearsal: Rehearsal,
    candidate: Candidate,
    taken: tuple[CheckSpec, Measurement] | None,
    surroundings: Mapping[str, str],
) -> tuple[tuple[CheckSpec, Measurement] | None, list[Finding]]:
    """With the user's own value of what the tests ask for, where more passes by it."""
    spec = taken[0] if taken is not None else candidate.check
    if spec.kind is not CheckKind.TESTS:
        return taken, []
    found = taken[1] if taken is not None else (await rehearsal.in_checkout([spec]))[0]
    asked = [name for name in wanted_variables(found) if name in surroundings and not secret_variable(name)]
    if not asked:
        return taken, []
    more = replace(spec, env={**spec.env, **{name: surroundings[name] for name in asked}})
    (again,) = await rehearsal.in_checkout([_patient(more)])
    if works(more, again) or collected(again)[0] <= collected(found)[0]:
        return taken, []
    words = f"{spec.name} asks for {', '.join(asked)}: taken over from your environment into its env"
    return (more, again), [Finding(mark="ok", what="variables", found=words)]


def _variables(one: Tried, choose: bool) -> Iterator[Finding]:
    """Red in both places for want of a variable: no clone is to blame, and no agent can mend it."""
    if names := wanted_variables(one.there):
        words = f"{one.spec.name}: tests that are red ask for {', '.join(names)}, and checks get no variable of yours"
        hint = _set(names, one.spec.name, choose)
        hint += ", then: devteam init --force" if hint.startswith("export") else ""
        yield Finding(mark="note", what="variables", found=words, hint=hint)


def _set(names: Sequence[str], check: str, choose: bool) -> str:
    if choose and not any(map(secret_variable, names)):
        return f"export {' '.join(f'{name}=…' for name in names)}"
    values = ", ".join(f'{name} = "…"' for name in names)
    return f'env = {{ {values} }}   in [[checks.run]] of "{check}"'


def _patient(spec: CheckSpec) -> CheckSpec:
    """While it is tried, in both places: how long it takes is only known afterwards."""
    return replace(spec, timeout=max(spec.timeout, TIMEOUT))


def _with_time(one: Tried, limit: float) -> CheckSpec:
    """Its own limit, or time enough for a machine that is busier than now."""
    took = max(one.here.seconds, one.there.seconds)
    return replace(one.spec, timeout=float(round(took * SLOW + 60, -1)) if took * SLOW > limit else limit)


def _with_paths(spec: CheckSpec, rehearsal: Rehearsal, folders: set[str]) -> CheckSpec:
    """A package's check that reads another package is needed by changes of that one too."""
    if not spec.paths:
        return spec
    others = {
        folder
        for path in rehearsal.reads.get(spec.name, ())
        for folder in folders
        if folder != spec.folder and path.startswith(f"{folder}/") and not spec.folder.startswith(f"{folder}/")
    }
    return replace(spec, paths=tuple(dict.fromkeys((*spec.paths, *(f"{folder}/**" for folder in sorted(others))))))


def told(one: Tried) -> str:
    """One check in words: how it went in both places."""
    passed, bad, idle = collected(one.there)
    took = f"{one.there.seconds:.1f} s"
    if not one.there.report.counts_tests:
        old = len(one.there.report.findings)
        known = f"; {old} finding{'s are' if old > 1 else ' is'} there already" if old else ""
        return f"works here and in a clone{known} ({took})"
    if not one.there.report.cases and one.spec.starts_empty:
        return f"works here and in a clone, and finds no tests yet: each task brings its own ({took})"
    words = f"{passed} passed"
    if idle:
        words += f", {idle} skipped"
    if bad:
        names = [case.id for case in one.there.report.cases if case.outcome in BAD]
        words += f", {bad} red already ({Path(names[0]).name}{' …' if bad > 1 else ''})"
    where = "here and in a clone" if not one.differs else f"in a clone; {len(one.differs)} more in your checkout"
    return f"{words} {where} ({took})"

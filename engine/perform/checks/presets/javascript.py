"""JavaScript and TypeScript: the runner behind `npm test`, asked for a report; tsc and eslint where configured."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from engine.core.model import CheckKind
from engine.perform.checks.presets import coverage_demands
from engine.perform.checks.presets import project_files as reading
from engine.perform.checks.presets.first_tests import FIRST, tests_by_name
from engine.perform.checks.presets.npm_scripts import MEASURING, STYLE, TYPES, Parts, bare, take_apart
from engine.perform.checks.presets.package import Candidate, Found, LeftOut, Package
from engine.perform.checks.run.spec import CheckSpec

ESLINT = (
    "eslint.config.js",
    "eslint.config.mjs",
    "eslint.config.cjs",
    "eslint.config.ts",
    ".eslintrc",
    ".eslintrc.js",
    ".eslintrc.cjs",
    ".eslintrc.json",
    ".eslintrc.yml",
    ".eslintrc.yaml",
)
NO_TESTS = 'echo "Error: no test specified" && exit 1'
"""What `npm init` writes."""
SHELL = set("|&;<>$`*?[")
EVERYWHERE = re.compile(r"--workspaces|\s-ws\b|\blerna\b|\bturbo\b|\bnx\b|pnpm (-r|--recursive)|yarn workspaces")
"""A script of the top that only runs the packages' own: those are found themselves."""
NPM_TEST = CheckSpec(
    name="npm test",
    kind=CheckKind.TESTS,
    command=("npm", "test"),
    group="tests",
    timeout=300,
    install="npm install",
    why="package.json scripts.test",
)


def detect_javascript(package: Package) -> Iterator[Found]:
    manifest = reading.as_json(package.text("package.json"))
    if not manifest:
        return
    scripts = reading.table(manifest, "scripts")
    needs = {**reading.table(manifest, "dependencies"), **reading.table(manifest, "devDependencies")}
    script = str(scripts.get("test") or "")
    spread = bool(manifest.get("workspaces")) and EVERYWHERE.search(f" {script} ")
    if script and "no test specified" not in script and not spread:
        parts = take_apart(scripts)
        yield from _tests(package, parts, needs)
        yield from _style(package, parts)
        yield from coverage_demands.of_npm(package, parts, manifest)
    elif not spread and not script.replace(NO_TESTS, "") and "typescript" not in needs and not tests_by_name(package):
        yield Candidate(check=FIRST["node"](package))
    if "typescript" in needs and package.has("tsconfig.json"):
        yield _tool(package, "tsc", lambda program: _tsc(program))
    if "eslint" in needs or "eslintConfig" in manifest or package.has(*ESLINT):
        yield _tool(package, "eslint", lambda program: _eslint(program))


def _style(package: Package, parts: Parts) -> Iterator[Found]:
    """What `npm test` holds the files to besides its tests: a change that fails there leaves `npm test` red."""
    for segment in parts.lint:
        program = (bare(segment) or [""])[0].rpartition("/")[2]
        if program not in (*STYLE, *TYPES):
            continue
        if not package.node(program):
            yield LeftOut(name=program, reason="part of npm test, but not installed here", fix="npm install")
            continue
        kind = CheckKind.TYPES if program in TYPES else CheckKind.LINT
        blank = replace(NPM_TEST, name=program, kind=kind, group="", timeout=120)
        if program.endswith("tsc"):
            told = replace(blank, parser="tsc", finding_exits=(1, 2))
            yield Candidate(check=_line(told, f"{_unpiped(segment)} --pretty false"))
        else:
            yield Candidate(check=_line(blank, _unpiped(segment)))


def _unpiped(segment: str) -> str:
    """Without what only dresses its words up: a pipe's exit code is that of its last program."""
    return segment.partition("|")[0].strip() if "||" not in segment else segment


def _tool(package: Package, name: str, make: Any) -> Found:
    program = package.node(name)
    if not program:
        return LeftOut(name=name, reason="configured, but not installed here", fix="npm install")
    spec: CheckSpec = make(program)
    return Candidate(check=spec)


def _tsc(program: str) -> CheckSpec:
    return CheckSpec(
        name="tsc",
        kind=CheckKind.TYPES,
        command=(program, "--noEmit", "--pretty", "false"),
        parser="tsc",
        finding_exits=(1, 2),
        install="npm install",
        why="tsconfig.json",
    )


def _eslint(program: str) -> CheckSpec:
    return CheckSpec(
        name="eslint",
        kind=CheckKind.LINT,
        command=(program, ".", "--format=json", "--output-file={reports}/eslint.json"),
        parser="eslint",
        report="eslint.json",
        install="npm install",
        why="eslint is configured",
    )


def _tests(package: Package, parts: Parts, needs: dict[str, Any]) -> Iterator[Candidate]:
    """The runner itself, so that it can be asked for a report; else the whole script, by TAP or by its exit code.

    Several runners one behind the other are a check each: what the first says hides nothing of the next.
    """
    tap = replace(NPM_TEST, command=("npm", "test", "--silent"), parser="tap")
    known = _numbered([spec for segment in parts.tests if (spec := _runner(package, segment, needs)) is not None])
    if len(known) < max(1, len(parts.tests)):
        tests = replace(_line(NPM_TEST, " && ".join((*parts.build, *parts.tests))), parser="tap")
        more = (tests, replace(tests, parser="exit")) if parts.tests else ()  # without the lint around them
        yield Candidate(check=NPM_TEST, better=(tap,), instead=more)
        return
    built = [after_build(spec, parts.build) if parts.build else spec for spec in known]
    whole = (tap, NPM_TEST) if len(built) == 1 else ()
    yield from (Candidate(check=spec, instead=whole) for spec in built)


def _numbered(specs: list[CheckSpec]) -> list[CheckSpec]:
    """The same runner again, with other options or files, is a check of its own."""
    names = [spec.name for spec in specs]
    before = [names[:at].count(name) for at, name in enumerate(names)]
    return [replace(spec, name=f"{spec.name} {n + 1}") if n else spec for spec, n in zip(specs, before, strict=True)]


def after_build(spec: CheckSpec, build: tuple[str, ...]) -> CheckSpec:
    """What the tests read is built first, from the sources under judgement: never somebody's old build."""
    line = spec.command[2] if spec.command[:2] == ("sh", "-c") else f"exec {shlex.join(spec.command)}"
    path = 'PATH="$PWD/node_modules/.bin:$PATH"; '
    line = path + " && ".join(f"( {step} ) >&2" for step in build) + " && { " + line.removeprefix(path) + "; }"
    return replace(spec, command=("sh", "-c", line), runner="", timeout=300)


def _runner(package: Package, segment: str, needs: dict[str, Any]) -> CheckSpec | None:
    words = bare(segment)
    program, rest = words[0].rpartition("/")[2], words[1:]
    blank = replace(NPM_TEST, name=program, timeout=120)
    match program:
        case "node" if "--test" in rest:
            node = package.node("node") or "node"
            command = (node, "--test-reporter=junit", "--test-reporter-destination={reports}/junit.xml", *rest)
            spec = replace(blank, name="node --test", command=command, version=(node, "--version"))
            return replace(_globbed(spec, segment), parser="junit", report="junit.xml", install="", runner="node")
        case "node" if needs.keys() & {"tape", "tap"}:
            speaks = "tape" if "tape" in needs else "tap"
            return replace(_line(blank, segment), name=speaks, parser="tap", runner="tape" if speaks == "tape" else "")
        case "vitest":
            kept = [word for word in rest if word not in ("run", "watch", "dev") and not word.startswith("--coverage")]
            command = (package.node("vitest") or "vitest", "run", *kept, "--reporter=default", "--reporter=junit")
            command = (*command, "--outputFile.junit={reports}/junit.xml")
            spec = _globbed(replace(blank, command=command), segment)
            return replace(spec, parser="junit", report="junit.xml", runner="vitest")
        case "jest":
            kept = [word for word in rest if not word.startswith(("--watch", "--coverage"))]
            command = (package.node("jest") or "jest", *kept, "--ci", "--coverage=false", "--json")
            command = (*command, "--outputFile={reports}/jest.json")
            spec = _globbed(replace(blank, command=command), segment)
            return replace(spec, parser="jest", report="jest.json", runner="jest")
        case "mocha":
            line = f"{_without_reporter(segment)} --reporter xunit --reporter-option output={{reports}}/junit.xml"
            return replace(_line(blank, line), parser="junit", report="junit.xml", runner="mocha")
        case "ava":
            return replace(_line(blank, f"{segment} --tap"), parser="tap")
        case "tap":
            line = " ".join((_without_reporter(segment), "--reporter=tap", *coverage_demands.tap_options(package)))
            return replace(_line(blank, line), parser="tap")
        case "tape":
            return replace(_line(blank, segment), parser="tap", runner="tape")
        case "qunit":
            return replace(_line(blank, segment), parser="tap")
        case _:
            return None


def _globbed(spec: CheckSpec, segment: str) -> CheckSpec:
    """As an argument list, unless the shell has something to do with it."""
    if not SHELL & set(re.sub(r"'[^']*'|\"[^\"]*\"", "", segment)):
        return spec
    words = " ".join(word if re.fullmatch(r"[\w@%+=:,./*?{}\[\]-]+", word) else repr(word) for word in spec.command)
    return replace(spec, command=("sh", "-c", f"exec {words}"))


def _line(spec: CheckSpec, segment: str) -> CheckSpec:
    """A shell line with the package's own programs before the machine's, as npm itself runs it."""
    if segment.startswith(MEASURING) and (words := bare(segment)):
        segment = re.sub(rf"^(?:nyc|c8)\s(?:.*?\s)??(?={re.escape(words[0])}(?:\s|$))", "", segment)
    segment = re.sub(r"\s*\|\s*(?:\S*/)?(?:tap-|faucet|colortape)\S*\s*$", "", segment)  # only dresses TAP up
    return replace(spec, command=("sh", "-c", f'PATH="$PWD/node_modules/.bin:$PATH"; {segment}'))


def _without_reporter(segment: str) -> str:
    return re.sub(r"\s(--reporter|-R)[= ]\S+", "", segment)

"""The share of covered code that a project's own test command demands: a check of its own, beside its tests.

The tests run without it. Old tests alone leave every new line uncovered, so no honest change would pass; and a change
that only the demand refuses would leave the project's own command red.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from engine.core.model import CheckKind
from engine.perform.checks.presets import project_files as reading
from engine.perform.checks.presets.npm_scripts import MEASURING, Parts, bare
from engine.perform.checks.presets.package import Candidate, Found, LeftOut, Package
from engine.perform.checks.run.spec import CheckSpec

DEMANDS = re.compile(r"\s--(?:check-coverage|100|lines|branches|functions|statements)\b")
UNDEMANDING = re.compile(r"--(?:disable-coverage|allow-incomplete-coverage|no-check-coverage|no-coverage|no-cov)\b")
TAP_COVERS, TAP_PLUGINS = 15, 18
"""Versions of tap: from the first on it demands that every line is covered; the second calls the option otherwise."""
SCRIPTS = ("js", "cjs", "mjs", "ts", "mts", "cts", "json")
THRESHOLDS = {"jest": "coverageThreshold", "vitest": "thresholds"}
ALWAYS = {
    "jest": re.compile(r"[\"']?collectCoverage[\"']?\s*:\s*true"),
    "vitest": re.compile(r"coverage\s*:\s*\{[^{}]*?enabled\s*:\s*true", re.DOTALL),
}
SETTINGS = {"jest": ("jest.config",), "vitest": ("vitest.config", "vite.config")}


def of_npm(package: Package, parts: Parts, manifest: dict[str, Any]) -> Iterator[Found]:
    """What `npm test` demands: a change whose test the script does not name leaves it red."""
    for segment in parts.tests:
        program = (bare(segment) or [""])[0].rpartition("/")[2]
        measuring = segment.split()[0] if segment.startswith(MEASURING) else ""
        if measuring and _measured(package, segment, measuring, manifest):
            if not package.node(measuring):
                yield LeftOut(name=measuring, reason="part of npm test, but not installed here", fix="npm install")
                continue
            name = measuring
        elif program == "tap" and tap_version(package) >= TAP_COVERS and not UNDEMANDING.search(f" {segment} "):
            name = "tap coverage"
        elif program in THRESHOLDS and _runner_demands(package, segment, program, manifest):
            name = f"{program} coverage"
        else:
            continue
        line = " && ".join((*(f"( {step} ) >&2" for step in parts.build), segment))
        command = ("sh", "-c", f'PATH="$PWD/node_modules/.bin:$PATH"; {line}')
        yield Candidate(check=_spec(name, command, "package.json scripts.test", "npm install"))


def _measured(package: Package, segment: str, measuring: str, manifest: dict[str, Any]) -> bool:
    if DEMANDS.search(segment):
        return True
    files = (f".{measuring}rc", f".{measuring}rc.json")
    tables = [reading.table(manifest, measuring), *(reading.as_json(package.text(name)) for name in files)]
    return any(table.get("check-coverage") or table.get("checkCoverage") for table in tables)


def _runner_demands(package: Package, segment: str, program: str, manifest: dict[str, Any]) -> bool:
    texts = [package.text(f"{name}.{end}") for name in SETTINGS[program] for end in SCRIPTS]
    own = reading.table(manifest, program)
    text = "\n".join((*texts, json.dumps(own)))
    measured = "--coverage" in segment or ALWAYS[program].search(text) is not None
    return measured and THRESHOLDS[program] in text


def tap_options(package: Package) -> tuple[str, ...]:
    """tap fails by itself where the tests leave a line uncovered."""
    version = tap_version(package)
    if version >= TAP_PLUGINS:
        return ("--disable-coverage",)
    return ("--no-check-coverage",) if version >= TAP_COVERS else ()


def tap_version(package: Package) -> int:
    said = str(reading.as_json(package.text("node_modules/tap/package.json")).get("version") or "0")
    return int(said.partition(".")[0]) if said.partition(".")[0].isdigit() else 0


def of_pytest(package: Package, python: str, options: list[str]) -> Iterator[Found]:
    """What plain `pytest` demands by its settings; `options` are those that it reads there."""
    covers = any(option.startswith("--cov") and option != "--cov-config" for option in options)
    under = any(option.startswith("--cov-fail-under") for option in options) or _fail_under(package)
    if covers and under and package.installed("pytest_cov"):
        yield Candidate(check=_spec("pytest coverage", (python, "-m", "pytest", "-q"), "pytest's configuration"))


def _fail_under(package: Package) -> bool:
    project = reading.toml(package.text("pyproject.toml"))
    if reading.table(project, "tool", "coverage", "report").get("fail_under"):
        return True
    places = ((".coveragerc", "report"), ("setup.cfg", "coverage:report"), ("tox.ini", "coverage:report"))
    return any(reading.ini(package.text(name)).get(section, {}).get("fail_under") for name, section in places)


def _spec(name: str, command: tuple[str, ...], why: str, install: str = "") -> CheckSpec:
    return CheckSpec(name=name, kind=CheckKind.LINT, command=command, timeout=300, why=why, install=install)

"""Tests that cannot be loaded or built because a dependency is not here: nobody's code can mend that."""

from __future__ import annotations

import re
from collections.abc import Collection

from engine.core.model import Struct
from engine.perform.checks.run.measure import BAD, ERROR, FAILED, IDLE, Report

SHORT = 2
ASYNC = "async def functions are not natively supported"
RUN_ASYNC = ("pytest-asyncio", "anyio", "pytest-trio", "pytest-aiohttp", "pytest-twisted", "pytest-tornasync")
FIXTURE = re.compile(r"fixture '(\w+)' not found")
FIXTURES = {
    "mocker": "pytest-mock",
    "benchmark": "pytest-benchmark",
    "httpx_mock": "pytest-httpx",
    "subtests": "pytest-subtests",
    "requests_mock": "requests-mock",
    "snapshot": "syrupy",
    "httpserver": "pytest-httpserver",
    "datadir": "pytest-datadir",
    "shared_datadir": "pytest-datadir",
    "file_regression": "pytest-regressions",
    "data_regression": "pytest-regressions",
    "freezer": "pytest-freezer",
    "aiohttp_client": "pytest-aiohttp",
    "qtbot": "pytest-qt",
    "db": "pytest-django",
    "respx_mock": "respx",
    "mpl_test_settings": "pytest-mpl",
    "faker": "faker",
    "nursery": "pytest-trio",
}
"""Of plug-ins that many projects use. It decides nothing by itself: the project has to declare the package."""
MISSING = re.compile(r"No module named '([\w.]+)'|Cannot find (?:module|package) '([^'./][^']*)'")


def not_installed(report: Report, declared: Collection[str]) -> dict[str, str]:
    """By file: the dependency that is missing.

    Only what the project declares: a module that no file has and nobody declares may be what the task is about.
    """
    found = {}
    for case in report.cases:
        if case.error == "CollectError" and (name := lacked(case.text, declared)):
            found[case.path or case.id] = name
    return found | _without_their_plugin(report, declared)


def _without_their_plugin(report: Report, declared: Collection[str]) -> dict[str, str]:
    """By file: the plug-in that all of its tests need to run at all."""
    wanted: dict[str, set[str]] = {}
    for case in report.cases:
        if case.outcome not in IDLE and case.path:
            bad = case.outcome in BAD
            wanted.setdefault(case.path, set()).add(plugin_for(case.text, declared) if bad else "")
    return {path: min(names) for path, names in wanted.items() if "" not in names}


def plugin_for(said: str, declared: Collection[str]) -> str:
    """The declared package that would run such a test, by pytest's own words; empty: none, or nobody declares it."""
    if ASYNC in said:
        return next((name for name in RUN_ASYNC if name in declared), "")
    fixture = FIXTURE.search(said)
    name = FIXTURES.get(fixture[1], "") if fixture else ""
    return name if name in declared else ""


def lacked(said: str, declared: Collection[str]) -> str:
    """The declared dependency that was not found, by what was said; empty: none, or nobody declares it."""
    if (found := MISSING.search(said)) is None:
        return ""
    module = _distribution(found[1] or found[2]).lower().replace("_", "-")
    able = (name for name in declared if _provides(name, module))
    return min(able, key=lambda name: (name != module, name), default="")


def _provides(name: str, module: str) -> bool:
    """PyYAML is imported as yaml, python-dateutil as dateutil, jaraco.text as jaraco, google-cloud-x as google."""
    if name == module or name.startswith(f"{module}."):
        return True
    alike = (f"py{module}", f"python-{module}", f"{module}-py")
    return len(module) > SHORT and (name in alike or name.startswith(f"{module}-"))


def _distribution(module: str) -> str:
    """The name something is installed by, as near as the import tells: `a.b` is a, `@x/y/z` is @x/y."""
    if module.startswith("@"):
        return "/".join(module.split("/")[:2])
    return re.split(r"[./]", module)[0]


class Unfetched(Struct, frozen=True, kw_only=True):
    """A dependency that a build tool wanted and may not fetch in the sandbox."""

    what: str
    fetch: str
    """What the user types, with the network, so that it lies in the tool's own cache."""


UNFETCHED = {
    "cargo fetch": (
        r"no matching package named `([^`]+)` found",
        r"failed to (?:download|get|load source for dependency) [`']?([\w.-]+)",
    ),
    "go mod download": (
        r"missing go\.sum entry for (?:module providing package )?(\S+)",
        r"([\w./-]+)@v\S+: .*(?:module lookup disabled|dial tcp|proxyconnect|no such host|network is)",
    ),
    # not dependency:go-offline, which leaves out what surefire fetches for the kind of tests it finds
    "mvn test": (
        r"in offline mode and the artifact (\S+) has not been downloaded",
        r"Could not (?:transfer|find) artifact (\S+)",
    ),
    "a build with the network": (r"Could not resolve (?:all files|dependencies) for (?:configuration|project) (\S+)",),
}
"""Words of the tools themselves: none of them is about code that a task could mend."""


def unfetched(report: Report, output: str = "") -> Unfetched | None:
    """Why nothing could be built: only where no test ran at all."""
    if any(case.outcome not in (ERROR, FAILED) for case in report.cases):
        return None
    for text in (*(case.text for case in report.cases if case.error == "CollectError"), output):
        for fetch, patterns in UNFETCHED.items():
            if (said := next(filter(None, (re.search(pattern, text) for pattern in patterns)), None)) is not None:
                return Unfetched(what=said[1].strip("`'\",;:"), fetch=fetch)
    return None

"""What will run the tests of a package that has none yet; and whether it has none, by the names of its files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from engine.core.model import CheckKind
from engine.globs import matches
from engine.perform.checks.presets.package import Package
from engine.perform.checks.run.spec import TEST_GLOBS, CheckSpec

SOURCES = (
    ".py",
    ".js",
    ".mjs",
    ".cjs",
    ".ts",
    ".tsx",
    ".jsx",
    ".go",
    ".rs",
    ".java",
    ".kt",
    ".sh",
    ".c",
    ".cc",
    ".cpp",
)
WHY = "no tests yet"


def tests_by_name(package: Package) -> list[Path]:
    """Whatever a runner makes of them: where there are some and it finds none, something is wrong with it."""
    found = [path for suffix in SOURCES for path in package.files(suffix)]
    return [path for path in found if matches(str(path.relative_to(package.folder)), TEST_GLOBS)]


def _pytest(package: Package) -> CheckSpec:
    python = python_of(package)
    install = f"{python} -m pip install pytest"
    return _first("pytest", (python, "-m", "pytest"), install=install)


def _unittest(package: Package) -> CheckSpec:
    return _first("unittest", (python_of(package), "-m", "unittest", "discover"))


def _node(package: Package) -> CheckSpec:
    node = package.node("node") or "node"
    options = ("--test-reporter=junit", "--test-reporter-destination={reports}/junit.xml", "--test")
    return _first("node", (node, *options), name="node --test", report="junit.xml")


FIRST: Mapping[str, Callable[[Package], CheckSpec]] = MappingProxyType(
    {"pytest": _pytest, "unittest": _unittest, "node": _node}
)
"""By the word that `devteam init --tests` takes. Go and Cargo are found by their manifests, tests or none."""


def python_of(package: Package) -> str:
    return package.python("python") or package.python("python3") or "python3"


def _first(runner: str, command: tuple[str, ...], name: str = "", report: str = "", install: str = "") -> CheckSpec:
    return CheckSpec(
        name=name or runner,
        kind=CheckKind.TESTS,
        command=command,
        parser="junit",
        report=report,
        runner=runner,
        group="tests",
        install=install,
        starts_empty=True,
        why=WHY,
    )

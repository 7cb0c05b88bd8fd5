"""Python: the project's tests, and the linters and type checkers that it configured itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.core.model import CheckKind
from engine.perform.checks.presets import coverage_demands
from engine.perform.checks.presets import project_files as reading
from engine.perform.checks.presets.package import Candidate, Found, LeftOut, Package, mentions
from engine.perform.checks.presets.python_tests import configured_options, python_tests
from engine.perform.checks.run.spec import CheckSpec

MANIFESTS = ("pyproject.toml", "setup.cfg", "setup.py", "requirements.txt", "tox.ini", "pytest.ini")
DECLARED = ("pyproject.toml", "setup.cfg", "setup.py", "tox.ini", "Pipfile", "noxfile.py", ".pre-commit-config.yaml")
NOT_SHIPPED = "*/test_*.py,*/*_test.py,*/tests/*,*/test/*,*/testing/*,*/conftest.py,./.venv,./venv,./node_modules"
"""Tests assert, start programs and write down passwords: a security lint of them refuses honest work."""


def detect_python(package: Package) -> Iterator[Found]:
    if not package.files(".py") and not package.has(*MANIFESTS):
        return
    wanted = mentions(package, *DECLARED)
    python = package.python("python") or package.python("python3") or "python3"
    yield from python_tests(package, python, wanted)
    yield from coverage_demands.of_pytest(package, python, configured_options(package))
    project = reading.toml(package.text("pyproject.toml"))
    if reading.table(project, "tool", "ruff") or package.has("ruff.toml", ".ruff.toml") or "ruff" in wanted:
        yield _tool(package, "ruff", _ruff)
    yield from _types(package, wanted, project)
    if reading.table(project, "tool", "bandit") or package.has(".bandit", "bandit.yaml") or "bandit" in wanted:
        yield _tool(package, "bandit", lambda program: _bandit(program, bool(reading.table(project, "tool", "bandit"))))


def _tool(package: Package, name: str, make: Any) -> Found:
    """A tool that the project configures and this machine does not have is left out, and said."""
    program = package.python(name)
    if not program:
        return LeftOut(name=name, reason="configured, but not installed here", fix=f"pip install {name}")
    spec: CheckSpec = make(program)
    return Candidate(check=spec)


def _ruff(program: str) -> CheckSpec:
    options = ("--no-cache", "--output-format=json", "--output-file={reports}/ruff.json")
    return CheckSpec(
        name="ruff",
        kind=CheckKind.LINT,
        command=(program, "check", *options, "."),
        parser="ruff",
        report="ruff.json",
        install="pip install ruff",
        version=(program, "--version"),
        why="ruff is configured",
    )


def _bandit(program: str, configured: bool) -> CheckSpec:
    own = ("-c", "pyproject.toml") if configured else ()
    return CheckSpec(
        name="bandit",
        kind=CheckKind.SECURITY,
        command=(program, "-q", "-r", ".", *own, "-f", "json", "-o", "{reports}/bandit.json", "-x", NOT_SHIPPED),
        parser="bandit",
        report="bandit.json",
        install="pip install bandit",
        version=(program, "--version"),
        why="bandit is configured",
    )


def _types(package: Package, wanted: str, project: dict[str, Any]) -> Iterator[Found]:
    config = reading.table(project, "tool", "mypy")
    if config or package.has("mypy.ini", ".mypy.ini") or "mypy" in reading.ini(package.text("setup.cfg")):
        targets = () if _names_files(package, config) else _sources(package)
        yield _tool(package, "mypy", lambda program: _mypy(program, targets))
    elif package.has("pyrightconfig.json") or reading.table(project, "tool", "pyright"):
        yield _tool(package, "pyright", _pyright)
    elif "mypy" in wanted.split():
        yield _tool(package, "mypy", lambda program: _mypy(program, _sources(package)))


def _names_files(package: Package, config: dict[str, Any]) -> bool:
    sections = [config]
    sections += [reading.ini(package.text(name)).get("mypy", {}) for name in ("mypy.ini", ".mypy.ini", "setup.cfg")]
    return any(section.get(key) for section in sections for key in ("files", "packages", "modules"))


def _mypy(program: str, targets: tuple[str, ...]) -> CheckSpec:
    return CheckSpec(
        name="mypy",
        kind=CheckKind.TYPES,
        command=(program, "--output=json", "--cache-dir={reports}/mypy", *targets),
        parser="mypy",
        finding_exits=(1, 2),
        install="pip install mypy",
        version=(program, "--version"),
        why="mypy is configured",
    )


def _pyright(program: str) -> CheckSpec:
    return CheckSpec(
        name="pyright",
        kind=CheckKind.TYPES,
        command=(program, "--outputjson"),
        parser="pyright",
        install="pip install pyright",
        why="pyright is configured",
    )


def _sources(package: Package) -> tuple[str, ...]:
    folder = package.folder
    if (folder / "src").is_dir():
        return ("src",)
    named = sorted(path.parent.name for path in folder.glob("*/__init__.py"))
    return tuple(name for name in named if name not in ("tests", "test", "testing")) or (".",)

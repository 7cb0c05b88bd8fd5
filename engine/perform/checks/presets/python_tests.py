"""How a Python project's tests are run: its own command first, then what its test files and its runner say."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from engine.core.model import CheckKind
from engine.perform.checks.presets import project_files as reading
from engine.perform.checks.presets.compiled import make_tests
from engine.perform.checks.presets.first_tests import FIRST
from engine.perform.checks.presets.own_commands import own_commands, script_of
from engine.perform.checks.presets.package import Candidate, Package
from engine.perform.checks.presets.runner_lines import Own
from engine.perform.checks.run.spec import CheckSpec

DROPPED = ("--cov", "--no-cov", "--junit", "--html", "--self-contained", "--numprocesses", "--dist", "--durations",
           "--color", "--tb", "--maxfail", "--exitfirst", "--verbose", "--quiet", "--reruns", "--benchmark",
           "--capture=no")  # fmt: skip
"""Options that shape the output, the pace or the coverage: not what is tested."""
DROPPED_SHORT = re.compile(r"-(v+|q+|x|s|n\d*|nauto|r\w*|l)$")
TAKES_VALUE = ("-k", "-m", "-p", "-o", "-c", "-W", "--ignore", "--deselect", "--rootdir", "--import-mode")
OTHER_MANIFESTS = ("package.json", "go.mod", "Cargo.toml", "pom.xml", "build.gradle", "CMakeLists.txt", "Makefile")
"""What such a project has for tests, if anything, is not in Python."""
EXAMPLES = re.compile(r"^\s*>>> ", re.MULTILINE)


def python_tests(package: Package, python: str, wanted: str) -> list[Candidate]:
    """One candidate a test command; the last resorts are with the first."""
    tests = [path for path in package.files(".py") if is_test(path)]
    own = own_commands(package)
    found = [
        replace(spec, env=one.env)
        for number, one in enumerate(own)
        if (spec := _own(package, python, one, number)) is not None
    ]
    # Two lines of the project may differ in what is shown only: one check, by its first name.
    found = list({(spec.command, *sorted(spec.env.items())): spec for spec in reversed(found)}.values())[::-1]
    ways = list(_ways(package, python, tests, wanted))
    if not found and not ways:
        return []
    ways += [bare for spec in (*found[:1], *ways) if (bare := _without_plugins(package, spec)) is not None]
    ways += [*_beside_source(package, (*found[:1], *ways)), *make_tests(package)]
    if not found:
        return [Candidate(check=ways[0], instead=tuple(ways[1:]))]
    first, *more = found
    known = {(spec.command, *sorted(spec.env.items())) for spec in (first, replace(first, env={}), *more)}
    unset = [replace(first, env={})] if first.env else []  # its variables may point at somebody's server
    instead = (*unset, *(way for way in ways if (way.command, *sorted(way.env.items())) not in known))
    return [Candidate(check=first, instead=instead), *(Candidate(check=spec) for spec in more)]


def _beside_source(package: Package, ways: Sequence[CheckSpec]) -> list[CheckSpec]:
    """Where the package lies in src/ and is not installed: each way once more, with the sources on the path."""
    if not any((package.folder / "src").glob("*")):
        return []
    return [replace(spec, env={"PYTHONPATH": "src"}) for spec in ways if "PYTHONPATH" not in spec.env]


def is_test(path: Path) -> bool:
    return path.name.startswith("test") or path.stem.endswith(("_test", "_tests"))


def _own(package: Package, python: str, own: Own, number: int) -> CheckSpec | None:
    own = replace(own, args=_from_the_top(own, package.folder)) if (package.folder / own.folder).is_dir() else own
    match own.kind:
        case "pytest":
            args = clean_arguments(own.args, package.folder)
            doctests = any("doctest" in arg for arg in args)
            name = "pytest" if not number else "doctests" if doctests else f"pytest {number + 1}"
            return _pytest(package, python, args, own.where, name)
        case "unittest":
            name = "unittest" if not number else f"unittest {number + 1}"
            return _unittest(python, own.args, own.where, name)
        case "django":
            return _django(python, own.args, own.where) if not number else None
        case _:
            return _script(python, own.args, own.where) if not number else None


def _from_the_top(own: Own, top: Path) -> tuple[str, ...]:
    """The arguments of a command that is run in a folder, as they are at the top, where checks start."""
    if not own.folder:
        return own.args
    paths = {
        arg for arg in own.args if not arg.startswith("-") and (top / own.folder / arg.partition("::")[0]).exists()
    }
    placed = tuple(os.path.normpath(f"{own.folder}/{arg}") if arg in paths else arg for arg in own.args)
    match own.kind:
        case "unittest" if own.args[:1] in ((), ("discover",)) and not {"-s", "-t"} & set(own.args):
            return ("discover", "-s", *(placed[1:] if paths else (own.folder, *own.args[1:])))
        case "pytest" if not any((top / arg.partition("::")[0]).exists() for arg in placed if arg[:1] not in ("-", "")):
            return (*placed, own.folder)
        case _:
            return placed


def clean_arguments(args: tuple[str, ...], folder: Path) -> tuple[str, ...]:
    """What is tested, without how it is shown; paths that are not there are somebody's variables."""
    kept: list[str] = []
    pending = list(args)
    while pending:
        arg = pending.pop(0)
        if arg.startswith(("{", "$")) or "$" in arg or "{" in arg:
            continue
        if arg == "-n":
            pending = pending[1:]
        elif arg.startswith(DROPPED) or DROPPED_SHORT.match(arg):
            if arg in ("--durations", "--tb", "--color", "--maxfail", "--dist", "--cov-report", "--cov-config"):
                pending = pending[1:]
        elif arg in TAKES_VALUE:
            kept += [arg, *pending[:1]]
            pending = pending[1:]
        elif arg.startswith("-") or "--pyargs" in args or (folder / arg.partition("::")[0]).exists():
            kept.append(arg)
    return tuple(kept)


def _ways(package: Package, python: str, tests: list[Path], wanted: str) -> Iterator[CheckSpec]:
    """What to try where the project names no command, in order."""
    texts = {path: reading.text(path) for path in tests[:200]}
    cases = [path for path, text in texts.items() if "unittest" in text and "TestCase" in text]
    if package.has("manage.py") and "django" in package.text("manage.py") and "pytest-django" not in wanted:
        yield _django(python, (), "manage.py")
    uses_pytest = "pytest" in wanted or package.has("pytest.ini", "conftest.py", "tests/conftest.py")
    plain = any(re.search(r"^(?:async )?def test", text, re.MULTILINE) for text in texts.values())
    pytest_first = uses_pytest or not cases or plain
    if tests and pytest_first:
        yield _pytest(package, python, (), "test files")
    if cases:
        yield from _discoveries(package, python, cases)
    if tests and not pytest_first:
        yield _pytest(package, python, (), "test files")
    if script := script_of(package):
        yield _script(python, (script,), script)
    if not tests:
        sources = [path for path in package.files(".py") if EXAMPLES.search(reading.text(path))]
        targets = tuple(dict.fromkeys(path.relative_to(package.folder).parts[0] for path in sources))
        if sources:  # whole first: the first test file that somebody adds is then run, too
            yield _pytest(package, python, ("--doctest-modules",), "examples in docstrings")
            yield _pytest(package, python, ("--doctest-modules", *targets), f"examples in docstrings of {targets[0]}")
        elif _declares_pytest(package):
            yield _pytest(package, python, (), "pytest's configuration")
        elif package.files(".py") and not package.has(*OTHER_MANIFESTS):
            yield FIRST["pytest"](package)


def _declares_pytest(package: Package) -> bool:
    project = reading.toml(package.text("pyproject.toml"))
    return bool(
        reading.table(project, "tool", "pytest", "ini_options")
        or package.has("pytest.ini")
        or "tool:pytest" in reading.ini(package.text("setup.cfg"))
    )


def _discoveries(package: Package, python: str, cases: list[Path]) -> Iterator[CheckSpec]:
    """unittest's discovery wants to be told where: the folders that hold test cases, topmost first."""
    folders = sorted({path.parent for path in cases}, key=lambda path: (len(path.parts), str(path)))
    top = folders[0]
    pattern = () if any(path.name.startswith("test") for path in cases) else ("-p", f"*{cases[0].stem[-5:]}.py")
    relative = str(top.relative_to(package.folder))
    where = () if relative == "." else ("-s", relative)
    packaged = top != package.folder and (top / "__init__.py").is_file()
    if packaged:
        yield _unittest(python, ("discover", *where, "-t", ".", *pattern), "test files")
    yield _unittest(python, ("discover", *where, *pattern), "test files")


def _pytest(package: Package, python: str, args: tuple[str, ...], where: str, name: str = "pytest") -> CheckSpec:
    options = configured_options(package)
    extra: list[str] = []
    if any(option.startswith("--cov") for option in options) and package.installed("pytest_cov") is not False:
        extra.append("--no-cov")
    if any(option.startswith(("-n", "--numprocesses", "--dist")) for option in options):
        extra += ["-n", "0"]
    return CheckSpec(
        name=name,
        kind=CheckKind.TESTS,
        command=(python, "-m", "pytest", *args, *extra),
        parser="junit",
        runner="pytest",
        group="tests",
        install=f"{python} -m pip install pytest",
        why=where,
    )


def _without_plugins(package: Package, spec: CheckSpec) -> CheckSpec | None:
    """addopts that ask for coverage or parallel runs, where the plug-in is not installed: without those options."""
    options = configured_options(package)
    kept = clean_arguments(tuple(options), package.folder)
    if spec.runner != "pytest" or len(kept) == len(options):
        return None
    dropped = ("--no-cov", "-n", "0")
    command = tuple(word for word in spec.command if word not in dropped)
    why = f"{spec.why}, without options of plug-ins that are not installed"
    return replace(spec, command=(*command, "-o", f"addopts={shlex.join(kept)}"), why=why)


def configured_options(package: Package) -> list[str]:
    """addopts, wherever pytest reads them."""
    project = reading.toml(package.text("pyproject.toml"))
    added = reading.table(project, "tool", "pytest", "ini_options").get("addopts", "")
    texts = [" ".join(map(str, added)) if isinstance(added, list) else str(added)]
    for name, section in (("pytest.ini", "pytest"), ("tox.ini", "pytest"), ("setup.cfg", "tool:pytest")):
        texts.append(reading.ini(package.text(name)).get(section, {}).get("addopts", ""))
    try:
        return shlex.split(" ".join(texts))
    except ValueError:
        return " ".join(texts).split()


def _unittest(python: str, args: tuple[str, ...], where: str, name: str = "unittest") -> CheckSpec:
    kept = tuple(arg for arg in args if arg not in ("-v", "--verbose", "-q", "--quiet", "-f", "--failfast", "-b"))
    return CheckSpec(
        name=name,
        kind=CheckKind.TESTS,
        command=(python, "-m", "unittest", *(kept or ("discover",))),
        parser="junit",
        runner="unittest",
        group="tests",
        why=where,
    )


def _django(python: str, args: tuple[str, ...], where: str) -> CheckSpec:
    kept = tuple(arg for arg in args if re.match(r"--(settings|tag|exclude-tag|pattern)=|[A-Za-z_][\w.]*$", arg))
    return CheckSpec(
        name="manage.py test",
        kind=CheckKind.TESTS,
        command=(python, "manage.py", "test", *kept),
        parser="junit",
        runner="django",
        group="tests",
        install=f"{python} -m pip install django",
        why=where,
    )


def _script(python: str, args: tuple[str, ...], where: str) -> CheckSpec:
    return CheckSpec(name="test script", kind=CheckKind.TESTS, command=(python, *args), group="tests", why=where)

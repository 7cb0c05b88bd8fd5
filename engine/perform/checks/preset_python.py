"""Python: pytest or unittest, ruff, mypy or pyright, bandit or ruff's S rules."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path

from engine.core.model import CheckKind
from engine.perform.checks import reading
from engine.perform.checks.spec import CheckSpec

MANIFESTS = ("pyproject.toml", "setup.cfg", "setup.py", "requirements.txt", "tox.ini", "pytest.ini")
VENVS = (".venv", "venv", "env")
PRUNED = {".git", "node_modules", "build", "dist", "target", *VENVS}


def detect_python(folder: Path, which: Callable[[str], str | None]) -> list[CheckSpec]:
    sources = list(islice(python_files(folder), 400))
    if not sources and not any((folder / name).is_file() for name in MANIFESTS):
        return []
    wanted = _mentions(folder)
    find = _finder(folder, which)
    python = find("python") or find("python3") or "python3"
    tests = [path for path in sources if path.name.startswith("test") or path.stem.endswith("_test")]
    specs: list[CheckSpec] = []
    if tests:
        specs.append(_tests(folder, python, tests, wanted))
    pyproject = reading.toml(reading.text(folder / "pyproject.toml"))
    ruff_config = reading.table(pyproject, "tool", "ruff") or any(
        (folder / n).is_file() for n in ("ruff.toml", ".ruff.toml")
    )
    ruff = find("ruff")
    if ruff_config or "ruff" in wanted:
        specs.append(
            CheckSpec(
                name="ruff",
                kind=CheckKind.LINT,
                command=(
                    ruff or "ruff",
                    "check",
                    "--no-cache",
                    "--output-format=json",
                    "--output-file={reports}/ruff.json",
                    ".",
                ),
                parser="ruff",
                report="ruff.json",
                install="pip install ruff",
                version=(ruff or "ruff", "--version"),
            )
        )
    specs += _types(folder, find, wanted, pyproject)
    bandit = find("bandit")
    if "bandit" in wanted or reading.table(pyproject, "tool", "bandit"):
        specs.append(
            CheckSpec(
                name="bandit",
                kind=CheckKind.SECURITY,
                command=(
                    bandit or "bandit",
                    "-q",
                    "-r",
                    ".",
                    "-f",
                    "json",
                    "-o",
                    "{reports}/bandit.json",
                    "-x",
                    "./tests,./test,./.venv,./venv,./node_modules",
                ),
                parser="bandit",
                report="bandit.json",
                install="pip install bandit",
                version=(bandit or "bandit", "--version"),
            )
        )
    elif ruff and (ruff_config or "ruff" in wanted):
        specs.append(
            CheckSpec(
                name="ruff security",
                kind=CheckKind.SECURITY,
                command=(
                    ruff,
                    "check",
                    "--no-cache",
                    "--select=S",
                    "--output-format=json",
                    "--output-file={reports}/security.json",
                    "--extend-exclude=tests,test",
                    ".",
                ),
                parser="ruff",
                report="security.json",
                install="pip install ruff",
            )
        )
    return specs


def _tests(folder: Path, python: str, tests: list[Path], wanted: str) -> CheckSpec:
    uses_pytest = "pytest" in wanted or (folder / "pytest.ini").is_file() or any(p.name == "conftest.py" for p in tests)
    if not uses_pytest:
        texts = [reading.text(path) for path in tests[:50]]
        uses_pytest = not any("unittest" in text and "TestCase" in text for text in texts)
    if not uses_pytest:
        where: tuple[str, ...] = ("-s", "tests") if (folder / "tests").is_dir() else ()
        if (folder / "tests" / "__init__.py").is_file():
            where = (*where, "-t", ".")
        return CheckSpec(
            name="unittest",
            kind=CheckKind.TESTS,
            command=(python, "-m", "unittest", "discover", *where),
            parser="junit",
            runner="unittest",
            group="tests",
        )
    return CheckSpec(
        name="pytest",
        kind=CheckKind.TESTS,
        command=(python, "-m", "pytest"),
        parser="junit",
        runner="pytest",
        group="tests",
        coverage="pytest-cov" in wanted and _installed(folder, "pytest_cov"),
        install=f"{python} -m pip install pytest",
    )


def _types(
    folder: Path, find: Callable[[str], str | None], wanted: str, pyproject: dict[str, object]
) -> Iterable[CheckSpec]:
    mypy_config = reading.table(pyproject, "tool", "mypy") or any(
        (folder / n).is_file() for n in ("mypy.ini", ".mypy.ini")
    )
    if mypy_config or "mypy" in wanted or "mypy" in reading.ini(reading.text(folder / "setup.cfg")):
        config = reading.table(pyproject, "tool", "mypy")
        targets = () if config.get("files") or config.get("packages") or config.get("modules") else _packages(folder)
        mypy = find("mypy") or "mypy"
        yield CheckSpec(
            name="mypy",
            kind=CheckKind.TYPES,
            command=(mypy, "--output=json", "--cache-dir={reports}/mypy", *targets),
            parser="mypy",
            finding_exits=(1, 2),
            install="pip install mypy",
            version=(mypy, "--version"),
        )
    elif (
        (folder / "pyrightconfig.json").is_file() or reading.table(pyproject, "tool", "pyright") or "pyright" in wanted
    ):
        yield CheckSpec(
            name="pyright",
            kind=CheckKind.TYPES,
            command=(find("pyright") or "pyright", "--outputjson"),
            parser="pyright",
            install="pip install pyright",
        )


def python_files(folder: Path) -> Iterable[Path]:
    """*.py files, breadth first, without environments and builds."""
    pending = [folder]
    while pending:
        here = pending.pop(0)
        try:
            entries = sorted(here.iterdir())
        except OSError:
            continue
        for entry in entries:
            if entry.is_symlink():
                continue
            if entry.is_dir():
                if (
                    entry.name not in PRUNED
                    and not entry.name.startswith(".")
                    and len(entry.relative_to(folder).parts) < 7
                ):
                    pending.append(entry)
            elif entry.suffix == ".py":
                yield entry


def _mentions(folder: Path) -> str:
    """Names of tools in the places where a project declares them, as one text."""
    names = ("pyproject.toml", "setup.cfg", "setup.py", "tox.ini", "Pipfile", "noxfile.py", ".pre-commit-config.yaml")
    declared = (
        [folder / name for name in names]
        + sorted(folder.glob("*requirements*.txt"))
        + sorted(folder.glob("requirements/*.txt"))
    )
    found = " ".join(re.sub(r"#.*", "", reading.text(path)) for path in declared)
    return " ".join(dict.fromkeys(re.findall(r"[a-z][a-z-]+", found.lower().replace("_", "-"))))


def _packages(folder: Path) -> tuple[str, ...]:
    if (folder / "src").is_dir():
        return ("src",)
    named = tuple(
        sorted(path.parent.name for path in folder.glob("*/__init__.py") if path.parent.name not in ("tests", "test"))
    )
    return named or (".",)


def _finder(folder: Path, which: Callable[[str], str | None]) -> Callable[[str], str | None]:
    def find(program: str) -> str | None:
        for venv in VENVS:
            here = folder / venv / "bin" / program
            if here.exists():
                return str(here)
        return which(program)

    return find


def _installed(folder: Path, package: str) -> bool:
    return any(True for venv in VENVS for _ in folder.glob(f"{venv}/lib/python*/site-packages/{package}"))

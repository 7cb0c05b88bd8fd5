"""From a CheckSpec to the argument list that is really started: report paths, the witness shim, selected tests."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from engine.core.model import CheckKind, Struct
from engine.perform.checks import witness
from engine.perform.checks.spec import CheckSpec

DROPPED_ENV = (
    "PYTEST_ADDOPTS",
    "PYTEST_PLUGINS",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "PYTHONHOME",
    "NODE_OPTIONS",
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "MAKEFLAGS",
    "GOFLAGS",
    "RUSTFLAGS",
    "MYPYPATH",
    "BASH_ENV",
    "ENV",
)
"""Variables that steer a check from outside; a spec's own `env` may set them, the surroundings may not."""

VALUE_OPTIONS = (
    "-c",
    "-p",
    "-o",
    "-m",
    "-k",
    "-W",
    "-n",
    "--rootdir",
    "--confcutdir",
    "--ignore",
    "--ignore-glob",
    "--cov",
)
SHELL_SIGNS = frozenset("|&;<>()$`\n*?[#~=%!{}")
MANY_IDS = 300


class Prepared(Struct, frozen=True, kw_only=True):
    argv: tuple[str, ...]
    reports: Path
    stdin: bytes | None = None
    account: Path | None = None
    report: Path | None = None
    coverage: Path | None = None


def check_env(spec: CheckSpec, surroundings: Mapping[str, str], cache: Path) -> dict[str, str]:
    """No bytecode is written: a poisoned cache of one attempt must not be believed in the next."""
    env = {name: value for name, value in surroundings.items() if name not in DROPPED_ENV}
    own = {name: value.replace("{cache}", str(cache)) for name, value in spec.env.items()}
    return env | {"PYTHONDONTWRITEBYTECODE": "1", "NO_COLOR": "1", "CI": "1", **own}


def prepare(
    spec: CheckSpec,
    reports: Path,
    room: Path,
    checkout: Path,
    key: bytes,
    ids: Sequence[str] | None = None,
    stop_early: bool = False,
) -> Prepared:
    """Writes the shim into `reports` where there is one; starts nothing."""
    command = tuple(part.replace("{reports}", str(reports)).replace("{tree}", str(room)) for part in spec.command)
    report = reports / spec.report if spec.report else None
    if not spec.runner:
        return Prepared(reports=reports, argv=command, report=report)
    shim, account = reports / f"{spec.runner}_witness.py", reports / "account"
    shim.write_bytes(witness.source(spec.runner))
    python, args = runner_arguments(command)
    start = (python, str(shim), str(account))
    told = key + os.fsencode(checkout)
    if spec.runner == "unittest":
        return Prepared(reports=reports, argv=(*start, *(ids or args)), stdin=told, account=account)
    junit = reports / "junit.xml"
    if ids is not None:
        chosen = list(ids) if len(ids) <= MANY_IDS else list(dict.fromkeys(id.partition("::")[0] for id in ids))
        args = (*_options(args, room), *chosen)
    own = [
        f"--junitxml={junit}",
        "-o",
        "junit_family=xunit2",
        "-o",
        f"cache_dir={reports / 'cache'}",
        "--continue-on-collection-errors",
        f"--maxfail={1 if stop_early else 0}",
        "--color=no",
    ]
    coverage = None
    if spec.coverage and ids is None:
        coverage = reports / "coverage.json"
        own += ["--cov", f"--cov-report=json:{coverage}"]
    return Prepared(
        reports=reports, argv=(*start, *args, *own), stdin=told, account=account, report=junit, coverage=coverage
    )


def runner_arguments(command: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """(interpreter, the runner's own arguments) of `python -m pytest …` or `…/bin/pytest …`."""
    if len(command) >= 3 and command[1] == "-m":
        return command[0], tuple(command[3:])
    program = Path(command[0])
    beside = program.with_name("python")
    return (str(beside) if program.parent != Path() else "python3"), tuple(command[1:])


def _options(args: Sequence[str], room: Path) -> list[str]:
    """The arguments without the paths they select: a re-run names its own."""
    kept: list[str] = []
    for index, arg in enumerate(args):
        value_of = args[index - 1] if index else ""
        if not arg.startswith("-") and value_of not in VALUE_OPTIONS and (room / arg.partition("::")[0]).exists():
            continue
        kept.append(arg)
    return kept


def adopt(
    command: str,
    *,
    name: str = "",
    kind: CheckKind = CheckKind.OWN,
    strict: bool = False,
    timeout: float = 120.0,
    required: bool = True,
    network: bool = False,
) -> CheckSpec:
    """A command of the config or of a task's `verify` as a spec. Tools that offer a report are asked for it."""
    label = name or (command if len(command) <= 60 else command[:59] + "…")
    base = CheckSpec(
        name=label,
        kind=kind,
        command=("sh", "-c", command),
        strict=strict,
        timeout=timeout,
        required=required,
        network=network,
    )
    try:
        words = shlex.split(command)
    except ValueError:
        return base
    if not words or SHELL_SIGNS & set(command.replace("::", "").replace("=", "")):
        return base
    from msgspec.structs import replace

    program, version = Path(words[0]).name, (words[0], "--version")
    module = words[2] if len(words) > 2 and words[1] == "-m" and program.startswith("python") else ""
    if program in ("pytest", "py.test") or module == "pytest":
        return replace(base, command=tuple(words), runner="pytest", parser="junit", install="pip install pytest")
    if module == "unittest":
        return replace(base, command=tuple(words), runner="unittest", parser="junit")
    if program == "ruff" and words[1:2] == ["check"] and not any(w.startswith("--output-format") for w in words):
        extra = ("--output-format=json", "--output-file={reports}/ruff.json", "--no-cache")
        return replace(base, command=(*words, *extra), parser="ruff", report="ruff.json", version=version)
    if program == "mypy" or module == "mypy":
        options = ("--output=json", "--cache-dir={reports}/mypy")
        return replace(base, command=(*words, *options), parser="mypy", finding_exits=(1, 2), version=version)
    return replace(base, command=tuple(words))

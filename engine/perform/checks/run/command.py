"""A command of the configuration or of a plan as a CheckSpec, and the environment checks run in."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

from engine.core.model import CheckKind
from engine.perform.checks.run.spec import CheckSpec

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
    "CI",
    "NO_COLOR",
    "PYTHONDONTWRITEBYTECODE",
)
"""Variables that steer a check from outside; a spec's own `env` may set them, the surroundings may not."""

SHELL_SIGNS = frozenset("|&;<>()$`\n*?[#~=%!{}")


def check_env(spec: CheckSpec, surroundings: Mapping[str, str], cache: Path, reports: Path) -> dict[str, str]:
    """Nothing in it tells the subject that it is judged. Byte code is written as ever: each run fills its room anew."""
    env = {name: value for name, value in surroundings.items() if name not in DROPPED_ENV}
    places = (("{cache}", str(cache)), ("{reports}", str(reports)))
    own = dict(spec.env)
    for word, place in places:
        own = {name: value.replace(word, place) for name, value in own.items()}
    return env | own


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
    if program.startswith("python") and words[1:3] == ["manage.py", "test"]:
        return replace(base, command=tuple(words), runner="django", parser="junit")
    if program == "ruff" and words[1:2] == ["check"] and not any(w.startswith("--output-format") for w in words):
        extra = ("--output-format=json", "--output-file={reports}/ruff.json", "--no-cache")
        return replace(base, command=(*words, *extra), parser="ruff", report="ruff.json", version=version)
    if program == "mypy" or module == "mypy":
        options = ("--output=json", "--cache-dir={reports}/mypy")
        return replace(base, command=(*words, *options), parser="mypy", finding_exits=(1, 2), version=version)
    if program == "node" and "--test" in words:
        return replace(base, command=tuple(words), runner="node", version=version)
    if program == "go" and words[1:2] == ["test"]:
        return replace(base, command=tuple(words), runner="go", parser="go", version=(words[0], "version"))
    if program in ("jest", "vitest", "mocha") and "/" in words[0]:
        return replace(base, command=tuple(words), runner=program, version=version)
    return replace(base, command=tuple(words))

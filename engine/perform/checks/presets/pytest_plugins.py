"""Plug-ins of pytest that a project's options need and that are not installed: their names, and how to go without."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from msgspec.structs import replace

from engine.perform.checks.run.spec import CheckSpec

PLUGINS = {
    "--asyncio-": "pytest-asyncio", "--benchmark": "pytest-benchmark", "--black": "pytest-black",
    "--check-links": "pytest-check-links", "--codspeed": "pytest-codspeed", "--cov": "pytest-cov",
    "--disable-socket": "pytest-socket", "--dist": "pytest-xdist", "--doctest-plus": "pytest-doctestplus",
    "--doctest-rst": "pytest-doctestplus", "--ds": "pytest-django", "--flake8": "pytest-flake8",
    "--html": "pytest-html", "--hypothesis-": "hypothesis", "--isort": "pytest-isort", "--memray": "pytest-memray",
    "--mpl": "pytest-mpl", "--mypy": "pytest-mypy", "--nbval": "nbval", "--no-cov": "pytest-cov",
    "--numprocesses": "pytest-xdist",
    "--pylint": "pytest-pylint", "--random-order": "pytest-random-order", "--randomly-": "pytest-randomly",
    "--reruns": "pytest-rerunfailures", "--ruff": "pytest-ruff", "--self-contained-html": "pytest-html",
    "--snapshot": "syrupy", "--timeout": "pytest-timeout", "--typeguard-packages": "typeguard",
    "--xdoctest": "xdoctest", "-n": "pytest-xdist",
}  # fmt: skip
"""The beginning of an option, and the package that brings it."""
ADDOPTS = "addopts="
_UNKNOWN = re.compile(r"error: unrecognized arguments: (.+)")
_PLUGIN = re.compile(r'Error importing plugin "([\w.]+)": No module named \'\1')
_REQUIRED = re.compile(r"[Mm]issing required plugins: (.+)")


def unrecognized(said: str) -> tuple[str, ...]:
    """The options that pytest did not know, or a plug-in by its name that it could not load."""
    if found := _PLUGIN.search(said):
        return ("-p", found[1])
    found = _UNKNOWN.search(said)
    return tuple(found[1].split()) if found else ()


def needed(said: str) -> tuple[str, ...]:
    """The packages that would bring what pytest asked for, as far as they are known."""
    if found := _REQUIRED.search(said):
        return tuple(re.split(r"[<>=!~ ,]", name.strip())[0] for name in found[1].split(",") if name.strip())
    brought = (
        next((name for start, name in PLUGINS.items() if word.startswith(start)), "") for word in unrecognized(said)
    )
    return tuple(dict.fromkeys(name for name in brought if name))


def _less(words: Sequence[str], unknown: Sequence[str]) -> list[str]:
    """A plug-in goes with the -p before it; every other word by itself."""
    if unknown[:1] == ("-p",):
        at = [
            place for place, word in enumerate(words) if word == unknown[1] and list(words[place - 1 : place]) == ["-p"]
        ]
        gone = {place for found in at for place in (found - 1, found)}
        joined = f"-p{unknown[1]}"
        return [word for place, word in enumerate(words) if place not in gone and word != joined]
    return [word for word in words if word not in unknown]


def without(spec: CheckSpec, options: Sequence[str], said: str) -> CheckSpec | None:
    """The check without the options that pytest does not know; None where that is not what was wrong.

    `options`: addopts of the project's settings, which are given anew then.
    """
    unknown = unrecognized(said)
    addopts = next((word for word in spec.command if word.startswith(ADDOPTS)), "")
    given = shlex.split(addopts.removeprefix(ADDOPTS)) if addopts else list(options)
    kept = _less(given, unknown)
    command = tuple(_less(spec.command, unknown))
    if spec.runner != "pytest" or (len(kept) == len(given) and len(command) == len(spec.command)):
        return None
    if addopts:
        command = tuple(ADDOPTS + shlex.join(kept) if word == addopts else word for word in command)
    elif len(kept) < len(given):
        command = (*command, "-o", ADDOPTS + shlex.join(kept))
    return replace(spec, command=command, why=f"{spec.why}, without {' '.join(unknown)[:100]}")

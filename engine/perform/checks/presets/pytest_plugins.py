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
_UNKNOWN = re.compile(r"error: unrecognized arguments: (.+)")
_REQUIRED = re.compile(r"[Mm]issing required plugins: (.+)")


def unrecognized(said: str) -> tuple[str, ...]:
    """The options that pytest did not know."""
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


def without(spec: CheckSpec, options: Sequence[str], said: str) -> CheckSpec | None:
    """The check without the options that pytest does not know; None where that is not what was wrong.

    `options`: addopts of the project's settings, which are given anew then.
    """
    unknown = unrecognized(said)
    if spec.runner != "pytest" or not unknown or not {*unknown} & {*spec.command, *options}:
        return None
    kept = [word for word in options if word not in unknown]
    command = tuple(word for word in spec.command if word not in unknown)
    if len(kept) < len(options):
        command = (*command, "-o", f"addopts={shlex.join(kept)}")
    return replace(spec, command=command, why=f"{spec.why}, without {' '.join(unknown)[:100]}")

"""Extension modules that were built in the checkout: built in every room, they are what the change says they are."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from engine.perform.checks.presets import project_files as reading
from engine.perform.checks.run.spec import CheckSpec

PYTHON_RUNNERS = ("pytest", "unittest", "django")
NATIVE = (".so", ".pyd")
_INPLACE = ("-q", "build_ext", "--inplace")
SECONDS = 600.0
"""A build and the tests behind it; the check's own time where that is longer."""


def native(paths: Collection[str]) -> frozenset[str]:
    return frozenset(path for path in paths if path.endswith(NATIVE))


def build_of(spec: CheckSpec, checkout: Path, built: Collection[str]) -> tuple[str, ...]:
    """What makes them in a room, by the project's own description; empty where that is not setuptools'."""
    if spec.runner not in PYTHON_RUNNERS or not any(path.startswith(spec.folder) for path in built):
        return ()
    folder, python = checkout / spec.folder, spec.command[0]
    if (folder / "setup.py").is_file():
        return (python, "setup.py", *_INPLACE)
    system = reading.table(reading.toml(reading.text(folder / "pyproject.toml")), "build-system")
    if str(system.get("build-backend", "")).startswith("setuptools."):
        return (python, "-c", "import setuptools; setuptools.setup()", *_INPLACE)
    return ()

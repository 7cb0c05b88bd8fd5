"""What a package declares that it needs, by name; read from its files, nothing is installed or asked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from engine.perform.checks.presets import project_files as reading
from engine.perform.checks.presets.package import Package

WORD = re.compile(r"^\s*(@?[A-Za-z0-9][\w./-]*)")
TABLES = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
KEYS = ("install_requires", "tests_require", "setup_requires", "deps", "requires")


def declared(package: Package) -> frozenset[str]:
    """Names as they are written, in small letters and with dashes."""
    found = {*_pyproject(package), *_ini(package), *_requirements(package), *_setup_script(package)}
    manifest = reading.as_json(package.text("package.json"))
    found |= {name for table in TABLES for name in reading.table(manifest, table)}
    return frozenset(name.lower().replace("_", "-") for name in found if not _own(package, name))


def _own(package: Package, name: str) -> bool:
    """The package itself: its files are there, whether it is installed or not."""
    module = name.replace("-", "_").replace(".", "/")
    places = (f"{top}{module}{end}" for top in ("", "src/", "lib/") for end in ("", ".py"))
    return any((package.folder / place).exists() for place in places)


def _pyproject(package: Package) -> Iterator[str]:
    yield from _strings(reading.toml(package.text("pyproject.toml")), needed=False)


def _strings(value: Any, *, needed: bool) -> Iterator[str]:
    """Strings in lists below a key that speaks of dependencies, and the names of poetry's tables there."""
    if isinstance(value, dict):
        for key, inner in value.items():
            below = needed or "dependenc" in key or "requires" in key
            if needed and isinstance(inner, str | dict) and key != "python":
                yield key
            yield from _strings(inner, needed=below)
    elif isinstance(value, list):
        for one in value:
            yield from _strings(one, needed=needed)
    elif needed and isinstance(value, str):
        yield from _names(value)


def _ini(package: Package) -> Iterator[str]:
    for file in ("setup.cfg", "tox.ini"):
        for section, values in reading.ini(package.text(file)).items():
            for key, text in values.items():
                if key in KEYS or "extras_require" in section:
                    yield from (name for line in text.splitlines() for name in _names(line.partition(": ")[2] or line))


def _requirements(package: Package) -> Iterator[str]:
    places = ("*requirements*.txt", "requirements/*.txt", "*requirements*.in", "requirements/*.in")
    for path in (path for place in places for path in sorted(package.folder.glob(place))):
        yield from (name for line in reading.text(path).splitlines() for name in _names(line))


def _setup_script(package: Package) -> Iterator[str]:
    """Quoted words of setup.py, where it speaks of requirements at all."""
    text = package.text("setup.py")
    if "require" in text:
        yield from (name for quoted in re.findall(r"['\"]([^'\"\n]+)['\"]", text) for name in _names(quoted))


def _names(line: str) -> Iterator[str]:
    if (found := WORD.match(line)) is not None:
        yield found[1]

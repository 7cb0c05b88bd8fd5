"""Agents, plan formats and check presets of third parties: entry points of what is installed for this interpreter.

Only the interpreter's own folders of packages are searched, never the module path: a package that lies in the
repository at hand is data, whatever its metadata says.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar, cast

T = TypeVar("T")


class Plugin(Generic[T]):
    """One entry point: what it gave, or why it gave nothing."""

    def __init__(self, name: str, package: str, value: T | None, problem: str = "") -> None:
        self.name = name
        self.package = package
        self.value = value
        self.problem = problem


_loaded: dict[str, tuple[Plugin[object], ...]] = {}


def installed(group: str, kind: type[T]) -> tuple[Plugin[T], ...]:
    """The plug-ins of a group, by name. One that cannot be loaded is there with its problem, and nothing else fails."""
    if group not in _loaded:
        _loaded[group] = tuple(sorted(_load(group, kind), key=lambda plugin: plugin.name))
    return cast("tuple[Plugin[T], ...]", _loaded[group])


def _load(group: str, kind: type[T]) -> Iterator[Plugin[T]]:
    from importlib.metadata import distributions

    for package in distributions(path=list(folders())):
        for entry in package.entry_points.select(group=group):
            name = str(package.metadata["Name"])
            try:
                value = entry.load()
            except Exception as error:  # noqa: BLE001  boundary: somebody else's code
                yield Plugin(entry.name, name, None, f"cannot be loaded: {type(error).__name__}: {error}")
                continue
            if isinstance(value, kind):
                yield Plugin(entry.name, name, value)
            else:
                yield Plugin(entry.name, name, None, f"{entry.value} is no {kind.__name__}")


def folders() -> tuple[str, ...]:
    """Where this interpreter's packages are installed, the user's own folder included where it is in use."""
    import site
    import sys
    import sysconfig

    found = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *site.getsitepackages()]
    user = site.getusersitepackages()
    return tuple(dict.fromkeys([*found, *([user] if user in sys.path else [])]))

"""Which checks a repository wants, read from its files alone; nothing is run. One record a preset."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec.structs import replace

from engine import plugins
from engine.core.model import CheckKind, Struct
from engine.perform.checks.presets import project_files as reading
from engine.perform.checks.presets.cmake import detect_cmake
from engine.perform.checks.presets.compiled import detect_go, detect_make, detect_rust
from engine.perform.checks.presets.java import GRADLE_FILES, detect_java
from engine.perform.checks.presets.javascript import detect_javascript
from engine.perform.checks.presets.package import Candidate, Found, LeftOut, Package, Which, packages
from engine.perform.checks.presets.python import detect_python
from engine.perform.checks.run.spec import CheckSpec


class Preset(Struct, frozen=True, kw_only=True):
    """Everything about one ecosystem."""

    name: str
    manifests: tuple[str, ...]
    """Files that make a folder a package of it."""
    detect: Callable[[Package], Iterator[Found]]
    covers: Callable[[Package, tuple[CheckSpec, ...]], bool] = lambda _package, _found: False
    """Whether the checks of the top judge packages below it too."""
    last_resort: bool = False
    """Asked only where no other preset finds anything."""


def _pytest_covers(top: Package, found: tuple[CheckSpec, ...]) -> bool:
    """pytest without paths collects everything below the folder it is started in."""
    ini = reading.table(reading.toml(top.text("pyproject.toml")), "tool", "pytest", "ini_options")
    places = (("pytest.ini", "pytest"), ("tox.ini", "pytest"), ("setup.cfg", "tool:pytest"))
    cfg = [reading.ini(top.text(name)).get(part, {}) for name, part in places]
    named = ini.get("testpaths") or any(one.get("testpaths") for one in cfg)
    plain = [spec for spec in found if spec.runner == "pytest" and len(spec.command) == 3]
    return bool(plain) and not named


def _is_workspace(top: Package, _found: tuple[CheckSpec, ...]) -> bool:
    return "workspace" in reading.toml(top.text("Cargo.toml"))


PRESETS = (
    Preset(
        name="python",
        manifests=("pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "requirements.txt"),
        detect=detect_python,
        covers=_pytest_covers,
    ),
    Preset(name="javascript", manifests=("package.json",), detect=detect_javascript),
    Preset(name="go", manifests=("go.mod",), detect=detect_go),
    Preset(name="rust", manifests=("Cargo.toml",), detect=detect_rust, covers=_is_workspace),
    Preset(
        name="java",
        manifests=("pom.xml", *GRADLE_FILES),
        detect=detect_java,
        covers=lambda _top, found: bool(found),
    ),
    Preset(name="cmake", manifests=("CMakeLists.txt",), detect=detect_cmake, covers=lambda _top, found: bool(found)),
    Preset(name="make", manifests=(), detect=detect_make, last_resort=True),
)


GROUP = "devteam.presets"
"""Entry points of third parties: each names a Preset."""


def presets() -> tuple[Preset, ...]:
    """Ours and what is installed; a last resort stays last."""
    theirs = (plugin.value for plugin in plugins.installed(GROUP, Preset) if plugin.value is not None)
    return tuple(sorted((*PRESETS, *theirs), key=lambda preset: preset.last_resort))


class Survey(Struct, frozen=True, kw_only=True):
    """What was found for a repository."""

    candidates: tuple[Candidate, ...] = ()
    left_out: tuple[LeftOut, ...] = ()


def survey(root: Path, which: Which = shutil.which, home: Path | None = None) -> Survey:
    """Candidates for every package of the checkout at `root`.

    `which` finds programs on the user's PATH; below `home` lie the environments that tools keep outside the project.
    """
    nested = {preset.name: packages(root, preset.manifests) for preset in presets() if preset.manifests}
    folders = frozenset(name for names in nested.values() for name in names)
    candidates: list[Candidate] = []
    left_out: list[LeftOut] = []
    for preset in presets():
        if preset.last_resort and candidates:
            continue
        top = Package(root, "", which, folders, home)
        found = list(preset.detect(top))
        ours = tuple(one.check for one in found if isinstance(one, Candidate))
        covered = preset.covers(top, ours)
        for name in () if covered else nested.get(preset.name, ()):
            found += [_placed(one, name) for one in preset.detect(Package(root, name, which, folders, home))]
        if covered:
            found = [*found, *_linters(preset, root, nested.get(preset.name, ()), which, folders)]
        candidates += [one for one in found if isinstance(one, Candidate)]
        left_out += [one for one in found if isinstance(one, LeftOut)]
    return Survey(candidates=tuple(_unique(candidates)), left_out=tuple(dict.fromkeys(left_out)))


def detect(folder: Path, which: Which = shutil.which) -> tuple[CheckSpec, ...]:
    """The checks of a checkout as its files tell them; what only running can tell is devteam init's to find out."""
    found = (candidate.check for candidate in survey(folder, which).candidates)
    return tuple(check for check in found if not check.starts_empty)


def _linters(
    preset: Preset, root: Path, names: list[str] | tuple[str, ...], which: Which, folders: frozenset[str]
) -> Iterator[Found]:
    """Of a package whose tests the top runs: what it configured besides."""
    for name in names:
        for one in preset.detect(Package(root, name, which, folders)):
            if isinstance(one, LeftOut) or one.check.kind is not CheckKind.TESTS:
                yield _placed(one, name)


def _placed(found: Found, folder: str) -> Found:
    """A check of a package: named by it, run in it, needed by changes of it."""
    if isinstance(found, LeftOut):
        return replace(found, name=f"{found.name} ({folder})")

    def place(spec: CheckSpec) -> CheckSpec:
        name, group = f"{spec.name} ({folder})", f"{spec.group} {folder}" if spec.group else ""
        return replace(spec, name=name, group=group, folder=folder, paths=(f"{folder}/**",))

    better, instead = tuple(map(place, found.better)), tuple(map(place, found.instead))
    return Candidate(check=place(found.check), better=better, instead=instead)


def _unique(candidates: list[Candidate]) -> Iterator[Candidate]:
    names: set[str] = set()
    for candidate in candidates:
        if candidate.check.name not in names:
            names.add(candidate.check.name)
            yield candidate

"""A package of a repository, as the presets see it: its folder, its own files, the programs it would use."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from engine.core.model import Struct
from engine.perform.checks.presets import project_files as reading
from engine.perform.checks.presets.environments import outside
from engine.perform.checks.run.spec import CheckSpec

VENVS = (".venv", "venv", "env")
PRUNED = frozenset(
    (".git", "node_modules", "build", "dist", "target", "site-packages", "vendor", "third_party", *VENVS)
)
NOT_PACKAGES = frozenset(
    ("tests", "test", "testing", "testdata", "fixtures", "examples", "example", "docs", "doc", "templates", "bench",
     "benchmarks", "samples", "demo", "demos", "e2e", "__tests__", "spec")
)  # fmt: skip
"""Folders whose manifests belong to somebody's test data or documentation."""
DEEPEST = 3
MOST_FILES = 2_000

Which = Callable[[str], str | None]


class LeftOut(Struct, frozen=True, kw_only=True):
    """A check that was found and is not taken: why, and the one line that would change that."""

    name: str
    reason: str
    fix: str = ""
    tests: bool = False
    """It would have run the tests."""

    def words(self) -> str:
        return f"{self.name}: {self.reason}" + (f" → {self.fix}" if self.fix else "")


class Candidate(Struct, frozen=True, kw_only=True):
    """One thing worth checking. Tried in this order by whoever measures: better, check, instead."""

    check: CheckSpec
    better: tuple[CheckSpec, ...] = ()
    """Tells more where it works; whether it does is only known by running it."""
    instead: tuple[CheckSpec, ...] = ()
    """Where the check itself cannot run."""

    def ways(self) -> tuple[CheckSpec, ...]:
        return (*self.better, self.check, *self.instead)


Found = Candidate | LeftOut


class Package:
    """One folder with a manifest; the repository's top is always one."""

    def __init__(
        self, root: Path, relative: str, which: Which, nested: frozenset[str] = frozenset(), home: Path | None = None
    ) -> None:
        self.root = root
        self.relative = relative
        self.folder = root / relative
        self._which = which
        self._nested = {root / name for name in nested if name != relative}
        """Folders of other packages: their files are not this one's."""
        self._files: list[Path] | None = None
        tops = dict.fromkeys((self.folder, root)) if home is not None else ()
        self.outside = tuple(found for top in tops for found in outside(top, home or root))
        """Environments of the project that its tool keeps below HOME."""

    def text(self, name: str) -> str:
        return reading.text(self.folder / name)

    def has(self, *names: str) -> bool:
        return any((self.folder / name).is_file() for name in names)

    def files(self, suffix: str) -> list[Path]:
        if self._files is None:
            self._files = list(islice(walk(self.folder, self._nested), MOST_FILES))
        return [path for path in self._files if path.suffix == suffix]

    def program(self, name: str, *folders: str) -> str:
        """How to call a program of the package's environment, else one of the machine; empty: it is not there."""
        here = self.folder
        while True:
            for folder in folders:
                if (here / folder / name).exists():
                    return os.path.relpath(here / folder / name, self.folder)
            if here == self.root:
                return self._machine(name)
            here = here.parent

    def python(self, name: str) -> str:
        """Of an environment in the project, else of one that its tool keeps elsewhere, else of the machine."""
        inside = any((top / venv / "bin").is_dir() for venv in VENVS for top in (self.folder, self.root))
        there = [str(found / "bin" / name) for found in self.outside if (found / "bin" / name).exists()]
        if there and not inside:
            return there[0]
        return self.program(name, *(f"{venv}/bin" for venv in VENVS))

    def node(self, name: str) -> str:
        return self.program(name, "node_modules/.bin")

    def _machine(self, name: str) -> str:
        """By its bare name, but for one in a virtual environment elsewhere: another shell would not find that again."""
        found = self._which(name)
        if not found:
            return ""
        environment = Path(found).parent.parent / "pyvenv.cfg"
        return found if environment.is_file() else name

    def installed(self, module: str) -> bool | None:
        """Whether the environment has a Python module; None: no environment of its own, so nobody knows unasked."""
        sites = [site for venv in VENVS for top in (self.folder, self.root) for site in top.glob(f"{venv}/lib/python*")]
        sites = sites or [site for found in self.outside[:1] for site in found.glob("lib/python*")]
        if not sites:
            return None
        names = (f"site-packages/{module}", f"site-packages/{module}.py")
        return any((site / name).exists() for site in sites for name in names)


def walk(folder: Path, nested: set[Path]) -> Iterator[Path]:
    """Files, breadth first, without environments, builds, hidden folders and other packages."""
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
            if entry.is_file():
                yield entry
            elif entry.is_dir() and entry not in nested and _ours(entry) and len(entry.relative_to(folder).parts) < 7:
                pending.append(entry)


def packages(root: Path, manifests: tuple[str, ...]) -> list[str]:
    """Folders with a manifest, below the top: services/api, web, packages/one."""
    found: list[str] = []
    pending = [root]
    while pending:
        here = pending.pop(0)
        depth = len(here.relative_to(root).parts)
        try:
            entries = sorted(here.iterdir())
        except OSError:
            continue
        if depth and any((here / name).is_file() for name in manifests):
            found.append(str(here.relative_to(root)))
        if depth < DEEPEST:
            pending += [
                entry
                for entry in entries
                if entry.is_dir() and not entry.is_symlink() and _ours(entry) and entry.name not in NOT_PACKAGES
            ]
    return found


def _ours(folder: Path) -> bool:
    return folder.name not in PRUNED and not folder.name.startswith(".") and not (folder / "pyvenv.cfg").is_file()


def mentions(package: Package, *names: str) -> str:
    """Names of tools in the places where a project declares them, as one text."""
    declared = [package.folder / name for name in names]
    declared += sorted(package.folder.glob("*requirements*.txt")) + sorted(package.folder.glob("requirements/*.txt"))
    found = " ".join(re.sub(r"#.*", "", reading.text(path)) for path in declared)
    return " ".join(dict.fromkeys(re.findall(r"[a-z][a-z-]+", found.lower().replace("_", "-"))))

"""What a check is, and the setting it runs in. A preset, the config or a plan makes these."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from engine.core.model import CheckKind, Struct
from engine.core.vocabulary import Severity
from engine.perform.process.spawning import Mount

TEST_GLOBS = (
    "tests/**",
    "test/**",
    "spec/**",
    "src/test/**",
    "**/tests/**",
    "**/__tests__/**",
    "**/test_*.py",
    "**/*_test.py",
    "**/conftest.py",
    "**/*.test.*",
    "**/*.spec.*",
    "**/*_test.go",
    "**/*Test.java",
)


class CheckSpec(Struct, frozen=True, kw_only=True):
    """One check. `command` is an argument list; a shell line is ("sh", "-c", line)."""

    name: str
    kind: CheckKind
    command: tuple[str, ...]
    """{reports} is replaced by the folder for reports; a `runner` replaces the program by the engine's own shim."""
    parser: str = "exit"
    """A name in parse.PARSERS; exit believes the exit code alone, and the evidence says so."""
    report: str = ""
    """File of the report below {reports}; empty: the tool's stdout."""
    runner: str = ""
    """pytest or unittest: run by the engine's shim, which keeps its own account of every test."""
    timeout: float = 120.0
    required: bool = True
    network: bool = False
    group: str = ""
    """Checks of one group run one after another."""
    strict: bool = False
    """Must pass outright: what was broken before is no excuse (a task's own verify commands)."""
    coverage: bool = False
    """Ask pytest-cov for coverage JSON."""
    env: Mapping[str, str] = {}
    """{cache} is a folder of the check's own, kept between runs: for compilers, where starting anew costs minutes.
    {reports} is a folder of this one run."""
    ok_exits: tuple[int, ...] = (0,)
    finding_exits: tuple[int, ...] = (1,)
    """Exit codes that mean "I have findings", not "I broke"."""
    install: str = ""
    """What to type when the tool is missing."""
    version: tuple[str, ...] = ()
    """Command that prints the tool's version, for the evidence."""
    folder: str = ""
    """Working folder below the tree, for a package of a monorepo; empty: the tree's top."""
    paths: tuple[str, ...] = ()
    """Globs of the files it judges; a change that touches none of them does not need it. Empty: every change does."""
    build: tuple[str, ...] = ()
    """Run in the room before every run: makes what the tests load and nobody commits, from the sources there."""
    starts_empty: bool = False
    """There are no tests yet: the base may have none, and the first task brings them."""
    why: str = ""
    """Where the command was found, in words. Decides nothing."""


class HeldOut(Struct, frozen=True, kw_only=True):
    """A command kept outside the repository, run at completion only. The agent is told counts, nothing else."""

    name: str
    folder: Path
    command: tuple[str, ...]
    """{folder} is the held-out folder, {tree} the tree under judgement."""
    runner: str = ""
    parser: str = "exit"
    report: str = ""
    timeout: float = 120.0
    env: Mapping[str, str] = {}


class IntegrityPolicy(Struct, frozen=True, kw_only=True):
    """What is asked: `severity` turns a rule's question into a failure, a note or nothing ("off")."""

    severity: Mapping[str, Severity | Literal["off"]] = {}
    test_globs: tuple[str, ...] = TEST_GLOBS
    protected: tuple[str, ...] = ()
    """Further globs that always come from the base."""
    changed_coverage: float = 80.0
    """Percent of changed lines that tests should reach, or the base's own coverage where that is lower."""
    mutants: int = 10
    """Mutants to try on changed lines at completion; 0: none. Advisory."""
    mutation_seconds: float = 5.0
    critical_rules: tuple[str, ...] = ()
    """Security rules whose findings halt the task, besides what the tool itself calls high with high confidence."""


class Setting(Struct, frozen=True, kw_only=True):
    """Where checks run and what they may see; the same for every call of a run."""

    checkout: Path
    """The user's checkout: the clean room is mounted there."""
    scratch: Path
    """Rooms and reports are made below this; engine-owned, outside every agent's reach."""
    evidence: Path
    env: Mapping[str, str]
    """Allowlisted environment without credentials."""
    home: Path | None = None
    mounts: tuple[Mount, ...] = ()
    hide: tuple[Path, ...] = ()
    confine: bool = True
    lane: int = 0
    jobs: int = 2
    """Checks at once."""
    policy: IntegrityPolicy = IntegrityPolicy()
    config_hash: str = ""
    """Hash of the run's configuration, for the evidence."""
    shape: str = ""
    """Names what a room gets besides its tree: copied and carried files, submodules, what the set-up made."""

"""Settings of the checks: which there are, and how strict the rules around them."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from engine.config.base import Amount, Command, Count, MoreThanZero, Name, Percent, Section, Words
from engine.core.model import CheckKind
from engine.core.vocabulary import RunnerName


class CheckConfig(Section, frozen=True, kw_only=True):
    """One check of your own."""

    name: Name
    """Shown in reports."""
    kind: CheckKind = CheckKind.OWN
    """tests, types, lint, security, build or own."""
    command: Command
    """A shell line, or a list of arguments. {reports} is the folder for reports."""
    parser: str = "exit"
    """How the result is read: exit, junit, sarif, or a tool's own form. exit believes the exit code alone."""
    report: str = ""
    """File of the report below {reports}; empty: what the command prints."""
    runner: RunnerName = ""
    """Started by the engine itself, with its own options, reporter and canaries; empty: as the command says."""
    timeout: Amount = 0.0
    """Seconds; 0: `timeouts.checks`."""
    required: bool = True
    """Whether the task fails with it; only PASS counts."""
    network: bool = False
    """Let it use the network."""
    group: str = ""
    """Checks of one group run one after another."""
    coverage: bool = False
    """Ask for coverage of the changed lines."""
    env: dict[str, str] = {}
    """Variables for this check. Never keys or passwords."""
    ok_exits: tuple[int, ...] = (0,)
    """Exit codes that mean success."""
    finding_exits: tuple[int, ...] = (1,)
    """Exit codes that mean “I have findings”, not “I broke”."""
    folder: str = ""
    """Folder it runs in, relative to the repository; empty: the top. For the packages of a monorepo."""
    paths: Words = ()
    """Globs of the files it judges: a task that touches none of them does not need it. Empty: every task does."""
    build: Command = ()
    """Run first, each time: what the tests load and nobody commits, e.g. a compiled extension module."""
    starts_empty: bool = False
    """There are no tests yet: work may begin without any, and each task has to bring the tests that prove it."""
    why: str = ""
    """Where `devteam init` found it. Decides nothing."""
    install: str = ""
    """What to type when its tool is missing, for the words of a refusal."""


class HeldOutConfig(Section, frozen=True, kw_only=True):
    """A check kept outside the repository and run at completion only; agents are told counts, nothing else."""

    name: Name
    """Shown in reports."""
    folder: Name
    """Where it lies: an absolute path outside the repository, or below ~."""
    command: Command
    """A shell line, or a list of arguments. {folder} is that folder, {tree} the tree under judgement."""
    parser: str = "exit"
    """As for a check."""
    report: str = ""
    """As for a check."""
    runner: RunnerName = ""
    """As for a check."""
    timeout: Amount = 0.0
    """Seconds; 0: `timeouts.checks`."""


class Integrity(Section, frozen=True, kw_only=True):
    """What is asked about a change, and advice on its tests."""

    severity: dict[str, Literal["error", "human", "note", "off"]] = {}
    """By rule, e.g. suppression = "note": error fails the task, human asks you (the default), note, off."""
    test_globs: Words = ()
    """Globs of test files; empty: the usual ones."""
    changed_coverage: Percent = 80.0
    """Percent of changed lines that tests should reach, or the base's own share where that is lower."""
    mutants: Count = 10
    """Mutants tried on changed lines at completion, as advice; 0: none."""
    mutation_seconds: MoreThanZero = 5.0
    """Time for all mutants together."""
    critical_rules: Words = ()
    """Security rules whose findings halt the task, besides what the tool itself calls high."""


class Checks(Section, frozen=True, kw_only=True):
    """How the work is judged."""

    preset: Literal["auto", "none"] = "auto"
    """auto adds the checks found for your project to the ones listed here; none runs only yours."""
    jobs: Annotated[int, Meta(ge=1, le=16)] = 2
    """Checks at once."""
    protected: Words = ()
    """Globs that agents may not change: they always come from the base, beside .devteam and .git."""
    integrity: Integrity = Integrity()
    """Rules against weakened tests."""
    run: tuple[CheckConfig, ...] = ()
    """Your own checks; one with the name of a found check replaces it."""
    held_out: tuple[HeldOutConfig, ...] = ()
    """Checks that agents never see."""
    left_out: Words = ()
    """Checks that `devteam init` found and did not take, with the reason. Decides nothing."""

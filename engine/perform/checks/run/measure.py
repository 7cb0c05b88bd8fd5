"""What one run of one check measured, before anybody judges it."""

from __future__ import annotations

from engine.core.model import CheckKind, Finding, Struct
from engine.perform.process.spawning import Ending

PASSED = "passed"
FAILED = "failed"
ERROR = "error"
SKIPPED = "skipped"
XFAILED = "xfailed"

BAD = frozenset({FAILED, ERROR})
IDLE = frozenset({SKIPPED, XFAILED})
FREED = ("[xpass(strict)]", "unexpected success", "failed: unexpected success")
"""How pytest and unittest begin to say so."""


class Case(Struct, frozen=True, kw_only=True):
    """One test as a report states it."""

    id: str
    outcome: str
    error: str = ""
    """Type of the exception, e.g. AssertionError."""
    text: str = ""
    """Last line of the failure."""
    path: str = ""
    """The file it stands in, relative to the room; empty where the report does not say."""
    reached: tuple[str, ...] = ()
    """Assertions that held, each named by its line and text; empty where the runner cannot see them."""
    place: str = ""
    """The assertion (or line of the test) that failed, named in the same way."""
    seconds: float = 0.0

    @property
    def freed(self) -> bool:
        """It passed, and counts as failed only because of its mark. No line of anybody's code said so."""
        return self.outcome == FAILED and not self.place and self.text.lower().startswith(FREED)


class Canaries(Struct, frozen=True, kw_only=True):
    """Tests of the engine's own that must fail. One that passes or is missing: somebody changed the judge."""

    planted: int = 0
    failed: int = 0
    """As they must."""
    passed: tuple[str, ...] = ()
    """What they were about, for those that did not fail."""


class FileCoverage(Struct, frozen=True, kw_only=True):
    """Line numbers of one file."""

    executed: tuple[int, ...] = ()
    missing: tuple[int, ...] = ()


class Report(Struct, frozen=True, kw_only=True):
    """What a parser read. `problems` say why it is not to be believed; one problem is enough."""

    source: str
    cases: tuple[Case, ...] = ()
    findings: tuple[Finding, ...] = ()
    problems: tuple[str, ...] = ()
    deselected: tuple[str, ...] = ()
    tampered: tuple[str, ...] = ()
    """What of the test runner was replaced while it ran."""
    foreign: tuple[str, ...] = ()
    """Modules that were loaded from the user's checkout instead of the tree under judgement."""
    version: str = ""
    canaries: Canaries | None = None
    """None: this runner plants none."""
    plugins: tuple[str, ...] = ()
    """Of the test runner, active while it ran: R1 to R3 name them, nothing is discovered there."""
    settings: dict[str, str] = {}
    """What the runner took its settings from: `ini` and `rootdir`, relative to the room."""
    modules: dict[str, str] = {}
    """Loaded modules to where they came from: a path relative to the room, or `env` for everything outside."""
    crossing: tuple[str, ...] = ()
    """With the subject behind a process boundary: what could not cross, by test and reason."""
    counts_tests: bool = False
    complete: bool = True
    """The report says itself that it came to its end."""


class Measurement(Struct, frozen=True, kw_only=True):
    """A run of a check: how its process ended and what its report said."""

    check: str
    kind: CheckKind
    argv: tuple[str, ...]
    ended: Ending
    exit_code: int | None = None
    error: str = ""
    started: float = 0.0
    seconds: float = 0.0
    report: Report = Report(source="exit code")
    coverage: float | None = None
    lines: dict[str, FileCoverage] = {}
    output: str = ""
    artefacts: dict[str, str] = {}
    """Name to content hash; the content is in the evidence store."""
    env_hash: str = ""
    room: str = ""
    """The tree that was in the room."""
    reads: tuple[str, ...] = ()
    """Tracked files that the check read."""
    traced: str = ""
    """How the reads were seen: atime, globs (access times do not move there), or empty: not looked at."""
    wrote: tuple[str, ...] = ()
    """Tracked files that were changed while it ran."""
    sandbox: str = ""

    @property
    def read_nothing(self) -> bool:
        """Tests were reported, and no file of the tree was looked at: what they judge is not known."""
        return self.report.counts_tests and self.traced == "atime" and not self.reads and bool(self.report.cases)

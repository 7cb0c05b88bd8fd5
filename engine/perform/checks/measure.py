"""What one run of one check measured, before anybody judges it."""

from __future__ import annotations

from engine.core.model import CheckKind, Finding, Struct

PASSED = "passed"
FAILED = "failed"
ERROR = "error"
SKIPPED = "skipped"
XFAILED = "xfailed"

BAD = frozenset({FAILED, ERROR})
IDLE = frozenset({SKIPPED, XFAILED})


class Case(Struct, frozen=True, kw_only=True):
    """One test as a report states it."""

    id: str
    outcome: str
    error: str = ""
    """Type of the exception, e.g. AssertionError."""
    text: str = ""
    """Last line of the failure."""


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
    counts_tests: bool = False
    complete: bool = True
    """The report says itself that it came to its end."""


class Measurement(Struct, frozen=True, kw_only=True):
    """A run of a check: how its process ended and what its report said."""

    check: str
    kind: CheckKind
    argv: tuple[str, ...]
    ended: str
    """As Finished.reason: exited, timeout, idle, flood, cancelled or not_started."""
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
    sandbox: str = ""

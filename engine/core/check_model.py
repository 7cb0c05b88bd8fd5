"""What checks and proofs say, as frozen data: verdicts, counts, findings, proofs, questions."""

from __future__ import annotations

from enum import StrEnum

from engine.core.struct import Struct
from engine.core.vocabulary import ChangeKind, Severity


class Verdict(StrEnum):
    """What a measurement says. Only PASS counts; "could not tell" is never "done"."""

    PASS = "PASS"  # noqa: S105
    FAIL = "FAIL"
    ERROR = "ERROR"
    NOT_RUN = "NOT_RUN"


class ProofVerdict(StrEnum):
    """What the runs R0–R4 say of a task's change. Only PROVEN and HARMLESS may become COMPLETE."""

    PROVEN = "PROVEN"
    HARMLESS = "HARMLESS"
    """The plan says that there is nothing to show, and nothing broke."""
    UNPROVEN = "UNPROVEN"
    """Nothing objects, but nothing was shown."""
    QUESTION = "QUESTION"
    """The change needs a permission it does not have: parked for a human, never the ladder."""
    FAIL = "FAIL"
    ERROR = "ERROR"
    """Could not be collected, started, finished or parsed: the environment's fault, never a pass."""


class CheckKind(StrEnum):
    """The kinds of machine quality gates."""

    TESTS = "tests"
    TYPES = "types"
    LINT = "lint"
    SECURITY = "security"
    BUILD = "build"
    OWN = "own"


class FileChange(Struct, frozen=True, kw_only=True):
    """One path of a tree diff."""

    path: str
    change: ChangeKind
    added: int = 0
    removed: int = 0


class TestCounts(Struct, frozen=True, kw_only=True):
    """Attribution of tests in one check."""

    __test__ = False

    total: int = 0
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    new: int = 0
    fixed: int = 0
    broken_before: int = 0
    flaky: int = 0
    gone: int = 0


class Finding(Struct, frozen=True, kw_only=True):
    """One thing a check or the integrity rules object to."""

    rule: str
    text: str
    path: str = ""
    line: int = 0
    severity: Severity = "error"


class Proof(Struct, frozen=True, kw_only=True):
    """One thing that was red on the base and is green on the change."""

    kind: str
    """verify: a command of the task; fixed: a test of the base; new: a test the change adds."""
    name: str
    """The command, or the test's id."""
    check: str = ""
    path: str = ""
    line: int = 0
    red: str = ""
    """How it failed on the base, in a line."""
    boundary: str = ""
    """With the subject in another process: holds, differs, cannot cross; empty where that was not tried."""


class Question(Struct, frozen=True, kw_only=True):
    """A permission that the change needs and the plan does not give."""

    rule: str
    text: str
    allow: str
    """The entry of the task's `allow:` that would grant it."""
    path: str = ""
    line: int = 0
    before: str = ""
    """The old test, file or line, as an excerpt."""
    after: str = ""


class CheckResult(Struct, frozen=True, kw_only=True):
    """What one check measured."""

    name: str
    kind: CheckKind
    verdict: Verdict
    reason: str = ""
    required: bool = True
    command: str = ""
    seconds: float = 0.0
    exit_code: int | None = None
    counts: TestCounts | None = None
    failing: tuple[str, ...] = ()
    """Ids of failing tests, or fingerprints of findings, that this change is answerable for."""
    findings: tuple[Finding, ...] = ()
    errors: int = 0
    warnings: int = 0
    coverage: float | None = None
    output: str = ""
    """The tail of the check's own output, for the next attempt and for people."""
    missing: bool = False
    """It cannot be run, on the base neither: its tool is not there, or the machine is at fault. Nothing in the tree
    mends that."""
    no_tests_yet: bool = False
    """None ran, and none were there: as the configuration says, the first task brings them. Never a pass."""
    only_in_clone: tuple[str, ...] = ()
    """Of a baseline: tests that pass in the user's checkout and not in the clone; the check's name: all of it."""
    hint: str = ""
    """The one line that mends an environment's fault."""
    source: str = ""
    """Where the verdict comes from: junit, sarif, json or exit code."""
    evidence: str = ""
    """Hash of the evidence record."""

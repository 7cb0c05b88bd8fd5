"""Evidence as it is shown: what was run on which tree, with which result. The store keeps it, a link carries it."""

from __future__ import annotations

from engine.core.model import CheckResult, Finding, Proof, ProofVerdict, Question, Struct


class RunRecord(Struct, frozen=True, kw_only=True):
    """One run of one check in one room: what the dashboard shows between a criterion and its proof."""

    run: str
    """R0 to R4, verify, again, mutant …"""
    check: str
    room: str
    """The tree that was in the room."""
    command: tuple[str, ...]
    ended: str
    exit_code: int | None = None
    seconds: float = 0.0
    tests: int = 0
    passed: int = 0
    failing: tuple[str, ...] = ()
    reads: int = 0
    traced: str = ""
    """How the files it read were seen: atime or globs."""
    canaries: str = ""
    plugins: tuple[str, ...] = ()
    crossing: tuple[str, ...] = ()


class CheckRun(Struct, frozen=True, kw_only=True):
    """How one check ran: what its result rests on."""

    name: str
    argv: tuple[str, ...] = ()
    exit_code: int | None = None
    seconds: float = 0.0
    sandbox: str = ""
    artefacts: dict[str, str] = {}
    """Files it left, by the hash of what they hold."""


class EvidenceRecord(Struct, frozen=True, kw_only=True):
    """All checks of one tree in one iteration of a task."""

    task: str
    iteration: int
    hash: str
    """Names the record in the store; what a commit and an approval bind to."""
    at: float = 0.0
    error: str = ""
    """Why the record cannot be believed: it was changed or is gone. Nothing below is set then."""
    tree: str = ""
    base: str = ""
    room: str = ""
    purpose: str = ""
    allow: tuple[str, ...] = ()
    config_hash: str = ""
    sandbox: str = ""
    started: float = 0.0
    ended: float = 0.0
    accepted: bool | None = None
    proof: ProofVerdict | None = None
    reason: str = ""
    results: tuple[CheckResult, ...] = ()
    findings: tuple[Finding, ...] = ()
    proofs: tuple[Proof, ...] = ()
    questions: tuple[Question, ...] = ()
    owners: dict[str, str] = {}
    runs: tuple[RunRecord, ...] = ()
    notes: tuple[str, ...] = ()
    checks: tuple[CheckRun, ...] = ()

"""The evidence store: immutable records and artefacts, each file named by the hash of what it holds."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec

from engine import files
from engine.core.evidence import RunRecord
from engine.core.model import CheckResult, Finding, Proof, ProofVerdict, Question, Struct
from engine.perform.checks.run.measure import Measurement

SCHEMA = 1


class TamperedError(Exception):
    """A record or artefact that is missing or no longer what its name says."""


class CheckEvidence(Struct, frozen=True, kw_only=True):
    """One check on one tree."""

    schema: int
    tree: str
    base: str
    room: str
    """The tree that was really in the room: protected paths from the base."""
    config_hash: str
    measurement: Measurement
    result: CheckResult


class Judgement(Struct, frozen=True, kw_only=True):
    """All checks of one tree: what a commit and a human approval bind to."""

    schema: int
    tree: str
    base: str
    room: str
    purpose: str
    task: str
    allow: tuple[str, ...]
    config_hash: str
    sandbox: str
    started: float
    ended: float
    results: tuple[CheckResult, ...]
    findings: tuple[Finding, ...]
    accepted: bool
    proof: ProofVerdict | None = None
    reason: str = ""
    proofs: tuple[Proof, ...] = ()
    questions: tuple[Question, ...] = ()
    owners: dict[str, str] = {}
    """Each changed path: subject, oracle or addition, and why."""
    runs: tuple[RunRecord, ...] = ()
    notes: tuple[str, ...] = ()
    """What the evidence is weaker by."""


Record = CheckEvidence | Judgement


class Store:
    """`<folder>/<hash>.json` and `<folder>/artefacts/<hash>`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def keep(self, data: bytes) -> str:
        name = hashlib.sha256(data).hexdigest()
        _write_once(self.folder / "artefacts" / name, data)
        return name

    def write(self, record: Record) -> str:
        data = msgspec.json.encode(record)
        name = hashlib.sha256(data).hexdigest()
        _write_once(self.folder / f"{name}.json", data)
        return name

    def load_check(self, name: str) -> CheckEvidence:
        return msgspec.json.decode(self._bytes(name), type=CheckEvidence)

    def load_judgement(self, name: str) -> Judgement:
        return msgspec.json.decode(self._bytes(name), type=Judgement)

    def artefact(self, name: str) -> bytes:
        return _read_named(self.folder / "artefacts" / name, name)

    def verify(self, name: str) -> Judgement:
        """The judgement, after every record and artefact it rests on was read and hashed again."""
        judgement = self.load_judgement(name)
        for result in judgement.results:
            if not result.evidence:
                raise TamperedError(f"check {result.name} of {name[:12]} has no evidence")
            part = self.load_check(result.evidence)
            if part.tree != judgement.tree or msgspec.structs.replace(part.result, evidence=result.evidence) != result:
                raise TamperedError(f"the record of check {result.name} does not belong to judgement {name[:12]}")
            for hash in part.measurement.artefacts.values():
                self.artefact(hash)
        return judgement

    def _bytes(self, name: str) -> bytes:
        return _read_named(self.folder / f"{name}.json", name)


def _read_named(path: Path, name: str) -> bytes:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise TamperedError(f"evidence {name[:12]} cannot be read: {error.strerror}; run the checks again") from None
    if hashlib.sha256(data).hexdigest() != name:
        raise TamperedError(f"evidence {path} is not what it was when it was written; run the checks again")
    return data


def _write_once(path: Path, data: bytes) -> None:
    """Whole or not at all; a file that is there already has the same content by its name."""
    if path.exists():
        return
    files.private_folder(path.parent)
    files.write(path, data, mode=0o400)

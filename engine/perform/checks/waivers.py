"""What a plan allows a task to do. A waived finding stays in the record as a note that says who waived it.

An entry of TaskSpec.allow is one of
  delete-tests, skip-tests, change-tests,      a group of rules, everywhere
  change-config, suppress, lower-coverage
  a rule name of spec.DEFAULT_SEVERITY         that rule, everywhere
  RULE-OR-GROUP:GLOB                           that rule for paths that match
  rename:OLD=>NEW                              the id of a test (or a file, or the beginning of an id) that moves
  anything else                                a test id, its beginning or a path glob: that may go or change
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from engine.core.model import Finding, Struct
from engine.perform.checks.globs import matches
from engine.perform.checks.spec import DEFAULT_SEVERITY, IntegrityPolicy

GROUPS = {
    "delete-tests": ("test-gone", "fewer-params"),
    "skip-tests": ("test-skipped", "test-deselected"),
    "change-tests": ("test-changed", "fewer-assertions", "fewer-params"),
    "change-config": ("config-changed",),
    "suppress": ("suppression",),
    "lower-coverage": ("coverage-lower",),
}
BY_SUBJECT = (
    "test-gone",
    "fewer-params",
    "test-skipped",
    "test-deselected",
    "test-changed",
    "fewer-assertions",
    "config-changed",
)


class Objection(Struct, frozen=True, kw_only=True):
    """A finding before its severity is known. `subject` is the test id it is about, if any."""

    rule: str
    text: str
    path: str = ""
    line: int = 0
    subject: str = ""


def rules_of(word: str) -> tuple[str, ...]:
    return GROUPS.get(word, (word,) if word in DEFAULT_SEVERITY else ())


def waived_by(allow: Sequence[str], objection: Objection) -> str:
    """The entry that allows it; empty when none does."""
    for entry in allow:
        word, colon, glob = entry.partition(":")
        if entry.startswith("rename:"):
            continue
        if objection.rule in rules_of(entry):
            return entry
        if colon and not glob.startswith(":") and objection.rule in rules_of(word):
            if matches(objection.path, (glob,)) or _covers(glob, objection.subject):
                return entry
            continue
        if objection.rule in BY_SUBJECT and (
            _covers(entry, objection.subject) or (objection.path and matches(objection.path, (entry,)))
        ):
            return entry
    return ""


def _covers(entry: str, id: str) -> bool:
    return bool(id) and (id == entry or id.startswith((f"{entry}::", f"{entry}[", f"{entry}/")))


def renames(allow: Iterable[str], ids: Iterable[str]) -> dict[str, str]:
    """Old id to new id for every known id that a rename entry covers."""
    pairs = [
        entry.removeprefix("rename:").split("=>", 1) for entry in allow if entry.startswith("rename:") and "=>" in entry
    ]
    found: dict[str, str] = {}
    for id in ids:
        for old, new in pairs:
            old, new = old.strip(), new.strip()
            if id == old or _covers(old, id):
                found[id] = new + id[len(old) :]
    return found


def to_findings(objections: Iterable[Objection], allow: Sequence[str], policy: IntegrityPolicy) -> list[Finding]:
    findings = []
    for objection in objections:
        severity = policy.severity.get(objection.rule, DEFAULT_SEVERITY.get(objection.rule, "error"))
        if severity == "off":
            continue
        waiver = waived_by(allow, objection)
        finding = Finding(
            rule=objection.rule, text=objection.text, path=objection.path, line=objection.line, severity=severity
        )
        if waiver and severity != "critical":
            finding = replace(finding, severity="note", text=f"{finding.text} (allowed by the plan: {waiver})")
        if finding not in findings:
            findings.append(finding)
    return findings

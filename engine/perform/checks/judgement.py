"""A judgement: what the engine knows of a tree, and the evidence records it is made of."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from engine.core.model import CheckKind, CheckResult, Finding, Struct, TaskSpec, Verdict
from engine.perform.checks.evidence import SCHEMA, CheckEvidence, Judgement
from engine.perform.checks.measure import Measurement
from engine.perform.checks.run import Tools
from engine.perform.checks.second_looks import Looks

BLOCKING = ("error", "human", "critical")


class Judged(Struct, frozen=True, kw_only=True):
    """What the engine knows of a tree. `results` and `findings` go into ChecksFinished as they are."""

    tree: str
    base: str
    results: tuple[CheckResult, ...]
    findings: tuple[Finding, ...]
    evidence: str
    """Hash of the judgement: an approval binds to it and to the tree."""
    accepted: bool
    """Every required check is PASS and nothing is left that fails or asks."""
    needs_human: bool
    """Nothing fails, but a finding wants somebody's answer."""


def clear(results: Sequence[CheckResult], findings: Sequence[Finding]) -> bool:
    """Every required check passes and no finding fails or asks."""
    inside = [finding for result in results for finding in result.findings]
    return all(result.verdict is Verdict.PASS for result in results if result.required) and not any(
        finding.severity in BLOCKING for finding in (*findings, *inside)
    )


def integrity_result(findings: Sequence[Finding]) -> CheckResult:
    """The integrity rules as a check of their own, so that a change they object to cannot pass by the others' verdicts.

    Its PASS is not required of anybody: a repository without checks must not pass because nobody objected.
    """
    bad = [finding for finding in findings if finding.severity in ("error", "critical")]
    asked = [finding for finding in findings if finding.severity == "human"]
    more = f" and {len(bad) - 1} more" if len(bad) > 1 else ""
    reason = (
        f"{bad[0].text}{more}"
        if bad
        else f"{len(asked)} for a human: {asked[0].text}"
        if asked
        else "nothing to object"
    )
    return CheckResult(
        name="integrity",
        kind=CheckKind.OWN,
        verdict=Verdict.FAIL if bad else Verdict.PASS,
        required=bool(bad),
        reason=reason,
        failing=tuple(f"{finding.rule} {finding.path}: {finding.text}" for finding in bad),
        errors=len(bad),
        warnings=len(asked),
        source="integrity rules",
    )


def record(
    tools: Tools,
    looks: Looks,
    results: Sequence[CheckResult],
    measured: Sequence[Measurement],
    findings: tuple[Finding, ...],
    purpose: str,
    task: TaskSpec | None,
    tree: str,
    started: float,
) -> Judged:
    """Evidence first, then the answer: what is not on record was not judged."""
    by_check = {one.check: one for one in (*measured, *looks.extra)}
    empty = Measurement(check="", kind=CheckKind.OWN, argv=(), ended="none")
    recorded = []
    for result in results:
        record = CheckEvidence(
            schema=SCHEMA,
            tree=tree,
            base=looks.base,
            room=looks.tree,
            config_hash=tools.setting.config_hash,
            measurement=by_check.get(result.name, empty),
            result=result,
        )
        recorded.append(replace(result, evidence=tools.store.write(record)))
    accepted = clear(recorded, findings)
    passing = clear(recorded, [finding for finding in findings if finding.severity != "human"])
    evidence = tools.store.write(
        Judgement(
            schema=SCHEMA,
            tree=tree,
            base=looks.base,
            room=looks.tree,
            purpose=purpose,
            task=task.id if task else "",
            allow=task.allow if task else (),
            config_hash=tools.setting.config_hash,
            sandbox=tools.spawner.mode if tools.setting.confine else "none",
            started=started,
            ended=tools.clock(),
            results=tuple(recorded),
            findings=findings,
            accepted=accepted,
        )
    )
    return Judged(
        tree=tree,
        base=looks.base,
        results=tuple(recorded),
        findings=findings,
        evidence=evidence,
        accepted=accepted,
        needs_human=passing and not accepted,
    )

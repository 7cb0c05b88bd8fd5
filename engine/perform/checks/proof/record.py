"""A judgement: what the engine knows of a tree, and the evidence records it is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from msgspec.structs import replace

from engine.core.evidence import RunRecord
from engine.core.model import CheckKind, CheckResult, Finding, Proof, ProofVerdict, Question, Struct, TaskSpec, Verdict
from engine.perform.checks.proof.trial import Run, Trial
from engine.perform.checks.proof.verdict import WHAT_WOULD_PROVE, Outcome
from engine.perform.checks.run.evidence import SCHEMA, CheckEvidence, Judgement
from engine.perform.checks.run.execute import Tools
from engine.perform.checks.run.measure import BAD, PASSED, Measurement

if TYPE_CHECKING:
    from engine.perform.checks.proof.scales import Weighed

DONE = (ProofVerdict.PROVEN, ProofVerdict.HARMLESS)


class Judged(Struct, frozen=True, kw_only=True):
    """What the engine knows of a tree. Its parts go into ChecksFinished as they are."""

    tree: str
    base: str
    results: tuple[CheckResult, ...]
    findings: tuple[Finding, ...]
    evidence: str
    """Hash of the judgement: an approval binds to it and to the tree."""
    proof: ProofVerdict | None
    """None: the final checks of a sprint, where every task is proven already."""
    reason: str = ""
    proofs: tuple[Proof, ...] = ()
    questions: tuple[Question, ...] = ()

    @property
    def accepted(self) -> bool:
        """Every required check is PASS, and the change is proven or said to have nothing to show."""
        passed = all(result.verdict is Verdict.PASS for result in self.results if result.required)
        return passed and (self.proof is None or self.proof in DONE)


def proof_result(outcome: Outcome) -> CheckResult:
    """The verdict as a check of its own, so that nothing passes by the verdicts of the others.

    A question is no failure: the finding asks. Its PASS is not required of anybody: a repository without checks must
    not pass because nobody objected.
    """
    match outcome.verdict:
        case ProofVerdict.PROVEN | ProofVerdict.HARMLESS | ProofVerdict.QUESTION:
            verdict = Verdict.PASS
        case ProofVerdict.UNPROVEN | ProofVerdict.FAIL:
            verdict = Verdict.FAIL
        case ProofVerdict.ERROR:
            verdict = Verdict.ERROR
        case _:
            assert_never(outcome.verdict)
    bad = verdict is not Verdict.PASS
    more = f". {WHAT_WOULD_PROVE}" if outcome.verdict is ProofVerdict.UNPROVEN else ""
    return CheckResult(
        name="proof",
        kind=CheckKind.OWN,
        verdict=verdict,
        required=bad,
        reason=f"{outcome.verdict.value}: {outcome.reason}{more}",
        failing=(f"proof {outcome.verdict.value}",) if bad else (),
        errors=int(bad),
        source="the runs R0 to R4",
    )


def record(
    tools: Tools,
    trial: Trial,
    weighed: Weighed,
    purpose: str,
    task: TaskSpec | None,
    tree: str,
    base: str,
    started: float,
) -> Judged:
    """Evidence first, then the answer: what is not on record was not judged."""
    outcome = weighed.outcome
    results = [*weighed.results]
    if outcome is not None and all(result.verdict is Verdict.PASS for result in results if result.required):
        results.append(proof_result(outcome))  # else the check that fails says it
    last: dict[str, Measurement] = {}
    for run in weighed.runs:
        if run.name in ("R0", "R1", "R4", "verify", "held out"):
            last[run.measured.check] = run.measured
    empty = Measurement(check="", kind=CheckKind.OWN, argv=(), ended="not_started")
    recorded = []
    for result in results:
        part = CheckEvidence(
            schema=SCHEMA,
            tree=tree,
            base=base,
            room=last[result.name].room if result.name in last else "",
            config_hash=tools.setting.config_hash,
            measurement=last.get(result.name, empty),
            result=result,
        )
        recorded.append(replace(result, evidence=tools.store.write(part)))
    judged = Judged(
        tree=tree,
        base=base,
        results=tuple(recorded),
        findings=weighed.findings,
        evidence="",
        proof=outcome.verdict if outcome else None,
        reason=outcome.reason if outcome else "",
        proofs=weighed.proofs,
        questions=weighed.questions,
    )
    evidence = tools.store.write(
        Judgement(
            schema=SCHEMA,
            tree=tree,
            base=base,
            room=trial.change.rooms.r1,
            purpose=purpose,
            task=task.id if task else "",
            allow=task.allow if task else (),
            config_hash=tools.setting.config_hash,
            sandbox=tools.spawner.mode if tools.setting.confine else "none",
            started=started,
            ended=tools.clock(),
            results=judged.results,
            findings=judged.findings,
            accepted=judged.accepted,
            proof=judged.proof,
            reason=judged.reason,
            proofs=judged.proofs,
            questions=judged.questions,
            owners={one.path: f"{one.owner.value} ({one.why})" for one in trial.change.owned},
            runs=tuple(run_record(run) for run in weighed.runs),
            notes=weighed.notes,
        )
    )
    return replace(judged, evidence=evidence)


def run_record(run: Run) -> RunRecord:
    measured = run.measured
    cases = measured.report.cases
    canaries = measured.report.canaries
    return RunRecord(
        run=run.name,
        check=measured.check,
        room=measured.room,
        command=measured.argv,
        ended=measured.ended,
        exit_code=measured.exit_code,
        seconds=measured.seconds,
        tests=len(cases),
        passed=sum(1 for case in cases if case.outcome == PASSED),
        failing=tuple(case.id for case in cases if case.outcome in BAD)[:50],
        reads=len(measured.reads),
        traced=measured.traced,
        canaries=f"{canaries.failed} of {canaries.planted} failed as they must" if canaries else "none planted",
        plugins=measured.report.plugins,
        crossing=measured.report.crossing[:50],
    )

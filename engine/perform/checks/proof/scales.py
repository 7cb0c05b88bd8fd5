"""One change on the scales: what is known, what stands against it, and how a single run is weighed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from msgspec.structs import replace

from engine.core.harmless import HarmlessKind, kinds_of, nothing_to_show
from engine.core.model import CheckResult, Finding, Proof, ProofVerdict, Question, Struct, TaskSpec, Verdict
from engine.perform.checks.proof.against_base import Regression
from engine.perform.checks.proof.check_result import check_result, not_measured, usable
from engine.perform.checks.proof.faults import Fault
from engine.perform.checks.proof.flaky import excused_by_history
from engine.perform.checks.proof.granted import granted
from engine.perform.checks.proof.harmless import Source, outside
from engine.perform.checks.proof.imports import language_of
from engine.perform.checks.proof.owned import Owner
from engine.perform.checks.proof.plain_changes import plain_kind
from engine.perform.checks.proof.seen_cases import COLLECT, by_id
from engine.perform.checks.proof.test_ids import covers_id
from engine.perform.checks.proof.test_shape import EditKind
from engine.perform.checks.proof.trial import KILLED, Run, Trial, findings_of, tests_of
from engine.perform.checks.proof.verdict import Outcome
from engine.perform.checks.run.measure import BAD, Measurement
from engine.perform.checks.run.spec import CheckSpec, HeldOut

FEW = 5
"""Failing tests that are worth a second look at once; more are not a matter of luck."""
ASKING = (ProofVerdict.QUESTION, ProofVerdict.UNPROVEN)
"""Faults that a grant can answer; the others stand."""


class Weighed(Struct, frozen=True, kw_only=True):
    """What the runs amount to."""

    outcome: Outcome | None
    results: tuple[CheckResult, ...]
    findings: tuple[Finding, ...]
    proofs: tuple[Proof, ...] = ()
    questions: tuple[Question, ...] = ()
    runs: tuple[Run, ...] = ()
    notes: tuple[str, ...] = ()
    """What the evidence is weaker by, in words."""


class Scales:
    """The state of a weighing; each kind of run adds its own."""

    def __init__(self, trial: Trial, task: TaskSpec | None, held_out: Sequence[HeldOut]) -> None:
        self.trial = trial
        self.change = trial.change
        self.task = task
        self.held_out = held_out
        self.faults: list[Fault] = []
        self.proofs: list[Proof] = []
        self.results: list[CheckResult] = []
        self.findings: list[Finding] = []
        self.notes: list[str] = []
        self.r1: dict[str, Measurement] = {}
        self.r2: dict[str, list[Measurement]] = {}
        self.r3: dict[str, list[Measurement]] = {}
        self.r4: dict[str, Measurement] = {}
        self.red: list[Regression] = []
        """Regressions of R1 that an edited oracle may explain."""
        self.late: list[Fault] = []
        """Failures of R2 that R4 may explain by a file that only R4 has."""
        self.unwatched: list[str] = []
        """Changed source files that no test reads."""
        self.excused: set[str] = set()
        self.unrepeated: list[CheckSpec] = []
        """Checks of which the base is to be repeated still, before its red is believed."""
        self.waived: list[tuple[str, Regression]] = []
        """Regressions of R1 that a grant lets be, by check."""
        usual = [spec for spec in trial.specs if not spec.strict]
        self.tests = [spec for spec in tests_of(usual) if trial.reference.of(spec) is not None]
        self.others = findings_of(usual)
        self.own = [spec for spec in trial.specs if spec.strict]

    def _failed(self) -> bool:
        return any(fault.verdict not in ASKING for fault in self.faults)

    def _drop_granted(self) -> None:
        """Without the questions that the plan has answered, or of which the configuration makes something else."""
        severity = self.trial.tools.setting.policy.severity
        kept: list[Fault] = []
        for one in self.faults:
            if one.verdict not in ASKING:
                kept.append(one)
                continue
            if granted(self.change.grants, one.rule, path=one.path, subject=one.test) is not None:
                continue
            match severity.get(one.rule, "human"):
                case "off":
                    continue
                case "note":
                    self.notes.append(one.text)
                case "error":
                    kept.append(replace(one, verdict=ProofVerdict.FAIL))
                case _:
                    kept.append(one)
        self.faults = kept

    def _hopeless(self) -> bool:
        return any(fault.verdict is ProofVerdict.ERROR for fault in self.faults)

    def _nothing_to_show(self) -> bool:
        """The plan says so, and where it says of which kind, the change is of that kind; or the change shows it."""
        if self.task is None:
            return False
        if nothing_to_show(self.task.proof) and not self._of_another_kind():
            return True
        if self.plain is HarmlessKind.REMOVAL and self.proofs:
            return False  # something shows it, so it is weighed like anything else
        return self.task.proof != "required" and self.plain is not None

    @cached_property
    def plain(self) -> HarmlessKind | None:
        """What the change is by its files alone, where that fits the words of the task."""
        if self.task is None:
            return None
        there = self.change.transformed
        return plain_kind(self.task, self.change.owned, there.found, there.wanted, self.change.ground.files)

    def _of_another_kind(self) -> str:
        """A file of the subject that is not what `proof: none (docs)` calls the change."""
        kinds = kinds_of(self.task.proof) if self.task is not None else ()
        if not kinds:
            return ""  # `none` in the user's own words is bound to nothing
        subject = [one for one in self.change.owned if one.owner is Owner.SUBJECT and language_of(one.path)]
        return outside(kinds, (Source(path=one.path, before=one.before, after=one.after) for one in subject))

    def _moved_red(self, spec: CheckSpec, faults: list[Fault]) -> list[Fault]:
        """Without tests that were red on the base and stand elsewhere now, word for word: they are red still."""
        known = by_id(self.r0(spec))
        red = [id for id, case in known.items() if case.outcome in BAD and case.error != COLLECT]
        edits = [one for one in self.change.transformed.edits if one.kind is EditKind.MOVED and one.now]
        moved = [one.now for one in edits if any(covers_id(one.id, id) for id in red)]
        return [one for one in faults if one.rule != "red" or not any(covers_id(now, one.test) for now in moved)]

    def r0(self, spec: CheckSpec) -> Measurement:
        found = self.trial.reference.of(spec)
        if found is None:
            raise LookupError(spec.name)
        return found

    def _measured(self, spec: CheckSpec, run: Measurement, name: str) -> bool:
        """Whether there is something to judge. What stops a run that the base came through is the change's doing."""
        stopped = not_measured(spec, run, self.trial.reference.of(spec))
        if stopped is None:
            return True
        if spec.required:
            verdict = ProofVerdict.ERROR if stopped[0] is Verdict.ERROR and environment(run) else ProofVerdict.FAIL
            self.faults.append(
                Fault(
                    verdict=verdict, rule="not-measured", text=f"{spec.name}: {stopped[1]} (in {name})", check=spec.name
                )
            )
        return False

    def _result(self, spec: CheckSpec, run: Measurement) -> CheckResult:
        files = frozenset(self.change.ground.files) - frozenset(
            one.path for one in self.change.owned if one.after is None
        )
        files |= frozenset(one.path for one in self.change.owned if one.after is not None)
        return check_result(
            spec,
            run,
            self.trial.reference.of(spec),
            flaky=frozenset(self.excused),
            files=files,
            critical_rules=self.trial.tools.setting.policy.critical_rules,
        )

    def _weigh_findings(self, runs: dict[str, Measurement], name: str) -> None:
        """Linters: in R1 only the subject's files count (a translated oracle has an order of its own), in R4 all do."""
        subject = frozenset(self.change.paths(Owner.SUBJECT))
        for spec in self.others:
            run = runs.get(spec.name)
            if run is None or not spec.required:
                continue
            result = self._result(spec, run)
            bad_ones = [one for one in result.findings if one.severity in ("error", "critical")]
            if name == "R1" and bad_ones and not any(one.path in subject for one in bad_ones):
                continue
            if name == "R1" and not bad_ones and run.ended == "exited" and self.change.edited_tests:
                continue  # the base's tests need not build over a changed interface: R4 tells
            if result.verdict is not Verdict.PASS:
                killed = run.exit_code in KILLED  # a linter does not end itself that way
                bad = result.verdict is Verdict.ERROR and (environment(run) or result.missing or killed)
                kind = ProofVerdict.ERROR if bad else ProofVerdict.FAIL
                text = f"{spec.name}: {result.reason}"
                self.faults.append(Fault(verdict=kind, rule="check", text=text, check=spec.name))

    async def _not_flaky(self, spec: CheckSpec, lost: list[Regression], tree: str) -> list[Regression]:
        """Without those that were seen to flip on the base, in the same order."""
        excused = await excused_by_history(self.trial, spec, lost, tree, FEW)
        if excused:
            self.excused |= excused
            self.notes += [f"{id} flips on the base too, in the same order: it counts neither way" for id in excused]
        return [one for one in lost if one.case.id not in excused]


def more(faults: Sequence[Fault]) -> str:
    return faults[0].text + (f" and {len(faults) - 1} more" if len(faults) > 1 else "")


def as_fault(one: Question) -> Fault:
    return Fault(
        verdict=ProofVerdict.QUESTION,
        rule=one.rule,
        text=one.text,
        allow=one.allow,
        path=one.path,
        line=one.line,
        before=one.before,
        after=one.after,
    )


def green(run: Measurement) -> bool:
    bad = any(case.outcome in BAD for case in run.report.cases)
    return usable(run) is not None and run.exit_code == 0 and not bad


def ran(run: Measurement) -> bool:
    """It came to an end and said no, rather than not being there at all."""
    return run.ended == "exited" and run.exit_code not in (None, 126, 127)


def environment(run: Measurement) -> bool:
    """The process could not be started, or the tool is not there: no change to the code mends that."""
    return run.ended == "not_started" or run.exit_code in (97, 126, 127)

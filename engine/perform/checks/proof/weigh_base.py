"""R0 and R1 weighed: what the base could not do, what the change broke of it, what it turned green."""

from __future__ import annotations

from engine.core.grants import GrantKind
from engine.core.model import Proof
from engine.perform.checks.proof.against_base import (
    Regression,
    assertion_faults,
    canary_faults,
    differs_still_red,
    lines_now,
    newly_bad,
    regressions,
    shadow_faults,
    uncollected,
)
from engine.perform.checks.proof.check_result import found_none, not_measured
from engine.perform.checks.proof.faults import Fault, error, fail
from engine.perform.checks.proof.flaky import green_on_base, history
from engine.perform.checks.proof.owned import Owner
from engine.perform.checks.proof.red_to_green import fixed
from engine.perform.checks.proof.scales import Scales
from engine.perform.checks.proof.seen_cases import by_id, signature
from engine.perform.checks.run.measure import PASSED, Measurement
from engine.perform.checks.run.runners import runner_of
from engine.perform.checks.run.spec import CheckSpec

FEW = 4
"""Files with old tests that turned green, up to which the base is repeated in the sitting of the later runs."""


class RegressionRuns(Scales):
    """R0 and R1."""

    def _look_at_base(self) -> None:
        """A baseline that could not be measured is nobody's work: ERROR before anything else is run."""
        for spec in (*self.tests, *self.others):
            found = self.trial.reference.of(spec)
            if found is None or not spec.required:
                continue
            stopped = not_measured(spec, found, found)
            if stopped is not None:
                self.faults.append(error("baseline", f"{spec.name} on the base: {stopped[1]}", spec.name))
            elif found.read_nothing and not (spec.starts_empty and found_none(found)):
                text = f"{spec.name} read no file of the tree on the base: what it judges is not known"
                self.faults.append(error("empty-reads", text, spec.name))

    async def _weigh_r1(self) -> None:
        dropped = self.change.transformed.dropped
        for spec in self.tests:
            r0, r1 = self.r0(spec), self.r1.get(spec.name)
            if r1 is None or r1 is r0:
                continue
            if not self._measured(spec, r1, "R1"):
                continue
            self.faults += canary_faults(r0, r1, spec.name, "R1")
            self.faults += shadow_faults(r0, r1, spec.name, self.change.oracle_reads)
            self.faults += self._rewritten(spec, r0, r1)
            lost = await self._not_flaky(spec, regressions(r0, r1, dropped), self.change.rooms.r1)
            self.waived += [(spec.name, one) for one in lost if self.change.transformed.waives(one.case.id)]
            lost = [one for one in lost if not self.change.transformed.waives(one.case.id)]
            lost = [one for one in lost if not self._renamed_example(one) and not self._other_value(one, r0, r1)]
            if lost and self.change.oracle_edited:
                self.red += lost
            else:
                self.faults += [fail("regression", one.words, one.now or one.case, spec.name) for one in lost]
            self.faults += uncollected(r0, r1, spec.name, dropped)
            self.faults += self._without_strangers(newly_bad(r0, r1, spec.name), r0)
            if r0.report.counts_tests:
                proofs, faults = fixed(r0, r1, spec.name)
                self.faults += faults
                self.faults += assertion_faults(r0, r1, spec.name, dropped, self._rewritten_files())
                self.faults += await self._differing(spec, r0, r1)
            else:
                proofs = self._turned_green(spec, r0, r1)
            if self._may_wait(spec, proofs):
                self.unrepeated.append(spec)
                self.proofs += proofs
            else:
                self.proofs += await self._steadily_red(spec, proofs)
        self._weigh_findings(self.r1, "R1")

    def _without_strangers(self, faults: list[Fault], r0: Measurement) -> list[Fault]:
        """Settings that the plan lets change may name tests whose files R1 does not have: R4 tells of those."""
        new = self.change.paths(Owner.NEW_TEST, Owner.NEW_SUPPORT)
        if not new or not self.change.transformed.files:
            return faults
        return [fault for fault in faults if fault.test in by_id(r0)]

    def _may_wait(self, spec: CheckSpec, proofs: list[Proof]) -> bool:
        """The base can be repeated in the sitting of the later runs: R1 is all of the change, few files prove it."""
        rooms = self.change.rooms
        if rooms.r4 != rooms.r1 or not runner_of(spec).loads:
            return False
        known = {flip.test for flip in history(self.trial.tools.setting.scratch) if flip.check == spec.name}
        places = {proof.path for proof in proofs}
        return 0 < len(places) <= FEW and "" not in places and not any(proof.name in known for proof in proofs)

    async def _repeat_base(self, spec: CheckSpec) -> None:
        """What waited. In a sitting the order of sets is another: a green there is looked at once more as R0 was."""
        mine = [proof for proof in self.proofs if proof.kind == "fixed" and proof.check == spec.name]
        files = self.trial.files_for(spec, dict.fromkeys(proof.path for proof in mine))
        ask = self.trial.on_base()  # only who is red: one that is green is looked at whole
        runs = await self.trial.files("R0 again", self.change.rooms.base, spec, files, ask, together=True)
        passed = {case.id for run in runs for case in by_id(run).values() if case.outcome == PASSED}
        lucky = [proof for proof in mine if proof.name in passed]
        if lucky:
            steady = await self._steadily_red(spec, lucky)
            self.proofs = [proof for proof in self.proofs if proof not in lucky or proof in steady]

    async def _steadily_red(self, spec: CheckSpec, proofs: list[Proof]) -> list[Proof]:
        """Without those whose red on the base was luck: a test that nobody touched and that flips is no proof."""
        lucky = await green_on_base(self.trial, spec, proofs)
        self.excused |= lucky
        self.notes += [f"{name} was red on the base, and green when that was repeated: it counts neither way"
                       for name in sorted(lucky)]  # fmt: skip
        return [proof for proof in proofs if proof.name not in lucky]

    def _renamed_example(self, one: Regression) -> bool:
        """An example in a documentation string whose owner has another name now, as the plan says."""
        if one.now is not None or one.case.path not in self.change.paths(Owner.SUBJECT):
            return False
        last = one.case.id.rpartition(".")[2]
        kinds = (GrantKind.RENAME, GrantKind.MOVE, GrantKind.DELETE)
        there = self.change.transformed
        found = there.found.renames if there.wanted else ()
        named = (*(g.target for g in self.change.grants if g.kind in kinds), *(rename.old for rename in found))
        return any(name.rpartition(".")[2] == last for name in named)

    def _other_value(self, one: Regression, r0: Measurement, r1: Measurement) -> bool:
        """A parameter that comes from a file of data which the plan lets change: as many of the test pass as did."""
        data = [path for path in self.change.paths(Owner.DATA) if path in self.change.transformed.files]
        name, bracket, _ = one.case.id.partition("[")
        if one.now is not None or not bracket or not data or one.case.path not in self.change.tests:
            return False
        had, has = (
            sum(case.outcome == PASSED and case.id.startswith(f"{name}[") for case in by_id(run).values())
            for run in (r0, r1)
        )
        return has >= had

    def _turned_green(self, spec: CheckSpec, r0: Measurement, r1: Measurement) -> list[Proof]:
        """A command judged by its exit code alone: red on the base, green on the change; red before and now is red."""
        if r1.report.source != "exit code":
            return []
        if r1.exit_code != 0 and r0.exit_code != 0 and spec.required:
            text = (
                f"{spec.name} fails (exit {r1.exit_code}), and did on the base; an exit code cannot tell the two apart"
            )
            self.faults.append(fail("red", text, check=spec.name))
        if r1.exit_code == 0 and r0.exit_code != 0 and spec.kind == "tests":
            red = f"exit {r0.exit_code}: {r0.output.strip().rpartition(chr(10))[2][:200]}"
            return [Proof(kind="fixed", name=spec.name, check=spec.name, red=red)]
        return []

    def _rewritten_files(self) -> dict[str, dict[str, str] | None]:
        """Tests that R1 has in other words than the base, and where their lines stand, if there are fewer or more."""
        before = {one.path: one.before for one in self.change.owned if one.before is not None}
        found: dict[str, dict[str, str] | None] = {}
        for path, text in self.change.transformed.files.items():
            was = before.get(path)
            same = was is None or text is None or was.count(b"\n") == text.count(b"\n")
            found[path] = None if same else lines_now(was or b"", text or b"")
        return found

    def _rewritten(self, spec: CheckSpec, r0: Measurement, r1: Measurement) -> list[Fault]:
        """The subject wrote to the tests while they ran."""
        bad = [path for path in r1.wrote if path in self.change.oracle_reads and path not in r0.wrote]
        return [fail("rewritten", f"{path} was rewritten while the tests ran", check=spec.name) for path in bad[:3]]

    async def _differing(self, spec: CheckSpec, r0: Measurement, r1: Measurement) -> list[Fault]:
        there = self.change.transformed.found.renames
        renamed = {one.new_last: one.old_last for one in there}
        renamed |= {_last(one.to): _last(one.target) for one in self.change.grants if one.kind is GrantKind.RENAME}
        found = differs_still_red(r0, r1, spec.name, renamed=renamed)
        if not found or not runner_of(spec).picks_files:
            return found
        files = self.trial.files_for(spec, dict.fromkeys(fault.path for fault in found if fault.path))[:3]
        again = await self.trial.files("R0 again", self.change.rooms.base, spec, files)
        known = by_id(r0)
        unstable = frozenset(
            case.id
            for run in again
            for case in by_id(run).values()
            if case.id in known and signature(case) != signature(known[case.id])
        )
        return differs_still_red(r0, r1, spec.name, unstable=unstable, renamed=renamed)


def _last(name: str) -> str:
    return name.rpartition(".")[2]

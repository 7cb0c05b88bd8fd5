"""R4 weighed, and what the plan would have to allow."""

from __future__ import annotations

from typing import assert_never

from msgspec.structs import replace

from engine.core.grants import Rule
from engine.core.model import Proof, ProofVerdict
from engine.globs import matches
from engine.perform.checks.proof.against_base import Regression, canary_faults, together
from engine.perform.checks.proof.echoes import echoes
from engine.perform.checks.proof.edit_questions import edit_questions, unasked
from engine.perform.checks.proof.faults import Fault, fail, question
from engine.perform.checks.proof.gone_tests import gone_from_edited
from engine.perform.checks.proof.imports import language_of
from engine.perform.checks.proof.owned import Owned, Owner
from engine.perform.checks.proof.places import ELSEWHERE, named_like_target
from engine.perform.checks.proof.scales import as_fault
from engine.perform.checks.proof.seen_cases import by_id
from engine.perform.checks.proof.shortcuts import keyed, keyed_text
from engine.perform.checks.proof.steering import has_sections, steering
from engine.perform.checks.proof.stricter import stricter
from engine.perform.checks.proof.suspects import suspects
from engine.perform.checks.proof.test_ids import covers_id
from engine.perform.checks.proof.test_shape import HARMLESS, EditKind
from engine.perform.checks.proof.weigh_new import NewTestRuns
from engine.perform.checks.run.measure import BAD, PASSED, Case
from engine.perform.checks.run.spec import CheckSpec
from engine.plans.leanings import about_elsewhere


class WholeRun(NewTestRuns):
    """R4 and the questions."""

    async def _weigh_r4(self) -> None:
        late = self.late
        if self.r4 is self.r1:
            self.faults += late
            return
        edited = frozenset(one.path for one in self.change.owned if one.owner in (Owner.TEST, Owner.SUPPORT))
        reading = frozenset(self.change.tests)  # a parametrised id holds what an edited data file says
        settings = next(iter(self.change.paths(Owner.CONFIG, Owner.STEERING)), "")
        settings = settings or next((path for path in self.change.left_out), "")
        for spec in self.tests:
            r0, r4 = self.r0(spec), self.r4.get(spec.name)
            if r4 is None or r4 is r0 or not self._measured(spec, r4, "R4"):
                continue
            self.faults += canary_faults(r0, r4, spec.name, "R4")
            if not r0.report.counts_tests:
                if r4.report.source == "exit code" and r4.exit_code != 0 and r0.exit_code == 0:
                    text = f"{spec.name} fails with the whole change: exit {r4.exit_code}"
                    self.faults.append(fail("red", text, check=spec.name))
                continue
            dropped = (*self.change.transformed.dropped,)
            found = together(
                r0, r4, spec.name, edited | reading, dropped, frozenset(self.excused), settings_changed=settings
            )
            self.faults += await self._still_bad(spec, self._moved_red(spec, found))
            self.faults += gone_from_edited(r0, r4, self.change.transformed, edited, spec.name)
            passed = {case.id for case in r4.report.cases if case.outcome == PASSED}
            known = {proof.name for proof in self.proofs}
            edited_red = [
                case
                for case in r0.report.cases
                if case.outcome in BAD and case.id in passed and case.id not in known
                if self.change.transformed.excuse(case.id) is not None
            ]
            lifted = [case for case in edited_red if self._passes_without(spec, case)]
            self.faults += [
                question(
                    "test-changed",
                    f"{case.id} was red and was edited; as it stands now it passes without the change",
                    f"edit tests {case.id}",
                    case,
                    spec.name,
                )
                for case in lifted
            ]
            self.proofs += [
                Proof(kind="fixed", name=case.id, check=spec.name, path=case.path, red=case.text[:200])
                for case in edited_red
                if case not in lifted
            ]
            for fault in late:
                if fault.check == spec.name:
                    if fault.test in passed:
                        text = f"{fault.test} passes only with {', '.join(self.change.left_out[:3])}"
                        self.faults.append(
                            question("oracle-changed", text, f"edit {self.change.left_out[0]}", check=spec.name)
                        )
                    else:
                        self.faults.append(fault)
        self._weigh_findings(self.r4, "R4")

    def _passes_without(self, spec: CheckSpec, case: Case) -> bool:
        """A red test that was edited under a change of behaviour, and whose new form is green over the base."""
        excuse = self.change.transformed.excuse(case.id)
        there = {id: one.outcome for run in self.r3.get(spec.name, []) for id, one in by_id(run).items()}
        return excuse is not None and excuse.red_on_base and there.get(case.id) == PASSED

    async def _still_bad(self, spec: CheckSpec, faults: list[Fault]) -> list[Fault]:
        """A test of the base that is red only in the whole change: once more by the history of the base."""
        known = by_id(self.r0(spec))
        lost = [
            Regression(case=known[fault.test], now=None)
            for fault in faults
            if fault.rule == "red" and fault.test in known and known[fault.test].outcome == PASSED
        ]
        excused = {one.case.id for one in lost} - {
            one.case.id for one in await self._not_flaky(spec, lost, self.change.rooms.r4)
        }
        return [fault for fault in faults if fault.test not in excused]

    def _ask(self) -> None:
        """What the plan would have to allow. R1's regressions ask only where an edited oracle explains them."""
        explained: list[Regression] = []
        for one in self.red:
            now = next((found for run in self.r4.values() if (found := by_id(run).get(one.case.id))), None)
            gone = now is None and one.case.path in {*self.change.oracle_edited, *self.change.tests}
            if self.r4 and (gone or (now is not None and now.outcome == PASSED)):
                explained.append(one)
            else:
                check = next((spec.name for spec in self.tests if one.case.id in by_id(self.r0(spec))), "")
                self.faults.append(fail("regression", one.words, one.now or one.case, check))
        if any(fault.verdict is ProofVerdict.FAIL for fault in self.faults):
            return
        red = [one.case.id for one in explained]
        failing = [case for run in self.r1.values() for case in by_id(run).values() if case.outcome in BAD]
        red += [case.id for case in failing if not case.freed]  # that one is green under its old mark
        red = [id for id in red if id not in self._red_throughout()]
        broken = [one.case.id for one in (*explained, *(one for _, one in self.waived))]
        asked = edit_questions(self._worth_asking(), self.change.grants, self.change.transformed, red, broken)
        self.faults += [as_fault(one) for one in asked]
        spoken = " ".join(one.text for one in asked)
        for one in explained:
            if not one.case.path and self._every_edit_excused():
                continue  # a command names no tests: what it was red for is what the plan lets change
            if one.case.id not in spoken and not (one.case.path and one.case.path in spoken):
                text = f"{one.words}; with the tests as the change has them it passes"
                entry = f"edit tests {one.case.id}" if one.case.path else f"edit {self.change.oracle_edited[0]}"
                entry = unasked(self.change.transformed, one.words) or entry
                self.faults.append(question("test-changed", text, entry, one.case))
        self.faults += self._links()
        checks = [spec.name for spec in self.trial.specs]
        self.faults += [as_fault(one) for one in suspects(self.change, self.trial.specs, checks)]
        self.faults += self._echoes()

    def _links(self) -> list[Fault]:
        """A link that the change brings: what is read there lies elsewhere, perhaps where a test writes."""
        trees, rooms = self.trial.trees, self.change.rooms
        came = [one.path for one in trees.diff_files(rooms.base, rooms.r4) if one.change != "deleted"]
        plain = trees.contents(rooms.r4, came)
        there = frozenset(trees.files(rooms.r4))
        links = [path for path in came if path not in plain and path in there]
        faults = [
            question(Rule.ORACLE_CHANGED, f"{path} is a link now: what is read there lies elsewhere", f"edit {path}")
            for path in links[:2]
        ]
        return [replace(fault, path=path) for fault, path in zip(faults, links, strict=False)]

    def _every_edit_excused(self) -> bool:
        """All that a change did to the oracle are edits of tests that the plan lets follow."""
        there = self.change.transformed
        paths = {edit.path for edit in there.edits if there.waives(edit.id) or edit.kind in HARMLESS}
        return bool(there.excuses) and set(self.change.oracle_edited) <= paths

    def _red_throughout(self) -> set[str]:
        """On the base, over the change, and in the whole: no edit makes anything of them."""
        runs = [self.r0(spec) for spec in self.tests], self.r1.values(), self.r4.values()
        each = [{id for run in some for id, case in by_id(run).items() if case.outcome in BAD} for some in runs]
        return set.intersection(*each)

    def _worth_asking(self) -> list[Owned]:
        """Without files that no check reads and no command looks for, and without what in them steers nothing."""
        ground = self.change.ground
        found = []
        for one in self.change.owned:
            match one.owner:
                case Owner.CONFIG if stricter(one.path, one.before, one.after):
                    asks = False
                case Owner.STEERING if one.why.startswith("neither"):
                    asks = named_like_target(one.path, ground.sources)
                case Owner.STEERING if one.before is None and ground.named(one.path):
                    asks = False  # asked for by its name, and no run but the last has it
                case Owner.DATA:
                    asks = one.read or not self._traced()
                case Owner.CONFIG if one.before is not None and one.after is not None and has_sections(one.path):
                    asks = bool(steering(one.path, one.before, one.after, self.trial.specs))
                case Owner.CONFIG | Owner.STEERING if matches(one.path, ELSEWHERE) and not one.read:
                    asks = not (ground.named(one.path) or ground.in_scope(one.path) or about_elsewhere(ground.words))
                case Owner.CONFIG if not one.read and self._traced():
                    asks = False
                case (
                    Owner.SUBJECT
                    | Owner.TEST
                    | Owner.SUPPORT
                    | Owner.CONFIG
                    | Owner.NEW_TEST
                    | Owner.NEW_SUPPORT
                    | Owner.STEERING
                ):
                    asks = True
                case _:
                    assert_never(one.owner)
            if asks:
                found.append(one)
        return found

    def _traced(self) -> bool:
        return all(one.traced == "atime" for one in self.trial.reference.measurements.values())

    def _weigh_waived(self) -> None:
        """A test that changed with the behaviour has to show the new one: red without the change, else it asks."""
        there = self.change.transformed
        for check, one in self.waived:
            excuse = there.excuse(one.case.id)
            if excuse is None or not excuse.red_on_base:
                continue
            name = one.case.id.partition("[")[0]
            on_base = [case for run in self.r3.get(check, []) for case in by_id(run).values()]
            now = [edit.now for edit in self.change.transformed.edits if edit.now and covers_id(edit.id, name)]
            mine = [
                case
                for case in on_base
                if case.id.partition("[")[0] == name
                or case.id == one.case.path
                or any(covers_id(place, case.id) for place in now)
            ]
            beside = any(proof.kind == "new" and proof.path == one.case.path for proof in self.proofs)
            moved = any(covers_id(edit.id, name) and edit.kind is EditKind.SAME_SHAPE for edit in there.edits)
            if beside and moved:
                continue  # a limit that moved: this side of it is asked with another number, the other side proves it
            if not any(case.outcome in BAD for case in mine):
                text = f"{one.case.id} was changed under “{excuse.entry}”, but passes without the change too"
                self.faults.append(question("test-changed", text, f"edit tests {name}", one.case, check))

    def _echoes(self) -> list[Fault]:
        """Source that repeats what a proof asks together with what it wants to hear."""
        paths = [proof.path for proof in self.proofs if proof.path]
        texts = [
            text.decode("utf-8", "replace") for text in self.trial.trees.contents(self.change.rooms.r2, paths).values()
        ]
        texts += [" ".join(spec.command) for spec in self.own]
        names = [proof.name for proof in self.proofs if proof.kind != "verify"]
        found = []
        for one in self.change.owned:
            if one.owner is not Owner.SUBJECT or not language_of(one.path):
                continue
            proving = [text.encode("utf-8", "replace") for text in texts[: len(texts) - len(self.own)]]
            words = self.change.ground.words
            known = keyed(self.change.had(one), one.after, proving, words) if one.path.endswith(".py") else []
            known += keyed_text(one.path, self.change.had(one), one.after, proving, words)
            for rule, line, told in known:
                fault = question(rule, f"{one.path}:{line} {told}", f"accept {rule} in {one.path}")
                found.append(replace(fault, path=one.path, line=line))
            for echo in echoes(one.path, self.change.had(one), one.after, texts, names, words)[:1]:
                what = f"“{echo.asked}” → “{echo.answered}”" if echo.answered else f"“{echo.asked}”"
                text = f"{echo.path}:{echo.line} knows the test that proves it: {what}"
                fault = question(Rule.DETECTS_TESTS, text, f"accept detects-tests in {echo.path}")
                found.append(replace(fault, path=echo.path, line=echo.line))
        return found

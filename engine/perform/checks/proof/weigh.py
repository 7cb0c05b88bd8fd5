"""Which run comes next, and what the runs amount to: the cheap and certain first, R4 only when all else holds."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from engine.core.grants import Rule
from engine.core.harmless import kinds_of
from engine.core.model import CheckResult, Finding, ProofVerdict, Verdict
from engine.perform.checks.proof.blind import blind_faults
from engine.perform.checks.proof.boundary import CANNOT, across, boundary_ahead
from engine.perform.checks.proof.changed_lines import unreached
from engine.perform.checks.proof.deaf_data import deaf_data, records
from engine.perform.checks.proof.faults import fail, question
from engine.perform.checks.proof.frames import Frame, adds, frame_of
from engine.perform.checks.proof.mutate import mutants_ahead, mutation_findings
from engine.perform.checks.proof.named import BUG, named, still_red
from engine.perform.checks.proof.neighbour_runs import neighbour_faults, neighbours_ahead
from engine.perform.checks.proof.new_names import names_alone
from engine.perform.checks.proof.other_values import content_with_anything, other_values_ahead
from engine.perform.checks.proof.plain_changes import WORDS
from engine.perform.checks.proof.proof_places import with_lines
from engine.perform.checks.proof.red_to_green import import_red
from engine.perform.checks.proof.replaced_parts import replaced_parts
from engine.perform.checks.proof.scales import Weighed, more
from engine.perform.checks.proof.seen_cases import COLLECT, by_id, covered
from engine.perform.checks.proof.taken_back import taken_back_ahead, unnoticed
from engine.perform.checks.proof.test_ids import covers_id
from engine.perform.checks.proof.test_shape import EditKind
from engine.perform.checks.proof.trial import Ahead, Run
from engine.perform.checks.proof.unchanged import otherwise_faults, says_nothing_changes
from engine.perform.checks.proof.unheard import unheard
from engine.perform.checks.proof.verdict import conclude
from engine.perform.checks.proof.weigh_asked import AskedOfTheChange
from engine.perform.checks.proof.weigh_base import FEW
from engine.perform.checks.run.execute import Ask
from engine.perform.checks.run.heldout import run_held_out
from engine.perform.checks.run.left_behind import TAIL
from engine.perform.checks.run.measure import BAD, PASSED, Measurement
from engine.perform.checks.run.moving_names import masks_of, settle
from engine.perform.checks.run.room import enter
from engine.perform.checks.run.runners import runner_of
from engine.perform.checks.run.spec import CheckSpec

TESTS_FAILED = 1
"""Exit code of every runner that we read."""


class Weighing(AskedOfTheChange):
    """One change on the scales."""

    async def run(self) -> None:
        rooms = self.change.rooms
        self._look_at_base()
        if rooms.r4 != rooms.base and not self._hopeless():
            self.r1 = await self.trial.steady(await self.trial.r1([*self.tests, *self.others]))
            await self._weigh_r1()
            await self._run_r2()
            if not self._failed():
                await self._run_r3()
                self._weigh_waived()
                await self._run_own()
            if not self._failed():
                self.r4 = await self._whole()
                await self._weigh_r4()
            self._ask()
            await self._weigh_edits()
            if not self._failed():
                await self._try_ahead()
                await self._confirm()
                await self._cross()
            self._drop_granted()
            await self._weigh_work()
            if not self.faults and (self.proofs or self._nothing_to_show()):
                await self._completing()
        self._name_red()
        self._drop_granted()
        self._conclude_checks()

    async def _whole(self) -> dict[str, Measurement]:
        """R4; a name that only now turned out to move is one in R1 too."""
        found = await self.trial.r4([*self.tests, *self.others], self.r1)
        if found is self.r1:
            return found
        found = await self.trial.steady(found)
        folder = self.trial.tools.setting.scratch
        self.r1 = {check: settle(one, masks_of(folder, check)) for check, one in self.r1.items()}
        return found

    async def _try_ahead(self) -> None:
        """What the next steps will ask for, in one sitting. What turns out not to be needed is not looked at.

        The base first, then the change behind its boundary, then it and its neighbours in the process of the tests.
        """
        rooms = self.change.rooms
        for spec in self.tests:
            mine = [proof for proof in self.proofs if proof.check == spec.name and proof.path]
            fixed = tuple(dict.fromkeys(proof.path for proof in mine if proof.kind == "fixed"))
            runs: list[Ahead] = []
            if spec in self.unrepeated:
                runs.append(Ahead(tree=rooms.base, files=self.trial.files_for(spec, fixed), ask=self.trial.on_base()))
            if self._few(spec):
                runs += [Ahead(tree=rooms.base, files=(path,), ask=self._confirming(spec)) for path in fixed]
            ids = {
                path: [proof.name for proof in mine if proof.path == path] for path in (proof.path for proof in mine)
            }
            near = [] if self.faults else await neighbours_ahead(self.trial, spec, ids, self.task, rooms.r3, rooms.r2)
            runs += [run for number, run in enumerate(near) if number % 2 == 0]
            runs += boundary_ahead(self.trial, spec, mine)
            runs += [run for number, run in enumerate(near) if number % 2 == 1]
            runs += [] if self.faults else await taken_back_ahead(self.trial, spec, mine)
            if not self.faults and all(import_red(one, self.r3.get(one.check, [])) for one in self.proofs):
                runs += await other_values_ahead(self.trial, spec, mine)
            runs += [] if self.faults else await mutants_ahead(self.trial, spec, mine)
            await self.trial.ahead(spec, [run for run in runs if not self.trial.known_already(spec, run)])

    def _few(self, spec: CheckSpec) -> bool:
        """So few files hold the old tests that turned green that they share the sitting, and its room."""
        return (
            0 < len({proof.path for proof in self.proofs if proof.kind == "fixed" and proof.check == spec.name}) <= FEW
        )

    def _confirming(self, spec: CheckSpec) -> Ask:
        return self.trial.on_base(disguise=self._few(spec) and bool(runner_of(spec).loads))

    async def _confirm(self) -> None:
        """An old test that was red once may have been unlucky: red again on the base, alone, or it proves nothing."""
        for spec in self.unrepeated:
            await self._repeat_base(spec)
        for spec in self.tests:
            mine = [proof for proof in self.proofs if proof.kind == "fixed" and proof.check == spec.name]
            files = tuple(dict.fromkeys(proof.path for proof in mine if proof.path))[:FEW]
            if not files or not runner_of(spec).picks_files or not self.r0(spec).report.counts_tests:
                continue
            runs = await self.trial.files("R3", self.change.rooms.base, spec, files, self._confirming(spec))
            green = {case.id for run in runs for case in by_id(run).values() if case.outcome == PASSED}
            lucky = [proof for proof in mine if proof.name in green]
            self.proofs = [proof for proof in self.proofs if proof not in lucky]
            self.notes += [f"{proof.name} passes alone on the base: it is no proof" for proof in lucky]

    async def _cross(self) -> None:
        """Proofs once more with the subject in another process."""
        for spec in self.tests:
            self.proofs, asked = await across(self.trial, spec, self.proofs)
            self.faults += asked
        cannot = [proof.name for proof in self.proofs if proof.boundary == CANNOT]
        if cannot:
            self.notes.append(f"cannot be tried with the subject in another process: {', '.join(cannot[:5])}")

    async def _completing(self) -> None:
        """Nothing objects: what the task names, neighbouring inputs, the held-out commands, mutants as advice."""
        tools, rooms = self.trial.tools, self.change.rooms
        self._ask_for_the_rest()
        self._ask_unrun()
        self._ask_about_nothing()
        self._ask_beyond_names()
        self._ask_unwatched()
        for spec in (*self.tests, *self.own):
            self.faults += await neighbour_faults(self.trial, spec, self.proofs, self.task)
        for spec in self.tests:
            self.faults += await blind_faults(self.trial, spec)
            if self._nothing_to_show() and says_nothing_changes(self.task):
                self.faults += await otherwise_faults(self.trial, spec)
            elif not self.faults and (frame := self._frame(spec)) is not None:
                self.faults += await otherwise_faults(self.trial, spec, frame)
        self._ask_narrow()
        self._ask_unreached()
        await self._ask_blunt()
        if not self.faults and not self._nothing_to_show():
            self.faults += await unnoticed(self.trial, self.tests, self.r4 or self.r1, self.proofs)
        if not self.faults and not self._nothing_to_show():
            if all(import_red(proof, self.r3.get(proof.check, [])) for proof in self.proofs):
                # what an answer of the base made red asks for another one
                told, fresh = self.change.ground.words, self._shown()[1]
                self.faults += await content_with_anything(self.trial, self.tests, self.proofs, told, fresh)
            self.faults += await unheard(self.trial, self.tests, self.proofs)
            self.faults += await deaf_data(self.trial, self.tests, self.proofs)
            self.faults += await records(self.trial, self.tests, self.proofs, self._shown()[1])
            self.faults += await replaced_parts(self.trial, self.tests, self.proofs)
            self.faults += await names_alone(self.trial, self.tests, self.proofs, self._shown()[1])
        folder = tools.setting.scratch / f"room-{tools.setting.lane}-part"
        for held in self.held_out:
            await enter(self.trial.trees, rooms.r4, folder)
            result, seen = await run_held_out(tools, held, folder)
            self.results.append(result)
            self.trial.runs.append(Run(name="held out", measured=seen))
            if result.verdict is not Verdict.PASS:
                self.faults.append(fail("held-out", result.reason, check=result.name))
        for spec in self.tests:
            seen_lines = self.r4.get(spec.name) or self.r1.get(spec.name)
            if seen_lines is not None and seen_lines.lines:
                wanted = tools.setting.policy.changed_coverage
                self.findings += unreached(self.change.owned, seen_lines.lines, self.r0(spec).coverage, wanted)
        if not self.faults and tools.setting.policy.mutants:
            self.findings += await mutation_findings(self.trial, self.tests, self.proofs)

    def _frame(self, spec: CheckSpec) -> Frame | None:
        """What all proofs of a check leave alone, by how they failed on the base."""
        runs = [self.r0(spec), *self.r3.get(spec.name, ())]
        red = {case.id: case for run in runs for case in by_id(run).values() if case.outcome in BAD}
        mine = [proof for proof in self.proofs if proof.check == spec.name]
        known = [red[proof.name] for proof in mine if proof.name in red]
        frame = frame_of(known) if known and len(known) == len(mine) == len(self.proofs) else None
        return frame if frame is not Frame.ADDITION or adds(self.task) else None

    def _name_red(self) -> None:
        """Red tests that the task names must be green now: broken before is no excuse for them."""
        red, green = [], set()
        for spec in self.tests:
            r0 = by_id(self.r0(spec))
            red += [case for case in r0.values() if case.outcome in BAD and case.error != COLLECT]
            for run in (self.r1.get(spec.name), self.r4.get(spec.name)):
                green |= {id for id, case in by_id(run).items() if case.outcome == PASSED}
        dropped = self.change.transformed.dropped
        moved = [edit.id for edit in self.change.transformed.edits if edit.kind is EditKind.MOVED]
        about = self.task is not None and BUG.search(self.task.title) is None  # it may name them to move them
        red = [case for case in red if not (about and any(covers_id(id, case.id) for id in moved))]
        red = [case for case in red if not covered(case, dropped)]
        names = named(self.task, red)
        left, none = still_red(names, green)
        self.faults += [fail("named-red", f"{id} is named by the task and is still red", check="") for id in left[:5]]
        if none and not left and not self._failed():
            hint = min(names.shared)
            text = f"{hint}, which the task seems to be about, is still red"
            case = next(case for case in red if case.id == hint)
            self.faults.append(question(Rule.NAMED_RED, text, f"accept named-red in {hint}", case))
        elif names.hinted and not names.hinted & green:
            self.notes.append(f"{min(names.hinted)} is red on the base and still is")

    def _conclude_checks(self) -> None:
        """One result a check, from the run that saw most of it, with what stands against it by name."""
        own = {result.name for result in self.results}
        for spec in (*self.tests, *self.others):
            if spec.name in own:
                continue
            run = self.r4.get(spec.name) or self._with_r2(spec, self.r1.get(spec.name) or self.r0(spec))
            result = self._result(spec, run)
            against = [fault for fault in self.faults if fault.check == spec.name]
            if bad := [fault for fault in against if fault.verdict is ProofVerdict.FAIL]:
                names = tuple(dict.fromkeys(fault.test or f"{fault.rule} {fault.text[:80]}" for fault in bad))
                reason = more(bad).removeprefix(f"{spec.name}: ")
                result = replace(
                    result, verdict=Verdict.FAIL, reason=reason, failing=names[:200], errors=max(1, len(names))
                )
            elif bad := [fault for fault in against if fault.verdict is ProofVerdict.ERROR]:
                reason = more(bad).removeprefix(f"{spec.name}: ")
                result = replace(result, verdict=Verdict.ERROR, reason=reason)
            elif result.verdict is not Verdict.PASS and not spec.required:
                pass
            elif result.verdict is Verdict.FAIL:
                # what the base's own tests say against an edited oracle is a question, not a failure
                result = replace(result, verdict=Verdict.PASS, failing=(), errors=0)
            self.trial.tools.say(spec.name, "done", result.verdict.value, result.reason)
            self.results.insert(0, result) if spec in self.tests else self.results.append(result)

    def _with_r2(self, spec: CheckSpec, run: Measurement) -> Measurement:
        """Counts of an iteration that did not come to R4: R1's tests and those the change brings; what is printed is of
        the runs in which tests fail."""
        if not run.report.counts_tests:
            return run
        cases = {case.id: case for case in run.report.cases}
        parts = self.r2.get(spec.name, ())
        for part in parts:
            cases |= {case.id: case for case in part.report.cases}
        red = [one for one in (run, *parts) if any(case.outcome in BAD for case in one.report.cases)]
        code = next(
            (one.exit_code for one in red if run.exit_code == 0 and one.exit_code == TESTS_FAILED), run.exit_code
        )
        text = "\n\n".join(one.output for one in red)[-TAIL:] or run.output
        report = replace(run.report, cases=tuple(cases.values()))
        return replace(run, report=report, exit_code=code, output=text)

    def only(self, results: Iterable[CheckResult]) -> Weighed:
        """Results without a verdict on proof: the final checks of a sprint."""
        return Weighed(outcome=None, results=tuple(results), findings=(), runs=tuple(self.trial.runs))

    def weighed(self) -> Weighed:
        ran = {
            spec.name: sum(1 for case in run.report.cases if case.outcome == PASSED)
            for spec in self.tests
            if (run := self.r4.get(spec.name) or self.r1.get(spec.name)) is not None and run.report.counts_tests
        }
        if self.task is not None and kinds_of(self.task.proof) and (path := self._of_another_kind()):
            called = ", ".join(kinds_of(self.task.proof))
            self.notes.append(f"the plan calls the change {called}, but {path} changes the program")
        outcome = conclude(
            self.faults,
            self.proofs,
            nothing_to_show=self._nothing_to_show(),
            changed=self.change.rooms.r4 != self.change.rooms.base,
            ran=ran,
        )
        if outcome.verdict is ProofVerdict.UNPROVEN and (words := self._not_run()):
            outcome = replace(outcome, reason=f"{outcome.reason}; {words}")
        if outcome.verdict is ProofVerdict.HARMLESS and self.plain is not None:
            outcome = replace(outcome, reason=f"nothing broke, and there is nothing to show: {WORDS[self.plain]}")
        if outcome.verdict is ProofVerdict.HARMLESS and self.unwatched:
            names = ", ".join(self.unwatched[:3])
            outcome = replace(outcome, reason=f"{outcome.reason}; no test reads {names}: nothing is known of it")
        weaker = [f"{spec.name}: {words}" for spec in self.tests if (words := runner_of(spec).weaker)]
        self.notes += self.trial.notes
        questions = tuple(fault.question() for fault in self.faults if fault.verdict is ProofVerdict.QUESTION)
        if outcome.verdict is ProofVerdict.UNPROVEN and self.proofs:
            # the next attempt is told; where that shows no more, a human may answer with one line
            unshown = tuple(fault.question() for fault in self.faults if fault.allow)
        else:
            unshown = ()
        findings = [
            *self.findings,
            *(
                Finding(rule=one.rule, text=one.text, path=one.path, line=one.line, severity="human")
                for one in questions
            ),
            *(Finding(rule="evidence", text=note, severity="note") for note in (*self.notes, *weaker)),
        ]
        return Weighed(
            outcome=outcome,
            results=tuple(self.results),
            findings=tuple(findings),
            proofs=with_lines(self.proofs, {one.path: one.after for one in self.change.owned if one.after is not None}),
            questions=(*questions, *unshown),
            runs=tuple(self.trial.runs),
            notes=(*self.notes, *weaker),
        )

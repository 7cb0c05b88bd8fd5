"""R2, R3 and the task's own commands weighed: do the tests that a change brings prove anything?"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from engine.core.model import Proof, ProofVerdict, Verdict
from engine.perform.checks.proof.against_base import canary_faults, red_in
from engine.perform.checks.proof.check_result import check_result
from engine.perform.checks.proof.faults import Fault, question
from engine.perform.checks.proof.found_names import hands_on_only
from engine.perform.checks.proof.gutted import FALSE, TRUE, gutted_tree
from engine.perform.checks.proof.gutted_text import LANGUAGES
from engine.perform.checks.proof.imports import language_of
from engine.perform.checks.proof.neighbour_runs import neighbours_ahead
from engine.perform.checks.proof.owned import Owner
from engine.perform.checks.proof.red_to_green import import_red, new_tests
from engine.perform.checks.proof.scales import environment, green, ran
from engine.perform.checks.proof.seen_cases import COLLECT, by_id
from engine.perform.checks.proof.trial import Ahead
from engine.perform.checks.proof.weigh_base import RegressionRuns
from engine.perform.checks.run.execute import Ask
from engine.perform.checks.run.measure import BAD, PASSED, Case, Measurement
from engine.perform.checks.run.runners import runner_of
from engine.perform.checks.run.spec import CheckSpec


class NewTestRuns(RegressionRuns):
    """R2, R3 and verify."""

    async def _run_r2(self) -> None:
        rooms = self.change.rooms
        data = self.change.paths(Owner.DATA) if not self._nothing_to_show() else ()
        if rooms.r2 == rooms.r1 and not self.change.tests and not data:
            return  # expected data that the plan lets change is in R1 already; without the change it may be red
        for spec in self.tests:
            if not runner_of(spec).picks_files:
                if self._whole_matters(spec):
                    self.r2[spec.name] = await self.trial.whole("R2", rooms.r2, [spec])
                    await self._weigh_r2(spec)
                continue
            files = self.trial.files_for(spec, self.change.tests)
            if files:
                self.r2[spec.name] = await self.trial.files("R2", rooms.r2, spec, files)
                await self._weigh_r2(spec)

    def _whole_matters(self, spec: CheckSpec) -> bool:
        """A command run whole, twice more, only where something of the change lies beside the tests."""
        beside = (Owner.TEST, Owner.NEW_TEST, Owner.DATA, Owner.NEW_SUPPORT, Owner.SUPPORT)
        return bool(self.change.paths(*beside)) and not any(
            self.trial.files_for(other, self.change.tests) for other in self.tests if runner_of(other).picks_files
        )

    async def _weigh_r2(self, spec: CheckSpec) -> None:
        r0 = self.r0(spec)
        red: list[Fault] = []
        for run in self.r2[spec.name]:
            if self._measured(spec, run, "R2"):
                self.faults += canary_faults(r0, run, spec.name, "R2")
                red += self._moved_red(spec, red_in([run], spec.name, r0, "R2"))
        red = await self._but_alone(spec, red)
        if red and self.change.left_out:
            # they may need a settings file or hook that no grant covers: R4 tells
            self.late += red
        else:
            self.faults += red

    async def _but_alone(self, spec: CheckSpec, red: list[Fault]) -> list[Fault]:
        """Without old tests that fail alone on the base as well: they lean on others, and R1 and R4 have those."""
        r0, r1 = by_id(self.r0(spec)), by_id(self.r1.get(spec.name))
        old = {fault.test for fault in red if _passes(r0, fault.test) and _passes(r1, fault.test)}
        files = tuple(dict.fromkeys(r0[id].path for id in sorted(old) if r0[id].path))
        if not files or not runner_of(spec).picks_files:
            return red
        runs = await self.trial.files("R2 on the base", self.change.rooms.base, spec, files, self.trial.on_base())
        alone = {
            case.id for run in runs for case in by_id(run).values() if case.outcome in BAD and case.error != COLLECT
        }
        if leaning := sorted(old & alone):
            self.notes.append(f"{', '.join(leaning[:3])} fails alone on the base, too: judged with the others only")
        return [fault for fault in red if fault.test not in old & alone]

    async def _run_r3(self) -> None:
        rooms = self.change.rooms
        for spec in self.tests:
            runs = self.r2.get(spec.name)
            if not runs or rooms.r3 == rooms.r2:
                continue
            if runner_of(spec).picks_files:
                self.r3[spec.name] = await self._files_on_base(spec, self.trial.files_for(spec, self.change.tests))
            else:
                self.r3[spec.name] = await self.trial.whole("R3", rooms.r3, [spec])
            r0 = self.r0(spec)
            fresh = new_tests(runs, self.r3[spec.name], r0, spec.name, self.change.edited_tests)
            known = {proof.name for proof in self.proofs}
            moved = self.change.transformed.moved  # with what they test: they show nothing new
            known |= {proof.name for proof in fresh if proof.path in moved}
            self.proofs += await self._not_vacuous(spec, [proof for proof in fresh if proof.name not in known])

    async def _files_on_base(self, spec: CheckSpec, files: Sequence[str]) -> list[Measurement]:
        """R3; of a file whose tests have neighbours to be tried, together with these, and in the clothes of that room.

        There the change has to keep its tests green as well, so that red and green are seen in the same clothes.
        """
        green: dict[str, list[str]] = {path: [] for path in files}
        before = by_id(self.r0(spec))
        for run in self.r2[spec.name]:
            for case in run.report.cases:
                known = before.get(case.id)
                fresh = known is None or known.outcome not in BAD or case.path in self.change.edited_tests
                if case.outcome == PASSED and case.path in green and fresh:
                    green[case.path].append(case.id)
        wanted = {path: ids for path, ids in green.items() if ids}
        near = await neighbours_ahead(self.trial, spec, wanted, self.task, self.change.rooms.r3)
        found: list[Measurement] = []
        worn: list[str] = []
        for path in files:
            beside = [run for run in near if run.files == (path,)]
            ask = self.trial.on_base(disguise=bool(beside))
            if beside:
                await self.trial.ahead(spec, [Ahead(tree=self.change.rooms.r3, files=(path,), ask=ask), *beside])
                runs = await self.trial.files("R3", self.change.rooms.r3, spec, (path,), ask)
                # Where the sandbox forbids the other clothes (modes and times cannot be set), it is run in its own.
                dressed = [path] if any(run.ended == "exited" and by_id(run) for run in runs) else []
                found += runs if dressed else []
                worn += dressed
        left = [path for path in files if path not in worn]
        return found + await self.trial.files("R3", self.change.rooms.r3, spec, left, self.trial.on_base())

    async def _not_vacuous(self, spec: CheckSpec, fresh: list[Proof]) -> list[Proof]:
        """A test that was red only because a name was missing must notice when what it names does nothing."""
        weak = [proof for proof in fresh if import_red(proof, self.r3[spec.name])]
        if not weak or not runner_of(spec).picks_files:
            return fresh
        languages = {language_of(path) for path in self.change.paths(Owner.SUBJECT)}
        if not languages & {"python", *LANGUAGES}:
            return fresh
        if hands_on_only(self.change.owned):
            return fresh  # that the name is there is all there is to show
        dropped = weak
        owned, words, r2 = self.change.owned, self.change.ground.words, self.change.rooms.r2
        emptied = [gutted_tree(self.trial.trees, r2, owned, answer, words) for answer in (TRUE, FALSE)]
        ask = Ask(known=self.trial.known, helpers=self.change.helpers, canaries=False, brief=True)
        files = tuple(dict.fromkeys(proof.path for proof in weak if proof.path))
        if len(files) == 1:
            await self.trial.ahead(spec, [Ahead(tree=tree, files=files, ask=ask) for tree in emptied if tree])
        if emptied[0] is None and "python" not in languages:
            return fresh  # no function was found: nothing follows
        for tree in emptied:
            if tree is None or not dropped:
                break  # nothing of what it adds does anything
            files = tuple(dict.fromkeys(proof.path for proof in dropped if proof.path))
            runs = await self.trial.files("R3 without bodies", tree, spec, files, ask)
            alive = {case.id for run in runs for case in by_id(run).values() if case.outcome == PASSED}
            dropped = [proof for proof in dropped if proof.name in alive]
        self.notes += [
            f"{proof.name} passes even when everything the change adds does nothing: it proves nothing"
            for proof in dropped
        ]
        return [proof for proof in fresh if proof not in dropped]

    def _named_by(self, spec: CheckSpec) -> bool:
        """The plan's own command names every file that only the whole change has: that is the word for it."""
        words = " ".join(spec.command)
        return all(re.search(rf"(?<![\w/.]){re.escape(path)}(?![\w/])", words) for path in self.change.left_out)

    async def _run_own(self) -> None:
        """The task's verify commands: they must pass on the change, and prove it where they fail without it."""
        rooms = self.change.rooms
        for spec in self.own:
            now = (await self.trial.whole("verify", rooms.r2, [spec]))[0]
            if not green(now) and rooms.r4 != rooms.r2:
                whole = (await self.trial.whole("verify R4", rooms.r4, [spec]))[0]
                if green(whole) and self.change.left_out and not self._named_by(spec):
                    text = f"`{' '.join(spec.command)[-120:]}` passes only with {', '.join(self.change.left_out[:3])}"
                    self.faults.append(
                        question("oracle-changed", text, f"edit {self.change.left_out[0]}", check=spec.name)
                    )
                    self.results.append(check_result(spec, whole))
                    continue
                now = whole
            result = check_result(spec, now)
            self.results.append(result)
            if result.verdict is not Verdict.PASS:
                kind = ProofVerdict.ERROR if result.verdict is Verdict.ERROR and environment(now) else ProofVerdict.FAIL
                self.faults.append(
                    Fault(verdict=kind, rule="verify", text=f"{spec.name}: {result.reason}", check=spec.name)
                )
                continue
            self.faults += canary_faults(None, now, spec.name, "verify")
            before = (await self.trial.whole("verify R3", rooms.r3, [spec]))[0]
            if not green(before) and ran(before):
                red = f"exit {before.exit_code}: {before.output.strip().rpartition(chr(10))[2][:200]}"
                self.proofs.append(Proof(kind="verify", name=" ".join(spec.command), check=spec.name, red=red))


def _passes(cases: Mapping[str, Case], id: str) -> bool:
    return id in cases and cases[id].outcome == PASSED

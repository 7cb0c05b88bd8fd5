"""New tests weighed as tests: whether somebody runs them, and what they ask for where they are all that there is."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Collection, Sequence

from engine.core.grants import Rule
from engine.core.harmless import HarmlessKind, kinds_of
from engine.perform.checks.proof.faults import unproven
from engine.perform.checks.proof.imports import language_of
from engine.perform.checks.proof.not_done import added_text
from engine.perform.checks.proof.not_run import never_taken, not_run
from engine.perform.checks.proof.other_values import asking_for_nothing
from engine.perform.checks.proof.owned import Owner
from engine.perform.checks.proof.proof_places import text_of_test
from engine.perform.checks.proof.seen_cases import by_id
from engine.perform.checks.proof.skipped_new import failing_new, skipped_new
from engine.perform.checks.proof.strength import Gained, gains, pool, side, words_in
from engine.perform.checks.proof.tried import REFUSED
from engine.perform.checks.proof.weigh_edits import MOST_FILES, MUTATED, EditedTests
from engine.perform.checks.run.measure import PASSED, Case
from engine.perform.checks.run.runners import runner_of
from engine.perform.checks.run.spec import CheckSpec

_HANDED_ON = re.compile(
    r"mock|stub|fake|spy|fetch|patch|\b(?:calls?|called|seen|sent|headers?|requests?)\b|record\w*", re.IGNORECASE
)
"""A test that looks at what the program gives to others."""
MOST_BLUNT = 4
"""Files of new tests that are tried for what they ask."""

MOST_LINES = 400


def _as_told(path: str, data: bytes) -> str:
    """What a file of the proof says; of data each line is a text that a test gives to the program."""
    text = data.decode("utf-8", "replace")
    if language_of(path):
        return text
    return "\n".join((text, *(json.dumps(line, ensure_ascii=False) for line in text.splitlines()[:MOST_LINES])))


class NewTests(EditedTests):
    """One change on the scales: the tests that it brings."""

    def _ask_unrun(self) -> None:
        """Tests that came and that nobody runs: they were to show something, or they are all that there is."""
        ground = self.change.ground
        fresh = self._shown()[1]
        for spec in self.tests:
            for case in skipped_new(self.r0(spec), self.r2.get(spec.name, ()), self.r3.get(spec.name, ()), fresh)[:1]:
                text = f"{case.id} is new and skipped: what it would show is not shown"
                self.faults.append(unproven(Rule.TEST_SKIPPED, text, test=case.id, path=case.path))
            for case in failing_new(self.r0(spec), self.r2.get(spec.name, ()), ground.words)[:1]:
                text = f"{case.id} is new, marked as failing, and fails: what it would show is not shown"
                self.faults.append(unproven(Rule.TEST_SKIPPED, text, test=case.id, path=case.path))
        runs = [*self.r4.values(), *self.r1.values(), *(part for parts in self.r2.values() for part in parts)]
        cases = [case for run in runs for case in run.report.cases]
        ids = {case.id for case in cases}
        taken = {case.path for case in cases}
        for one in self.change.owned:
            if one.owner not in (Owner.TEST, Owner.NEW_TEST) or one.path not in taken:
                continue
            if text := never_taken(one.path, one.before, one.after, ids):
                text += ": what it would show is not shown"
                self.faults.append(unproven(Rule.TEST_SKIPPED, text, path=one.path))
                return

        if not self.proofs and (words := self._not_run()):
            self.faults.append(unproven(Rule.NOT_SHOWN, words))

    async def _ask_blunt(self) -> None:
        """Tests are all that there is, and most of them ask for no answer of the program."""
        kinds = kinds_of(self.task.proof) if self.task is not None else ()
        if self.faults or not (self.plain is HarmlessKind.TESTS or HarmlessKind.TESTS in kinds):
            return
        for spec in self.tests:
            new = [case for run in self.r2.get(spec.name, ()) for case in run.report.cases if case.outcome == PASSED]
            new = [case for case in new if case.id not in by_id(self.r0(spec)) and case.path]
            files = tuple(dict.fromkeys(case.path for case in new))[:MOST_BLUNT]
            if not new or not runner_of(spec).picks_files:
                continue
            refusals = {case.id for case in new if self._provokes(case)}
            names = {case.id for case in new}
            idle = await asking_for_nothing(self.trial, spec, files, names, refusals)
            mostly = len(idle) * 2 > len(names)
            told = await self._gained(spec, files, names)
            if mostly and not (told is not None and told.further):
                name = idle[0]
                text = f"{name} passes whatever the program answers, or if it only fails: it asks for nothing"
                self.faults.append(unproven(Rule.NOT_SHOWN, text, test=name))
                return
            if told is not None and told.hardly_ask:
                text = (
                    f"of {told.tried} faults put into what the new tests name they notice {told.noticed}, and none "
                    "that the old tests did not: they ask for next to nothing"
                )
                self.faults.append(unproven(Rule.NOT_SHOWN, text))
                return

    async def _gained(self, spec: CheckSpec, files: Sequence[str], names: Collection[str]) -> Gained | None:
        """What the new tests notice of the mutants of what they name; None where there are none."""
        change, trees = self.change, self.trial.trees
        fresh = "\n".join(added_text(one.before, one.after) for one in change.owned if one.path in files)
        sources = {path: text for path, text in change.ground.sources.items() if language_of(path) in MUTATED}
        tests = sorted(path for path in change.ground.tests if path.endswith(runner_of(spec).suffixes))[:MOST_FILES]
        tests = [path for path in tests if path in change.ground.sources]
        texts = await asyncio.to_thread(trees.contents, change.rooms.r4, list(files))
        chosen = pool({**sources, **texts}, files, words_in([fresh]), change.rooms.r4)
        chosen = [one for one in chosen if not change.ground.is_test(one.path) and one.path not in files]
        if not chosen:
            return None
        new = await side(self.trial, spec, change.rooms.r4, files, lambda id: id in names)
        old = await side(self.trial, spec, change.rooms.base, self.trial.files_for(spec, tests))
        return await gains(self.trial, spec, chosen, new, old)

    def _provokes(self, case: Case) -> bool:
        """A test of a refusal, or of what somebody else is given: what else is answered, it does not ask."""
        source = (self.trial.trees.show(self.change.rooms.r2, case.path) or b"").decode("utf-8", "replace")
        text = text_of_test(source, case.id.partition("[")[0])
        return REFUSED.search(text) is not None or _HANDED_ON.search(text) is not None

    def _shown(self) -> tuple[str, str, str]:
        """The files that prove the change, their fresh lines (all, where an old test proves it), the subject's."""
        owned, trees = self.change.owned, self.trial.trees
        tests = [one for one in owned if one.owner is not Owner.SUBJECT and one.after is not None]
        fresh = [added_text(one.before, one.after) for one in tests]
        known = {one.path for one in tests}
        old = [proof.path for proof in self.proofs if proof.path and proof.path not in known]
        texts = [text.decode("utf-8", "replace") for text in trees.contents(self.change.rooms.r2, old).values()]
        commands = [" ".join(spec.command) for spec in self.own]
        whole = [_as_told(one.path, one.after or b"") for one in tests]
        if not whole and not texts:  # a command proves it, by tests that lie somewhere
            ground = self.change.ground
            texts = [text.decode("utf-8", "replace") for path, text in ground.sources.items() if ground.is_test(path)]
        subject = [added_text(one.before, one.after) for one in owned if one.owner is Owner.SUBJECT]
        return "\n".join((*whole, *texts, *commands)), "\n".join((*fresh, *texts, *commands)), "\n".join(subject)

    def _not_run(self) -> str:
        """A new test that its runner does not take proves nothing, and who wrote it cannot see why."""
        runs = [run for run in self.r4.values() if run is not None]
        runs += [part for parts in self.r2.values() for part in parts]
        ran = {case.path for run in runs for case in run.report.cases if case.path}
        new = [one for one in self.change.owned if one.before is None and one.after is not None]
        return not_run({one.path: (one.after or b"").decode("utf-8", "replace") for one in new}, ran)

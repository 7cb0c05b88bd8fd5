"""What is asked where the runs object to nothing: what the task names and nobody showed. By the words of the task."""

from __future__ import annotations

import re

from msgspec.structs import replace

from engine.core.grants import GrantKind, Rule
from engine.core.harmless import HarmlessKind, kinds_of, nothing_to_show
from engine.globs import matches
from engine.perform.checks.proof.beyond_names import beyond_names
from engine.perform.checks.proof.faults import question, unproven
from engine.perform.checks.proof.idle_parameters import idle
from engine.perform.checks.proof.imports import imported_by, language_of
from engine.perform.checks.proof.memory import quick_again
from engine.perform.checks.proof.moved_whole import nothing_moved
from engine.perform.checks.proof.narrow import Narrow, Source, narrow
from engine.perform.checks.proof.neighbour_runs import name_in_file
from engine.perform.checks.proof.not_done import left_out, not_done, put_off
from engine.perform.checks.proof.not_shown import fewer_than_criteria, not_shown
from engine.perform.checks.proof.owned import Owner
from engine.perform.checks.proof.proof_places import text_of_test
from engine.perform.checks.proof.red_to_green import import_red
from engine.perform.checks.proof.refusals import unprovoked
from engine.perform.checks.proof.seen_cases import UNTOLD, by_id
from engine.perform.checks.proof.set_by_tests import set_by_tests
from engine.perform.checks.proof.stand_ins import stand_ins
from engine.perform.checks.proof.stated_values import unstated
from engine.perform.checks.proof.still_there import hidden, not_renamed, still_there
from engine.perform.checks.proof.told_places import commands, untouched
from engine.perform.checks.proof.tried import untried
from engine.perform.checks.proof.unreached_assertions import never_reached
from engine.perform.checks.proof.unwatched import nothing_taken_away, same_code, spoken_of, unwatched, written_by_itself
from engine.perform.checks.proof.weigh_tests import NewTests
from engine.perform.checks.proof.wired_tests import wired
from engine.plans.leanings import leans, mends, orders_removal

PAGES = ("**/README*", "**/*.md", "**/*.rst", "docs/**")
_BESIDE = re.compile(r"(?:tests?|spec|t)/")


def _whole_test(id: str) -> str:
    """A test without its parameters and subtests."""
    file, mark, name = id.rpartition("::")
    return f"{file}{mark}{name.partition('[')[0].partition('/')[0].partition(' ')[0]}"


class AskedOfTheChange(NewTests):
    """One change on the scales: what its task speaks of."""

    def _ask_for_the_rest(self) -> None:
        """What the task names, and neither the base, nor a test, nor the change has."""
        if self.plain is HarmlessKind.REMOVAL:
            self._ask_for_what_stays()
        if self._nothing_to_show() or not self.proofs:
            return
        ground, owned = self.change.ground, self.change.owned
        if own := written_by_itself(self.proofs, owned, self.change.grants, ground.words):
            text = f"what {own} expects now was written by the change alone, and is all that it proves"
            self.faults.append(replace(question(Rule.OWN_EXPECTATION, text, f"edit {own}"), path=own))
        tests = [text for path, text in ground.sources.items() if ground.is_test(path)]
        tests += [one.after for one in owned if one.owner is not Owner.SUBJECT and one.after is not None]
        tests += [" ".join(spec.command).encode() for spec in self.own]
        changed = [(one.before, one.after) for one in owned if one.owner is Owner.SUBJECT]
        if self.task is not None and (path := self._only_beside()):
            text = f"the task mends something, and only {path} came, which nothing of the program needs"
            self.faults.append(question(Rule.NOT_DONE, text, f"accept {Rule.NOT_DONE}"))
        missing = not_done(self.task, ground.sources.values(), tests, changed)
        missing += left_out(self.task, ground.sources.values(), tests, changed)
        for name in dict.fromkeys(missing[:3]):
            text = f"the task names {name}, and neither the base, nor a test, nor the change has it"
            fault = question(Rule.NOT_DONE, text, f"accept {Rule.NOT_DONE}")
            self.faults.append(replace(fault, test=name))
        if self.plain is not HarmlessKind.REMOVAL:
            self._ask_for_what_stays()
        files = self.trial.trees.files(self.change.rooms.r4)
        for path in untouched(self.task, {one.path for one in owned}, files)[:2]:
            text = f"the task wants {path} to say something, and the change leaves it as it is"
            fault = question(Rule.NOT_DONE, text, f"accept {Rule.NOT_DONE}")
            self.faults.append(replace(fault, path=path))
        for one in owned:
            if one.owner is Owner.SUBJECT and (later := put_off(self.task, self.change.had(one), one.after)):
                text = f"{one.path} says that something is still to be done: {later[:120]}"
                fault = question(Rule.NOT_DONE, text, f"accept {Rule.NOT_DONE}")
                self.faults.append(replace(fault, path=one.path))
        source = [(one.path, self.change.had(one), one.after) for one in owned if one.owner is Owner.SUBJECT]
        for path, line, what in idle(source, self._left())[:1]:
            text = f"{path}:{line} {what}: it changes nothing"
            self.faults.append(replace(question(Rule.NOT_DONE, text, f"accept {Rule.NOT_DONE}"), path=path, line=line))
        fresh = self._shown()[1]
        for path, was, now in source:
            if keeps := quick_again(was, now, ground.words, fresh):
                text = (
                    f"{path} keeps results (`{keeps}`), and the proof takes the time: only the second call may be quick"
                )
                fault = question(Rule.UNUSUAL_SOURCE, text, f"accept {Rule.UNUSUAL_SOURCE} in {path}")
                self.faults.append(replace(fault, path=path))
        cases = [path for path in self.change.paths(Owner.NEW_SUPPORT) if not language_of(path)]
        if few := fewer_than_criteria(self.task, self._shown()[1], len(cases)):
            self.faults.append(unproven(Rule.NOT_SHOWN, few))
        whole, fresh, added = self._shown()
        if wanted := unprovoked(self.task, f"{fresh}\n{self._edited_blocks()}"):
            text = f"the task wants a refusal (“{wanted[:80]}”), and no test that proves the change provokes one"
            self.faults.append(unproven(Rule.NOT_SHOWN, text))
        if words := self._not_run():
            self.faults.append(unproven(Rule.NOT_SHOWN, words))
        untold = (
            *commands(self.task, whole)[:1],
            *not_shown(self.task, whole, fresh, added)[:2],
            *[*untried(self.task, fresh, whole)][:2],
        )
        for name in () if self._red_as_told() else (*untold, *[*unstated(self.task, whole)][:1]):
            text = f"the task speaks of {name}, and no test that proves the change tries it"
            self.faults.append(unproven(Rule.NOT_SHOWN, text, test=name))

    def _edited_blocks(self) -> str:
        """Old tests that prove the change with further rows, whole: what they do with a row stands above it."""
        old = {one.path: one.after for one in self.change.owned if one.owner is Owner.TEST and one.before and one.after}
        known = {_whole_test(id) for spec in self.tests for id in by_id(self.r0(spec))}
        names = dict.fromkeys((proof.path, _whole_test(proof.name)) for proof in self.proofs)
        texts = [
            text_of_test((old[path] or b"").decode("utf-8", "replace"), name)
            for path, name in names
            if path in old and name in known
        ]
        return "\n".join(texts)

    def _only_beside(self) -> str:
        """A new source file that only tests need, where nothing of the program that was there is another."""
        code = [one for one in self.change.owned if one.owner is Owner.SUBJECT and language_of(one.path)]
        if not code or self.task is None or not mends(self.task.title):
            return ""
        if any(one.before is not None or one.after is None for one in code):
            return ""
        ground = self.change.ground
        program = {path: text for path, text in ground.sources.items() if not ground.is_test(path)}
        program |= {one.path: one.after for one in code if one.after is not None}
        used = any(imported_by(one.path, program) for one in code) or any(one.path.endswith(".go") for one in code)
        return "" if used else code[0].path

    def _left(self) -> dict[str, bytes]:
        """Sources as they are after the change, tests with them; without those of the subject that it touches."""
        owned = self.change.owned
        touched = {one.path for one in owned}
        there = {path: text for path, text in self.change.ground.sources.items() if path not in touched}
        return there | {one.path: one.after for one in owned if one.owner is not Owner.SUBJECT and one.after}

    def _ask_for_what_stays(self) -> None:
        """What the task takes away or renames, and what is still there under its old name."""
        ground, owned = self.change.ground, self.change.owned
        after = {path: text for path, text in ground.sources.items() if not ground.is_test(path)}
        after |= {one.path: one.after or b"" for one in owned if one.owner is Owner.SUBJECT}
        before = {path: text for path, text in ground.sources.items() if not ground.is_test(path)}
        asked = [*still_there(self.task, after), *not_renamed(self.task, before, after)]
        title = self.task.title if self.task is not None else ""
        if orders_removal(title):
            served = [one.path for one in owned if one.owner is Owner.SUBJECT and hidden(one.before, one.after)]
            asked += [f"{path} answers for names that are to be gone (`__getattr__`)" for path in served]
        if leans(HarmlessKind.MOVE, title, title) and (path := nothing_moved(owned)):
            asked.append(f"{path} only hands on what stands where it stood: nothing was moved")
        for text in asked[:2]:
            self.faults.append(question(Rule.NOT_DONE, text, f"accept {Rule.NOT_DONE}"))

    def _red_as_told(self) -> bool:
        """A red test of the base that the task itself names is green now: that one says what was wanted."""
        words, files = self.change.ground.words, self.change.ground.files
        tests = [path for path in files if "/" in path and self.change.ground.is_test(path)]
        told = [path for path in tests if path in words or re.sub(r"\.\w+$", "", path) in words]
        for proof in self.proofs:
            own = re.split(r"[.:]+|\s>\s", proof.name.partition("[")[0])[-1]
            named = len(own) > len("test_") and re.search(rf"(?<!\w){re.escape(own)}(?!\w)", words)
            if proof.kind == "fixed" and (named or any(proof.path in ("", path) for path in told)):
                return True
        return False

    def _ask_unwatched(self) -> None:
        """Nothing is to be shown, and no test reads what was changed: said where the plan names it, else asked."""
        if self.task is None or not self._nothing_to_show() or self.proofs or self.plain is HarmlessKind.MOVE:
            return
        kinds = kinds_of(self.task.proof) or ((self.plain,) if self.plain is not None else ())
        if kinds == (HarmlessKind.REFACTORING,) and same_code(self.change.owned, self.task):
            text = "the plan calls it a refactoring, and the code of the program is what it was"
            self.faults.append(unproven(Rule.NOT_DONE, text))
        if kinds == (HarmlessKind.REMOVAL,) and nothing_taken_away(self.change.owned, self.task):
            text = "the plan takes something away, and the program is what it was: only tests or documents went"
            self.faults.append(unproven(Rule.NOT_DONE, text))
        for path in unwatched(self.change.owned, (*self.r1.values(), *self.r4.values())):
            self.unwatched.append(path)
            if not spoken_of(path, self.task):
                text = f"no test reads {path}, which the change gives another meaning, and the task does not name it"
                entry = f"accept {Rule.UNWATCHED} in {path}"
                self.faults.append(replace(question(Rule.UNWATCHED, text, entry), path=path))

    def _ask_about_nothing(self) -> None:
        """The plan says in its own words that there is nothing to show, and a test is red without the change.

        Where the sort of work was only read off the words (`none (tests)`), the proof corrects that.
        """
        if self.task is None or not nothing_to_show(self.task.proof) or kinds_of(self.task.proof):
            return
        runs = [run for some in self.r3.values() for run in some]
        shown = [proof for proof in self.proofs if proof.kind == "new" and not import_red(proof, runs)]
        for proof in shown[:1]:
            text = (
                f"the plan says that there is nothing to show, and {proof.name} fails without the change: {proof.red}"
            )
            fault = question(Rule.OTHERWISE, text, f"accept {Rule.OTHERWISE} in {proof.path}")
            self.faults.append(replace(fault, path=proof.path, check=proof.check))

    def _ask_beyond_names(self) -> None:
        change = self.change
        if text := beyond_names(self.task, change.owned, change.grants, change.transformed, change.ground.files):
            self.faults.append(question(Rule.MORE_CHANGED, text, f"accept {Rule.MORE_CHANGED}"))

    def _ask_unreached(self) -> None:
        """A new test that passes before it comes to one of its assertions."""
        for proof in self.proofs if not self.faults and not self._nothing_to_show() else ():
            if proof.kind != "new" or not proof.path.endswith(".py"):
                continue
            test = proof.name.partition("[")[0]
            runs = self.r2.get(proof.check, ())
            if not runs or any(run.report.canaries is None for run in runs):
                continue  # nobody counted
            marks = {
                mark
                for run in runs
                for id, case in by_id(run).items()
                if id.partition("[")[0].partition(" ")[0] == test
                for mark in case.reached
            }
            lines = {int(head) for mark in marks if (head := mark.partition(":")[0]).isdigit()}
            source = self.trial.trees.show(self.change.rooms.r2, proof.path)
            name = name_in_file(proof.name, proof.path)
            if source is None or UNTOLD in marks or not (line := never_reached(source, name, lines)):
                continue
            text = f"{proof.name} passes and never reaches its assertion in line {line}"
            entry = f"accept {Rule.UNREACHABLE_ASSERTION} in {proof.path}"
            fault = question(Rule.UNREACHABLE_ASSERTION, text, entry, check=proof.check)
            self.faults.append(replace(fault, path=proof.path, line=line, test=proof.name))
            return

    def _ask_narrow(self) -> None:
        """Where nothing else was asked: what stands in the change for its tests alone."""
        accepted = {grant.target for grant in self.change.grants if grant.kind is GrantKind.ACCEPT}
        if self.faults or self._nothing_to_show():
            return
        for one in [one for one in self._narrow() if one.rule not in accepted][:2]:
            place = f"{one.path}:{one.line}" if one.line else one.path
            fault = question(one.rule, f"{place} {one.text}", f"accept {one.rule} in {one.path}")
            self.faults.append(replace(fault, path=one.path, line=one.line))

    def _documents(self) -> list[str]:
        """What the change says of itself to its users."""
        pages = [one.after or b"" for one in self.change.owned if matches(one.path, PAGES)]
        return [page.decode("utf-8", "replace") for page in pages]

    def _narrow(self) -> list[Narrow]:
        ground = self.change.ground
        mine = [
            Source(path=one.path, before=one.before, after=one.after)
            for one in self.change.owned
            if one.owner is Owner.SUBJECT
        ]
        changed = {one.path for one in mine}
        left = {path: text for path, text in ground.sources.items() if path not in changed and not ground.is_test(path)}
        _, fresh, _ = self._shown()
        python = {path: text for path, text in left.items() if path.endswith(".py")}
        told = {path: text for path, text in ground.sources.items() if ground.is_test(path) or _BESIDE.match(path)}
        program = [text for path, text in left.items() if path not in told]
        spoken = "\n".join((ground.words, *self._documents()))
        now = {one.path: one.after for one in self.change.owned if one.owner is not Owner.SUBJECT and one.after}
        marks = list(set_by_tests(mine, program, {**told, **now}, spoken))
        proofs = {proof.path for proof in self.proofs}
        shown = {one.path: one.after for one in self.change.owned if one.path in proofs and one.after is not None}
        marks += wired(mine, program, shown)
        return [*marks, *stand_ins(mine, left, fresh, ground.words), *narrow(mine, python, fresh, ground.words)]

"""What held on the base and does not hold with the change: R1, R2 and R4 against R0. Pure."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from msgspec.structs import replace

from engine.core.grants import Rule
from engine.core.model import Struct
from engine.perform.checks.proof.faults import Fault, error, fail, question
from engine.perform.checks.proof.seen_cases import COLLECT, UNTOLD, by_id, covered, last_line, signature
from engine.perform.checks.run.measure import BAD, IDLE, PASSED, Case, Measurement

_NONE: Mapping[str, str] = MappingProxyType({})
_AS_THEY_WERE: Mapping[str, Mapping[str, str] | None] = MappingProxyType({})


class Regression(Struct, frozen=True, kw_only=True):
    """A test of the base that held there and does not hold with the change's subject."""

    case: Case
    """As the base had it."""
    now: Case | None
    """As R1 had it; None: it is not there any more."""

    @property
    def words(self) -> str:
        if self.now is None:
            return f"{self.case.id} passed on the base and is not collected any more"
        if self.now.outcome in IDLE:
            return f"{self.case.id} passed on the base and is skipped now"
        why = self.now.text.strip().splitlines()
        return f"{self.case.id} passed on the base and fails now" + (f": {why[0][:200]}" if why else "")


def regressions(r0: Measurement, r1: Measurement, dropped: Sequence[str] = ()) -> list[Regression]:
    """Every test that passed in R0 passes in R1, or a permission dropped it."""
    now = by_id(r1)
    files_in_error = {case.path: case for case in now.values() if case.error == COLLECT}
    found = []
    for case in by_id(r0).values():
        if case.outcome != PASSED or covered(case, dropped):
            continue
        there = now.get(case.id)
        if there is None and case.path in files_in_error:
            there = files_in_error[case.path]
        if there is None or there.outcome != PASSED:
            found.append(Regression(case=case, now=there))
    return found


def uncollected(r0: Measurement, r1: Measurement, check: str, dropped: Sequence[str] = ()) -> list[Fault]:
    """A file that could not be collected on the base: its tests must be there and pass now, else nothing is known."""
    now = by_id(r1)
    found = []
    for case in by_id(r0).values():
        if case.error != COLLECT or covered(case, dropped):
            continue
        there = now.get(case.id)
        if there is not None and there.error == COLLECT:
            why = last_line(there.text)
            found.append(
                error("not-collected", f"{case.id} cannot be collected, on the base and with the change: {why}", check)
            )
            continue
        bad = [one for one in now.values() if one.path == case.path and one.outcome in BAD]
        found += [fail("red", f"{one.id} fails: {last_line(one.text)}", one, check) for one in bad]
    return found


def newly_bad(r0: Measurement, r1: Measurement, check: str) -> list[Fault]:
    """Tests that were idle on the base, or not there, and fail in R1 (there are no additions: the subject does it)."""
    was = by_id(r0)
    collect = {case.path for case in was.values() if case.error == COLLECT}
    found = []
    for case in by_id(r1).values():
        if case.outcome not in BAD or case.path in collect or case.freed:
            continue
        before = was.get(case.id)
        if before is None and case.error == COLLECT and any(one.path == case.path for one in was.values()):
            continue  # its tests are regressions, each by its name
        if before is None or before.outcome in IDLE:
            found.append(fail("red", f"{case.id} fails: {last_line(case.text)}", case, check))
    return found


def differs_still_red(
    r0: Measurement,
    r1: Measurement,
    check: str,
    *,
    unstable: frozenset[str] = frozenset(),
    renamed: Mapping[str, str] = _NONE,
) -> list[Fault]:
    """Red on the base, red now, for another reason: the change reached it. `renamed`: old names by their new ones."""
    now = by_id(r1)
    found = []
    for case in by_id(r0).values():
        there = now.get(case.id)
        if case.outcome not in BAD or case.error == COLLECT or there is None or there.outcome not in BAD:
            continue
        if case.id not in unstable and signature(case, renamed) != signature(there, renamed) and r0.report.counts_tests:
            why = f"{last_line(case.text)} → {last_line(there.text)}"
            text, entry = (
                f"{case.id} was red and still is, but fails differently: {why}",
                f"accept fails-differently in {case.id}",
            )
            fault = question(Rule.FAILS_DIFFERENTLY, text, entry, there, check)
            found.append(replace(fault, before=case.text[:1000]))
    return found


def canary_faults(r0: Measurement | None, run: Measurement, check: str, name: str) -> list[Fault]:
    """Somebody changed the judge: a canary passed, or is missing. What R0 shows too is the project's own doing."""
    seen = run.report.canaries
    if seen is None or run.ended != "exited" or not run.report.complete:
        return []
    known = set(r0.report.canaries.passed) if r0 is not None and r0.report.canaries is not None else set()
    bad = [what for what in seen.passed if what not in known]
    if bad:
        text = (
            f"in {name} a test of the engine's own that must fail did not ({', '.join(bad[:3])}): the judge was changed"
        )
        return [fail("canary", text, check=check)]
    if seen.planted != seen.failed + len(seen.passed):
        return [
            fail("canary", f"in {name} {seen.planted - seen.failed} of the engine's own tests are missing", check=check)
        ]
    return []


def shadow_faults(r0: Measurement, r1: Measurement, check: str, oracle: frozenset[str]) -> list[Fault]:
    """What the base's tests took from the oracle or the environment comes from there still."""
    found = []
    for name, place in r0.report.modules.items():
        now = r1.report.modules.get(name, place)
        if place == "env" and now != "env":
            found.append(
                fail("shadowed", f"{now} is loaded instead of the module {name} that the base used", check=check)
            )
    stopped = not r1.report.counts_tests and r1.exit_code != 0  # a command ends at its first failure, which is told
    if r0.traced == r1.traced == "atime" and not stopped:
        lost = [path for path in r0.reads if path in oracle and path not in r1.reads]
        found += [
            fail("shadowed", f"{path} was read on the base and is not read now", check=check) for path in lost[:5]
        ]
    return found


def lines_now(before: bytes, after: bytes) -> dict[str, str]:
    """Where the lines of a test file stand since some of them went elsewhere."""
    old, new = before.splitlines(), after.splitlines()
    blocks = difflib.SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    return {str(one.a + at + 1): str(one.b + at + 1) for one in blocks for at in range(one.size)}


def assertion_faults(
    r0: Measurement,
    r1: Measurement,
    check: str,
    dropped: Sequence[str] = (),
    rewritten: Mapping[str, Mapping[str, str] | None] = _AS_THEY_WERE,
) -> list[Fault]:
    """R1's oracle is R0's, byte by byte: a test that passes in both reaches at least the assertions it reached.

    `rewritten`: files in which a rename put other words, each with where its lines stand now; None: where they stood.
    """
    now = by_id(r1)
    found = []
    for case in by_id(r0).values():
        there = now.get(case.id)
        if case.outcome != PASSED or there is None or there.outcome != PASSED or covered(case, dropped):
            continue
        had, has = set(case.reached), set(there.reached)
        if UNTOLD in had | has:
            continue
        if case.path in rewritten:
            had, has = ({mark.partition(":")[0] for mark in marks} for marks in (had, has))
            places = rewritten[case.path]
            had = {places.get(line, line) for line in had} if places is not None else had
        lost = sorted(had - has, key=_number)
        if lost:
            text = (
                f"{case.id} passes, but does not reach {len(lost)} of its assertions any more, e.g. {_where(lost[0])}"
            )
            found.append(question(Rule.FEWER_REACHED, text, f"accept fewer-reached in {case.id}", there, check))
    return found


def _where(mark: str) -> str:
    return f"line {mark}" if mark[:1].isdigit() else mark


def _number(mark: str) -> int:
    head = mark.partition(":")[0]
    return int(head) if head.isdigit() else 0


def red_in(runs: Sequence[Measurement], check: str, r0: Measurement, name: str) -> list[Fault]:
    """Failing tests of R2: new ones, and old ones that were not red before."""
    before = by_id(r0)
    found = []
    for run in runs:
        for case in by_id(run).values():
            was = before.get(case.id)
            if case.outcome in BAD and not (was is not None and was.outcome in BAD and was.error != COLLECT):
                found.append(fail("red", f"{case.id} fails in {name}: {last_line(case.text)}", case, check))
    return found


def together(
    r0: Measurement,
    r4: Measurement,
    check: str,
    edited: frozenset[str],
    dropped: Sequence[str],
    excused: frozenset[str],
    *,
    settings_changed: str,
) -> list[Fault]:
    """R4: everything as the change has it. What passed passes, what is new passes, nothing is quietly left out."""
    before, now = by_id(r0), by_id(r4)
    found = []
    for case in now.values():
        was = before.get(case.id)
        old_red = was is not None and was.outcome in BAD and was.error != COLLECT
        if case.outcome in BAD and not old_red and case.id not in excused:
            found.append(fail("red", f"{case.id} fails in the whole change: {last_line(case.text)}", case, check))
    for case in before.values():
        red = case.outcome in BAD and case.error != COLLECT and r0.report.counts_tests
        if not (case.outcome == PASSED or red) or covered(case, dropped) or case.path in edited:
            continue
        there = now.get(case.id)
        if there is not None and there.outcome not in IDLE:
            continue
        what = "is skipped" if there is not None else "is not run"
        rule = Rule.TEST_SKIPPED if there is not None else Rule.TEST_DESELECTED
        text = f"{case.id} {what} any more in the whole change, though its file was not touched"
        if settings_changed:
            found.append(question(rule, text, f"edit {settings_changed}", case, check))
        else:
            found.append(fail(rule, text, case, check))
    return found

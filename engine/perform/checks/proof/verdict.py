"""From what the runs saw to the verdict. Pure: data in, faults and proofs out."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from engine.core.grants import Rule
from engine.core.model import Proof, ProofVerdict, Question, Struct
from engine.perform.checks.proof.test_ids import covers_id
from engine.perform.checks.run.measure import BAD, ERROR, IDLE, PASSED, XFAILED, Case, Measurement

COLLECT = "CollectError"
UNTOLD = "…"
"""Among the assertions that a test reached: it has more of them than are counted, or others ran at the same time."""


class Fault(Struct, frozen=True, kw_only=True):
    """One thing that stands against a change, and what it makes of the verdict."""

    verdict: ProofVerdict
    """FAIL, QUESTION, UNPROVEN (something that the task speaks of was not shown) or ERROR."""
    rule: str
    text: str
    path: str = ""
    line: int = 0
    check: str = ""
    test: str = ""
    allow: str = ""
    """For a QUESTION: the entry of `allow:` that would grant it."""
    before: str = ""
    after: str = ""

    def question(self) -> Question:
        return Question(
            rule=self.rule,
            text=self.text,
            allow=self.allow,
            path=self.path,
            line=self.line,
            before=self.before,
            after=self.after,
        )


def fail(rule: str, text: str, case: Case | None = None, check: str = "") -> Fault:
    return Fault(
        verdict=ProofVerdict.FAIL,
        rule=rule,
        text=text,
        check=check,
        test=case.id if case else "",
        path=case.path if case else "",
        line=_line(case) if case else 0,
    )


def question(rule: str, text: str, allow: str, case: Case | None = None, check: str = "") -> Fault:
    return Fault(
        verdict=ProofVerdict.QUESTION,
        rule=rule,
        text=text,
        allow=allow,
        check=check,
        test=case.id if case else "",
        path=case.path if case else "",
        line=_line(case) if case else 0,
    )


def unproven(rule: str, text: str, *, test: str = "", path: str = "", line: int = 0) -> Fault:
    """Nothing objects, but a part was not shown. The next attempt is told; the plan may accept it by the rule."""
    told = f"{text} (show it by a test, or the plan says `accept {rule}`)"
    return Fault(
        verdict=ProofVerdict.UNPROVEN, rule=rule, text=told, allow=f"accept {rule}", test=test, path=path, line=line
    )


def error(rule: str, text: str, check: str = "") -> Fault:
    return Fault(verdict=ProofVerdict.ERROR, rule=rule, text=text, check=check)


def _line(case: Case) -> int:
    head = case.place.partition(":")[0]
    return int(head) if head.isdigit() else 0


def by_id(measured: Measurement | None) -> dict[str, Case]:
    """Cases by id; a check that offers no report is one case of its own name."""
    if measured is None:
        return {}
    if measured.report.counts_tests:
        return {case.id: case for case in measured.report.cases}
    if measured.report.source == "exit code" and measured.ended == "exited":
        outcome = PASSED if measured.exit_code == 0 else "failed"
        last = measured.output.strip().rpartition("\n")[2][:300]
        return {measured.check: Case(id=measured.check, outcome=outcome, text=f"exit {measured.exit_code}: {last}")}
    return {}


def covered(case: Case, dropped: Iterable[str]) -> bool:
    """Named by an entry of what a permission dropped: an id, the beginning of one, or a file."""
    return any(covers_id(entry, case.id) or case.path == entry or case.id.startswith(f"{entry}.") for entry in dropped)


# ── R1 against R0 ───────────────────────────────────────────────────────────────────────────────────────────────────


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
            why = _last(there.text)
            found.append(
                error("not-collected", f"{case.id} cannot be collected, on the base and with the change: {why}", check)
            )
            continue
        bad = [one for one in now.values() if one.path == case.path and one.outcome in BAD]
        found += [fail("red", f"{one.id} fails: {_last(one.text)}", one, check) for one in bad]
    return found


def _last(text: str) -> str:
    """The line that says most: what a collector marks, the last of a traceback, else the first."""
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    marked = [line.removeprefix("E").strip() for line in lines if line.startswith("E ")]
    if marked or "Traceback" in text:
        return (marked or lines)[-1][:300]
    return (lines or [""])[0][:300]


def newly_bad(r0: Measurement, r1: Measurement, check: str) -> list[Fault]:
    """Tests that were idle on the base, or not there, and fail in R1 (there are no additions: the subject does it)."""
    was = by_id(r0)
    collect = {case.path for case in was.values() if case.error == COLLECT}
    found = []
    for case in by_id(r1).values():
        if case.outcome not in BAD or case.path in collect or "XPASS" in case.text:
            continue
        before = was.get(case.id)
        if before is None and case.error == COLLECT and any(one.path == case.path for one in was.values()):
            continue  # its tests are regressions, each by its name
        if before is None or before.outcome in IDLE:
            found.append(fail("red", f"{case.id} fails: {_last(case.text)}", case, check))
    return found


def differs_still_red(
    r0: Measurement, r1: Measurement, check: str, *, unstable: frozenset[str] = frozenset()
) -> list[Fault]:
    """Red on the base, red now, for another reason: the change reached it."""
    now = by_id(r1)
    found = []
    for case in by_id(r0).values():
        there = now.get(case.id)
        if case.outcome not in BAD or case.error == COLLECT or there is None or there.outcome not in BAD:
            continue
        if case.id not in unstable and signature(case) != signature(there) and r0.report.counts_tests:
            text = f"{case.id} was red and still is, but fails differently: {_last(case.text)} → {_last(there.text)}"
            found.append(
                msg(
                    question(Rule.FAILS_DIFFERENTLY, text, f"accept fails-differently in {case.id}", there, check), case
                )
            )
    return found


def msg(fault: Fault, before: Case) -> Fault:
    from msgspec.structs import replace

    return replace(fault, before=before.text[:1000], after="")


def signature(case: Case) -> tuple[str, str, str]:
    text = re.sub(r"0x[0-9a-f]+|/(?:tmp|var)/\S+|\d+\.\d+ ?m?s\b|\bid=\d+|pid \d+", "…", case.text)
    return case.error, case.place, text


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
    if r0.traced == r1.traced == "atime":
        lost = [path for path in r0.reads if path in oracle and path not in r1.reads]
        found += [
            fail("shadowed", f"{path} was read on the base and is not read now", check=check) for path in lost[:5]
        ]
    return found


def assertion_faults(
    r0: Measurement, r1: Measurement, check: str, dropped: Sequence[str] = (), rewritten: Collection[str] = ()
) -> list[Fault]:
    """R1's oracle is R0's, byte by byte: a test that passes in both reaches at least the assertions it reached.

    In files that a rename rewrote the lines stand where they stood, and their words are others.
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


# ── proofs ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def fixed(r0: Measurement, r1: Measurement, check: str) -> tuple[list[Proof], list[Fault]]:
    """Tests of the base, red there and green with the change's subject, by name."""
    now = by_id(r1)
    proofs: list[Proof] = []
    faults: list[Fault] = []
    for case in by_id(r0).values():
        there = now.get(case.id)
        if case.outcome == XFAILED and there is not None and (there.outcome == PASSED or "XPASS" in there.text):
            proofs.append(_proof("fixed", there, check, f"expected to fail: {case.text[:200]}"))
        elif case.error == COLLECT:
            passed = [one for one in now.values() if one.path == case.path and one.outcome == PASSED]
            proofs += [_proof("fixed", one, check, f"could not be collected: {_last(case.text)}") for one in passed]
        elif case.outcome in BAD and there is not None and there.outcome == PASSED:
            if UNTOLD in there.reached:
                proofs.append(_proof("fixed", there, check, _last(case.text)))
            elif _asserts(case.place) and there.reached and not _reaches(there, case.place):
                text = f"{case.id} is green now, but never reaches the assertion that failed on the base ({case.place})"
                faults.append(fail("not-reached", text, there, check))
            elif _asserts(case.place) and not there.reached and r1.report.canaries is not None:
                text = f"{case.id} is green now without reaching any assertion; on the base {case.place} failed"
                faults.append(fail("not-reached", text, there, check))
            else:
                proofs.append(_proof("fixed", there, check, _last(case.text)))
    return proofs, faults


def _asserts(place: str) -> bool:
    return place.partition(":")[2].startswith(("assert ", "self.assert"))


def _reaches(case: Case, place: str) -> bool:
    line = place.partition(":")[0]
    return any(mark.partition(":")[0] == line for mark in case.reached)


def _proof(kind: str, case: Case, check: str, red: str) -> Proof:
    return Proof(kind=kind, name=case.id, check=check, path=case.path, line=_line(case), red=red[:300])


def new_tests(
    r2: Sequence[Measurement], r3: Sequence[Measurement], r0: Measurement, check: str, edited: frozenset[str]
) -> list[Proof]:
    """Tests that the change adds (or edits): green over its subject, red over the base's. By name."""
    before = by_id(r0)
    on_base: dict[str, Case] = {}
    broken: dict[str, Case] = {}
    for run in r3:
        for case in by_id(run).values():
            on_base[case.id] = case
            if case.error == COLLECT or (case.outcome in BAD and "::" not in case.id and not case.place):
                broken[case.path or case.id] = case
    tried = {measured.room for measured in r3}
    unbuilt = None if on_base else next((_unbuilt(run) for run in r3 if _unbuilt(run) is not None), None)
    found = []
    for run in r2:
        for case in by_id(run).values():
            if case.outcome != PASSED or not tried:
                continue
            there = on_base.get(case.id) or broken.get(case.path) or _broken_group(case.id, on_base)
            if there is None and (case.id not in before or _is_program(case.id, edited)):
                there = unbuilt
            if there is None or there.outcome not in BAD:
                continue
            was = before.get(case.id)
            if was is not None and was.outcome in BAD and case.path not in edited:
                continue  # an old red test: it is a proof by R1, or none
            found.append(_proof("new", case, check, _last(there.text)))
    return found


def _is_program(id: str, edited: Iterable[str]) -> bool:
    """A test that is a program of its own (ctest), made of one of these files: `map` of tests/test_map.c."""
    name = id.rpartition("::")[2]
    stems = (path.rpartition("/")[2].partition(".")[0] for path in edited)
    return any(name in (stem, stem.removeprefix("test_"), stem.removesuffix("_test"), f"test_{stem}") for stem in stems)


def _broken_group(id: str, cases: Mapping[str, Case]) -> Case | None:
    """The group of a test (`describe`) whose own set-up broke, so that none of its tests came to be."""
    while " > " in id:
        id = id.rpartition(" > ")[0]
        if (found := cases.get(id)) is not None and found.outcome in BAD:
            return found
    return None


NOT_STARTED = 126
"""Exit codes from here on: the shell could not start a program, or a signal ended it."""


def _unbuilt(run: Measurement) -> Case | None:
    """A command that builds before it tests, and broke there: none of its tests could be made over the base."""
    tells = run.report.source != "exit code" and run.report.complete and not run.report.findings
    broke = run.ended == "exited" and run.exit_code is not None and 0 < run.exit_code < NOT_STARTED
    if not tells or run.report.cases or not broke:
        return None
    return Case(id=run.check, outcome=ERROR, error=COLLECT, text=run.output[-600:])


def import_red(proof: Proof, r3: Sequence[Measurement]) -> bool:
    """On the base the test was red only because a name was not there yet: it shows that the name exists, no more."""
    for run in r3:
        for case in by_id(run).values():
            if case.id == proof.name or (case.error == COLLECT and case.path == proof.path):
                return case.error in (
                    COLLECT,
                    "ImportError",
                    "ModuleNotFoundError",
                    "AttributeError",
                    "NameError",
                    "TypeError",
                    "ReferenceError",
                    "SyntaxError",
                )
    return False


# ── R2 and R4 ───────────────────────────────────────────────────────────────────────────────────────────────────────


def red_in(runs: Sequence[Measurement], check: str, r0: Measurement, name: str) -> list[Fault]:
    """Failing tests of R2: new ones, and old ones that were not red before."""
    before = by_id(r0)
    found = []
    for run in runs:
        for case in by_id(run).values():
            was = before.get(case.id)
            if case.outcome in BAD and not (was is not None and was.outcome in BAD and was.error != COLLECT):
                found.append(fail("red", f"{case.id} fails in {name}: {_last(case.text)}", case, check))
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
            found.append(fail("red", f"{case.id} fails in the whole change: {_last(case.text)}", case, check))
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


# ── the verdict ─────────────────────────────────────────────────────────────────────────────────────────────────────


class Outcome(Struct, frozen=True, kw_only=True):
    """What a change is, in one word and one sentence."""

    verdict: ProofVerdict
    reason: str


def conclude(
    faults: Sequence[Fault], proofs: Sequence[Proof], *, nothing_to_show: bool, changed: bool, ran: Mapping[str, int]
) -> Outcome:
    """FAIL before ERROR before QUESTION; then what was shown. `ran`: tests that passed, by check that counts them."""
    for verdict in (ProofVerdict.FAIL, ProofVerdict.ERROR, ProofVerdict.QUESTION, ProofVerdict.UNPROVEN):
        found = [fault for fault in faults if fault.verdict is verdict]
        if found:
            more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
            return Outcome(verdict=verdict, reason=f"{found[0].text}{more}")
    if not changed:
        return Outcome(verdict=ProofVerdict.UNPROVEN, reason="nothing was changed: the tree is the one of the base")
    if proofs:
        first = proofs[0]
        more = f" and {len(proofs) - 1} more" if len(proofs) > 1 else ""
        return Outcome(verdict=ProofVerdict.PROVEN, reason=f"red → green: {first.name}{more}")
    if ran and not any(ran.values()):
        return Outcome(verdict=ProofVerdict.UNPROVEN, reason=f"no test passed in {', '.join(ran)}: nothing was shown")
    if nothing_to_show:
        return Outcome(
            verdict=ProofVerdict.HARMLESS, reason="nothing broke; the plan says that there is nothing to show"
        )
    return Outcome(
        verdict=ProofVerdict.UNPROVEN,
        reason="nothing broke, but nothing was shown: no test or verify command was red on the base and is green now",
    )


WHAT_WOULD_PROVE = (
    "To prove the change, one of these must be red without it and green with it: a test that you add (it has to "
    "fail on the old code for the reason the task names), a test that is red today, or the task's verify command."
)

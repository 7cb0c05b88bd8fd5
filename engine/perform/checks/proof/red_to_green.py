"""What was red without the change and is green with it, by name. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from engine.core.model import Proof
from engine.perform.checks.proof.faults import Fault, fail, line_of
from engine.perform.checks.proof.seen_cases import COLLECT, UNTOLD, by_id, last_line
from engine.perform.checks.run.measure import BAD, ERROR, PASSED, XFAILED, Case, Measurement


def fixed(r0: Measurement, r1: Measurement, check: str) -> tuple[list[Proof], list[Fault]]:
    """Tests of the base, red there and green with the change's subject, by name."""
    now = by_id(r1)
    proofs: list[Proof] = []
    faults: list[Fault] = []
    for case in by_id(r0).values():
        there = now.get(case.id)
        if case.outcome == XFAILED and there is not None and (there.outcome == PASSED or there.freed):
            proofs.append(_proof("fixed", there, check, f"expected to fail: {case.text[:200]}"))
        elif case.error == COLLECT:
            passed = [one for one in now.values() if one.path == case.path and one.outcome == PASSED]
            proofs += [_proof("fixed", one, check, f"could not be collected: {last_line(case.text)}") for one in passed]
        elif case.outcome in BAD and there is not None and there.outcome == PASSED:
            if UNTOLD in there.reached:
                proofs.append(_proof("fixed", there, check, last_line(case.text), line_of(case)))
            elif _asserts(case.place) and there.reached and not _reaches(there, case.place):
                text = f"{case.id} is green now, but never reaches the assertion that failed on the base ({case.place})"
                faults.append(fail("not-reached", text, there, check))
            elif _asserts(case.place) and not there.reached and r1.report.canaries is not None:
                text = f"{case.id} is green now without reaching any assertion; on the base {case.place} failed"
                faults.append(fail("not-reached", text, there, check))
            else:
                proofs.append(_proof("fixed", there, check, last_line(case.text), line_of(case)))
    return proofs, faults


def _asserts(place: str) -> bool:
    return place.partition(":")[2].startswith(("assert ", "self.assert"))


def _reaches(case: Case, place: str) -> bool:
    line = place.partition(":")[0]
    return any(mark.partition(":")[0] == line for mark in case.reached)


def _proof(kind: str, case: Case, check: str, red: str, failed_at: int = 0) -> Proof:
    line = line_of(case) or failed_at
    return Proof(kind=kind, name=case.id, check=check, path=case.path, line=line, red=red[:300])


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
            found.append(_proof("new", case, check, last_line(there.text)))
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

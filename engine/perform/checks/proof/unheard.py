"""Each assertion of a new test is made to fail once: where its test stays green, nobody hears what it says."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from engine.core.grants import Rule
from engine.core.model import Proof
from engine.perform.checks.proof.broken_assertions import MOST, broken, broken_shell
from engine.perform.checks.proof.faults import Fault, unproven
from engine.perform.checks.proof.owned import Owner
from engine.perform.checks.proof.seen_cases import by_id
from engine.perform.checks.proof.source_text import JAVASCRIPT
from engine.perform.checks.proof.trial import Trial
from engine.perform.checks.run.measure import PASSED
from engine.perform.checks.run.runners import runner_of
from engine.perform.checks.run.spec import CheckSpec

MOST_FILES = 2
SCRIPTS = frozenset({Owner.TEST, Owner.NEW_TEST, Owner.SUPPORT, Owner.NEW_SUPPORT})


async def unheard(trial: Trial, specs: Sequence[CheckSpec], proofs: Sequence[Proof]) -> list[Fault]:
    """The first assertion that a proof does not hang on."""
    for spec in specs:
        mine = [proof for proof in proofs if proof.check == spec.name]
        if not mine:
            continue
        found = await (_files(trial, spec, mine) if runner_of(spec).picks_files else _scripts(trial, spec))
        if found:
            return found
    return []


async def _files(trial: Trial, spec: CheckSpec, proofs: Sequence[Proof]) -> list[Fault]:
    files = dict.fromkeys(proof.path for proof in proofs if proof.kind == "new")
    for path in [path for path in files if path.endswith((*JAVASCRIPT, ".go"))][:MOST_FILES]:
        source = await asyncio.to_thread(trial.trees.show, trial.change.rooms.r2, path)
        tests = {test_of(id, path): id for id in _new(trial, spec, path)}
        for layer in range(MOST):
            made = broken(path, source, tests, layer) if source is not None else None
            if made is None:
                break
            tree = await asyncio.to_thread(trial.trees.edit, trial.change.rooms.r2, {path: made.source})
            runs = await trial.files("assertions", tree, spec, (path,), trial.on_base())
            seen: dict[str, set[str]] = {}
            for case in (case for run in runs for case in by_id(run).values()):
                seen.setdefault(test_of(case.id, path), set()).add(case.outcome)
            if path in seen or any(run.ended != "exited" for run in runs):
                continue  # the whole file, or the process, noticed
            for test, line in made.lines.items():
                if seen.get(test) == {PASSED}:
                    return [_fault(tests[test], path, line)]
    return []


def _new(trial: Trial, spec: CheckSpec, path: str) -> list[str]:
    """Tests of a file that the base does not have; also those that prove nothing: they stand for something as well."""
    r0 = trial.reference.of(spec)
    before = by_id(r0) if r0 is not None else {}
    runs = [run.measured for run in trial.runs if run.name == "R2" and run.measured.check == spec.name]
    cases = [case for run in runs for case in run.report.cases if case.path == path and case.outcome == PASSED]
    return [case.id for case in reversed(cases) if case.id not in before]


async def _scripts(trial: Trial, spec: CheckSpec) -> list[Fault]:
    for one in trial.change.owned:
        if one.owner not in SCRIPTS or one.after is None:
            continue
        for layer in range(MOST):
            made = broken_shell(one.path, one.before, one.after, layer)
            if made is None:
                break
            tree = await asyncio.to_thread(trial.trees.edit, trial.change.rooms.r2, {one.path: made.source})
            run = (await trial.whole("assertions", tree, [spec]))[0]
            if run.ended == "exited" and run.exit_code == 0:
                return [_fault(f"`{' '.join(spec.command)}`", one.path, made.lines[""])]
    return []


def _fault(name: str, path: str, line: int) -> Fault:
    text = f"{name} stays green when its assertion in {path}:{line} fails: nobody hears what it says"
    return unproven(Rule.UNREACHABLE_ASSERTION, text, test=name, path=path, line=line)


def test_of(id: str, path: str) -> str:
    """The test that a case belongs to, as its block is called: without the file, subtests of Go and repetitions."""
    inside = id.partition("::")[2] if "::" in id else id
    return (inside.partition("/")[0] if path.endswith(".go") else inside).rstrip("'")

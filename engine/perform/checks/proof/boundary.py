"""A proof once more with the subject in another process, where it can neither see nor touch the judge.

Three answers: it holds; it differs, and the same boundary makes no difference beside the judge (a question); it cannot
cross.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from engine.core.grants import Rule
from engine.core.model import Proof
from engine.perform.checks.proof.faults import Fault, question
from engine.perform.checks.proof.imports import language_of
from engine.perform.checks.proof.seen_cases import by_id
from engine.perform.checks.proof.trial import Ahead, Trial
from engine.perform.checks.run.execute import Ask
from engine.perform.checks.run.measure import BAD, ERROR, PASSED, Case, Measurement
from engine.perform.checks.run.node_boundary import ANYWHERE
from engine.perform.checks.run.spec import CheckSpec

HOLDS, DIFFERS, CANNOT = "holds", "differs", "cannot cross"
MOST_FILES = 3
MOST_IDS = 200
SECONDS = 60.0
OBJECTS = "objects in "
"""How the words begin that stop nobody."""
RUNNERS = {
    "pytest": ".py", "unittest": ".py", "node": "", "tape": "", "mocha": "", "jest": "", "vitest": "",
}  # fmt: skip
"""Runners that have a boundary, and how their test files end."""
WITHIN = (
    b"mock", b"freez", b"random", b"importlib", b"sys.modules", b"thread", b"monkeypatch", b"gc.", b"weakref",
    b"globals()",
    b"sinon", b"jest.", b"vi.", b"jasmine", b"rewire", b"proxyquire", b"nock", b"testdouble", b"Timers", b"Math.random",
    b"Date.now", b"new Date()", b"global.", b"globalThis", b"require.cache", b"process.", b"console.", b"util.inspect",
    b"toMatchSnapshot", b"toMatchInlineSnapshot",
)  # fmt: skip
"""Words of tests that look into the process they run in: a difference there says nothing about the subject."""
PRINTS = (
    b"caplog", b"recwarn", b"capfd", b"capsys", b"inspect.", b"SystemExit", b"asyncio", b" is not ",
    b"getrecursionlimit",
)  # fmt: skip
"""Words of tests that a boundary disturbs by itself: only the copy of their own process tells whether it did."""


async def across(trial: Trial, spec: CheckSpec, proofs: Sequence[Proof]) -> tuple[list[Proof], list[Fault]]:
    """The proofs of one check with their third answer, and what has to be asked."""
    mine = [proof for proof in proofs if proof.check == spec.name and _has_boundary(spec, proof.path)]
    files = _files(proofs, spec)
    if spec.runner not in RUNNERS or not files:
        return list(proofs), []
    rooms = trial.change.rooms
    there = await _run(trial, spec, "boundary", rooms.r2, files, _ids(proofs, spec, files))
    differing = [proof for proof in mine if _answer(proof, there) == DIFFERS and proof.path in files]
    faithful: frozenset[str] = frozenset()
    if differing:
        faithful = await _faithful(trial, spec, differing)
    done: list[Proof] = []
    faults: list[Fault] = []
    for proof in proofs:
        if proof not in mine or proof.path not in files:
            done.append(proof)
            continue
        answer = _answer(proof, there)
        if answer == DIFFERS and proof.name not in faithful:
            answer = CANNOT
        done.append(replace(proof, boundary=answer))
        if answer == DIFFERS:
            seen = _case(proof, there)
            why = seen.text.strip().splitlines()[0][:160] if seen and seen.text.strip() else "it fails there"
            text = f"{proof.name} does not hold with the subject in another process: {why}"
            entry = f"accept {Rule.DIFFERS_ACROSS} in {proof.name}"
            faults.append(question(Rule.DIFFERS_ACROSS, text, entry, seen, spec.name))
    return done, faults


async def _run(
    trial: Trial,
    spec: CheckSpec,
    name: str,
    tree: str,
    files: tuple[str, ...],
    ids: tuple[str, ...] | None,
    *,
    beside: bool = False,
) -> list[Measurement]:
    return await trial.files(name, tree, spec, files, _ask(trial, spec, tree, ids, beside=beside))


def _ask(trial: Trial, spec: CheckSpec, tree: str, ids: tuple[str, ...] | None = None, *, beside: bool = False) -> Ask:
    language = "python" if RUNNERS[spec.runner] == ".py" else "javascript"
    subject = tuple(
        path
        for path in trial.trees.files(tree)
        if language_of(path) == language and not trial.change.ground.is_test(path) and not path.endswith("conftest.py")
    )
    return Ask(
        ids=ids,
        known=trial.known,
        subject=subject,
        beside=beside,
        canaries=False,
        brief=True,
        timeout=SECONDS,
    )


def boundary_ahead(trial: Trial, spec: CheckSpec, proofs: Sequence[Proof]) -> list[Ahead]:
    """The runs that `across` will ask for."""
    files = _files(proofs, spec)
    if spec.runner not in RUNNERS or not files:
        return []
    ask = _ask(trial, spec, trial.change.rooms.r2, _ids(proofs, spec, files))
    return [Ahead(tree=trial.change.rooms.r2, files=(path,), ask=ask) for path in files]


def _ids(proofs: Sequence[Proof], spec: CheckSpec, files: Sequence[str]) -> tuple[str, ...] | None:
    """The proofs alone, where there is one file and they are named as words that any command line takes."""
    names = tuple(dict.fromkeys(proof.name for proof in proofs if proof.check == spec.name and proof.path in files))
    plain = all(re.fullmatch(r"[\w./:\[\]-]+", name, re.ASCII) for name in names)
    return names if len(files) == 1 and plain and len(names) <= MOST_IDS else None


def _files(proofs: Sequence[Proof], spec: CheckSpec) -> tuple[str, ...]:
    mine = [proof.path for proof in proofs if proof.check == spec.name and _has_boundary(spec, proof.path)]
    return tuple(dict.fromkeys(mine))[:MOST_FILES]


def _has_boundary(spec: CheckSpec, path: str) -> bool:
    return bool(path) and spec.runner in RUNNERS and path.endswith(RUNNERS[spec.runner])


def _case(proof: Proof, runs: Sequence[Measurement]) -> Case | None:
    return next((case for run in runs for case in by_id(run).values() if case.id == proof.name), None)


def _answer(proof: Proof, runs: Sequence[Measurement]) -> str:
    case = _case(proof, runs)
    names = (f"{proof.name}:", f"{ANYWHERE}:")
    stopped = any(words.startswith(names) for run in runs for words in run.report.crossing)
    if case is None or stopped or case.error == "CannotCross":
        return CANNOT
    if case.outcome == ERROR and any(not words.startswith(OBJECTS) for run in runs for words in run.report.crossing):
        return CANNOT  # a fixture that several tests share could not cross: only the first of them says so
    return HOLDS if case.outcome == PASSED else DIFFERS if case.outcome in BAD else CANNOT


async def _faithful(trial: Trial, spec: CheckSpec, proofs: Sequence[Proof]) -> frozenset[str]:
    """Ids whose test tells something of the subject by differing, not of the boundary.

    It holds over the same boundary where the other process is a copy of its own; or, where no object crossed, it fails
    on the base in the same way with and without the boundary.
    """
    rooms = trial.change.rooms
    files = tuple(dict.fromkeys(proof.path for proof in proofs))
    texts = trial.trees.contents(rooms.r2, files)
    plain = {path for path, text in texts.items() if not any(word in text for word in WITHIN)}
    proofs = [proof for proof in proofs if proof.path in plain]
    if not proofs:
        return frozenset()
    beside = await _run(trial, spec, "boundary beside", rooms.r2, files, _ids(proofs, spec, files), beside=True)
    found = {proof.name for proof in proofs if _answer(proof, beside) == HOLDS}
    objects = {words for run in beside for words in run.report.crossing}
    quiet = {path for path, text in texts.items() if not any(word in text for word in PRINTS)}
    left = [
        proof
        for proof in proofs
        if proof.name not in found
        and proof.path.endswith(".py")
        and proof.path in quiet
        and f"{OBJECTS}{proof.name}" not in objects
    ]
    if left:
        across_base = await _run(trial, spec, "boundary R3", rooms.r3, files, _ids(proofs, spec, files))
        on_base = [run.measured for run in trial.runs if run.name in ("R0", "R3") and run.measured.check == spec.name]
        for proof in left:
            here, there = _case(proof, on_base), _case(proof, across_base)
            same = here is not None and there is not None and (here.error, here.outcome) == (there.error, there.outcome)
            unloaded = here is None and there is None  # neither could be loaded: the name is not there yet
            if (same or unloaded) and _answer(proof, across_base) != HOLDS:
                found.add(proof.name)
    return frozenset(found)

"""Flaky is proven by history: a test is excused only if it was seen to flip on the base, in the same order.

What was seen is kept beside the baselines and lasts for the repository; `devteam flaky` shows it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Collection, Sequence
from pathlib import Path

import msgspec

from engine import files
from engine.core.model import Proof, Struct
from engine.perform.checks.proof.against_base import Regression
from engine.perform.checks.proof.seen_cases import by_id
from engine.perform.checks.proof.trial import Run, Trial
from engine.perform.checks.run import moving_names
from engine.perform.checks.run.baseline import keep, measure
from engine.perform.checks.run.execute import Tools
from engine.perform.checks.run.measure import BAD, PASSED, Measurement
from engine.perform.checks.run.moving_names import ids_of, learn
from engine.perform.checks.run.runners import runner_of
from engine.perform.checks.run.spec import CheckSpec
from engine.perform.checks.run.trees import Trees

RERUNS = 2
NAME = "flaky.json"


class Flip(Struct, frozen=True, kw_only=True):
    """A test that passed and failed on one tree, in one order."""

    check: str
    test: str
    tree: str
    at: float
    how: str
    """The outcomes that were seen, in order."""


def history(folder: Path) -> tuple[Flip, ...]:
    """Every flip that was seen in this repository; `folder` is the checks' own folder in the state directory."""
    try:
        return msgspec.json.decode((folder / NAME).read_bytes(), type=tuple[Flip, ...])
    except (OSError, msgspec.DecodeError):
        return ()


def remember(folder: Path, flips: Sequence[Flip]) -> None:
    known = {(flip.check, flip.test): flip for flip in (*history(folder), *flips)}
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with contextlib.suppress(OSError):
        files.write(folder / NAME, msgspec.json.encode(tuple(known.values())), durable=False)


async def flips_on_base(
    trees: Trees, base: str, spec: CheckSpec, tools: Tools, first: Measurement, red: Collection[str]
) -> frozenset[str]:
    """Tests among `red` of a baseline's first run that pass when the base is run once more, in the same order.

    They are remembered, and the better of the two runs is the baseline.
    """
    found = (await measure(trees, base, [spec], tools, again=True)).of(spec)
    if found is None:
        return frozenset()
    if masks := learn(ids_of(first.report), ids_of(found.report)):  # two runs of one tree: what moves is no flip
        await asyncio.to_thread(moving_names.remember, tools.setting.scratch, spec.name, masks)
    cases = by_id(found)
    flipped = [id for id in red if id in cases and cases[id].outcome == PASSED]
    before = by_id(first)
    how = {id: f"{before[id].outcome if id in before else 'gone'} {PASSED}" for id in flipped}
    flips = [Flip(check=spec.name, test=id, tree=base, at=tools.clock(), how=how[id]) for id in flipped]
    if flips:
        await asyncio.to_thread(remember, tools.setting.scratch, flips)
        if _bad(found) < _bad(first):
            await asyncio.to_thread(keep, tools, base, [spec], [found])
    return frozenset(flipped)


def _bad(found: Measurement) -> int:
    return sum(case.outcome in BAD for case in found.report.cases)


async def excused_by_history(
    trial: Trial, spec: CheckSpec, lost: Sequence[Regression], tree: str, few: int
) -> frozenset[str]:
    """Ids among `lost` (red on the change, green in R0) that the base itself lets flip.

    A test that fails again alone, on the change, is no matter of luck. Only for one that does not is the base run
    again, whole and in its own order: failing in order and passing alone is order-dependence, and that is no excuse.
    """
    folder = trial.tools.setting.scratch
    known = {flip.test for flip in history(folder) if flip.check == spec.name}
    excused = {one.case.id for one in lost if one.case.id in known}
    open_ = [one for one in lost if one.case.id not in excused and (one.now is None or one.now.outcome != "skipped")]
    if not open_ or len(open_) > few or not runner_of(spec).picks_files:
        return frozenset(excused)
    files = trial.files_for(spec, dict.fromkeys(one.case.path for one in open_ if one.case.path))
    if not files:
        return frozenset(excused)
    alone = await trial.files("again", tree, spec, files)
    passes = {case.id for run in alone for case in by_id(run).values() if case.outcome == PASSED}
    unsure = [one.case.id for one in open_ if one.case.id in passes]
    seen: dict[str, list[str]] = {id: [PASSED] for id in unsure}
    for _ in range(RERUNS):
        if not unsure or all(len(set(outcomes)) > 1 for outcomes in seen.values()):
            break
        again = await measure(
            trial.trees, trial.change.rooms.base, [spec], trial.tools, trial.change.helpers, again=True
        )
        found = again.of(spec)
        cases = by_id(found)
        if found is not None:
            trial.runs.append(Run(name="R0 again", measured=found))
        for id in unsure:
            seen[id].append(cases[id].outcome if id in cases else "gone")
    flips = [
        Flip(
            check=spec.name,
            test=id,
            tree=trial.change.rooms.base,
            at=trial.tools.clock(),
            how=" ".join(outcomes),
        )
        for id, outcomes in seen.items()
        if len(set(outcomes)) > 1
    ]
    if flips:
        await asyncio.to_thread(remember, folder, flips)
    return frozenset(excused | {flip.test for flip in flips})


async def green_on_base(trial: Trial, spec: CheckSpec, proofs: Sequence[Proof]) -> frozenset[str]:
    """Names among tests of the base's own, red in R0 and green on the change, that the base passes too when it is
    repeated: their red was a matter of luck, and shows nothing."""
    folder, base = trial.tools.setting.scratch, trial.change.rooms.base
    known = {flip.test for flip in history(folder) if flip.check == spec.name}
    found = {proof.name for proof in proofs if proof.name in known}
    unsure = [proof for proof in proofs if proof.name not in found]
    passed = await _passed_on_base(trial, spec, unsure) if unsure else ()
    at = trial.tools.clock()
    flips = [
        Flip(check=spec.name, test=proof.name, tree=base, at=at, how=f"failed {PASSED}")
        for proof in unsure
        if proof.name in passed
    ]
    if flips:
        await asyncio.to_thread(remember, folder, flips)
    return frozenset(found | {flip.test for flip in flips})


async def _passed_on_base(trial: Trial, spec: CheckSpec, proofs: Sequence[Proof]) -> set[str]:
    base = trial.change.rooms.base
    if runner_of(spec).picks_files and all(proof.path for proof in proofs):
        files = trial.files_for(spec, dict.fromkeys(proof.path for proof in proofs))
        runs = await trial.files("R0 again", base, spec, files)
    else:
        again = (await measure(trial.trees, base, [spec], trial.tools, trial.change.helpers, again=True)).of(spec)
        runs = [again] if again is not None else []
        trial.runs += [Run(name="R0 again", measured=run) for run in runs]
    by_exit = {spec.name for run in runs if run.report.source == "exit code" and run.exit_code == 0}
    return by_exit | {case.id for run in runs for case in by_id(run).values() if case.outcome == PASSED}

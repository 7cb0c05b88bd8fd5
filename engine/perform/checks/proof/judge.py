"""The room's front door: a change is read, run in its rooms, weighed and put on record."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from engine.core.model import TaskSpec
from engine.perform.checks.proof.change import helper_modules, read_change
from engine.perform.checks.proof.check_result import check_result
from engine.perform.checks.proof.record import Judged as Judged
from engine.perform.checks.proof.record import record
from engine.perform.checks.proof.trial import Trial
from engine.perform.checks.proof.weigh import Weighing
from engine.perform.checks.run.baseline import Baseline, measure
from engine.perform.checks.run.execute import OnProgress, Tools
from engine.perform.checks.run.spec import CheckSpec, HeldOut, Setting
from engine.perform.checks.run.trees import Trees
from engine.perform.process.spawning import Spawner


async def measure_baseline(
    *,
    base: str,
    specs: Sequence[CheckSpec],
    trees: Trees,
    spawner: Spawner,
    setting: Setting,
    clock: Callable[[], float],
    progress: OnProgress | None = None,
    effect: str = "",
    redact: Callable[[str], str] = lambda text: text,
) -> Baseline:
    """Every check once on the base; from disk when that was done before."""
    tools = Tools(spawner, setting, clock, progress, effect, redact=redact)
    return await _baseline(trees, base, specs, tools)


async def judge(
    *,
    tree: str,
    base: str,
    specs: Sequence[CheckSpec],
    trees: Trees,
    spawner: Spawner,
    setting: Setting,
    clock: Callable[[], float],
    task: TaskSpec | None = None,
    held_out: Sequence[HeldOut] = (),
    purpose: str = "task",
    progress: OnProgress | None = None,
    effect: str = "",
    redact: Callable[[str], str] = lambda text: text,
) -> Judged:
    """Judge `tree` against `base`: the runs R0 to R4 as far as each is needed, then the verdict."""
    started = clock()
    tools = Tools(spawner, setting, clock, progress, effect, task.id if task else "", redact)
    usual = [spec for spec in specs if not spec.strict]
    reference = await _baseline(trees, base, usual, tools)
    change = await asyncio.to_thread(read_change, trees, base, tree, specs, setting, reference, task)
    trial = Trial(trees, tools, change, specs, reference)
    weighing = Weighing(trial, task, held_out)
    await weighing.run()
    return await asyncio.to_thread(record, tools, trial, weighing.weighed(), purpose, task, tree, base, started)


async def judge_whole(
    *,
    tree: str,
    base: str,
    specs: Sequence[CheckSpec],
    trees: Trees,
    spawner: Spawner,
    setting: Setting,
    clock: Callable[[], float],
    held_out: Sequence[HeldOut] = (),
    progress: OnProgress | None = None,
    effect: str = "",
    redact: Callable[[str], str] = lambda text: text,
) -> Judged:
    """A tree as it is, every task of it proven already: the final checks. What was red at the base may be red still."""
    started = clock()
    tools = Tools(spawner, setting, clock, progress, effect, redact=redact)
    reference = await _baseline(trees, base, specs, tools)
    change = await asyncio.to_thread(read_change, trees, base, base, specs, setting, reference, None)
    trial = Trial(trees, tools, change, specs, reference)
    now = reference if tree == base else await _baseline(trees, tree, specs, tools)
    weighing = Weighing(trial, None, held_out)
    files = frozenset(await asyncio.to_thread(trees.files, tree))
    results = [
        check_result(spec, found, reference.of(spec), files=files, critical_rules=setting.policy.critical_rules)
        for spec in specs
        if (found := now.of(spec)) is not None
    ]
    weighed = weighing.only(results)
    return await asyncio.to_thread(record, tools, trial, weighed, "final", None, tree, base, started)


async def _baseline(trees: Trees, base: str, specs: Sequence[CheckSpec], tools: Tools) -> Baseline:
    files = await asyncio.to_thread(trees.files, base)
    return await measure(trees, base, specs, tools, helper_modules(files, tools.setting.policy.test_globs))

"""The room's front door: a tree is measured, attributed, held against the integrity rules and put on record."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from engine.core.model import CheckResult, Struct, TaskSpec
from engine.perform.checks import room
from engine.perform.checks.attribute import attribute
from engine.perform.checks.baseline import Baseline, keep, measure
from engine.perform.checks.changed_lines import coverage_objections
from engine.perform.checks.globs import matches
from engine.perform.checks.heldout import run_held_out
from engine.perform.checks.integrity import Change, inventory_objections, moved_tests, source_objections, steered
from engine.perform.checks.judgement import Judged as Judged
from engine.perform.checks.judgement import clear, integrity_result, record
from engine.perform.checks.measure import Measurement
from engine.perform.checks.mutate import mutation_objections
from engine.perform.checks.redgreen import introduced_names, is_bug_fix, red_objections
from engine.perform.checks.run import OnProgress, Tools, run_checks
from engine.perform.checks.second_looks import Looks, flaky_ids, new_tests_on_base, old_tests_on_change
from engine.perform.checks.spec import CheckSpec, HeldOut, Setting
from engine.perform.checks.steering import scripts_of
from engine.perform.checks.suppressions import suppressions
from engine.perform.checks.trees import Trees
from engine.perform.checks.verdict import check_result, usable
from engine.perform.checks.waivers import Objection, renames, to_findings
from engine.perform.contract import Spawner


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
    return await measure(trees, base, specs, Tools(spawner, setting, clock, progress, effect, redact=redact))


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
    baseline: Baseline | None = None,
    held_out: Sequence[HeldOut] = (),
    completion: bool = False,
    purpose: str = "task",
    progress: OnProgress | None = None,
    effect: str = "",
    redact: Callable[[str], str] = lambda text: text,
) -> Judged:
    """Judge `tree` against `base`.

    `completion`: if nothing else objects, the held-out commands and the mutants follow. An attempt that fails already
    learns nothing from them.
    """
    started = clock()
    tools = Tools(spawner, setting, clock, progress, effect, task.id if task else "", redact)
    allow = task.allow if task else ()
    change = await asyncio.to_thread(_read, trees, base, tree, specs, setting, allow)
    judged_tree, kept = change.judged, change.kept
    objections: list[Objection] = list(change.objections)
    reference = baseline or await measure(trees, base, specs, tools)

    folder = setting.scratch / f"room-{setting.lane}-change"
    await room.enter(trees, judged_tree, folder)
    measured = await run_checks(tools, specs, folder)
    wrote = await room.changed_since(trees, judged_tree, folder)
    objections += wrote
    if judged_tree == tree and not wrote:
        await asyncio.to_thread(keep, tools, tree, specs, measured)

    looks = Looks(trees=trees, tools=tools, base=base, tree=judged_tree, changes=kept)
    files = frozenset(await asyncio.to_thread(trees.files, judged_tree))
    results, more = await _attributed(looks, specs, measured, reference, task, files)
    objections += more
    if completion and clear(results, to_findings(objections, allow, setting.policy)):
        await room.enter(trees, judged_tree, folder)
        for one in held_out:
            result, seen = await run_held_out(tools, one, folder)
            results.append(result)
            looks.extra.append(seen)
        if setting.policy.mutants:
            objections += await mutation_objections(looks, specs, folder)
    findings = tuple(to_findings(objections, allow, setting.policy))
    results.append(integrity_result(findings))
    return await asyncio.to_thread(record, tools, looks, results, measured, findings, purpose, task, tree, started)


class _Read(Struct, frozen=True, kw_only=True):
    """A change as its files tell it."""

    judged: str
    """The tree for the room: steering files from the base."""
    kept: tuple[Change, ...]
    objections: tuple[Objection, ...]


def _read(
    trees: Trees, base: str, tree: str, specs: Sequence[CheckSpec], setting: Setting, allow: Sequence[str]
) -> _Read:
    base_files = frozenset(trees.files(base))
    changes = read_changes(trees, base, tree, setting.policy.test_globs)
    extra = (*setting.policy.protected, *_scripts(trees, base, specs, base_files))
    held = steered(changes, specs, extra, allow)
    kept = tuple(change for change in changes if change.path not in held.protected)
    return _Read(
        judged=trees.overlay(tree, held.protected, base) if held.protected else tree,
        kept=kept,
        objections=(
            *held.objections,
            *source_objections(kept, base_files),
            *suppressions((change.path, change.before, change.after) for change in kept),
        ),
    )


def read_changes(trees: Trees, base: str, tree: str, test_globs: Sequence[str]) -> list[Change]:
    return [
        Change(
            path=change.path,
            before=None if change.change == "added" else trees.show(base, change.path),
            after=None if change.change == "deleted" else trees.show(tree, change.path),
            test=matches(change.path, test_globs),
        )
        for change in trees.diff_files(base, tree)
    ]


def _scripts(trees: Trees, base: str, specs: Sequence[CheckSpec], files: frozenset[str]) -> tuple[str, ...]:
    makefile = next((name for name in ("GNUmakefile", "Makefile", "makefile") if name in files), "")
    package = trees.show(base, "package.json") if "package.json" in files else None
    return scripts_of(specs, package, trees.show(base, makefile) if makefile else None, files)


async def _attributed(
    looks: Looks,
    specs: Sequence[CheckSpec],
    measured: Sequence[Measurement],
    reference: Baseline,
    task: TaskSpec | None,
    files: frozenset[str],
) -> tuple[list[CheckResult], list[Objection]]:
    """Results with what each change is answerable for, and what the second looks brought up."""
    policy = looks.tools.setting.policy
    results: list[CheckResult] = []
    objections: list[Objection] = []
    looked_at: set[str] = set()
    for spec, after in zip(specs, measured, strict=True):
        before = usable(reference.of(spec))
        flaky: frozenset[str] = frozenset()
        moved: dict[str, str] = {}
        if usable(after) is not None and after.report.counts_tests and before is not None:
            known = [case.id for case in before.report.cases]
            moved = renames(task.allow if task else (), known)
            fates = attribute(before.report.cases, after.report.cases, renames=moved)
            moved |= moved_tests(looks.changes, fates.gone, fates.new)
            fates = attribute(before.report.cases, after.report.cases, renames=moved)
            flaky, why = await flaky_ids(looks, spec, fates.broken_now)
            objections += why
            old = await old_tests_on_change(looks, spec, before, after, moved, looked_at)
            moved = {
                was: now for was, now in moved.items() if was not in old.failing or now in known or _by_plan(task, was)
            }
            objections += old.objections
            if policy.red_then_green:
                fresh = [id for id in fates.new if id not in moved.values() and id not in looked_at]
                on_base = await new_tests_on_base(looks, spec, fresh)
                needs_red = task is not None and is_bug_fix(task.title) and not fates.fixed
                objections += red_objections(fresh, on_base, introduced_names(looks.changes), needs_red)
            if not looked_at.issuperset(known):
                objections += inventory_objections(before, after, moved, old.passing, flaky)
            looked_at |= {*known, *fates.new}
            if after.lines:
                objections += coverage_objections(looks.changes, after.lines, before.coverage, policy.changed_coverage)
        known_before = reference.of(spec)
        result = check_result(
            spec, after, known_before, flaky=flaky, renames=moved, files=files, critical_rules=policy.critical_rules
        )
        looks.tools.say(spec.name, "done", result.verdict.value, result.reason)
        results.append(result)
    return results, objections


def _by_plan(task: TaskSpec | None, id: str) -> bool:
    return task is not None and bool(renames(task.allow, [id]))

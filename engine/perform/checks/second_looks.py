"""Runs beside the main one: flaky tests again, the base's tests on the change, the change's tests on the base."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from engine.core.model import Struct
from engine.perform.checks import room
from engine.perform.checks.integrity import Change, edited_tests
from engine.perform.checks.measure import BAD, PASSED, Case, Measurement
from engine.perform.checks.run import Selection, Tools, run_check
from engine.perform.checks.spec import CheckSpec
from engine.perform.checks.trees import Trees
from engine.perform.checks.waivers import Objection

MOST_RERUNS = 20
"""More failing tests than this are not a matter of luck."""


class Looks:
    """A change and what is needed to look at it again."""

    def __init__(self, trees: Trees, tools: Tools, base: str, tree: str, changes: tuple[Change, ...]) -> None:
        self.trees = trees
        self.tools = tools
        self.base = base
        self.tree = tree
        self.changes = changes
        self.extra: list[Measurement] = []
        """Measurements of checks that are not among the specs (held-out commands)."""

    async def run(
        self, tree: str, place: str, spec: CheckSpec, ids: Sequence[str] | None, stop_early: bool = False
    ) -> Measurement:
        folder = self.tools.setting.scratch / f"room-{self.tools.setting.lane}-{place}"
        await room.enter(self.trees, tree, folder)
        chosen = tuple(ids) if ids is not None and spec.runner == "pytest" else None
        return await run_check(self.tools, spec, folder, Selection(ids=chosen, stop_early=stop_early))

    def test_paths(self) -> list[str]:
        return [change.path for change in self.changes if change.test]


class OldTests(Struct, frozen=True, kw_only=True):
    """What the tests of the base, as the base has them, say of the change."""

    passing: frozenset[str] = frozenset()
    failing: frozenset[str] = frozenset()
    objections: tuple[Objection, ...] = ()


async def flaky_ids(looks: Looks, spec: CheckSpec, broken: Sequence[str]) -> tuple[frozenset[str], list[Objection]]:
    """Which of the broken tests fail only sometimes. Only pytest runs named tests alone; elsewhere none is excused."""
    reruns = looks.tools.setting.policy.flaky_reruns
    if not broken or spec.runner != "pytest" or len(broken) > MOST_RERUNS or reruns < 1:
        return frozenset(), []
    passes = dict.fromkeys(broken, 0)
    for _ in range(reruns):
        again = await looks.run(looks.tree, "change", spec, broken)
        for case in again.report.cases:
            if case.id in passes and case.outcome == PASSED:
                passes[case.id] += 1
        if not any(passes.values()):
            return frozenset(), []
    unsure = [id for id, good in passes.items() if good]
    shaky: set[str] = set()
    for _ in range(reruns):
        on_base = await looks.run(looks.base, "base", spec, unsure)
        shaky |= {case.id for case in on_base.report.cases if case.outcome in BAD}
    objections = []
    for id in unsure:
        path = id.partition("::")[0]
        if id in shaky or passes[id] == reruns:
            objections.append(
                Objection(rule="flaky", text=f"{id} fails sometimes; it counts neither way", path=path, subject=id)
            )
        else:
            often = f"{reruns - passes[id] + 1} of {reruns + 1} times"
            text = f"{id} fails {often} since this change, on the base it did not"
            objections.append(Objection(rule="newly-flaky", text=text, path=path, subject=id))
    return frozenset(unsure), objections


async def old_tests_on_change(
    looks: Looks, spec: CheckSpec, before: Measurement, after: Measurement, moved: Mapping[str, str], done: set[str]
) -> OldTests:
    """Where tests were edited or removed, the base's version of them is run on the change's source.

    A test that passes only because the change edited it proves nothing about the source.
    """
    was = {case.id: case.outcome for case in before.report.cases}
    edited, anything = edited_tests(looks.changes, was)
    now = {case.id: case.outcome for case in after.report.cases}
    gone = [id for id in was if id not in now]
    if spec.runner != "pytest" and any(change.test for change in looks.changes if change.before is not None):
        anything = True
    wanted = list(was) if anything else list(dict.fromkeys([*edited, *gone]))
    wanted = [id for id in wanted if (id not in done and "::" in id) or spec.runner != "pytest"]
    if not wanted or not looks.test_paths():
        return OldTests(passing=frozenset(id for id in was if id not in wanted))
    mixed = await asyncio.to_thread(looks.trees.overlay, looks.tree, looks.test_paths(), looks.base)
    seen = await looks.run(mixed, "mixed", spec, None if anything else wanted)
    outcome = {case.id: case.outcome for case in seen.report.cases}
    failing = [id for id in wanted if outcome.get(id) != PASSED]
    if failing and spec.runner == "pytest" and len(failing) <= MOST_RERUNS:
        again = await looks.run(mixed, "mixed", spec, failing)
        lucky = {case.id for case in again.report.cases if case.outcome == PASSED}
        failing = [id for id in failing if id not in lucky]
    objections = []
    for id in failing:
        there = now.get(moved.get(id, id))
        if there == PASSED and (was[id] == PASSED or was[id] in BAD):
            text = f"{id} passes only because the change edited the tests; as the base has it, it fails on the change"
            objections.append(Objection(rule="test-changed", text=text, path=id.partition("::")[0], subject=id))
    return OldTests(
        passing=frozenset(id for id in was if id not in failing),
        failing=frozenset(failing),
        objections=tuple(objections),
    )


async def new_tests_on_base(looks: Looks, spec: CheckSpec, fresh: Sequence[str]) -> Sequence[Case]:
    """The change's tests over the base's source."""
    if not fresh or not looks.test_paths():
        return ()
    mixed = await asyncio.to_thread(looks.trees.overlay, looks.base, looks.test_paths(), looks.tree)
    seen = await looks.run(mixed, "mixed", spec, fresh)
    return seen.report.cases

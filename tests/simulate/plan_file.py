"""plan.md of a simulated sprint: a real file, ticked and read by the engine's own code, edited by a user who saves in
place or by rename. No line of the user's is ever lost."""

from __future__ import annotations

import random
from pathlib import Path
from typing import cast

from msgspec.structs import replace

from engine.core import events as ev
from engine.core.model import Plan
from engine.core.state import State, Status
from engine.plans.change import describe_change
from engine.plans.registry import read_plan
from engine.plans.sprints import SprintFolder
from engine.plans.write import render
from engine.project import Project
from engine.view_writer import Views, as_marked

MOST = 8
"""Tasks that a user ever writes."""


class PlanFile:
    def __init__(self, folder: Path, plan: Plan) -> None:
        self.sprint = SprintFolder(id="001-sim", number=1, slug="sim", path=folder)
        self.path = self.sprint.plan_path
        self.path.write_text(render(replace(plan, status="APPROVED")))
        self.lines: list[str] = []
        """What the user wrote."""
        self.begin()

    def begin(self) -> None:
        """An engine starts: it knows nothing of what it read in its last life."""
        self._views = Views(cast("Project", None), self.sprint)

    def read(self) -> Plan:
        return read_plan(self.path)

    def mark(self, state: State) -> None:
        self._views._mark_plan(state)

    def edits(self, state: State) -> list[ev.AnyEvent]:
        data = self.path.read_bytes()
        if state.plan is None or self._views.read_all_of(data):
            return []
        plan = self.read()
        self._views.has_read(data)
        summary = describe_change(as_marked(state.plan, state), replace(plan, status=state.plan.status))
        return [ev.PlanChanged(plan=plan, summary=summary)] if summary else []

    def user_types(self, rng: random.Random) -> None:
        count = len(self.lines)
        more = f"<!-- note {count} -->\n"
        if rng.random() < 0.5 and len(self.read().tasks()) < MOST:
            more = f"- [ ] 9.{count} One more of {count}\n"
        text = self.path.read_text().rstrip("\n") + "\n\n" + more
        if rng.random() < 0.5:
            self.path.write_text(text)
        else:
            fresh = self.path.with_suffix(".swp")
            fresh.write_text(text)
            fresh.rename(self.path)
        self.lines.append(more.strip().removeprefix("- [ ] "))

    def holds(self, state: State) -> None:
        """Every line of the user's is there; after an orderly end every task has the mark that its status has."""
        text = self.path.read_text()
        lost = [line for line in self.lines if line not in text]
        assert not lost, f"lines of the user's are gone: {lost}"
        wrong = [
            task.id
            for task in self.read().tasks()
            if task.id in state.tasks and task.done != (state.tasks[task.id].status is Status.COMPLETE)
        ]
        assert not wrong, f"plan.md says otherwise than the journal about {wrong}"

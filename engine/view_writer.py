"""Keeps the views current: an observer of the journal, which writes when something worth reading changed."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from engine import files, learnings, views
from engine.core import events as ev
from engine.core.model import Plan, TaskSpec
from engine.core.planning_state import Goal, Stage
from engine.core.state import State, Status
from engine.core.status_words import of_status
from engine.plans.change import describe_change
from engine.plans.plan_format import PlanRefused
from engine.plans.registry import mark_plan, mark_tasks, read_plan
from engine.plans.source import write_back
from engine.plans.sprints import SprintFolder, ensure_gitignore
from engine.plans.write import render
from engine.project import Project

_WORTH_READING = (
    ev.SprintCreated,
    ev.RunStarted,
    ev.RunEnded,
    ev.TaskStarted,
    ev.TaskEnded,
    ev.Decided,
    ev.RetryRequested,
    ev.TasksReopened,
    ev.PlanChanged,
    ev.AutoChanged,
    ev.GateOpened,
    ev.GateAnswered,
    ev.PrdDrafted,
    ev.PlanDrafted,
    ev.PlanChecked,
    ev.PlanApproved,
    ev.ContextGathered,
)
_INIT = """#!/bin/sh
# Once you put a command here and trust it (devteam trust), devteam runs this at the start of every session, in the
# sandbox and in a clone of its own. Ignored folders it makes are shown read-only to agents and checks.
# It has to end: what it leaves running ends with it, or, where workspace.server_health is set, with the run.
exit 0
"""


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Views:
    """The sprint's files for people. One that cannot be written is tried again; the engine never stops for it."""

    def __init__(self, project: Project, sprint: SprintFolder) -> None:
        self._project = project
        self._sprint = sprint
        self._marked: dict[str, str] = {}
        self._marks = views.Rows(lambda task: of_status(task.status).plan)
        self._made: tuple[list[str], list[str]] = ([], [])
        self._plan_known = b""
        self._written: dict[Path, str] = {}
        self._draft: tuple[Plan | None, bool] = (None, False)
        self._by_hand = False
        self._prd = ""
        self.problem = ""

    def __call__(self, envelopes: Sequence[ev.Envelope], state: State) -> None:
        if any(isinstance(envelope.event, _WORTH_READING) for envelope in envelopes):
            self.flush(state)
        for envelope in envelopes:
            match envelope.event:
                case ev.TaskEnded() as ended:
                    self._learn(state, ended.task)
                case ev.Landed(ok=True):
                    self.problem = give_back(self._project.root, self._sprint, state) or self.problem
                case ev.LearningDisputed() as disputed:
                    self._dispute(disputed)
                case ev.LearningRecorded() as learning:
                    self._record(learning)
                case _:
                    pass

    def flush(self, state: State) -> None:
        repo, sprint = self._project.repo, self._sprint
        pages = {
            repo.progress: views.progress(state),
            repo.features: views.features(state),
            sprint.loop_state_path: views.loop_state(state),
            sprint.tracking_path: views.tracking(state),
            sprint.context_path: views.context(state),
        }
        if state.outcome:
            pages[sprint.report_path] = views.closing_report(state)
        try:
            for path, text in pages.items():
                if self._written.get(path) != text or not path.is_file():
                    views.write_atomically(path, text)
                    self._written[path] = text
            if not repo.init_script.exists():
                views.write_atomically(repo.init_script, _INIT)
            self._write_draft(state)
            self._mark_plan(state)
            learnings.settle(self._project.root, state.disputed)
            self.problem = ""
        except (OSError, PlanRefused, UnicodeDecodeError) as error:
            self.problem = str(error)

    def put_back(self, config: bytes) -> None:
        """The user's plan was deleted under the run, perhaps with all of .devteam/ (`git clean -fdx`): it is written as
        it was read last, and so are the settings. At the run's end: until then they may come back by themselves."""
        repo, sprint = self._project.repo, self._sprint
        if sprint.plan_path.exists() or not repo.folder.is_dir() or not self._plan_known:
            return
        try:
            sprint.learnings.mkdir(parents=True, exist_ok=True)
            ensure_gitignore(self._project.root)
            files.write(sprint.plan_path, self._plan_known, mode=files.SHARED)
            if config and not repo.config.exists():
                files.write(repo.config, config, mode=files.SHARED)
            self._marked.clear()
            self._made = ([], [])
        except OSError as error:
            self.problem = str(error)

    def _write_draft(self, state: State) -> None:
        """A draft of the planner becomes plan.md; the user may edit it there until they approve it."""
        planning, sprint = state.planning, self._sprint
        if planning is None:
            return
        if planning.prd and self._prd != planning.prd:
            views.write_atomically(sprint.prd_path, planning.prd.rstrip() + "\n")
            self._prd = planning.prd
        by_hand, self._by_hand = self._by_hand, planning.own
        approved = planning.stage is Stage.APPROVED
        drafted = planning.plan, approved
        if planning.plan is None or drafted == self._draft or (state.plan is not None and not approved):
            return
        if self._says(planning.plan):
            if approved:
                mark_plan(sprint.plan_path, "APPROVED")
            views.write_atomically(self._own_draft, _digest(sprint.plan_path.read_text(encoding="utf-8")))
        elif not self.edited() or approved:
            if (planning.goal is Goal.REPLAN or by_hand) and sprint.plan_path.is_file():
                before = sprint.plan_path.read_text(encoding="utf-8")
                views.write_atomically(sprint.path / f"plan.before-{planning.version}.md", before)
            text = render(planning.plan)
            views.write_atomically(sprint.plan_path, text)
            views.write_atomically(self._own_draft, _digest(text))
        self._draft = drafted
        self._marked.clear()
        self._made = ([], [])

    def _says(self, plan: Plan) -> bool:
        """plan.md says this already, in whatever words around it: the user's text is left alone."""
        try:
            there = read_plan(self._sprint.plan_path)
        except PlanRefused:
            return False
        return not describe_change(plan, replace(there, status=plan.status))

    @property
    def _own_draft(self) -> Path:
        """The digest of plan.md as the engine knows it: written after plan.md and after the journal, so that a crash
        in between never takes a draft for the user's edit, nor the other way round."""
        return self._sprint.path / ".draft"

    def edited(self) -> bool:
        """plan.md is not as the engine knows it: the user edited the draft."""
        try:
            ours = self._own_draft.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return False
        try:
            return _digest(self._sprint.plan_path.read_text(encoding="utf-8")) != ours
        except FileNotFoundError:
            return False
        except (OSError, UnicodeDecodeError):  # there is something, and it is not what the engine wrote
            return True

    def _mark_plan(self, state: State) -> None:
        path = self._sprint.plan_path
        if state.plan is None or (not state.iterations and state.planning is not None):
            return
        marks = list(state.tasks), self._marks.of(state)
        if marks != self._made:
            by_task = zip(*marks, strict=True)
            if changed := {name: mark for name, mark in by_task if self._marked.get(name) != mark}:
                mark_tasks(path, changed, self._wrote)
                self._marked.update(changed)
            self._made = marks
        done, total = state.progress()
        word = "COMPLETE" if total and done == total else "IN_PROGRESS"
        if self._marked.get("") != word:
            mark_plan(path, word, self._wrote)
            self._marked[""] = word

    def read_all_of(self, plan: bytes) -> bool:
        """All that stands in plan.md is known: it was read, or it differs from what was read by the engine's marks."""
        return plan == self._plan_known

    def has_read(self, plan: bytes) -> None:
        self._plan_known = plan

    def _wrote(self, old: bytes, new: bytes) -> None:
        if old == self._plan_known:  # else an edit of the user's lies in it that nobody read yet
            self._plan_known = new

    def _record(self, learning: ev.LearningRecorded) -> None:
        """A decision becomes a file, once: what is known already, in any sprint, is not written again."""
        folder = self._sprint.learnings
        try:
            if learnings.known(learning.text, learnings.read_all(self._project.root)) is not None:
                return
            taken = [int(path.name[:3]) for path in folder.glob("[0-9][0-9][0-9]-*.md")]
            folder.mkdir(exist_ok=True)
            path = folder / learnings.file_name(max(taken, default=0) + 1, learning)
            views.write_atomically(path, learnings.render(learning, self._sprint.id))
        except (OSError, ValueError) as error:
            self.problem = str(error)

    def _dispute(self, disputed: ev.LearningDisputed) -> None:
        """The objection stands in the file itself; `devteam learnings` puts what is contradicted often to the human."""
        found = next((one for one in learnings.read_all(self._project.root) if one.name == disputed.name), None)
        who = f"{self._sprint.id}, task {disputed.task}: {disputed.why}"
        if found is None or any(known.startswith(who.split(":")[0]) for known in found.disputes):
            return
        try:
            views.write_atomically(found.path, learnings.with_dispute(found, who))
        except OSError as error:
            self.problem = str(error)

    def _learn(self, state: State, name: str) -> None:
        """A task that did not go straight leaves what it taught."""
        task = state.tasks.get(name)
        if task is None or not views.teaches(task):
            return
        folder = self._sprint.learnings
        number = len([path for path in folder.glob("[0-9]*.md") if name not in path.name]) + 1
        existing = next(iter(folder.glob(f"*-task-{name}.md")), None)
        path = existing or folder / f"{number:03d}-task-{name}.md"
        try:
            folder.mkdir(exist_ok=True)
            views.write_atomically(path, views.learning(task))
        except OSError as error:
            self.problem = str(error)


def give_back(root: Path, sprint: SprintFolder, state: State) -> str:
    """Progress in the file the plan came from, once the work has landed: until then the user's files are not touched,
    and a tick would be ahead of the code beside it."""
    ended = {task.id: of_status(task.status).plan for task in state.tasks.values() if task.ended}
    return write_back(sprint, root, ended) if ended else ""


def as_marked(plan: Plan, state: State) -> Plan:
    """The plan with the marks the engine itself makes in plan.md: they are no edit of the user's."""

    def marked(task: TaskSpec) -> TaskSpec:
        status = state.tasks[task.id].status if task.id in state.tasks else Status.PENDING
        return replace(task, done=status is Status.COMPLETE, skipped=status is Status.SKIPPED)

    phases = (replace(phase, tasks=tuple(marked(task) for task in phase.tasks)) for phase in plan.phases)
    return replace(plan, phases=tuple(phases))

"""The shell: performs every effect by handing it to its room, and says the facts."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import assert_never

from engine.core import events as ev
from engine.core.activity import AnyActivity
from engine.core.effects import (
    AnyEffect,
    CallAgent,
    CheckPlan,
    CheckScope,
    Commit,
    CreateBaseline,
    Finish,
    KeepTree,
    Land,
    PrepareWorkspace,
    Probe,
    RestoreBranch,
    Rollback,
    RunChecks,
    SaveCheckpoint,
    Survey,
    Wait,
)
from engine.core.sprint_review_state import SPRINT_LANE
from engine.core.state import State
from engine.perform.calls import Calls
from engine.perform.dependencies import Dependencies
from engine.perform.process.spawning import PerformError
from engine.perform.reconcile import before_moving
from engine.perform.restore_branch import restore_branch
from engine.perform.run_checks import Judging
from engine.perform.surveying import Surveyor
from engine.perform.workspace.facts import Committed, Moved, MovedBack, WorkspaceError
from engine.perform.workspace.workspace import Workspace


class Shell:
    """The performer of one run."""

    def __init__(
        self,
        *,
        workspace: Workspace,
        dependencies: Dependencies,
        judging: Judging,
        calls: Calls,
        surveyor: Surveyor,
        now: Callable[[], float],
        keepsakes: Callable[[], Mapping[str, Path | bytes]],
        publish: Callable[[AnyActivity], None],
    ) -> None:
        """`keepsakes` gives the files a checkpoint keeps besides git: the journal's backup and the views."""
        self._workspace = workspace
        self._dependencies = dependencies
        self._judging = judging
        self._calls = calls
        self._surveyor = surveyor
        self._now = now
        self._keepsakes = keepsakes
        self._publish = publish
        self._warming: asyncio.Task[None] | None = None

    async def perform(self, effect: AnyEffect, state: State) -> Sequence[ev.AnyEvent]:
        """The facts an effect comes to. Raises PerformError for what our own part could not do."""
        facts = await self._performed(effect, state)
        return [*(ev.Noted(text=said, level="warning") for said in self._workspace.heard()), *facts]

    async def _performed(self, effect: AnyEffect, state: State) -> Sequence[ev.AnyEvent]:
        try:
            rests_on_the_branch = isinstance(effect, Land) or (
                isinstance(effect, RunChecks) and effect.purpose == "final"
            )
            found = await asyncio.to_thread(self._branch_lost_commits, effect, state) if rests_on_the_branch else []
            if found:
                return found
            match effect:
                case CallAgent() if effect.lane == SPRINT_LANE:
                    said = await self._dependencies.ready()
                    await asyncio.to_thread(self._workspace.prepare, effect.lane)
                    return [*said, *await self._calls.perform(effect, state)]
                case CallAgent() if not effect.task:
                    return await self._calls.perform(effect, state)  # planning reads; it needs nothing installed
                case Survey():
                    return [await asyncio.to_thread(self._surveyor.survey, effect)]
                case CheckPlan():
                    return [await asyncio.to_thread(self._surveyor.check, effect, state)]
                case CallAgent():
                    said = await self._dependencies.ready()
                    return [*said, *await self._calls.perform(effect, state)]
                case RunChecks():
                    said = await self._dependencies.ready()
                    return [*said, await self._judging.perform(effect, state)]
                case RestoreBranch():
                    said = await self._dependencies.ready()
                    return [*said, await restore_branch(effect, state, self._workspace, self._judging, self._now)]
                case PrepareWorkspace() if not effect.task:
                    ready = await asyncio.to_thread(self._in_git, effect, state)
                    self._warming = asyncio.create_task(self._warm())
                    return [ready]
                case PrepareWorkspace():
                    if self._warming is not None:
                        await self._warming
                    said = await self._dependencies.ready()
                    return [*said, await asyncio.to_thread(self._in_git, effect, state)]
                case SaveCheckpoint():
                    # The journal belongs to this thread: its backup is taken here, the rest in a thread.
                    files = self._keepsakes()
                    return [await asyncio.to_thread(self._checkpoint, effect, files)]
                case Commit():
                    return await asyncio.to_thread(self._committed, effect, state)
                case CheckScope() | Rollback() | KeepTree() | CreateBaseline() | Land():
                    return [await asyncio.to_thread(self._in_git, effect, state)]
                case Wait() | Finish() | Survey() | CheckPlan() | Probe():
                    raise PerformError(f"nobody performs {type(effect).__name__}", kind="permanent")
                case _:
                    assert_never(effect)
        except WorkspaceError as error:
            raise PerformError(error.message, kind=error.kind, hint=error.hint) from error
        except OSError as error:
            raise PerformError(f"{error.strerror or error}: {error.filename or ''}".rstrip(": ")) from error

    async def _warm(self) -> None:
        """Clone the first lane while the checks of the baseline run: on a large repository the clone takes seconds."""
        with contextlib.suppress(WorkspaceError, OSError):
            await asyncio.to_thread(self._workspace.warm, 0)

    def _in_git(
        self, effect: PrepareWorkspace | CheckScope | Rollback | KeepTree | CreateBaseline | Land, state: State
    ) -> ev.AnyEvent:
        match effect:
            case PrepareWorkspace() if not effect.task:
                base = self._workspace.start_sprint(self._now()).base
                tree = self._workspace.tree_of(base)
                return ev.WorkspaceReady(id=effect.id, task="", lane=-1, tree=tree, base=base)
            case PrepareWorkspace():
                made = self._workspace.prepare(effect.lane, effect.tree or None, effect.base or None)
                return ev.WorkspaceReady(
                    id=effect.id, task=effect.task, lane=effect.lane, tree=made.tree, base=made.base
                )
            case CheckScope():
                return self._scope(effect, state)
            case Rollback():
                name = f"{effect.task}-{effect.iteration}"
                backup = self._workspace.back_up_lane(effect.lane, name, self._now())
                return ev.RolledBack(
                    id=effect.id, task=effect.task, tree=effect.tree, backup=backup, reason=effect.reason
                )
            case KeepTree():
                ref = self._workspace.keep_tree(
                    effect.task, effect.name, effect.tree, effect.base, effect.reason, effect.evidence, self._now()
                )
                return ev.TreeKept(id=effect.id, task=effect.task, tree=effect.tree, ref=ref, reason=effect.reason)
            case CreateBaseline():
                made_baseline = self._workspace.create_baseline(effect.milestone, self._now())
                return ev.BaselineCreated(
                    id=effect.id, milestone=effect.milestone, ref=made_baseline.ref, commit=made_baseline.commit
                )
            case Land():
                report = self._workspace.land()
                detail = "; ".join((report.detail, *report.differs[:5], *report.offers))
                return ev.Landed(id=effect.id, ok=report.landed, commit=report.commit, detail=detail)
            case _:
                assert_never(effect)

    def _scope(self, effect: CheckScope, state: State) -> ev.AnyEvent:
        spec = state.tasks[effect.task].spec
        # Named by the attempt, not by the effect: a check that was killed half-way is found again by the next.
        name = f"{effect.task}-{effect.iteration}-{effect.attempt}"
        report = self._workspace.check_scope(
            effect.lane, effect.before, effect.base, spec.scope, name, waived=spec.allow
        )
        return ev.ScopeChecked(
            id=effect.id,
            task=effect.task,
            verdict=report.verdict,
            tree=report.tree,
            changes=report.changes,
            attempt_changes=report.attempt_changes,
            reverted=report.reverted,
            kept_aside=report.kept_aside,
            findings=report.findings,
            reason=report.reason,
        )

    def _committed(self, effect: Commit, state: State) -> list[ev.AnyEvent]:
        try:
            made = self._commit(effect)
        except MovedBack:
            if found := self._branch_lost_commits(effect, state):
                return found
            raise
        moved = before_moving(self._workspace, state) if isinstance(made, ev.BaseMoved) else None
        return [made] if moved is None else [moved, made]

    def _branch_lost_commits(self, effect: AnyEffect, state: State) -> list[ev.AnyEvent]:
        """The user moved the branch back: that first, and the effect is decided on anew."""
        moved = before_moving(self._workspace, state)
        interrupted = ev.EffectInterrupted(id=effect.id, reason="the branch was moved")
        return [moved, interrupted] if moved is not None else []

    def _commit(self, effect: Commit) -> ev.AnyEvent:
        made = self._workspace.commit(
            effect.task,
            effect.tree,
            effect.base,
            effect.message,
            effect.evidence,
            effect.id,
            self._now(),
            effect.override,
        )
        if isinstance(made, Committed):
            return ev.Committed(
                id=effect.id,
                task=effect.task,
                commit=made.commit,
                tree=made.tree,
                message=made.message,
                branch=made.branch,
            )
        if isinstance(made, Moved):
            return ev.BaseMoved(
                id=effect.id,
                task=effect.task,
                base=made.base,
                tree=made.tree,
                same_patch=made.same_patch,
                landed=made.landed,
                difference=made.difference,
            )
        return ev.BaseMoved(id=effect.id, task=effect.task, base=made.base, conflicts=made.paths, landed=made.landed)

    def _checkpoint(self, effect: SaveCheckpoint, files: Mapping[str, Path | bytes]) -> ev.AnyEvent:
        made = self._workspace.save_checkpoint(effect.id.split("-")[0], effect.reason, self._now(), files)
        return ev.CheckpointSaved(id=effect.id, checkpoint=made.id, commit=made.commit, reason=effect.reason)

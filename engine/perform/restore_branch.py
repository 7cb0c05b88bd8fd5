"""RestoreBranch: find the newest commit of the sprint that passes what its base passes today, and go back to it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from engine.core import events as ev
from engine.core.effects import RestoreBranch
from engine.core.regression import lost
from engine.core.state import State
from engine.perform.run_checks import Judging
from engine.perform.workspace.facts import WorkspaceError
from engine.perform.workspace.workspace import Workspace


async def restore_branch(
    effect: RestoreBranch, state: State, workspace: Workspace, judging: Judging, now: Callable[[], float]
) -> ev.BranchMoved:
    """Both ends are measured now, in the same environment: what fails on the base as well is no commit's fault."""
    kinds = state.policy.monitor.rollback_checks
    base = await judging.baseline(effect, workspace.tree_of(state.base))
    commits = await asyncio.to_thread(workspace.newest_commits, effect.most)
    for commit in commits:
        here = await judging.baseline(effect, workspace.tree_of(commit))
        if not lost(base, here, kinds):
            return await asyncio.to_thread(_go_to, effect, state, workspace, commit, now())
    raise WorkspaceError(
        f"the sprint branch fails what its base passes ({effect.reason}), and so do its last {len(commits)} commits",
        hint="devteam rollback auto",
    )


def _go_to(effect: RestoreBranch, state: State, workspace: Workspace, commit: str, at: float) -> ev.BranchMoved:
    moved = workspace.go_to(commit, f"regression: {effect.reason}", at)
    if not moved.moved:
        said = f"the base fails it too, so no commit is to blame: {effect.reason}"
        return ev.BranchMoved(id=effect.id, commit=moved.commit, tree=moved.tree, backup="", reason=said)
    gone = tuple(task.id for task in state.tasks.values() if task.on_branch and not workspace.is_reachable(task.commit))
    said = f"went back to {moved.commit[:10]}, the last good commit; what came after it broke {effect.reason}"
    return ev.BranchMoved(
        id=effect.id, commit=moved.commit, tree=moved.tree, backup=moved.backup, reason=said, reopened=gone
    )

"""A resumed sprint whose branch fails what its base passes: back to the last good commit, then done again."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from engine.clock import SystemClock
from engine.core.state import State, Status
from engine.perform.workspace.facts import WorkspaceError
from engine.plans.sprints import SprintFolder
from engine.project import Project
from engine.service.landing import roll_back
from engine.service.local import Desk
from engine.session import Session
from engine.session_options import Options
from tests.engine import small
from tests.engine.test_lanes import edits, plan_of

REVIEW = '[[call]]\nrole = "reviewer"\n[call.structured]\napproved = true\ncriteria = []\n'
BETTER = '[[call]]\ntask = "1.2"\niteration = 2\nedit = [{ path = "f2.txt", content = "two\\n" }]\n\n'
THIRD = "- [ ] 1.3 Write file 3\n      scope: f3.txt\n      proof: none\n      complexity: 1\n"


async def run(project: Project, sprint: SprintFolder) -> State:
    async with Session.open(project, sprint, SystemClock(), Options(attended=False, trust="all", speed=1e9)) as session:
        return await session.run()


@pytest.fixture
def started(tmp_path: Path) -> tuple[Project, SprintFolder, Path]:
    """A check that reads a tool outside the repository: what it thinks of f2.txt changes when the tool does."""
    tool = tmp_path / "tools" / "words"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\nexit 0\n")
    tool.chmod(0o755)
    config = small.CONFIG.replace('"! grep -rq bad --include=*.txt ."', f'["{tool}"]')
    plan = plan_of(2).replace("      accept: f", "      description: f")
    folder = tmp_path / "repo"
    sprint = small.make(folder, plan=plan, scenario=edits(3) + BETTER + REVIEW, config=config)
    return small.project_of(folder, tmp_path / "state"), sprint, tool


async def test_the_branch_goes_back_to_its_last_good_commit_and_the_work_is_done_again(
    started: tuple[Project, SprintFolder, Path],
) -> None:
    project, sprint, tool = started
    state = await run(project, sprint)
    assert state.outcome == "done", state.outcome_reason
    tip, second = state.head, state.tasks["1.2"].commit
    tool.write_text("#!/bin/sh\n! grep -qs one f2.txt\n")
    sprint.plan_path.write_text(sprint.plan_path.read_text("utf-8") + THIRD, "utf-8")

    desk = Desk(project=project)
    ok, words = await asyncio.to_thread(roll_back, desk, sprint.id, "check", "own")
    assert not ok and "devteam rollback smart own" in words
    with pytest.raises(WorkspaceError, match="no types check"):
        await asyncio.to_thread(roll_back, desk, sprint.id, "auto", "types")

    state = await run(project, sprint)
    assert any("went back to" in note for note in state.notes), state.notes
    kept = small.git(project.root, "for-each-ref", "--format=%(objectname)", f"refs/devteam/{sprint.id}/backup")
    assert tip in kept.split(), "where it was is kept"
    assert state.outcome == "done", state.outcome_reason
    assert all(task.status is Status.COMPLETE for task in state.tasks.values())
    assert state.tasks["1.2"].commit != second, "what broke it was opened again"
    assert small.git(project.root, "show", f"{state.branch}:f2.txt") == "two\n"

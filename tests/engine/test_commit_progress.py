"""Plan and report are part of the commits where the user keeps .devteam/ in git: nothing is left over after landing."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.clock import SystemClock
from engine.plans.sprints import SprintFolder
from engine.project import Project
from engine.service.landing import land_sprint
from engine.service.local import Desk
from engine.session import Session
from engine.session_options import Options
from tests.engine import small
from tests.engine.test_lanes import edits, plan_of

REVIEW = '[[call]]\nrole = "reviewer"\n[call.structured]\napproved = true\ncriteria = []\n'
THIRD = "- [ ] 1.3 Write file 3\n      scope: f3.txt\n      proof: none\n      complexity: 1\n"


OLD = ".devteam/sprints/000-old/learnings/001-use-yaml.md"
"""A learning of another sprint, which agents of this one may contradict."""


def made(tmp_path: Path, *, tracked: bool, more: str = "") -> tuple[Project, SprintFolder]:
    folder = tmp_path / "repo"
    plan = plan_of(2).replace("      accept: f", "      description: f")
    sprint = small.make(folder, plan=plan, scenario=edits(3) + REVIEW, config=small.CONFIG + more)
    (folder / OLD).parent.mkdir(parents=True)
    (folder / OLD).write_text("# Use YAML\n")
    if tracked:
        small.git(folder, "add", ".devteam")
        small.git(folder, "commit", "-qm", "plan", "--", ".devteam")
    return small.project_of(folder, tmp_path / "state"), sprint


async def run(project: Project, sprint: SprintFolder) -> str:
    options = Options(attended=False, trust="all", speed=1e9)
    async with Session.open(project, sprint, SystemClock(), options) as session:
        state = await session.run()
    assert state.outcome == "done", state.outcome_reason
    return state.branch


def status(project: Project) -> list[str]:
    return small.git(project.root, "status", "--porcelain").splitlines()


async def test_each_commit_has_its_tick_and_nothing_is_left_over_after_landing(tmp_path: Path) -> None:
    project, sprint = made(tmp_path, tracked=True)
    branch = await run(project, sprint)
    plan = str(sprint.plan_path.relative_to(project.root))
    first, second = small.git(project.root, "log", "--reverse", "--format=%h", "-2", branch).split()
    boxes = {
        commit: [
            line[:9] for line in small.git(project.root, "show", f"{commit}:{plan}").splitlines() if "] 1." in line
        ]
        for commit in (first, second)
    }
    assert boxes == {first: ["- [x] 1.1", "- [ ] 1.2"], second: ["- [x] 1.1", "- [x] 1.2"]}
    assert [line for line in status(project) if ".devteam" in line], "until it is landed the disk is ahead"
    (project.root / OLD).write_text("# Use YAML\n- settled: kept by ann\n")

    ok, said = land_sprint(Desk(project=project), sprint.id, branch=False, patch=None, apply=True)
    assert ok, said
    assert status(project) == [" M user.txt"], "the user's own edit is as it was"
    assert small.git(project.root, "show", "HEAD:.devteam/sprints/" + sprint.id + "/report.md")
    assert "settled" in small.git(project.root, "show", f"HEAD:{OLD}"), "what was said of a learning is committed too"
    subjects = small.git(project.root, "log", "--format=%s", "-3").splitlines()
    assert subjects[0] == f"devteam: plan and progress of {sprint.id}" and subjects[2].startswith("impl(many): T1.1")
    assert "- [x] 1.1" in small.git(project.root, "show", f"HEAD~2:{plan}"), "rebuilt commits keep their ticks"

    # The sprint goes on, and lands again on top of that.
    before = small.git(project.root, "rev-parse", "HEAD").strip()
    sprint.plan_path.write_text(sprint.plan_path.read_text("utf-8") + THIRD, "utf-8")
    await run(project, sprint)
    ok, said = land_sprint(Desk(project=project), sprint.id, branch=False, patch=None, apply=True)
    assert ok, said
    assert status(project) == [" M user.txt"]
    small.git(project.root, "merge-base", "--is-ancestor", before, "HEAD")
    assert "- [x] 1.3" in small.git(project.root, "show", f"HEAD:{plan}")


@pytest.mark.parametrize(
    ("tracked", "more"),
    [
        pytest.param(False, "", id="not in git"),
        pytest.param(True, "\n[workspace]\ncommit_progress = false\n", id="switched off"),
    ],
)
async def test_otherwise_the_commits_hold_code_and_tests_alone(tmp_path: Path, tracked: bool, more: str) -> None:
    project, sprint = made(tmp_path, tracked=tracked, more=more)
    branch = await run(project, sprint)
    named = small.git(project.root, "log", "--format=", "--name-only", "--grep=^impl(", branch).split()
    assert named == ["f2.txt", "f1.txt"]
    ok, said = land_sprint(Desk(project=project), sprint.id, branch=False, patch=None, apply=True)
    assert ok, said
    left = [line for line in status(project) if ".devteam" in line]
    assert bool(left), "as before"


async def test_the_users_edit_of_the_plan_is_never_written_over(tmp_path: Path) -> None:
    project, sprint = made(tmp_path, tracked=True)
    await run(project, sprint)
    text = sprint.plan_path.read_text("utf-8") + "\nMy own words.\n"
    sprint.plan_path.write_text(text, "utf-8")
    ok, said = land_sprint(Desk(project=project), sprint.id, branch=False, patch=None, apply=True)
    assert ok, said
    assert sprint.plan_path.read_text("utf-8") == text
    assert "My own words." in small.git(project.root, "show", f"HEAD:{sprint.plan_path.relative_to(project.root)}")

"""The final review for real: a scripted reviewer reads the whole sprint, one task is opened again, the rest stays."""

from __future__ import annotations

import asyncio
from pathlib import Path

from engine import html_report, pull_request, views
from engine.clock import SystemClock
from engine.core.effects import AnyEffect, CallAgent
from engine.core.events import TasksReopened
from engine.core.model import Role
from engine.core.state import State
from engine.core.vocabulary import Outcome
from engine.plans.sprints import SprintFolder
from engine.service import work_queue
from engine.service.controller import Controller
from engine.service.local import Desk
from engine.session import Session
from engine.session_options import Options
from tests.engine import small

PLAN = small.PLAN.replace("scope: other.txt", "accept: other.txt says other\n      scope: other.txt")
CRITERIA = """[
  { task = "1.1", text = "word.txt says good", met = true, reference = "word.txt:1" },
  { task = "1.2", text = "other.txt says other", met = true, reference = "other.txt:1" },
]"""
MET = 'criteria = [{ text = "other.txt says other", met = true, reference = "1" }]'
SCENARIO = (
    small.SCENARIO.replace("criteria = []", MET)
    + f"""
[[call]]
task = "1.2"
iteration = 2
edit = [{{ path = "other.txt", content = "other, better\\n" }}]

[[call]]
role = "sprint-reviewer"
iteration = 1
[call.structured]
approved = false
summary = "nearly"
issues = [{{ task = "1.2", text = "could be better", fix = "say so", path = "other.txt", line = 1 }}]
criteria = {CRITERIA}

[[call]]
role = "sprint-reviewer"
iteration = 2
[call.structured]
approved = true
summary = "they fit"
issues = []
criteria = {CRITERIA}
"""
)


class Cut(BaseException):
    """The engine is gone, before or after the reviewer was called."""


async def live(folder: Path, state: Path, died: set[str]) -> State | None:
    sprint = small.make(folder, plan=PLAN, scenario=SCENARIO)
    options = Options(trust="all", speed=1e6, waits=False, attended=False)

    def boundary(where: str, effect: AnyEffect) -> None:
        reviews = isinstance(effect, CallAgent) and effect.role is Role.SPRINT_REVIEWER
        if reviews and (key := f"{where} {effect.iteration}") not in died:
            died.add(key)
            raise Cut(key)

    try:
        async with Session.open(small.project_of(folder, state), sprint, SystemClock(), options, boundary) as session:
            return await session.run()
    except Cut:
        return None


def test_the_whole_sprint_is_judged_and_a_task_opened_again(tmp_path: Path) -> None:
    folder, died = tmp_path / "repo", set[str]()
    state = None
    while state is None:
        assert len(died) < 9
        state = asyncio.run(live(folder, tmp_path / "state", died))
    assert len(died) == 4, "cut off before and after each of the two reviews"
    assert state.outcome == "done" and state.sprint_review.approved and state.sprint_review.head == state.head
    subjects = [subject for subject, _ in small.branch(folder, "devteam/001-make-good")]
    assert [subject.split(" ")[1] for subject in subjects[1:]] == ["T1.1", "T1.2", "T1.2"]
    assert small.git(folder, "show", "devteam/001-make-good:other.txt") == "other, better\n"
    desk = Desk(project=small.project_of(folder, tmp_path / "state"))
    opened = [one.event for one in desk.events() if isinstance(one.event, TasksReopened)]
    assert [one.tasks for one in opened] == [("1.2",)], "and no death opened it twice"
    (brief,) = (tmp_path / "state").glob("**/homes/*/sprint/sprint-reviewer/brief")
    told = (brief / "evidence.md").read_text()
    assert "## 1.1 Write a good word" in told and "criterion met: other.txt says other" in told
    assert "check words: PASS" in told and "trying" not in told, "no word of an implementer"
    (lane,) = (tmp_path / "state").glob("**/lanes/91")
    assert (lane / "other.txt").read_text() == "other, better\n", "it read the sprint as it is"
    assert "Final review: approved" in views.closing_report(state)
    assert "Final review" in html_report.page(state, {}) and "they fit" in html_report.page(state, {})
    assert "Final review of the whole branch: approved" in pull_request.description(state)


def test_what_the_final_review_rejects_is_not_landed_by_itself(tmp_path: Path) -> None:
    folder = tmp_path / "repo"
    vague = SCENARIO.replace('task = "1.2", text = "could', 'task = "", text = "could').replace(
        'path = "other.txt", line', "line"
    )
    assert vague != SCENARIO
    sprint = small.make(folder, plan=PLAN, scenario=vague)
    desk = Desk(project=small.project_of(folder, tmp_path / "state"))
    work_queue.add(desk, sprint.id)

    async def run(desk: Desk, sprint: SprintFolder, chosen: Options) -> State:
        async with Session.open(desk.project, sprint, SystemClock(), chosen) as session:
            return await session.run()

    options = Options(trust="all", speed=1e6, waits=False, attended=False)
    controller = Controller(desk, options, run, lambda _standing: None, today="2026-11-17", lands=True)
    assert asyncio.run(controller.work()) is Outcome.BLOCKED
    assert (folder / "word.txt").read_text() == "none\n", "the user's files are as they were"

"""Planning for real: a scripted planner, a real repository, journal, sandbox and views; cut off and taken up again."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from engine.clock import SystemClock
from engine.core.commands import Answer
from engine.core.planning_state import Stage, Until
from engine.core.state import State
from engine.plans.registry import read_plan
from engine.plans.sprints import SprintFolder, list_sprints, request_sprint
from engine.service import planning
from engine.service.local import Desk
from engine.session import Session
from engine.session_options import Ask, Options
from engine.settings import Unready
from tests.engine import small

TASK = (
    '{{ id = "{id}", title = "Write {word}", description = "Put it into {word}.txt.",'
    ' accept = ["{word}.txt says `good`"], scope = ["{scope}"],'
    ' depends_on = [], verify = ["grep -q good {word}.txt"], complexity = 1, proof = "", allow = [] }}'
)


def ready(scope: str, when: str) -> str:
    tasks = ", ".join(
        (TASK.format(id="1.1", word="word", scope="word.txt"), TASK.format(id="1.2", word="other", scope=scope))
    )
    return f"""
[[call]]
role = "planner"
{when}
[call.structured]
status = "READY"
title = "Write good words"
topic = "words"
summary = ""
questions = []
later = []
decisions = [{{ decision = "Words live in files", why = "they did before", alternatives = ["a database"] }}]
phases = [{{ id = "1", title = "Words", scaffold = false, tasks = [{tasks}] }}]
"""


ASKS = """
[[call]]
role = "planner"
attempt = 1
[call.structured]
status = "NEEDS_CLARIFICATION"
title = ""
topic = ""
summary = ""
phases = []
later = []
decisions = []
questions = [{ text = "Which word?", assumption = "good" }, { text = "Upper case?", assumption = "no" }]
"""
REST = """
[[call]]
role = "gatherer"
text = "There is one word in word.txt."

[[call]]
role = "plan-reviewer"
[call.structured]
approved = true
issues = []
summary = "small and clear"

[[call]]
task = "1.1"
edit = [{ path = "word.txt", content = "good\\n" }]

[[call]]
task = "1.2"
edit = [{ path = "other.txt", content = "good\\n" }]

[[call]]
role = "reviewer"
[call.structured]
approved = true
issues = []
notes = []
summary = "fine"
criteria = [
  { text = "word.txt says `good`", met = true, reference = "1" },
  { text = "other.txt says `good`", met = true, reference = "1" },
]

[[call]]
role = "sprint-reviewer"
[call.structured]
approved = true
issues = []
summary = "they fit"
criteria = [
  { task = "1.1", text = "word.txt says `good`", met = true, reference = "1" },
  { task = "1.2", text = "other.txt says `good`", met = true, reference = "1" },
]

[[call]]
role = "answerer"
text = "because files were there before"
"""
# The first draft lets two tasks that run beside each other write the same file: the engine's own checks object.
SCENARIO = ASKS + ready("word.txt", "attempt = 2") + ready("other.txt", "iteration = 2\nattempt = 2") + REST


def make(folder: Path) -> SprintFolder:
    """The small repository with a request instead of a plan."""
    if found := list_sprints(folder) if (folder / ".devteam").is_dir() else ():
        return found[-1]
    small.make(folder, scenario=SCENARIO)
    for name in ("plan.md", "context.md", "loop-state.md", "tracking.md", "learnings/.gitkeep", "learnings", "."):
        path = list_sprints(folder)[-1].path / name if name != "." else folder / ".devteam/sprints/001-make-good"
        path.rmdir() if path.is_dir() else path.unlink()
    return request_sprint(folder, "write good words", "2026-11-16")


async def live(folder: Path, state: Path, *answers: tuple[str, str], **options: object) -> State:
    """One run of the conversation, until there is a plan, with what was answered before it."""
    sprint = make(folder)
    project = small.project_of(folder, state)
    for gate, choice in answers:
        assert Desk(project=project).tell(Answer(gate=gate, choice=choice, by="you")).ok
    chosen = Options(trust="all", speed=1e6, **{"waits": False, "until": Until.PLAN, **options})  # type: ignore[arg-type]
    async with Session.open(project, sprint, SystemClock(), chosen) as session:
        return await session.run()


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    return tmp_path / "repo", tmp_path / "state"


def test_the_whole_conversation_then_the_sprint(places: tuple[Path, Path]) -> None:
    folder, _ = places
    state = asyncio.run(live(*places))
    assert state.outcome == "blocked" and [gate.kind for gate in state.open_gates()] == ["question", "question"]
    sprint = list_sprints(folder)[-1]
    assert (sprint.status, sprint.title, sprint.unplanned()) == ("DRAFT", "write good words", True)
    state = asyncio.run(live(*places, ("G1", "good, please"), ("G2", "y")))
    assert state.planning is not None and state.planning.version == 2
    assert [one.answer for one in state.planning.answers] == ["good, please", "no"]
    plan = read_plan(sprint.plan_path)
    assert plan.status == "DRAFT" and plan.tasks()[1].scope == ("other.txt",)
    assert "Which word? → good, please (you)" in sprint.context_path.read_text()
    assert state.plan is None, "a draft never runs"
    state = asyncio.run(live(*places, ("G3", "yes")))
    assert state.outcome == "done" and read_plan(sprint.plan_path).status == "APPROVED"
    (learning,) = sprint.learnings.glob("0*.md")
    assert "Why: they did before" in learning.read_text() and "- a database" in learning.read_text()
    assert not (places[1] / "x").exists() and small.git(folder, "status", "--short") == " M user.txt\n?? .devteam/\n"


def test_the_users_edit_of_the_draft_is_what_is_approved(places: tuple[Path, Path]) -> None:
    folder, _ = places
    asyncio.run(live(*places, attended=False))
    sprint = list_sprints(folder)[-1]
    text = sprint.plan_path.read_text()
    sprint.plan_path.write_text(text.replace("Write other", "Write my other"))
    state = asyncio.run(live(*places, attended=False, planning=Ask(approve=True)))
    assert state.outcome == "done" and state.plan is not None
    assert state.plan.tasks()[1].title == "Write my other"
    assert "Write my other" in sprint.plan_path.read_text()


def test_answers_and_approval_beforehand(places: tuple[Path, Path]) -> None:
    ask = Ask(given={"1": "fine", "upper": "yes"}, approve=True)
    state = asyncio.run(live(*places, attended=False, planning=ask))
    assert state.planning is not None and state.planning.stage is Stage.APPROVED
    assert [one.by for one in state.planning.answers] == ["--answers", "--answers"]


def by_hand(folder: Path) -> SprintFolder:
    """A sprint of a plan that somebody wrote and calls a draft."""
    plan = small.PLAN.replace("APPROVED", "DRAFT").replace("other.txt\n      depends: 1.1", "word.txt")
    small.make(folder, plan=plan, scenario=SCENARIO)
    return list_sprints(folder)[-1]


def test_a_draft_written_by_hand_never_runs(places: tuple[Path, Path]) -> None:
    sprint = by_hand(places[0])
    with pytest.raises(Unready, match="says Status: DRAFT, and a draft never runs"):
        asyncio.run(live(*places, until=Until.SPRINT))
    assert read_plan(sprint.plan_path).status == "DRAFT"
    assert not (places[0] / ".git/refs/heads/devteam").exists(), "no sprint began"


def test_a_draft_written_by_hand_is_talked_about_like_any_other(places: tuple[Path, Path]) -> None:
    folder, state_home = places
    sprint = by_hand(folder)
    words = sprint.plan_path.read_text()
    desk = Desk(project=small.project_of(folder, state_home))
    assert planning.unfinished(desk).id == sprint.id
    state = asyncio.run(live(*places))
    (gate,) = state.open_gates()
    assert gate.kind == "plan" and "Expected:" in gate.body and state.plan is None
    assert "OBJECTION: task 1.2" in gate.body, "the engine's checks come first, and their objections go to its author"
    assert state.planning is not None and state.calls == 0, "no planner wrote over it"
    assert sprint.plan_path.read_text() == words
    state = asyncio.run(live(*places, (gate.id, "yes")))
    assert state.plan is not None and sprint.plan_path.read_text() == words.replace("DRAFT", "APPROVED")


class Cut(BaseException):
    """The engine is gone, in the middle of an effect."""


def test_cut_off_at_every_boundary_it_goes_on(places: tuple[Path, Path]) -> None:
    """Each life of the engine dies at the first boundary that none died at before; the last one comes to the gate."""
    died: set[str] = set()

    async def a_life() -> State | None:
        sprint = make(places[0])
        chosen = Options(trust="all", speed=1e6, waits=False, attended=False, until=Until.PLAN)

        def boundary(where: str, effect: object) -> None:
            key = f"{where} {type(effect).__name__} {getattr(effect, 'role', '')} {getattr(effect, 'iteration', '')}"
            if key not in died:
                died.add(key)
                raise Cut(key)

        try:
            async with Session.open(small.project_of(*places), sprint, SystemClock(), chosen, boundary) as session:
                return await session.run()
        except Cut:
            return None

    async def lives() -> State:
        for _ in range(60):
            if (state := await a_life()) is not None:
                return state
        raise AssertionError(f"no end after {len(died)} deaths")

    state = asyncio.run(lives())
    assert state.outcome == "blocked" and [gate.kind for gate in state.open_gates()] == ["plan"]
    assert len(died) >= 12 and state.planning is not None and len(state.planning.answers) == 2

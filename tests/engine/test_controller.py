"""`devteam implement` on an empty repository, scripted: PRD, plan, two sprints, one task blocked, one re-planned."""

from __future__ import annotations

import asyncio
from pathlib import Path

from engine.clock import SystemClock
from engine.core import events as ev
from engine.core.commands import Answer
from engine.core.state import State, Status
from engine.core.vocabulary import Outcome
from engine.plans.sprints import SprintFolder, list_sprints, new_sprint
from engine.project import stored_state
from engine.service import planning, work_queue
from engine.service.controller import Controller, Standing
from engine.service.local import Desk
from engine.session import Session
from engine.session_options import Ask, Options
from tests.engine import small

CONFIG = small.CONFIG.replace("failures = [2, 3]", "failures = [1, 1]").replace(
    "! grep -rq bad --include=*.txt .", "! grep -rqs bad --include=*.txt ."
)


def task(name: str, file: str, needs: str = "") -> str:
    return (
        f'{{ id = "{name}", title = "Write {file}", description = "Put good into it.", accept = ["{file} says `good`"],'
        f' scope = ["{file}"], depends_on = [{needs}], verify = ["grep -q good {file}"], complexity = 1, proof = "",'
        " allow = [] }"
    )


def planner(when: str, *tasks: str, later: str = "") -> str:
    return f"""
[[call]]
role = "planner"
{when}
[call.structured]
status = "READY"
title = "Words"
topic = "words"
summary = ""
questions = []
later = [{later}]
decisions = []
phases = [{{ id = "1", title = "Words", scaffold = false, tasks = [{", ".join(tasks)}] }}]
"""


def writes(when: str, file: str, word: str) -> str:
    return f'[[call]]\n{when}\nedit = [{{ path = "{file}", content = "{word}\\n" }}]\n'


REST = """
[[call]]
role = "gatherer"
text = "Nothing is here yet."

[[call]]
role = "prd-writer"
[call.structured]
status = "READY"
questions = []
decisions = []
document = "# Words\\n\\nGood words in files."

[[call]]
role = "plan-reviewer"
[call.structured]
approved = true
issues = []
summary = "fine"

[[call]]
role = "reviewer"
[call.structured]
approved = true
issues = []
notes = []
summary = "fine"
criteria = [
  { text = "a.txt says `good`", met = true, reference = "1" },
  { text = "b.txt says `good`", met = true, reference = "1" },
  { text = "c.txt says `good`", met = true, reference = "1" },
  { text = "d.txt says `good`", met = true, reference = "1" },
]

[[call]]
role = "sprint-reviewer"
[call.structured]
approved = true
issues = []
summary = "they fit"
criteria = [
  { task = "1.1", text = "a.txt says `good`", met = true, reference = "a.txt:1" },
  { task = "1.3", text = "c.txt says `good`", met = true, reference = "c.txt:1" },
]

[[call]]
role = "councillor"
[call.structured]
root_cause = "the word"
evidence = []
recommended_fix = "another word"
confidence = "low"

[[call]]
role = "synthesist"
[call.structured]
root_cause = "the word"
recommended_fix = "another word"
insight = ""
test_cases = []
"""
"""b.txt is written badly until it is planned anew (as 1.3, another file); in the second sprint d.txt needs a key."""


FIRST = (
    planner("iteration = 2", task("1.1", "a.txt"), task("1.2", "b.txt"), later='"write d too"')
    + planner("iteration = 1", task("1.1", "a.txt"), task("1.3", "c.txt"))
    + writes('task = "1.1"', "a.txt", "good")
    + writes('task = "1.2"', "b.txt", "bad")
    + writes('task = "1.3"', "c.txt", "good")
    + REST
)
SECOND = (
    planner("", task("1.1", "d.txt"), task("1.2", "e.txt", '"1.1"'), later='"write d too"')
    + '[[call]]\ntask = "1.1"\nclaim = "blocked"\nissues = "needs a key"\n'
    + REST
)


async def implement(desk: Desk, said: list[Standing], ask: Ask) -> Outcome:
    options = Options(trust="all", speed=1e6, attended=False, waits=False, planning=ask)

    async def run(desk: Desk, folder: SprintFolder, chosen: Options) -> State:
        (desk.root / ".devteam/scenario.toml").write_text(FIRST if folder.number == 1 else SECOND)
        async with Session.open(desk.project, folder, SystemClock(), chosen) as session:
            return await session.run()

    return await Controller(desk, options, run, said.append, today="2026-11-17", lands=True).work()


def test_from_an_idea_to_sprints(tmp_path: Path) -> None:
    folder = tmp_path / "repo"
    folder.mkdir()
    small.git(folder, "init", "-q", "-b", "main")
    small.git(folder, "commit", "-q", "--allow-empty", "-m", "start")
    (folder / ".devteam").mkdir()
    (folder / ".devteam/config.toml").write_text(CONFIG)
    (folder / ".devteam/scenario.toml").write_text(FIRST)
    desk = Desk(project=small.project_of(folder, tmp_path / "state"))
    first = planning.begin(desk, "good words", "2026-11-17", "all")
    work_queue.add(desk, first.id)
    said: list[Standing] = []
    outcome = asyncio.run(implement(desk, said, Ask(approve=True, with_prd=True)))
    state = stored_state(desk.project, first)
    assert state.replanned == ("1.2",) and state.outcome is Outcome.DONE, state.outcome_reason
    assert {name: task.status for name, task in state.tasks.items()} == {
        "1.1": Status.COMPLETE,
        "1.3": Status.COMPLETE,
    }
    assert (folder / "a.txt").read_text() == "good\n" and (folder / "c.txt").read_text() == "good\n", "landed"
    assert "- [ ] 1.2 Write b.txt" in next(first.path.glob("plan.before-*.md")).read_text().replace("[!]", "[ ]")
    assert first.prd_path.read_text().startswith("# Words")
    assert (
        "All tasks complete" in first.report_path.read_text()
        or "successfully completed" in first.report_path.read_text()
    )
    second = list_sprints(folder)[1]
    assert second.request() == "write d too (see .devteam/sprints/001-good-words/prd.md)"
    assert not second.prd_path.exists(), "one PRD is enough"
    blocked = stored_state(desk.project, second)
    assert [task.status for task in blocked.tasks.values()] == [Status.BLOCKED, Status.BLOCKED]
    assert "needs a key" in blocked.tasks["1.1"].reason
    assert [(item.text, item.status) for item in work_queue.items(desk)] == [
        ("001-good-words", "done"),
        (second.id, "blocked"),
    ]
    assert outcome is Outcome.BLOCKED and said[-1].status == "ENDED"
    assert said[0].block().splitlines()[1] == "AUTONOMOUS MODE - Iteration 1"
    assert [one.total for one in said][-1] == 2 and len(list_sprints(folder)) == 2


def test_it_goes_on_where_it_needed_the_human_and_a_project_without_checks_is_judged_by_its_tasks(
    tmp_path: Path,
) -> None:
    """An unborn branch, no check of the project's own, nobody approved beforehand: two answers, then landed."""
    folder = tmp_path / "repo"
    folder.mkdir()
    small.git(folder, "init", "-q", "-b", "main")
    (folder / ".devteam").mkdir()
    bare = CONFIG.split("[checks]")[0] + '[gates]\nfix = "auto"\ntask = "auto"\n[task_loop]\nfinal_review = false\n'
    (folder / ".devteam/config.toml").write_text(bare)
    plan = planner("", task("1.1", "a.txt"), task("1.2", "b.txt"))
    scenario = plan + writes('task = "1.1"', "a.txt", "good") + writes('task = "1.2"', "b.txt", "good") + REST
    (folder / ".devteam/scenario.toml").write_text(scenario)
    desk = Desk(project=small.project_of(folder, tmp_path / "state"))
    first = planning.begin(desk, "good words", "2026-11-17")  # nothing would be run, so there is nothing to trust
    work_queue.add(desk, first.id)
    options = Options(speed=1e6, attended=False, waits=False, planning=Ask(with_prd=True))

    def start() -> tuple[Outcome, list[str]]:
        async def run(desk: Desk, folder: SprintFolder, chosen: Options) -> State:
            async with Session.open(desk.project, folder, SystemClock(), chosen) as session:
                return await session.run()

        controller = Controller(desk, options, run, lambda _said: None, today="2026-11-17", lands=True)
        return asyncio.run(controller.work()), controller.needs()

    for gate in ("G1", "G2"):
        outcome, needs = start()
        assert (outcome, needs[0].startswith("001-good-words: waiting for an answer")) == (Outcome.BLOCKED, True)
        assert needs[1].startswith(f"  → devteam answer {gate} yes|")
        assert start()[0] is Outcome.BLOCKED, "without an answer it stays"
        assert Desk(project=desk.project).tell(Answer(gate=gate, choice="yes", by="you")).ok
    outcome, needs = start()
    assert (outcome, needs) == (Outcome.DONE, [])
    state = stored_state(desk.project, first)
    assert [one.event.results[0].name for one in desk.events(first.id) if _final(one.event)] == ["verify-1.1-1"]
    assert (state.final, (folder / "b.txt").read_text()) == ("PASS", "good\n")


def _final(event: ev.AnyEvent) -> bool:
    return isinstance(event, ev.ChecksFinished) and event.purpose == "final"


def test_the_queue_is_the_users_text(tmp_path: Path) -> None:
    small.make(tmp_path / "repo")
    desk = Desk(project=small.project_of(tmp_path / "repo", tmp_path / "state"))
    assert [item.text for item in work_queue.fill(desk)] == ["001-make-good"]
    path = work_queue.path_of(desk)
    path.write_text("my words\n- [ ] plan: write docs\n- [x] 7\n* [ ] 001-make-good\nmore words")
    assert [(item.request, item.status) for item in work_queue.items(desk)] == [
        ("write docs", "open"),
        ("", "done"),
        ("", "open"),
    ]
    work_queue.mark(desk, "plan: write docs", "open", becomes="002-docs")
    work_queue.mark(desk, "001-make-good", "blocked")
    work_queue.add(desk, "plan: later")
    assert path.read_text() == "my words\n- [ ] 002-docs\n- [x] 7\n* [!] 001-make-good\nmore words\n- [ ] plan: later\n"


def test_the_queue_is_reordered_while_it_is_worked_on(tmp_path: Path) -> None:
    """What the user writes into queue.md between two sprints is what happens next; the budget is over all of them."""
    folder = tmp_path / "repo"
    plan = small.PLAN.split("- [ ] 1.2")[0]
    small.make(folder, plan=plan)
    for _ in range(3):
        new_sprint(folder, plan, "plan.md", "2026-11-17")
    desk = Desk(project=small.project_of(folder, tmp_path / "state"))
    first, second, third, fourth = (item.text for item in work_queue.fill(desk))
    worked: list[str] = []

    async def run(desk: Desk, sprint: SprintFolder, chosen: Options) -> State:
        worked.append(sprint.id)
        async with Session.open(desk.project, sprint, SystemClock(), chosen) as session:
            state = await session.run()
        if sprint.id == first:
            assert "- [ ] " + first in work_queue.path_of(desk).read_text(), "not done before it is marked so"
            rows = f"# mine\n- [ ] {first}\n- [-] {second}\n- [ ] {fourth}\n- [ ] {third}\n"
            work_queue.path_of(desk).write_text(rows)
        return state

    options = Options(trust="all", speed=1e6, attended=False, waits=False, planning=Ask())
    said: list[Standing] = []
    spends = Controller(desk, options, run, said.append, today="2026-11-17", lands=False, max_usd=0.04)
    assert asyncio.run(spends.work()) is Outcome.LIMIT
    assert worked == [first, fourth] and said[-1].status == "LIMIT" and "are spent" in said[-1].reason
    assert asyncio.run(Controller(desk, options, run, said.append, today="x", lands=False).work()) is Outcome.DONE
    assert worked == [first, fourth, third]
    text = work_queue.path_of(desk).read_text()
    assert text == f"# mine\n- [x] {first}\n- [-] {second}\n- [x] {fourth}\n- [x] {third}\n"

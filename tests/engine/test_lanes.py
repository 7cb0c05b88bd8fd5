"""Parallel lanes with real processes: one review and one gate a task, or one review for a batch of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from engine.clock import SystemClock
from engine.core import events as ev
from engine.core.effects import CallAgent
from engine.core.model import Role
from engine.core.state import State, Status
from engine.plans.sprints import SprintFolder
from engine.session import Session
from engine.session_options import Options
from tests.engine import small

LIKED = '[[call]]\nrole = "reviewer"\n[call.structured]\napproved = true\ncriteria = []\n'


def plan_of(count: int) -> str:
    rows = "".join(
        f"- [ ] 1.{n} Write file {n}\n      accept: f{n}.txt is there\n      scope: f{n}.txt\n      proof: none\n"
        "      complexity: 1\n\n"
        for n in range(1, count + 1)
    )
    return f"# Many\n\nStatus: APPROVED\nTopic: many\n\n## Phase 1: Files\n\n{rows}"


def edits(count: int) -> str:
    return "".join(
        f'[[call]]\ntask = "1.{n}"\nedit = [{{ path = "f{n}.txt", content = "one\\n" }}]\n\n'
        for n in range(1, count + 1)
    )


def said(task: int, approved: bool) -> str:
    met = str(approved).lower()
    issue = '{ text = "too short", fix = "two words", confidence = "high" }' if not approved else ""
    return (
        f'[[call.structured.reviews]]\ntask = "1.{task}"\napproved = {met}\nissues = [{issue}]\n'
        f'criteria = [{{ text = "f{task}.txt is there", met = {met}, reference = "f{task}.txt:1" }}]\n\n'
    )


def many(folder: Path, lanes: int) -> SprintFolder:
    """As many tasks as lanes, each with a file of its own, and a reviewer who likes them all.

    With money for many deaths: each one charges every call that was under way, as reserved.
    """
    plan = plan_of(lanes).replace("      accept: f", "      description: f")
    config = config_of(lanes) + "\n[budget]\nsession_usd = 100000\nday_usd = 100000\n"
    return small.make(folder, plan=plan, scenario=edits(lanes) + LIKED, config=config)


async def played(folder: Path, *, plan: str, scenario: str, config: str) -> tuple[State, list[ev.AnyEvent]]:
    sprint = small.make(folder / "repo", plan=plan, scenario=scenario, config=config)
    seen: list[ev.AnyEvent] = []

    def watch(envelopes: Sequence[ev.Envelope], _state: State) -> None:
        seen.extend(envelope.event for envelope in envelopes)

    project = small.project_of(folder / "repo", folder / "state")
    async with Session.open(project, sprint, SystemClock(), Options(attended=False, trust="all", speed=1e9)) as session:
        session.runner.watch(watch)
        state = await session.run()
    return state, seen


def calls(seen: Sequence[ev.AnyEvent], role: Role) -> list[CallAgent]:
    started = [event.effect for event in seen if isinstance(event, ev.EffectStarted)]
    return [effect for effect in started if isinstance(effect, CallAgent) and effect.role is role]


def config_of(lanes: int, review: str = "task") -> str:
    return f'lanes = {lanes}\n{small.CONFIG}\n[task_loop]\nreview = "{review}"\nfinal_review = false\n'


async def test_n_tasks_on_n_lanes_are_n_reviews_and_n_commits(tmp_path: Path, lanes: int = 4) -> None:
    plan = plan_of(lanes).replace("      accept: f", "      description: f")
    state, seen = await played(tmp_path, plan=plan, scenario=edits(lanes) + LIKED, config=config_of(lanes))
    assert (state.outcome, len(calls(seen, Role.REVIEWER)), len(calls(seen, Role.IMPLEMENTER))) == (
        "done",
        lanes,
        lanes,
    )
    checked = [event for event in seen if isinstance(event, ev.ChecksFinished) and event.purpose == "task"]
    assert len(checked) == 2 * lanes - 1, "each once, and each but the first once more on what came before it"
    made = [subject for subject, _ in small.branch(tmp_path / "repo", state.branch) if subject.startswith("impl(")]
    assert len(made) == lanes


async def test_a_batch_is_reviewed_at_once_and_only_what_needs_changes_is_done_again(tmp_path: Path) -> None:
    first = '[[call]]\nrole = "reviewer"\ntask = "1.1"\n\n' + said(1, True) + said(2, False) + said(3, True)
    then = (
        '[[call]]\nrole = "reviewer"\ntask = "1.2"\niteration = 2\n[call.structured]\napproved = true\nissues = []\n'
        'criteria = [{ text = "f2.txt is there", met = true, reference = "f2.txt:1" }]\n'
    )
    again = '[[call]]\ntask = "1.2"\niteration = 2\nedit = [{ path = "f2.txt", content = "two words\\n" }]\n\n'
    state, seen = await played(
        tmp_path, plan=plan_of(3), scenario=edits(3) + again + first + then, config=config_of(3, "batch")
    )
    assert state.outcome == "done", state.outcome_reason
    assert [call.members() for call in calls(seen, Role.REVIEWER)] == [("1.1", "1.2", "1.3"), ("1.2",)]
    assert sorted(call.task for call in calls(seen, Role.IMPLEMENTER)) == ["1.1", "1.2", "1.2", "1.3"]
    assert all(task.status is Status.COMPLETE for task in state.tasks.values())
    assert small.git(tmp_path / "repo", "show", f"{state.branch}:f2.txt") == "two words\n"

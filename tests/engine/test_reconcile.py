"""Journal against branch: what one lost is found in the other, nothing is done or paid twice, and it is said."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.clock import SystemClock
from engine.core import events as ev
from engine.core.effects import AnyEffect, CallAgent, CheckScope, Commit, Probe, RunChecks
from engine.core.model import MachineFault
from engine.core.state import State, Status
from engine.journal import Journal
from engine.perform.workspace import git_service
from engine.plans.sprints import SprintFolder
from engine.session import Session
from engine.session_options import Options
from tests.engine import small
from tests.patience import patience

AGAIN = """
[[call]]
task = "1.1"
edit = [{ path = "word.txt", content = "good\\n" }]
"""
"""What is written when a task is opened again."""


class House:
    """A repository with a sprint, its state and what was said in the last run."""

    def __init__(self, tmp_path: Path) -> None:
        self.folder = tmp_path / "repo"
        self.state = tmp_path / "state"
        self.sprint: SprintFolder = small.make(self.folder, scenario=small.SCENARIO + AGAIN)
        self.said: list[ev.AnyEvent] = []
        self.notes: tuple[str, ...] = ()

    async def run(self, boundary: Callable[[str, AnyEffect], None] = lambda _where, _effect: None) -> State:
        self.said = []
        self.sprint = small.make(self.folder)
        project = small.project_of(self.folder, self.state)
        options = Options(attended=False, trust="all", speed=1e9)
        async with Session.open(project, self.sprint, SystemClock(), options, boundary=boundary) as session:
            session.watch(lambda envelopes, _state: self.said.extend(one.event for one in envelopes))
            async with asyncio.timeout(patience(120)):
                state = await session.run()
            self.notes = state.notes
            return state

    def calls(self) -> list[CallAgent]:
        started = [one.effect for one in self.said if isinstance(one, ev.EffectStarted)]
        return [effect for effect in started if isinstance(effect, CallAgent)]

    def words(self) -> str:
        noted = [one.text for one in self.said if isinstance(one, ev.Noted)]
        return "\n".join([*self.notes, *noted, *(one.reason for one in self.said if isinstance(one, ev.BranchMoved))])

    def commits(self) -> list[str]:
        found = small.branch(self.folder, self.sprint.branch)
        return [subject for subject, _tree in found if subject.startswith("impl(")]

    def git(self, *arguments: str) -> str:
        return small.git(self.folder, *arguments)


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def all_done(state: State) -> bool:
    return state.outcome == "done" and all(task.status is Status.COMPLETE for task in state.tasks.values())


async def test_a_journal_put_back_to_before_the_commits_takes_them_up(house: House, tmp_path: Path) -> None:
    """The user restores `.devteam` from a backup made before the first commit. Nothing is done twice, and what the lost
    calls cost is charged."""
    kept = tmp_path / "kept"

    def copy(where: str, effect: AnyEffect) -> None:
        if where == "before" and isinstance(effect, Commit) and not kept.exists():
            shutil.copytree(house.folder / ".devteam", kept)

    first = await house.run(copy)
    assert all_done(first)
    before = house.commits()
    shutil.rmtree(house.folder / ".devteam")
    shutil.copytree(kept, house.folder / ".devteam")
    for folder in house.state.rglob("backups"):
        shutil.rmtree(folder)  # else the backup alone would have brought everything back
    again = await house.run()
    assert all_done(again), again.outcome_reason
    assert house.commits() == before
    assert not [call for call in house.calls() if call.task], "nobody was paid twice"
    assert "taken up" in house.words()
    assert again.spent_usd >= first.spent_usd - 1e-9, "money never falls"
    charged = [one for one in house.said if isinstance(one, ev.SpendFound)]
    assert charged and charged[0].calls >= 1
    third = await house.run()
    assert third.spent_usd == again.spent_usd, "charged once"


async def test_a_journal_older_than_its_own_backup_is_brought_up_to_it(house: House, tmp_path: Path) -> None:
    kept = tmp_path / "kept"

    def copy(where: str, effect: AnyEffect) -> None:
        if where == "before" and isinstance(effect, Commit) and not kept.exists():
            shutil.copytree(house.folder / ".devteam", kept)

    first = await house.run(copy)
    shutil.rmtree(house.folder / ".devteam")
    shutil.copytree(kept, house.folder / ".devteam")
    again = await house.run()
    assert all_done(again)
    assert not house.calls()
    assert again.spent_usd == first.spent_usd
    assert "older than its own backup" in house.words()


async def test_all_of_the_state_lost_and_only_the_branch_left(house: House) -> None:
    first = await house.run()
    before = house.commits()
    for name in ("devteam.db", "devteam.db-wal", "devteam.db-shm", "devteam.db-mark"):
        (house.folder / ".devteam" / name).unlink(missing_ok=True)
    shutil.rmtree(house.state)
    plan = house.sprint.plan_path
    plan.write_text(plan.read_text().replace("[x]", "[ ]"))
    again = await house.run()
    assert all_done(first) and all_done(again), again.outcome_reason
    assert house.commits() == before
    assert not house.calls()
    assert "made anew" in house.words()


async def test_commits_of_another_sprint_that_had_this_name_are_not_taken_up(house: House) -> None:
    await house.run()
    shutil.rmtree(house.state)
    for path in (house.folder / ".devteam").glob("devteam.db*"):
        path.unlink()
    plan = house.sprint.plan_path
    plan.write_text(plan.read_text().replace("[x]", "[ ]").replace("Write", "Now say"))
    await house.run()
    assert house.calls(), "the same ids, another plan: it is worked on"
    assert "taken up" not in house.words()


async def test_every_ref_deleted_and_gc(house: House) -> None:
    """Even then the engine's own store has the commits."""
    first = await house.run()
    before = house.commits()
    for ref in house.git("for-each-ref", "--format=%(refname)", "refs/devteam", "refs/heads/devteam").split():
        house.git("update-ref", "-d", ref)
    house.git("reflog", "expire", "--expire=now", "--all")
    house.git("gc", "-q", "--prune=now")
    again = await house.run()
    assert all_done(first) and all_done(again), again.outcome_reason
    assert house.commits() == before
    assert "every ref" in house.words()
    assert house.git("fsck", "--strict", "--no-dangling") == ""


async def test_a_branch_moved_back_by_hand_is_the_users_word(house: House) -> None:
    first = await house.run()
    assert all_done(first)
    lost = house.git("rev-parse", house.sprint.branch).strip()
    house.git("update-ref", f"refs/heads/{house.sprint.branch}", f"{lost}~1")
    again = await house.run()
    assert all_done(again), again.outcome_reason
    moved = [one for one in house.said if isinstance(one, ev.BranchMoved)]
    assert [one.reopened for one in moved] == [("1.2",)]
    assert house.git("rev-parse", moved[0].backup).strip() == lost, "what was there is on a ref"
    assert len(house.commits()) == 2
    assert len(house.git("log", "--format=%h", "--grep=T1.1", f"main..{house.sprint.branch}").split()) == 1


@pytest.mark.parametrize("when", ["Commit", "RunChecks"])
async def test_a_branch_moved_back_while_the_run_is_on(house: House, when: str) -> None:
    """Nothing is called done beside a commit that is not on the branch."""
    moved_at: list[str] = []

    def move(where: str, effect: AnyEffect) -> None:
        late = effect.task == "1.2" if when == "Commit" else getattr(effect, "purpose", "") == "final"
        if where == "before" and type(effect).__name__ == when and late and not moved_at:
            moved_at.append(house.git("rev-parse", house.sprint.branch).strip())
            house.git("update-ref", f"refs/heads/{house.sprint.branch}", f"{moved_at[0]}~1")

    state = await house.run(move)
    assert moved_at
    assert all_done(state), state.outcome_reason
    for task in state.tasks.values():
        house.git("merge-base", "--is-ancestor", task.commit, house.sprint.branch)
    assert any(isinstance(one, ev.BranchMoved) and one.reopened for one in house.said)


def rebase(house: House) -> str:
    """As `git rebase main` does, in a folder aside: the user goes on on main, and wants the sprint on top of it."""
    (house.folder / "own.txt").write_text("of the user\n")
    house.git("add", "own.txt")
    house.git("commit", "-q", "-m", "own", "--", "own.txt")
    aside = house.folder.parent / "aside"
    house.git("worktree", "add", "-q", str(aside), house.sprint.branch)
    small.git(aside, "rebase", "-q", "main")
    house.git("worktree", "remove", str(aside))
    return house.git("rev-parse", house.sprint.branch).strip()


async def test_a_branch_that_the_user_rebased_between_two_runs_has_the_same_work(house: House) -> None:
    assert all_done(await house.run())
    head = rebase(house)
    again = await house.run()
    assert all_done(again), again.outcome_reason
    assert not house.calls(), "nobody is paid for it twice"
    (moved,) = (one for one in house.said if isinstance(one, ev.BranchMoved))
    assert (moved.commit, moved.reopened, set(moved.restored)) == (head, (), {"1.1", "1.2"})
    assert house.git("rev-parse", house.sprint.branch).strip() == head
    for task in again.tasks.values():
        house.git("merge-base", "--is-ancestor", task.commit, head)


async def test_a_branch_that_the_user_rebases_while_the_run_is_on(house: House) -> None:
    rebased: list[str] = []

    def move(where: str, effect: AnyEffect) -> None:
        if where == "before" and isinstance(effect, CallAgent) and effect.task == "1.2" and not rebased:
            rebased.append(rebase(house))

    state = await house.run(move)
    assert all_done(state), state.outcome_reason
    assert not [one for one in house.said if isinstance(one, ev.BranchMoved) and one.reopened]
    assert sorted(house.commits())[0].startswith("impl(small): T1.1") and len(house.commits()) == 2
    house.git("merge-base", "--is-ancestor", "main", house.sprint.branch)
    for task in state.tasks.values():
        house.git("merge-base", "--is-ancestor", task.commit, house.sprint.branch)


async def test_a_branch_deleted_while_the_run_is_on_comes_back_and_it_is_said(house: House) -> None:
    done: list[str] = []

    def delete(where: str, effect: AnyEffect) -> None:
        if where == "before" and isinstance(effect, Commit) and effect.task == "1.2" and not done:
            done.append(house.git("branch", "-D", house.sprint.branch))

    state = await house.run(delete)
    assert all_done(state), state.outcome_reason
    assert len(house.commits()) == 2
    assert "had been deleted" in house.words()


async def test_a_branch_in_the_way_is_named_with_the_line_that_moves_it(house: House) -> None:
    """A branch's name is a folder of the sprint's branch: git cannot have both, and says so in words of its own."""
    made: list[str] = []

    def block(where: str, effect: AnyEffect) -> None:
        if where == "before" and isinstance(effect, Commit) and effect.task == "1.2" and not made:
            made.append(f"{house.sprint.branch}/mine")
            house.git("branch", "-D", house.sprint.branch)
            house.git("branch", made[0], "main")
        if where == "before" and isinstance(effect, Probe):
            (failed,) = (one for one in house.said if isinstance(one, ev.EffectFailed))
            assert failed.fault is MachineFault.BRANCH_LOST
            house.git(*failed.hint.split()[1:])  # type what it says

    state = await house.run(block)
    assert made and all_done(state), state.outcome_reason
    assert len(house.commits()) == 2
    assert house.git("rev-parse", made[0].replace("/", "-")) == house.git("rev-parse", "main"), "the user's is kept"


async def test_every_ref_deleted_while_the_run_is_on_comes_back(house: House) -> None:
    """The probe does what the next start would do: nobody has to restart anything."""
    done: list[str] = []

    def delete(where: str, effect: AnyEffect) -> None:
        if where == "before" and isinstance(effect, Commit) and effect.task == "1.2" and not done:
            done.extend(house.git("for-each-ref", "--format=%(refname)", "refs/heads/devteam", "refs/devteam").split())
            for ref in done:
                house.git("update-ref", "-d", ref)
            house.git("reflog", "expire", "--expire=now", "--all")
            house.git("gc", "-q", "--prune=now")

    state = await house.run(delete)
    assert all_done(state), state.outcome_reason
    assert len(house.commits()) == 2
    assert "every ref" in house.words()
    assert any(isinstance(one, ev.MachineProbed) and one.ok for one in house.said)


async def test_a_repository_moved_between_two_runs_goes_on(house: House, tmp_path: Path) -> None:
    class Enough(BaseException):
        pass

    def stop(where: str, effect: AnyEffect) -> None:
        if where == "after" and isinstance(effect, Commit) and effect.task == "1.1":
            raise Enough

    with pytest.raises(BaseException):  # noqa: B017  the engine dies
        await house.run(stop)
    house.folder = house.folder.rename(tmp_path / "moved here")
    state = await house.run()
    assert all_done(state), state.outcome_reason
    assert len(house.commits()) == 2
    assert f"moved here from {tmp_path / 'repo'}" in house.words()


@pytest.mark.parametrize("when", [("before", "1.2"), ("after", "1.1")], ids=["before a commit", "before the views"])
async def test_a_repository_moved_away_under_a_run_suspends_it_until_it_is_back(
    house: House, tmp_path: Path, when: tuple[str, str]
) -> None:
    """Nothing is made in the old place, no task ends, and the journal goes with its folder."""
    away = tmp_path / "away"
    probed: list[bool] = []

    def move(where: str, effect: AnyEffect) -> None:
        if (where, effect.task) == when and isinstance(effect, Commit) and not probed:
            house.folder.rename(away)
            probed.append(False)

    async def bring_back() -> None:
        while not any(isinstance(one, ev.MachineProbed) and not one.ok for one in house.said):
            await asyncio.sleep(0.05)
        assert not house.folder.exists(), "nothing was made in the old place"
        away.rename(house.folder)

    coming = asyncio.create_task(bring_back())
    state = await house.run(move)
    await coming
    assert all_done(state), state.outcome_reason
    assert {one.fault for one in house.said if isinstance(one, ev.EffectFailed)} == {MachineFault.REPO_MOVED}
    with Journal.open(house.folder / ".devteam/devteam.db", clock=lambda: 0.0, backup_dir=tmp_path) as journal:
        assert journal.recovery is None


@pytest.mark.parametrize("kind", [CallAgent, CheckScope, RunChecks, Commit])
async def test_a_git_directory_moved_away_under_a_run_suspends_it_until_it_is_back(
    house: House, kind: type[AnyEffect]
) -> None:
    """What git says then is that an object is missing: no task ends for it."""
    git_dir, away = house.folder / ".git", house.folder.parent / "git.aside"
    moved: list[bool] = []

    def move(where: str, effect: AnyEffect) -> None:
        if where == "before" and isinstance(effect, kind) and effect.task == "1.2" and not moved:
            git_dir.rename(away)
            moved.append(True)

    async def bring_back() -> None:
        while not any(isinstance(one, ev.MachineProbed) and not one.ok for one in house.said):
            await asyncio.sleep(0.05)
        away.rename(git_dir)

    coming = asyncio.create_task(bring_back())
    state = await house.run(move)
    await coming
    assert all_done(state), state.outcome_reason
    assert {one.fault for one in house.said if isinstance(one, ev.EffectFailed)} == {MachineFault.REPO_MOVED}
    assert len(house.commits()) == 2


class Dead(BaseException):
    """The engine died here."""


@pytest.mark.parametrize("lost", ["the state folder", "the trees"])
async def test_work_that_is_gone_from_the_store_is_done_again(house: House, lost: str) -> None:
    """The user cleared ~/.local/state after a crash, or a power cut took what was not on the disk."""

    def die(where: str, effect: AnyEffect) -> None:
        if where == "before" and isinstance(effect, CallAgent) and effect.iteration == 2:
            raise Dead

    with pytest.raises(BaseException) as died:
        await house.run(die)
    assert "Dead" in repr(died.value)
    git_service.close_all()
    if lost == "the state folder":
        shutil.rmtree(house.state)
    else:
        trees = {one.tree for one in house.said if isinstance(one, ev.ScopeChecked)}
        for tree in trees:
            (found,) = house.state.rglob(f"git/objects/{tree[:2]}/{tree[2:]}")
            found.unlink()
    again = await house.run()
    assert all_done(again), again.outcome_reason
    assert [one.task for one in house.said if isinstance(one, ev.WorkLost)] == ["1.1"]
    assert len(house.commits()) == 2
    assert not any(isinstance(one, ev.EffectFailed) for one in house.said)
    assert again.tasks["1.1"].granted == 1, "the iteration is not the task's to pay with"
    assert not [one for one in house.said if isinstance(one, ev.BranchMoved)]

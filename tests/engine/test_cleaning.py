"""What ended sprints leave is removed and said; nothing of a running, unfinished or unlanded one ever is."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.clock import SystemClock
from engine.core import events as ev
from engine.core.retention import Trace, Use, leaving
from engine.core.state import State, Status
from engine.journal import EngineLock, EngineRunning
from engine.perform import cleaning
from engine.perform.checks.run.evidence import Store as EvidenceStore
from engine.perform.workspace import old_sprints, replaced
from engine.perform.workspace.git import Git, GitError
from engine.plans.sprints import SprintFolder, new_sprint
from engine.project import Project
from engine.service.cleaning import clean, words
from engine.service.landing import land_sprint
from engine.service.local import Desk
from engine.service.sprint_numbers import highest_number
from engine.session import Session
from engine.session_options import Options
from tests.engine import small


class House:
    """A repository with several sprints, one after another."""

    def __init__(self, place: Path) -> None:
        self.folder = place / "repo"
        self.sprint = small.make(self.folder)
        (self.folder / "user.txt").write_text("the user's own\n")
        self.project: Project = small.project_of(self.folder, place / "state")
        self.desk = Desk(project=self.project)

    async def run(self, sprint: SprintFolder, **more: object) -> State:
        options = Options(attended=False, trust="all", speed=1e9, **more)  # type: ignore[arg-type]
        async with Session.open(self.project, sprint, SystemClock(), options) as session:
            return await session.run()

    def next(self) -> SprintFolder:
        """The same again, with other words."""
        made = new_sprint(self.folder, small.PLAN, "plan.md", "2026-11-17")
        words = small.SCENARIO.replace("good\\n", f"good {made.id}\\n").replace("other\\n", f"other {made.id}\\n")
        (self.folder / ".devteam" / "scenario.toml").write_text(words)
        return made

    def all_refs(self) -> list[str]:
        return small.git(self.folder, "for-each-ref", "--format=%(refname)").split()

    def refs(self, sprint: str) -> list[str]:
        return [name for name in self.all_refs() if f"devteam/{sprint}" in name]

    def traces(self, sprint: str) -> list[str]:
        root = self.project.state.root
        places = [root / name / sprint for name in cleaning.BY_SPRINT] + [self.project.state.homes_of(sprint)]
        return [place.relative_to(root).parts[0] for place in places if place.exists()]

    def evidence_of_commits(self, sprint: str) -> list[str]:
        return [
            one.event.effect.evidence  # type: ignore[union-attr]
            for one in self.desk.events(sprint)
            if isinstance(one.event, ev.EffectStarted) and type(one.event.effect).__name__ == "Commit"
        ]


@pytest.fixture
async def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    """The first sprint is done and landed."""
    monkeypatch.setattr(cleaning, "RECENT", 0.0)
    made = House(tmp_path)
    assert (await made.run(made.sprint)).outcome == "done"
    ok, lines = land_sprint(made.desk, made.sprint.id, branch=False, patch=None, apply=True)
    assert ok, lines
    return made


async def test_a_landed_sprint_goes_and_the_evidence_of_its_commits_stays(house: House) -> None:
    first, root = house.sprint.id, house.project.state.root
    before = small.user_side(house.folder)
    commits, records = house.evidence_of_commits(first), len(list(house.project.state.evidence.glob("*.json")))
    assert len(commits) == 2
    assert {"logs", "homes", "checkpoints", "sprints"} <= set(house.traces(first))
    dry = clean(house.desk, 0, dry_run=True)
    assert dry.leaving == (first,)
    assert house.traces(first), "a dry run removes nothing"
    assert house.refs(first)
    done = clean(house.desk, 0, dry_run=False)
    assert {(one.what, one.sprint) for one in done.removed} >= {("refs", first), ("logs", first), ("homes", first)}
    assert house.traces(first) == []
    assert house.refs(first) == [], "what landing replaced is in the user's own history"
    assert replaced.REF not in house.all_refs()
    assert list((root / "lanes").iterdir()) == []
    store = EvidenceStore(house.project.state.evidence)
    for evidence in commits:
        store.verify(evidence)
    assert len(list(store.folder.glob("*.json"))) < records, "of the attempt that failed nothing is left"
    assert small.user_side(house.folder) == before
    assert any("kept of all: the journal" in line for line in words(done, dry_run=False))
    again = clean(house.desk, 0, dry_run=False)
    assert again.leaving == (), "once is enough"
    assert words(again, dry_run=False)[0] == "nothing to clean"
    assert house.desk.state(first).outcome == "done", "the journal still tells it"


async def _landed_over(house: House, mine: str) -> SprintFolder:
    """A sprint that lands over a file of the user's which no commit of theirs has."""
    sprint = house.next()
    (house.folder / "word.txt").write_text(mine)
    state = await house.run(sprint)
    assert state.outcome == "done", state.outcome_reason
    ok, lines = land_sprint(house.desk, sprint.id, branch=False, patch=None, apply=True)
    assert ok, lines
    # The sprint carries it as a commit of the user's; history that is written anew leaves the backup alone with it.
    small.git(house.folder, "commit", "-q", "--amend", "-m", "mine")
    tree = small.git(house.folder, "rev-parse", "HEAD^{tree}").strip()
    small.git(house.folder, "reset", "-q", small.git(house.folder, "commit-tree", tree, "-m", "anew").strip())
    return sprint


async def test_replaced_files_of_many_landings_are_on_one_ref_and_can_be_brought_back(house: House) -> None:
    sprints = [await _landed_over(house, f"mine {number}\n") for number in range(2)]
    assert all(any("/backup/land-" in name for name in house.refs(one.id)) for one in sprints)
    for one in sprints:  # written anew: only the user can say that it landed
        small.git(house.folder, "tag", f"kept-{one.id}", f"devteam/{one.id}")
    dry = clean(house.desk, 0, dry_run=True)
    assert any(f"replaced, kept in {replaced.REF}" in line for line in words(dry, dry_run=True)), words(
        dry, dry_run=True
    )
    assert replaced.REF not in house.all_refs()
    done = clean(house.desk, 0, dry_run=False)
    assert [one for one in done.removed if one.what in ("refs", cleaning.REPLACED)] == [
        one for one in dry.removed if one.what in ("refs", cleaning.REPLACED)
    ], "the dry run told it as it came"
    assert [name for name in house.all_refs() if "devteam" in name] == [replaced.REF], "one, for all of them"
    small.git(house.folder, "gc", "-q", "--prune=now")
    listed = small.git(house.folder, "log", "--first-parent", "--format=%H %s", replaced.REF).splitlines()
    found = {line.split(" ", 1)[1]: line.split()[0] for line in listed}
    for number, sprint in enumerate(sprints):
        commit = found[f"devteam: your files that landing {sprint.id} replaced"]
        assert small.git(house.folder, "show", f"{commit}:word.txt") == f"mine {number}\n"
    assert any("brings a file back" in line for line in words(done, dry_run=False))
    again = clean(house.desk, 0, dry_run=False)
    assert again.leaving == (), "once is enough"
    assert words(again, dry_run=False)[0] == "nothing to clean"


async def test_within_the_retention_what_a_landing_replaced_keeps_its_own_ref(house: House) -> None:
    before = [name for name in house.all_refs() if "/backup/land-" in name]
    assert before
    clean(house.desk, 1, dry_run=False)
    assert [name for name in house.all_refs() if "/backup/land-" in name] == before


async def test_backups_that_cannot_be_put_together_stay(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    sprint = await _landed_over(house, "mine\n")
    small.git(house.folder, "tag", "kept", f"devteam/{sprint.id}")
    line = Git.line

    def broken(self: Git, *words: str, **more: object) -> str:
        if words[0] == "commit-tree":
            raise GitError(words, 128, "no room")
        return line(self, *words, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(Git, "line", broken)
    done = clean(house.desk, 0, dry_run=False)
    assert not any(one.what == cleaning.REPLACED for one in done.removed)
    (kept,) = house.refs(sprint.id)
    assert small.git(house.folder, "show", f"{kept}:word.txt") == "mine\n"


async def test_the_next_sprint_runs_after_everything_was_cleaned(house: House) -> None:
    clean(house.desk, 0, dry_run=False)
    state = await house.run(house.next())
    assert state.outcome == "done", state.outcome_reason
    assert all(task.status is Status.COMPLETE for task in state.tasks.values())


async def test_a_cleaned_sprint_whose_plan_grew_goes_on(house: House) -> None:
    clean(house.desk, 0, dry_run=False)
    plan = house.sprint.plan_path
    more = "\n- [ ] 1.3 Write a third\n      scope: third.txt\n      proof: none\n      complexity: 1\n"
    plan.write_text(plan.read_text().rstrip("\n") + "\n" + more)
    scenario = house.folder / ".devteam" / "scenario.toml"
    third = '\n[[call]]\ntask = "1.3"\nedit = [{ path = "third.txt", content = "third\\n" }]\n'
    scenario.write_text(scenario.read_text() + third)
    state = await house.run(house.sprint)
    assert state.outcome == "done", state.outcome_reason
    assert {task.id: task.status for task in state.tasks.values()} == dict.fromkeys(
        ("1.1", "1.2", "1.3"), Status.COMPLETE
    )


async def test_an_unlanded_an_unfinished_and_a_checked_out_sprint_stay_whole(house: House) -> None:
    second = house.next()
    assert (await house.run(second)).outcome == "done"
    unlanded = house.traces(second.id), house.refs(second.id)
    third = house.next()
    assert (await house.run(third, max_iterations=1)).outcome != "done"
    unfinished = house.traces(third.id), house.refs(third.id)
    lanes = sorted((house.project.state.root / "lanes").iterdir())
    done = clean(house.desk, 0, dry_run=False)
    assert done.leaving == (house.sprint.id,)
    assert {trace.sprint: trace.use for trace in done.traces} == {
        house.sprint.id: Use.ENDED,
        second.id: Use.UNLANDED,
        third.id: Use.UNFINISHED,
    }
    assert (house.traces(second.id), house.refs(second.id)) == unlanded
    assert (house.traces(third.id), house.refs(third.id)) == unfinished
    assert sorted((house.project.state.root / "lanes").iterdir()) == lanes, "its lane may hold an attempt"


async def test_a_commit_of_the_users_own_on_the_sprint_branch_keeps_it(house: House) -> None:
    branch = f"refs/heads/devteam/{house.sprint.id}"
    tip = small.git(house.folder, "rev-parse", branch).strip()
    mine = small.git(house.folder, "commit-tree", f"{tip}^{{tree}}", "-p", tip, "-m", "my own").strip()
    small.git(house.folder, "update-ref", branch, mine)
    assert clean(house.desk, 0, dry_run=False).leaving == ()
    assert small.git(house.folder, "rev-parse", branch).strip() == mine
    small.git(house.folder, "tag", "kept", mine)
    assert clean(house.desk, 0, dry_run=False).leaving == (house.sprint.id,)


def test_the_thousandth_sprint_is_younger_than_the_one_before() -> None:
    assert sorted(["1000-b", "999-a", "002-c"], key=cleaning._age) == ["002-c", "999-a", "1000-b"]


async def test_an_engine_at_work_keeps_us_out(house: House) -> None:
    with EngineLock.acquire(house.project.state.lock, SystemClock().now), pytest.raises(EngineRunning):
        clean(house.desk, 0, dry_run=True)


async def test_a_run_that_begins_cleans_by_itself_and_says_so(house: House) -> None:
    config = house.folder / ".devteam" / "config.toml"
    config.write_text(config.read_text() + "\n[workspace]\nkeep_sprints = 1\n")
    second = house.next()
    await house.run(second)
    assert house.traces(house.sprint.id), "one is kept"
    land_sprint(house.desk, second.id, branch=False, patch=None, apply=True)
    third = house.next()
    await house.run(third)
    assert house.traces(house.sprint.id) == []
    assert house.refs(house.sprint.id) == []
    assert house.traces(second.id)
    assert any("cleaned up after 1 ended sprint" in note.text for note in _notes(house, third.id))


def _notes(house: House, sprint: str) -> list[ev.Noted]:
    return [one.event for one in house.desk.events(sprint) if isinstance(one.event, ev.Noted)]


async def test_every_object_that_a_kept_sprint_names_survives(house: House) -> None:
    """The engine's own objects are packed down to what is still named."""
    second = house.next()
    await house.run(second)
    named = [
        one.event.tree for one in house.desk.events(second.id) if isinstance(one.event, ev.ScopeChecked | ev.Committed)
    ]
    clean(house.desk, 0, dry_run=False)
    git = house.project.state.root / "git"
    for tree in named:
        small.git(house.folder, f"--git-dir={git}", "ls-tree", "-r", tree)
    loose = list((git / "objects").glob("[0-9a-f][0-9a-f]/*"))
    assert loose == [], loose


@given(st.lists(st.sampled_from(list(Use)), max_size=12), st.integers(0, 12))
def test_only_ended_sprints_ever_leave_and_the_newest_stay(uses: list[Use], keep: int) -> None:
    traces = [Trace(f"{number:03d}", use) for number, use in enumerate(uses)]
    going = set(leaving(traces, keep))
    ended = [trace.sprint for trace in traces if trace.use is Use.ENDED]
    assert going <= set(ended)
    assert len(ended) - len(going) == min(keep, len(ended))
    assert not going or max(going) < min(set(ended) - going, default="999")


def test_a_commit_is_in_the_users_history_only_by_refs_of_the_users(tmp_path: Path) -> None:
    from tests.workspace.repos import make_repo, open_workspace

    repo = make_repo(tmp_path / "repo")
    work = open_workspace(repo)
    work.start_sprint(1.0)
    head = small.git(repo, "rev-parse", "HEAD").strip()
    made = small.git(repo, "commit-tree", f"{head}^{{tree}}", "-p", head, "-m", "x").strip()
    small.git(repo, "branch", "devteam/999-other", made)
    assert not old_sprints.in_users_history(work.store, made)
    assert not old_sprints.in_users_history(work.store, "0" * 40)
    small.git(repo, "tag", "mine", made)
    assert old_sprints.in_users_history(work.store, made)


async def test_a_number_that_only_the_journal_knows_is_not_given_again(house: House) -> None:
    """Cleaned, and its folder removed by hand: its record would be taken for the new sprint's."""
    clean(house.desk, 0, dry_run=False)
    shutil.rmtree(house.sprint.path)
    assert house.refs(house.sprint.id) == []
    assert highest_number(house.desk) == int(house.sprint.id.partition("-")[0])

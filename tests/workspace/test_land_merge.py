"""A landing that is refused offers a merge; typed as it stands, it brings the sprint's work and nothing else."""

from __future__ import annotations

from pathlib import Path

from engine.perform.workspace.progress import Progress
from tests.workspace.repos import git, write
from tests.workspace.test_land import sprint, started

PLAN = ".devteam/sprints/001-test/plan.md"


def _moved_on(repo: Path) -> None:
    """A colleague's commit, while the sprint was at work."""
    write(repo / "colleague.txt", "c\n")
    git(repo, "add", "colleague.txt")
    git(repo, "commit", "-qm", "meanwhile")


def _merge(repo: Path, offer: str) -> None:
    assert offer.startswith("git merge ")
    git(repo, "merge", "--no-edit", "-q", *offer.split()[2:])


def test_with_plan_and_progress_on_the_branch(repo: Path) -> None:
    write(repo / ".devteam/config.toml", "a = 1\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "config")
    write(repo / PLAN, "# Plan\n\n- [ ] 1.0 x\n")
    work = started(repo)
    work.progress = Progress()
    sprint(work, {"src/app.py": "x = 2\n"}, {"new/deep.py": "n\n"})
    assert PLAN in git(repo, "ls-tree", "-r", "--name-only", "devteam/001-test")
    _moved_on(repo)
    refused = work.land()
    assert not refused.landed and refused.offers[0] == "git merge refs/devteam/001-test/work"
    assert work.name_to_merge() == "refs/devteam/001-test/work"
    _merge(repo, refused.offers[0])
    assert (repo / "src/app.py").read_text() == "x = 2\n" and (repo / "new/deep.py").read_text() == "n\n"
    came = git(repo, "log", "--format=%s", "--no-merges", "HEAD^1..HEAD").split("\n")[:-1]
    assert sorted(came) == ["impl(t): T1.0", "impl(t): T1.1"]
    assert git(repo, "ls-files", ".devteam/sprints") == "" and (repo / PLAN).is_file()
    assert git(repo, "fsck", "--strict") == ""


def test_what_was_not_committed_stays_so(repo: Path) -> None:
    write(repo / "a.txt", "my edit\n")
    write(repo / "night.txt", "a log that lies about\n")
    work = started(repo)
    sprint(work, {"src/app.py": "x = 2\n"})
    _moved_on(repo)
    before = git(repo, "status", "--porcelain")
    _merge(repo, work.land(apply=False).offers[0])
    assert (repo / "src/app.py").read_text() == "x = 2\n"
    assert git(repo, "status", "--porcelain") == before
    assert git(repo, "ls-files", "night.txt") == ""


def test_it_goes_along_with_a_sprint_that_goes_on(repo: Path) -> None:
    write(repo / "night.txt", "mine\n")
    work = started(repo)
    sprint(work, {"src/app.py": "x = 2\n"})
    _moved_on(repo)
    _merge(repo, work.land().offers[0])
    made = work.prepare(0)
    write(made.path / "src/app.py", "x = 3\n")
    work.commit("1.7", work.snapshot(0), made.base, "impl(t): T1.7", "", "later", 6.0)
    _merge(repo, work.land().offers[0])
    assert (repo / "src/app.py").read_text() == "x = 3\n"


def test_a_branch_that_carries_nothing_else_is_merged_as_it_is(repo: Path) -> None:
    work = started(repo)
    sprint(work, {"src/app.py": "x = 2\n"})
    _moved_on(repo)
    refused = work.land()
    assert refused.offers[0] == "git merge devteam/001-test"
    _merge(repo, refused.offers[0])
    assert git(repo, "for-each-ref", "refs/devteam/001-test/work") == ""

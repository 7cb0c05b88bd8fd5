"""What a process remembers has a bound, however many sprints it sees."""

from __future__ import annotations

from pathlib import Path

from engine.perform.workspace import scan, trees
from engine.perform.workspace.unchanging import Kept
from tests.workspace.repos import git, make_repo, open_workspace


def test_trees_of_indexes_are_forgotten_oldest_first(tmp_path: Path) -> None:
    work = open_workspace(make_repo(tmp_path / "repo"))
    views = [scan.View(work.store.git, tmp_path / f"index-{n}", tmp_path, ours=True) for n in range(1000)]
    for number, view in enumerate(views):
        view.index.write_bytes(b"x")
        scan.holds(view, f"{number:040d}")
    assert scan.held(views[-1]) == f"{999:040d}"
    assert scan.held(views[0]) == "", "git has to be asked"
    known = [view for view in views if scan.held(view)]
    assert known == views[-len(known) :] and len(known) < 500


def test_what_is_kept_of_commits_fills_within_a_day(tmp_path: Path) -> None:
    """A bound that thousands of attempts do not reach is growth to whoever looks at the process."""
    kept: Kept[str] = trees._trees
    repo = make_repo(tmp_path / "repo")
    tree = git(repo, "rev-parse", "HEAD^{tree}").strip()
    for number in range(2000):
        kept.put((repo, f"{number:040d}"), tree)
    assert kept.get((repo, f"{1999:040d}")) == tree
    assert kept.get((repo, f"{0:040d}")) is None

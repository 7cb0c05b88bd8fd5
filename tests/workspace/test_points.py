"""Checkpoints, baselines and rollback move the sprint branch only, with a way back each time."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.perform.workspace.facts import Committed, WorkspaceError
from engine.perform.workspace.workspace import Workspace
from tests.workspace.repos import differences, fingerprint, git, write


@pytest.fixture
def history(work: Workspace) -> list[str]:
    """Base and three commits."""
    found = [work.head()]
    for number in range(3):
        made = work.prepare(0)
        write(made.path / "n.txt", f"{number}\n")
        done = work.commit(
            str(number), work.snapshot(0), made.base, f"impl(t): {number}", "", f"e{number}", 2.0 + number
        )
        assert isinstance(done, Committed)
        found.append(done.commit)
    return found


def test_a_checkpoint_keeps_git_and_files_and_comes_back(
    work: Workspace, repo: Path, history: list[str], tmp_path: Path
) -> None:
    before = fingerprint(repo)
    progress = write(tmp_path / "progress.txt", "half\n")
    point = work.save_checkpoint(
        "e9", "phase change", 5.0, {"progress.txt": progress, "journal": b"db", "none": tmp_path / "no"}
    )
    assert point.commit == history[-1] and point.files == ("journal", "progress.txt")
    made = work.prepare(0)
    write(made.path / "later.txt")
    work.commit("9", work.snapshot(0), made.base, "impl(t): later", "", "e10", 9.0)
    later = work.head()
    moved, restored = work.restore_checkpoint("e9", 10.0)
    assert work.head() == history[-1] == moved.commit and moved.before == later
    assert (Path(restored.folder) / "progress.txt").read_text() == "half\n"
    assert [item.id for item in work.list_checkpoints()] == ["e9"]
    assert git(repo, "rev-parse", moved.backup).strip() == later
    assert differences(before, fingerprint(repo)) == []
    with pytest.raises(WorkspaceError, match="no checkpoint"):
        work.restore_checkpoint("none", 1.0)


def test_baselines_are_names_and_the_same_place_is_the_same_baseline(work: Workspace, history: list[str]) -> None:
    one = work.create_baseline("all_tests_passing", 5.0, "green")
    assert work.create_baseline("all_tests_passing", 6.0).ref == one.ref
    made = work.prepare(0)
    write(made.path / "x.txt")
    work.commit("9", work.snapshot(0), made.base, "impl(t): later", "", "e10", 9.0)
    two = work.create_baseline("all_tests_passing", 7.0)
    assert two.ref == one.ref + "-2" and two.commit == work.head()
    assert [item.ref for item in work.list_baselines()] == [one.ref, two.ref]
    back = work.roll_back_to_baseline(one.ref, 8.0)
    assert back.commit == one.commit == work.head()
    assert work.roll_back_to_baseline("all_tests_passing", 9.0).commit == two.commit
    assert not work.store.repo.refs(f"refs/devteam/{work.sprint}/baseline"), "a name needs no ref of the user's"


def test_baselines_of_older_versions_were_refs_and_still_are_baselines(
    work: Workspace, repo: Path, history: list[str]
) -> None:
    git(repo, "update-ref", f"refs/devteam/{work.sprint}/baseline/sprint_start", history[0])
    later = work.create_baseline("sprint_start", 5.0)
    assert later.ref == "baseline/sprint_start-2"
    assert work.roll_back_to_baseline(later.ref, 6.0).moved is False
    assert work.roll_back_to_baseline(f"refs/devteam/{work.sprint}/baseline/sprint_start", 7.0).commit == history[0]


def test_smart_finds_the_last_good_commit_and_undo_brings_it_back(work: Workspace, history: list[str]) -> None:
    asked: list[str] = []

    def good(commit: str) -> bool:
        asked.append(commit)
        return commit == history[1]

    assert work.roll_back_check(good) == history[1]
    moved = work.roll_back_smart(5.0, good)
    assert asked[:3] == history[:0:-1]
    assert (work.head(), moved.before) == (history[1], history[3])
    assert work.roll_back_undo(6.0).commit == history[3] == work.head()
    assert work.roll_back_undo(7.0).commit == history[1]


def test_auto_goes_on_back_to_a_good_commit_and_never_past_the_base(work: Workspace, history: list[str]) -> None:
    assert not work.roll_back_auto(5.0, lambda _: True).moved
    with pytest.raises(WorkspaceError, match="base itself"):
        work.roll_back_auto(5.0, lambda _: False)
    assert work.head() == history[3], "nothing is good: nothing moves"
    moved = work.roll_back_auto(5.0, lambda commit: commit == history[0])
    assert (moved.commit, moved.before, work.head()) == (history[0], history[3], history[0])
    assert work.roll_back_undo(6.0).commit == history[3]
    with pytest.raises(WorkspaceError, match="none of the last"):
        work.roll_back_smart(5.0, lambda _: False)


def test_the_search_is_bounded(work: Workspace, history: list[str]) -> None:
    asked: list[str] = []
    assert work.roll_back_check(lambda commit: asked.append(commit) or False) == ""  # type: ignore[func-returns-value]
    assert asked == history[::-1]  # it ends at the base, not in the user's own history
    asked.clear()
    assert work.roll_back_check(lambda commit: asked.append(commit) or False, 2) == ""  # type: ignore[func-returns-value]
    assert asked == history[:1:-1]
    with pytest.raises(WorkspaceError, match="none of the last 2"):
        work.roll_back_smart(5.0, lambda _: False, 2)


def test_a_foreign_commit_is_no_target(work: Workspace, repo: Path, history: list[str]) -> None:
    from engine.perform.workspace import points

    git(repo, "commit", "--allow-empty", "-qm", "the user's own")
    with pytest.raises(WorkspaceError, match="not a commit of sprint"):
        points.go_to(work.store, work.sprint, git(repo, "rev-parse", "HEAD").strip(), "no", 1.0)


def test_a_lane_given_up_stays_to_be_looked_at(work: Workspace, repo: Path) -> None:
    made = work.prepare(0)
    write(made.path / "idea.txt", "kept\n")
    ref = work.back_up_lane(0, "T1.2-it3", 5.0)
    work.prepare(0)
    assert git(repo, "show", f"{ref}:idea.txt") == "kept\n"
    assert ref.startswith("refs/devteam/001-test/backup/")


def test_undo_without_a_rollback_says_so(work: Workspace) -> None:
    with pytest.raises(WorkspaceError, match="nothing was rolled back"):
        work.roll_back_undo(1.0)

"""Commits: one per task, whoever asks how often; moved bases merge or conflict; history for readers."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from engine.perform.workspace.facts import Committed, Conflict, Moved, MovedBack, WorkspaceError
from engine.perform.workspace.repository import Repository
from engine.perform.workspace.workspace import Workspace
from tests.workspace.repos import git, write


def change(work: Workspace, lane: int, name: str, text: str = "t\n", base: str | None = None) -> tuple[str, str]:
    made = work.prepare(lane, base=base)
    write(made.path / name, text)
    return work.check_scope(lane, made.tree, made.base).tree, made.base


def test_a_commit_has_the_identity_the_message_and_the_trailers(work: Workspace, repo: Path) -> None:
    tree, base = change(work, 0, "new.py")
    done = work.commit(
        "1.2", tree, base, "impl(auth): T1.2 — Hash passwords\n\nWhy\nDevteam-Task: 9.9", "abc", "e5", 1.7e9
    )
    assert isinstance(done, Committed) and not done.already
    assert git(repo, "log", "-1", "--format=%an <%ae> %cn %at|%s", "devteam/001-test").strip() == (
        "Dev Team <dev@example.org> Dev Team 1700000000|impl(auth): T1.2 — Hash passwords"
    )
    trailers = git(repo, "log", "-1", "--format=%(trailers:only)", "devteam/001-test").strip().splitlines()
    assert trailers == ["Devteam-Sprint: 001-test", "Devteam-Task: 1.2", "Devteam-Effect: e5", "Devteam-Evidence: abc"]
    assert work.log(1)[0].task == "1.2"
    assert git(repo, "fsck", "--strict") == ""


def test_asked_twice_there_is_one_commit(work: Workspace, repo: Path) -> None:
    tree, base = change(work, 0, "new.py")
    first = work.commit("1", tree, base, "impl(t): x", "", "e1", 2.0)
    for effect in ("e1", "e2"):  # the same effect again, or the same task and tree by another
        again = work.commit("1", tree, base, "impl(t): x", "", effect, 9.0)
        assert isinstance(again, Committed) and isinstance(first, Committed)
        assert again.already and again.commit == first.commit
    assert git(repo, "rev-list", "--count", "main..devteam/001-test").strip() == "1"


@pytest.mark.parametrize("checked_out", [False, True])
@pytest.mark.parametrize("effect", ["e1", "e2"])
def test_a_move_that_was_cut_short_between_mirror_and_branch_is_finished(
    work: Workspace, repo: Path, effect: str, checked_out: bool
) -> None:
    """Git moves several refs one after another: a failing rename or a power cut leaves the first of them moved."""
    tree, base = change(work, 0, "new.py")
    other, _ = change(work, 1, "other.py", base=base)
    first = work.commit("1", tree, base, "impl(t): x", "", "e1", 2.0)
    assert isinstance(first, Committed)
    git(repo, "update-ref", "refs/heads/devteam/001-test", base)
    if checked_out:
        git(repo, "checkout", "-q", "devteam/001-test")
    with pytest.raises(MovedBack):
        work.commit("2", other, base, "impl(t): y", "", "e3", 3.0)
    again = work.commit("1", tree, base, "impl(t): x", "", effect, 9.0)
    assert isinstance(again, Committed) and again.already and again.commit == first.commit == work.head()
    where = git(repo, "rev-parse", "devteam/001-test").strip()
    assert where == (base if checked_out else first.commit)


def test_a_moved_branch_merges_what_fits_and_names_what_does_not(work: Workspace) -> None:
    one, base = change(work, 0, "one.py")
    two, _ = change(work, 1, "two.py", base=base)
    clash, _ = change(work, 2, "one.py", "other\n", base=base)
    assert isinstance(work.commit("1", one, base, "impl(t): 1", "", "e1", 2.0), Committed)
    moved = work.commit("2", two, base, "impl(t): 2", "", "e2", 3.0)
    assert isinstance(moved, Moved) and moved.base == work.head()
    assert work.show(moved.tree, "one.py") == work.show(moved.tree, "two.py") == b"t\n"
    assert isinstance(work.commit("2", moved.tree, moved.base, "impl(t): 2", "", "e3", 3.0), Committed)
    conflict = work.commit("3", clash, base, "impl(t): 3", "", "e4", 4.0)
    assert conflict == Conflict(base=work.head(), paths=("one.py",), landed=("impl(t): 1", "impl(t): 2"))


def test_a_change_is_the_same_while_its_own_lines_are(work: Workspace) -> None:
    """Beside another's lines in the same file it is; where the other landed the same line as well, it is not."""
    text = "".join(f"line {number}\n" for number in range(20))
    start, base = change(work, 0, "shared.py", text)
    assert isinstance(work.commit("0", start, base, "impl(t): 0", "", "e0", 1.0), Committed)
    base = work.head()
    top, _ = change(work, 1, "shared.py", "first\n" + text, base=base)
    bottom, _ = change(work, 2, "shared.py", text + "last\n", base=base)
    both, _ = change(work, 3, "shared.py", "first\n" + text + "more\n", base=base)
    assert isinstance(work.commit("1", top, base, "impl(t): 1", "", "e1", 2.0), Committed)
    same = work.commit("2", bottom, base, "impl(t): 2", "", "e2", 3.0)
    assert isinstance(same, Moved) and same.same_patch and same.landed == ("impl(t): 1",) and not same.difference
    other = work.commit("3", both, base, "impl(t): 3", "", "e3", 4.0)
    assert isinstance(other, Moved) and not other.same_patch
    assert "-+first" in other.difference and "more" not in other.difference.replace(" +more", "")


def test_kept_work_is_on_a_ref_of_its_task(work: Workspace) -> None:
    tree, base = change(work, 0, "half.py")
    ref = work.keep_tree("1.2", "iteration-3", tree, base, "needs a permission", "e" * 8, 5.0)
    assert ref == f"refs/devteam/{work.sprint}/task/1.2/iteration-3"
    commit = work.repo.resolve(ref)
    assert work.tree_of(commit) == tree
    assert work.keep_tree("1.2", "iteration-3", tree, base, "again", "", 6.0) == ref, "kept again, it is one ref"


def test_lanes_that_commit_at_once_each_get_one_answer(work: Workspace, repo: Path) -> None:
    made = [change(work, lane, f"f{lane}.py", base=work.head()) for lane in range(3)]
    answers: dict[int, object] = {}

    def run(lane: int) -> None:
        tree, base = made[lane]
        answer = work.commit(str(lane), tree, base, f"impl(t): {lane}", "", f"e{lane}", 2.0)
        while isinstance(answer, Moved):
            answer = work.commit(str(lane), answer.tree, answer.base, f"impl(t): {lane}", "", f"e{lane}", 2.0)
        answers[lane] = answer

    threads = [threading.Thread(target=run, args=(lane,)) for lane in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(isinstance(answer, Committed) for answer in answers.values())
    assert git(repo, "rev-list", "--count", "main..devteam/001-test").strip() == "3"


def test_somebody_else_moving_the_branch_at_the_last_moment_is_seen(
    work: Workspace, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, base = change(work, 0, "one.py")
    two, _ = change(work, 1, "two.py", base=base)
    original = Repository.update_refs

    def slow(self: Repository, changes: list[tuple[str, str, str]], why: str) -> None:
        monkeypatch.setattr(Repository, "update_refs", original)
        work.commit("1", one, base, "impl(t): 1", "", "e1", 2.0)  # between looking at the branch and moving it
        original(self, changes, why)

    monkeypatch.setattr(Repository, "update_refs", slow)
    assert isinstance(work.commit("2", two, base, "impl(t): 2", "", "e2", 3.0), Moved)
    assert git(repo, "log", "--format=%s", "main..devteam/001-test").strip() == "impl(t): 1"


def test_a_message_from_an_agent_is_cleaned(work: Workspace, repo: Path) -> None:
    tree, base = change(work, 0, "new.py")
    work.commit("1", tree, base, "impl(t): \x1b[2Jevil\u202e\x00 x\r\nbody\x07", "", "e\n1", 2.0)
    text = git(repo, "log", "-1", "--format=%B", "devteam/001-test")
    assert not any(ord(char) < 32 and char != "\n" for char in text)
    assert "\u202e" not in text and "evil" in text


def test_a_branch_deleted_by_hand_comes_back_where_it_was(work: Workspace, repo: Path) -> None:
    tree, base = change(work, 0, "new.py")
    done = work.commit("1", tree, base, "impl(t): x", "", "e1", 2.0)
    git(repo, "branch", "-D", "devteam/001-test")
    assert isinstance(done, Committed) and work.head() == done.commit
    assert git(repo, "rev-parse", "devteam/001-test").strip() == done.commit
    git(repo, "branch", "-D", "devteam/001-test")
    work.start_sprint(3.0)
    assert git(repo, "rev-parse", "devteam/001-test").strip() == done.commit


def test_reading_history_and_trees(work: Workspace) -> None:
    tree, base = change(work, 0, "src/app.py", "x = 2\n")
    work.commit("1", tree, base, "impl(t): x", "", "e1", 2.0)
    assert [entry.subject for entry in work.log(5)] == ["impl(t): x", "first"]
    assert work.is_reachable(base) and not work.is_reachable(base, "refs/heads/none")
    assert work.diff(base, tree).splitlines()[-2:] == ["-x = 1", "+x = 2"]
    assert work.diff(base, tree, "a.txt") == ""
    mixed = work.overlay(tree, ("src/**",), work.tree_of(base))
    assert mixed == work.tree_of(base)
    assert work.overlay(tree, ("docs/**",), base) == tree
    with pytest.raises(WorkspaceError, match="not a file"):
        work.show(tree, "none.py")

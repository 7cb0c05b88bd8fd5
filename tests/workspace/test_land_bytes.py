"""Landing looks at bytes: what the index hides, what it cannot know, what git would remove on its way."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.perform.workspace.facts import WorkspaceError
from tests.workspace.repos import differences, fingerprint, git, make_repo, open_workspace, write
from tests.workspace.test_land import sprint, started

MINE = "mine, never to be lost\n"


def _assumed(repo: Path) -> None:
    git(repo, "update-index", "--assume-unchanged", "a.txt")
    write(repo / "a.txt", MINE)


def _skipped(repo: Path) -> None:
    git(repo, "update-index", "--skip-worktree", "a.txt")
    write(repo / "a.txt", MINE)


def _same_time_and_size(repo: Path) -> None:
    """What a racy clock, or a tool that keeps times, leaves: the stat entry of the index still fits."""
    path = repo / "a.txt"
    before = path.stat()
    git(repo, "config", "core.trustctime", "false")
    git(repo, "config", "core.checkstat", "minimal")
    path.write_bytes(b"b\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _fsmonitor(repo: Path) -> None:
    git(repo, "config", "core.fsmonitor", "true")
    git(repo, "update-index", "--fsmonitor-valid", "a.txt", check=False)
    write(repo / "a.txt", MINE)


HIDDEN: dict[str, Callable[[Path], None]] = {
    "assume-unchanged": _assumed,
    "skip-worktree": _skipped,
    "same-time-and-size": _same_time_and_size,
    "fsmonitor": _fsmonitor,
}


@pytest.mark.parametrize("change", ["x", None], ids=["replaced", "deleted"])
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("how", HIDDEN)
def test_an_edit_that_git_does_not_see_is_not_lost(repo: Path, how: str, when: str, change: str | None) -> None:
    """Before the sprint or after its start; the sprint replaces the file or deletes it."""
    if when == "before":
        HIDDEN[how](repo)
    work = started(repo)
    sprint(work, {"a.txt": change, "src/app.py": "x = 2\n"})
    if when == "after":
        HIDDEN[how](repo)
    mine = (repo / "a.txt").read_bytes()
    before = fingerprint(repo)
    report = work.land()
    if report.landed:  # it was seen before the start: then it is in the sprint as the user's own commit
        assert git(repo, "log", "--format=%s", "-2").splitlines()[1] == "devteam: your files when 001-test started"
        assert git(repo, "show", "HEAD^:a.txt").encode() == mine
        return
    assert any("since: a.txt" in line for line in report.differs), report
    assert differences(before, fingerprint(repo)) == []


def test_hidden_edits_elsewhere_are_nobodys_business(repo: Path) -> None:
    _assumed(repo)
    work = started(repo)
    sprint(work, {"src/app.py": "x = 2\n"})
    assert work.land().landed
    assert (repo / "a.txt").read_text() == MINE
    assert git(repo, "ls-files", "-v", "a.txt").startswith("h "), "the bit is the user's"
    assert git(repo, "status", "--porcelain") == ""


def test_what_is_replaced_is_on_a_ref_first_and_it_is_said(repo: Path) -> None:
    write(repo / "a.txt", "uncommitted\n")
    work = started(repo)
    sprint(work, {"a.txt": "replaced\n", "src/lib.py": None, "new.py": "n\n"})
    report = work.land()
    assert report.landed and report.kept.startswith("refs/devteam/001-test/backup/land-")
    assert git(repo, "show", f"{report.kept}:a.txt") == "uncommitted\n"
    assert git(repo, "show", f"{report.kept}:src/lib.py") == "y = 1\n"
    assert git(repo, "ls-tree", "-r", "--name-only", report.kept).split() == ["a.txt", "src/lib.py"]
    assert git(repo, "fsck", "--strict") == ""


def test_line_endings_are_kept_on_the_ref_as_they_were(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "repo", {".gitattributes": "* text=auto eol=crlf\n", "a.txt": "a\r\n"})
    git(repo, "config", "core.autocrlf", "true")
    (repo / "a.txt").unlink()
    git(repo, "checkout", "--", "a.txt")
    assert (repo / "a.txt").read_bytes() == b"a\r\n"
    work = started(repo)
    sprint(work, {"a.txt": "b\n"})
    report = work.land()
    assert report.landed, report
    assert git(repo, "cat-file", "blob", f"{report.kept}:a.txt").encode() == b"a\r\n"
    assert (repo / "a.txt").read_bytes() == b"b\r\n"


def test_a_sparse_checkout_stays_sparse(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "repo", {"in/a.txt": "a\n", "out/b.txt": "b\n", "out/c.txt": "c\n"})
    git(repo, "sparse-checkout", "set", "in")
    assert not (repo / "out").exists()
    work = started(repo)
    sprint(work, {"in/a.txt": "a2\n", "out/b.txt": "b2\n", "out/c.txt": None})
    report = work.land()
    assert report.landed, report
    assert (repo / "in/a.txt").read_text() == "a2\n" and not (repo / "out").exists()
    assert git(repo, "show", "HEAD:out/b.txt") == "b2\n"
    assert git(repo, "status", "--porcelain") == ""


def test_a_sparse_file_that_was_put_there_by_hand_is_not_lost(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "repo", {"in/a.txt": "a\n", "out/b.txt": "b\n"})
    git(repo, "sparse-checkout", "set", "in")
    work = started(repo)
    sprint(work, {"out/b.txt": "b2\n"})
    write(repo / "out/b.txt", MINE)
    report = work.land()
    assert not report.landed and "out/b.txt" in report.differs[0]
    assert (repo / "out/b.txt").read_text() == MINE


def test_intent_to_add_is_kept(repo: Path) -> None:
    write(repo / "later.py", MINE)
    git(repo, "add", "-N", "later.py")
    work = started(repo)
    sprint(work, {"src/app.py": "x = 2\n"})
    assert work.land().landed
    assert (repo / "later.py").read_text() == MINE
    assert git(repo, "status", "--porcelain").strip() == "A later.py"


def test_a_file_makes_room_for_a_folder_and_a_folder_for_a_file(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "repo", {"one": "1\n", "two/a": "a\n", "two/b": "b\n"})
    work = started(repo)
    lane = work.prepare(0)
    (lane.path / "one").unlink()
    write(lane.path / "one/inner", "i\n")
    for name in ("a", "b"):
        (lane.path / "two" / name).unlink()
    (lane.path / "two").rmdir()
    write(lane.path / "two", "now a file\n")
    tree = work.snapshot(0)
    work.commit("1", tree, lane.base, "impl(t): x", "", "e1", 5.0)
    assert work.land().landed
    assert (repo / "one/inner").read_text() == "i\n" and (repo / "two").read_text() == "now a file\n"
    assert git(repo, "status", "--porcelain") == ""


def test_a_folder_with_ignored_files_in_it_is_not_replaced(tmp_path: Path) -> None:
    """git itself would remove the folder with all that is in it."""
    repo = make_repo(tmp_path / "repo", {"two/a": "a\n", ".gitignore": "*.log\n"})
    work = started(repo)
    lane = work.prepare(0)
    (lane.path / "two/a").unlink()
    (lane.path / "two").rmdir()
    write(lane.path / "two", "now a file\n")
    tree = work.snapshot(0)
    work.commit("1", tree, lane.base, "impl(t): x", "", "e1", 5.0)
    write(repo / "two/precious.log", MINE)
    report = work.land()
    assert not report.landed and report.differs == ("in the way: two",)
    assert (repo / "two/precious.log").read_text() == MINE


def test_two_names_that_are_one_on_this_file_system(repo: Path) -> None:
    work = started(repo)
    sprint(work, {"Read.me": "1\n", "READ.me": "2\n"})
    git(repo, "config", "core.ignorecase", "true")
    report = open_workspace(repo).land()
    assert not report.landed and any("one file here" in line for line in report.differs)


def test_what_is_staged_while_it_lands_is_not_lost(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the look and the lock."""
    from engine.perform.workspace import disk_bytes

    work = started(repo)
    sprint(work, {"src/app.py": "x = 2\n"})
    real = disk_bytes.keep

    def late(*arguments: object) -> str:
        write(repo / "src/lib.py", MINE)
        git(repo, "add", "src/lib.py")
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(disk_bytes, "keep", late)
    before = fingerprint(repo)
    with pytest.raises(WorkspaceError, match="just now"):
        work.land()
    assert git(repo, "show", ":src/lib.py") == MINE
    assert not (repo / ".git/index.lock").exists()
    assert (repo / "src/app.py").read_text() == "x = 1\n" and before["HEAD"] == fingerprint(repo)["HEAD"]


def test_what_is_written_while_it_lands_is_not_lost(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from engine.perform.workspace import disk_bytes

    work = started(repo)
    sprint(work, {"src/app.py": "x = 2\n"})
    real = disk_bytes.keep

    def late(*arguments: object) -> str:
        kept = real(*arguments)  # type: ignore[arg-type]
        write(repo / "src/app.py", MINE)
        return kept

    monkeypatch.setattr(disk_bytes, "keep", late)
    with pytest.raises(WorkspaceError, match="just now"):
        work.land()
    assert (repo / "src/app.py").read_text() == MINE and not (repo / ".git/index.lock").exists()


# ── the branch is the user's to look at ────────────────────────────────────────────────────────────────────────────


def test_a_deleted_branch_comes_back_where_it_was(repo: Path) -> None:
    work = started(repo)
    sprint(work, {"src/app.py": "x = 2\n"})
    tip = work.head()
    git(repo, "branch", "-D", "devteam/001-test")
    report = work.land()
    assert report.landed and report.commit == tip
    assert git(repo, "rev-parse", "devteam/001-test").strip() == tip


def test_a_branch_and_mirror_that_are_gone_are_said(repo: Path) -> None:
    work = started(repo)
    sprint(work, {"src/app.py": "x = 2\n"})
    for ref in ("refs/heads/devteam/001-test", "refs/devteam/001-test/tip"):
        git(repo, "update-ref", "-d", ref)
    with pytest.raises(WorkspaceError, match=r"still refs/devteam/001-test/base") as said:
        work.land()
    assert "git branch devteam/001-test" in said.value.hint


@pytest.mark.parametrize("where", ["checkout", "worktree"])
def test_a_branch_that_is_checked_out_is_not_moved(repo: Path, where: str) -> None:
    work = started(repo)
    sprint(work, {"src/app.py": "x = 2\n"})
    first = work.head()
    place = repo
    if where == "worktree":
        place = repo.parent / "beside"
        git(repo, "worktree", "add", "-q", str(place), "devteam/001-test")
    else:
        git(repo, "switch", "-q", "devteam/001-test")
    before = git(place, "status", "--porcelain")
    sprint(work, {"src/app.py": "x = 3\n"}, {"b.txt": "b\n"})
    assert git(place, "status", "--porcelain") == before == ""
    assert git(repo, "rev-parse", "devteam/001-test").strip() == first
    assert work.head() != first and work.is_reachable(work.head())
    assert work.has_it() == "refs/devteam/001-test/tip"
    if where == "checkout":
        report = work.land()
        assert not report.landed and "git switch main" in report.differs[0]
        assert report.offers[0] == "git merge refs/devteam/001-test/tip"
        git(repo, "switch", "-q", "main")
    report = work.land()
    assert report.landed, report
    assert (repo / "b.txt").read_text() == "b\n"
    git(place, "switch", "-q", "--detach")
    work.start_sprint(9.0)
    assert git(repo, "rev-parse", "devteam/001-test").strip() == work.head()


def test_commits_of_the_user_on_the_branch_are_kept(repo: Path) -> None:
    work = started(repo)
    sprint(work, {"src/app.py": "x = 2\n"})
    git(repo, "switch", "-q", "devteam/001-test")
    sprint(work, {"b.txt": "b\n"})
    write(repo / "a.txt", MINE)
    git(repo, "commit", "-qam", "mine")
    mine = git(repo, "rev-parse", "HEAD").strip()
    ours = work.head()
    git(repo, "switch", "-q", "main")
    sprint(work, {"c.txt": "c\n"})
    assert git(repo, "rev-parse", "devteam/001-test").strip() == mine, "never moved over commits of the user's"
    assert work.is_reachable(ours)
    git(repo, "switch", "-q", "devteam/001-test")
    git(repo, "merge", "-q", "-m", "both", "refs/devteam/001-test/tip")
    git(repo, "switch", "-q", "main")
    sprint(work, {"d.txt": "d\n"})
    assert work.is_reachable(mine) and work.is_reachable(ours)
    assert git(repo, "rev-parse", "devteam/001-test").strip() == work.head()

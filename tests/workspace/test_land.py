"""Landing: forward when the user's files are as they were, and nothing at all otherwise."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.perform.workspace.workspace import Workspace
from tests.workspace.repos import differences, fingerprint, git, make_repo, open_workspace, write


def sprint(work: Workspace, *changes: dict[str, str | None]) -> None:
    """Run some tasks: name → content, None deletes."""
    for number, change in enumerate(changes):
        made = work.prepare(0)
        for name, text in change.items():
            if text is None:
                (made.path / name).unlink()
            else:
                write(made.path / name, text)
        tree = work.check_scope(0, made.tree, made.base).tree
        work.commit(f"1.{number}", tree, made.base, f"impl(t): T1.{number}", "", f"{work.head()[:6]}-{number}", 5.0)


def started(repo: Path) -> Workspace:
    work = open_workspace(repo)
    work.start_sprint(1.0)
    return work


def test_a_clean_start_is_fast_forwarded(repo: Path) -> None:
    work = started(repo)
    sprint(work, {"src/app.py": "x = 2\n", "new/deep.py": "n\n"}, {"a.txt": None})
    look = work.land(apply=False)
    assert look.ok and not look.landed and git(repo, "status", "--porcelain") == ""
    report = work.land()
    assert report.landed and report.commit == work.head()
    assert git(repo, "rev-parse", "main").strip() == work.head()
    assert git(repo, "status", "--porcelain") == ""
    assert (repo / "new/deep.py").read_text() == "n\n" and not (repo / "a.txt").exists()
    assert git(repo, "fsck", "--strict") == ""
    assert work.land().detail == "there is nothing to land"


def test_uncommitted_edits_stay_uncommitted_when_the_sprint_left_them_alone(repo: Path) -> None:
    write(repo / "a.txt", "my edit\n")
    write(repo / "mine.txt", "untracked\n")
    write(repo / "src/lib.py", "staged = 1\n")
    git(repo, "add", "src/lib.py")
    (repo / ".gitignore").unlink()
    write(repo / ".env", "SECRET=1\n")
    before = git(repo, "status", "--porcelain")
    work = started(repo)
    sprint(work, {"src/app.py": "x = 2\n"}, {"src/more.py": "m\n"})
    report = work.land()
    assert report.landed and report.keeps_uncommitted
    assert git(repo, "status", "--porcelain") == before
    assert git(repo, "log", "--format=%s") == "impl(t): T1.1\nimpl(t): T1.0\nfirst\n"
    assert (repo / "a.txt").read_text() == "my edit\n"
    assert git(repo, "show", "HEAD:a.txt") == "a\n"
    assert git(repo, "show", "HEAD:src/more.py") == "m\n"
    assert git(repo, "diff", "--cached", "--name-only").strip() == "src/lib.py"


def test_edits_to_the_same_file_come_along_as_the_snapshot_commit_and_it_is_said(repo: Path) -> None:
    write(repo / "src/app.py", "x = 'mine'\n")
    write(repo / "other.txt", "mine too\n")
    work = started(repo)
    sprint(work, {"src/app.py": "x = 'mine and theirs'\n"})
    report = work.land()
    assert report.landed and not report.keeps_uncommitted and "commit of their own" in report.detail
    assert git(repo, "log", "--format=%s").splitlines() == [
        "impl(t): T1.0",
        "devteam: your files when 001-test started",
        "first",
    ]
    assert git(repo, "status", "--porcelain") == ""


def test_a_file_that_came_after_the_start_stays_untracked_when_edits_come_along(repo: Path) -> None:
    """Staged by the landing it named contents that only the engine's own store had: the next commit failed."""
    write(repo / "src/app.py", "x = 'mine'\n")
    work = started(repo)
    sprint(work, {"src/app.py": "x = 'mine and theirs'\n"})
    write(repo / "note.txt", "later\n")
    write(repo / "[odd].txt", "intended\n")
    git(repo, "add", "-N", "--", ":(literal)[odd].txt")
    report = work.land()
    assert report.landed and not report.keeps_uncommitted
    assert git(repo, "status", "--porcelain").splitlines() == [" A [odd].txt", "?? note.txt"]
    assert git(repo, "fsck", "--strict", "--no-dangling") == ""
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "mine")


def test_a_sprint_of_a_detached_head_lands_on_the_branch_that_the_refusal_asks_for(repo: Path) -> None:
    git(repo, "switch", "-q", "--detach")
    work = started(repo)
    sprint(work, {"src/app.py": "x = 2\n"})
    assert "git switch -c NAME" in work.land().detail
    git(repo, "switch", "-q", "-c", "topic")
    assert work.land().landed and git(repo, "rev-parse", "topic").strip() == work.head()
    assert git(repo, "status", "--porcelain") == ""


def test_what_was_staged_of_a_file_that_came_back_stays_staged(repo: Path) -> None:
    (repo / "a.txt").unlink()
    write(repo / "src/app.py", "x = 'mine'\n")
    work = started(repo)
    sprint(work, {"src/app.py": "x = 'mine and theirs'\n"})
    write(repo / "a.txt", "made again\n")
    report = work.land()
    assert report.landed and not report.keeps_uncommitted
    assert git(repo, "status", "--porcelain") == "AM a.txt\n"
    assert git(repo, "fsck", "--strict", "--no-dangling") == ""


def test_a_sprint_can_land_again(repo: Path) -> None:
    write(repo / "a.txt", "my edit\n")
    work = started(repo)
    sprint(work, {"src/app.py": "x = 2\n"})
    assert work.land().landed
    sprint(work, {"src/app.py": "x = 3\n", "b.txt": "b\n"})
    assert work.land().landed
    assert git(repo, "status", "--porcelain").strip() == "M a.txt"
    assert git(repo, "log", "--format=%s") == "impl(t): T1.0\nimpl(t): T1.0\nfirst\n"


def test_an_unborn_repository_gets_its_first_commits(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "repo", {"idea.txt": "i\n"}, commit=False)
    work = started(repo)
    sprint(work, {"src/app.py": "x = 1\n"})
    assert work.land().landed
    assert git(repo, "log", "--format=%s") == "impl(t): T1.0\n"
    assert git(repo, "status", "--porcelain").strip() == "?? idea.txt"
    assert (repo / "src/app.py").exists()


def _ignored_in_the_way(repo: Path) -> None:
    write(repo / "new.log", "the user's own log\n")


def _folder_is_a_link(repo: Path) -> None:
    elsewhere = repo.parent / "elsewhere"
    elsewhere.mkdir()
    (repo / "build").symlink_to(elsewhere)


CHANGED: list[tuple[str, Callable[[Path], object], str]] = [
    ("edited", lambda repo: write(repo / "src/lib.py", "new edit\n"), "modified since: src/lib.py"),
    ("edited-again", lambda repo: write(repo / "a.txt", "another edit\n"), "modified since: a.txt"),
    ("deleted", lambda repo: (repo / "src/lib.py").unlink(), "deleted since: src/lib.py"),
    ("added-and-staged", lambda repo: write(repo / "b.txt") and git(repo, "add", "b.txt"), "staged since: b.txt"),
    ("staged", lambda repo: git(repo, "add", "a.txt"), "staged since: a.txt"),
    ("committed", lambda repo: git(repo, "commit", "-qam", "mine"), "main has moved since"),
    ("other-branch", lambda repo: git(repo, "switch", "-qc", "other"), "you are on other, the sprint started on main"),
    ("detached", lambda repo: git(repo, "switch", "-q", "--detach"), "HEAD is detached"),
    ("merging", lambda repo: write(repo / ".git/MERGE_HEAD", git(repo, "rev-parse", "HEAD")), "a merge is in progress"),
    ("locked", lambda repo: write(repo / ".git/index.lock", ""), "another git is at work"),
    ("ignored-file-in-the-way", _ignored_in_the_way, "in the way: new.log"),
    ("link-for-a-folder", _folder_is_a_link, "in the way: build/x.py"),
]


@pytest.mark.parametrize(("act", "says"), [pytest.param(*rest, id=name) for name, *rest in CHANGED])
def test_anything_changed_meanwhile_stops_it_with_its_name(
    act: Callable[[Path], object], says: str, repo: Path
) -> None:
    write(repo / "a.txt", "my edit\n")
    work = started(repo)
    made = work.prepare(0)
    write(made.path / "src/app.py", "x = 2\n")
    tree = work.snapshot(0)
    for name in ("new.log", "build/x.py"):  # tracked although ignored: a plan may do that
        tree = _with_file(work, tree, name)
    work.commit("1", tree, made.base, "impl(t): x", "", "e1", 5.0)
    act(repo)
    before = fingerprint(repo)
    report = work.land()
    assert not report.ok and not report.landed
    assert any(says in line for line in report.differs), report.differs
    assert report.detail.startswith("not landed: ") and "\n" not in report.detail
    assert report.offers[0] == "git merge refs/devteam/001-test/work", "a.txt was edited before: it stays out"
    assert differences(before, fingerprint(repo)) == []


def test_a_new_file_of_the_users_that_nothing_lands_on_stays(repo: Path) -> None:
    """A note written in the night, an editor's swap file, another tool's settings."""
    work = started(repo)
    sprint(work, {"src/app.py": "x = 2\n"})
    write(repo / "notes.txt", "mine\n")
    write(repo / "src/.app.py.swp", "swap\n")
    assert work.land().landed
    assert (repo / "notes.txt").read_text() == "mine\n" and (repo / "src/app.py").read_text() == "x = 2\n"
    assert git(repo, "status", "--porcelain").split() == ["??", "notes.txt", "??", "src/.app.py.swp"]


def _with_file(work: Workspace, tree: str, name: str) -> str:
    from engine.perform.workspace import trees

    oid = work.store.git.line("hash-object", "-w", "--stdin", stdin=b"n\n").encode()
    return trees.edit(work.store.git, tree, {name.encode(): (b"100644", oid)})


def test_devteams_own_files_are_nobodys_business(repo: Path) -> None:
    write(repo / ".devteam/config.toml", "a = 1\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "config")
    work = started(repo)
    sprint(work, {"src/app.py": "x = 2\n"})
    write(repo / ".devteam/config.toml", "a = 2\n")
    write(repo / ".devteam/progress.txt", "p\n")
    assert work.land().landed
    assert (repo / ".devteam/config.toml").read_text() == "a = 2\n"


def test_a_patch_says_the_same(repo: Path, tmp_path: Path) -> None:
    work = started(repo)
    sprint(work, {"src/app.py": "x = 2\n", "bin": "\0\1"})
    report = work.land_patch(tmp_path / "x.patch")
    assert report.ok
    git(repo, "apply", str(tmp_path / "x.patch"))
    assert (repo / "src/app.py").read_text() == "x = 2\n" and (repo / "bin").read_text() == "\0\1"


def test_line_endings_of_the_user_are_respected(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "repo", {"a.txt": "1\n2\n", "b.txt": "1\n"})
    git(repo, "config", "core.autocrlf", "true")
    for name in ("a.txt", "b.txt"):
        os.unlink(repo / name)
    git(repo, "checkout", "--", ".")
    assert (repo / "a.txt").read_bytes() == b"1\r\n2\r\n"
    work = started(repo)
    assert work.started().base == work.started().head  # no snapshot needed: nothing is changed
    sprint(work, {"a.txt": "1\n2\n3\n"})
    assert work.land().landed
    assert (repo / "a.txt").read_bytes() == b"1\r\n2\r\n3\r\n"
    assert git(repo, "status", "--porcelain") == ""
